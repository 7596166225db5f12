#!/bin/sh
# replay.sh - runs plans on eight real processes (replay_plan.c): none may deadlock.
#
#   replay.sh           a dozen plans, as a test
#   replay.sh --bench   fifty, and how far the steps were from the simulated makespans
set -u
program=${B:-build}/tests/mpi/replay_plan
if ! command -v mpirun >/dev/null 2>&1 || [ ! -x "$program" ]; then
    echo "skipped: replay_plan needs Open MPI (libopenmpi-dev, openmpi-bin)"
    exit 77
fi

# Processes share the cores, so those that wait must let others run.
processes() {
    timeout -k 5 300 mpirun --allow-run-as-root --oversubscribe --mca mpi_yield_when_idle 1 \
        --mca btl self,vader --mca orte_base_help_aggregate 0 -n 8 "$program" "$@"
}

if [ "${1:-}" = --bench ]; then
    printf '\nplans on real processes, compute replaced by sleeps of up to 20 ms\n'
    processes --bench 1 50
    exit $?
fi
processes 1 12 && exit 0
echo "[  FAILED  ] 12_plans_run_to_their_end_on_8_processes"
exit 1
