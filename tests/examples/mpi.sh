#!/bin/sh
# The examples for Open MPI compile without a warning, run on eight ranks, and find out
# when one rank plans other lengths.
set -u
if ! command -v mpicc >/dev/null 2>&1 || ! command -v mpirun >/dev/null 2>&1; then
    echo "skipped: the MPI examples need Open MPI (libopenmpi-dev, openmpi-bin)"
    exit 77
fi
# Open MPI keeps memory that a sanitizer would report.
[ -n "${SANITIZE:-}" ] && { echo "skipped: not under a sanitizer"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
say() {
    [ "$1" = 0 ] && echo "[       OK ] $2" && return
    echo "[  FAILED  ] $2"
    failed=1
}
run() {
    timeout -k 5 120 mpirun --allow-run-as-root --oversubscribe --mca mpi_yield_when_idle 1 \
        --mca btl self,vader --mca orte_base_help_aggregate 0 "$@" 2>"$work/err"
}
for example in broadcast_plan agree_on_plan; do
    OMPI_CC="${CC:-cc}" mpicc -std=c11 -Wall -Wextra -Wpedantic -Werror -Iinclude \
        "docs/examples/mpi/$example.c" "${L:-lib}/libslimpack.a" -lpthread -lm ${SANITIZE:-} \
        -o "$work/$example"
    say $? "${example}_compiles"
done
run -n 8 "$work/broadcast_plan" >"$work/out" && grep -q 'run 33504 tokens' "$work/out"
say $? broadcast_plan_runs_every_token
run -n 8 "$work/agree_on_plan" >"$work/out" && grep -q '^all ranks agree on' "$work/out"
say $? agree_on_plan_agrees
run -n 7 "$work/agree_on_plan" 500 600 : -n 1 "$work/agree_on_plan" 500 601 >"$work/out"
[ $? = 1 ] && grep -q '^ranks disagree' "$work/err" && [ ! -s "$work/out" ]
say $? agree_on_plan_notices_one_rank_with_another_length
exit $failed
