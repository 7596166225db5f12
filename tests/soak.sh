#!/bin/sh
# soak.sh - plans SOAK_CASES random cases from seed SOAK_FIRST on, a process for each core:
#
#     make soak SOAK_CASES=1000000
#
# What a case is and what its plan is held against, property/test_invariants.c says; every
# 16th is planned again, replayed and sent as bytes. A failure prints the case with its seed.
set -u
: "${B:=build}" "${SOAK_CASES:=1000000}" "${SOAK_FIRST:=0}"
cores=$(getconf _NPROCESSORS_ONLN)
each=$(((SOAK_CASES + cores - 1) / cores))
i=0
while [ $i -lt "$cores" ]; do
    SLIMPACK_WIDE=1 SLIMPACK_EACH=16 SLIMPACK_CASES=$each SLIMPACK_FIRST=$((SOAK_FIRST + i * each)) \
        "$B/tests/property/test_invariants" >"$B/soak.$i.log" 2>&1 &
    i=$((i + 1))
done
wait
i=0 failed=0
while [ $i -lt "$cores" ]; do
    grep -a 'cases have a plan' "$B/soak.$i.log" | tail -n 1
    grep -qa 'PASSED  . 1 test' "$B/soak.$i.log" || { failed=1 && tail -n 20 "$B/soak.$i.log"; }
    i=$((i + 1))
done
[ $failed = 0 ] && echo "[       OK ] soak_of_${SOAK_CASES}_cases_from_seed_$SOAK_FIRST" && exit 0
echo "[  FAILED  ] soak_of_${SOAK_CASES}_cases_from_seed_$SOAK_FIRST"
exit 1
