#!/bin/sh
# executor.sh - trains a small transformer by random plans on eight real processes:
# loss and gradients are those of whole samples, and it shows when something is left out.
#
#   executor.sh          a step on each topology, as a test
#   executor.sh --full   two hundred steps
set -u
program=${B:-build}/tests/mpi/executor/executor
if ! command -v mpirun >/dev/null 2>&1 || [ ! -x "$program" ]; then
    echo "skipped: executor needs Open MPI (libopenmpi-dev, openmpi-bin)"
    exit 77
fi
failed=0
# Processes share the cores, so those that wait must let others run.
processes() {
    timeout -k 5 500 mpirun --allow-run-as-root --oversubscribe --mca mpi_yield_when_idle 1 \
        --mca btl self,vader --mca orte_base_help_aggregate 0 -n 8 "$program" "$@" 2>&1
}
say() {
    [ "$1" = 0 ] && echo "[       OK ] $2" && return
    echo "[  FAILED  ] $2"
    failed=1
}

if [ "${1:-}" = --full ]; then
    processes 1000 200
    say $? gradients_of_200_steps_are_those_of_whole_samples
    exit $failed
fi
processes 0 19
say $? gradients_on_19_topologies_are_those_of_whole_samples
for part in keys key-gradients loss; do
    processes --break $part 0 8 | grep -q '^8 steps.* [1-9][0-9]* above'
    say $? "gradients_without_${part}_are_noticed"
done
exit $failed
