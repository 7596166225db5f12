#!/bin/sh
# fuzz.sh - runs fuzz targets that `make fuzz` has built, each FUZZ_RUNS times or for
# FUZZ_SECONDS, whichever ends first; the name that is printed says how often it ran.
#
# A run starts from the committed seeds and from what earlier runs kept. Inputs that reach
# new code stay in $B/corpus, those that end in a fault in $B/findings, which
# `$B/tests/fuzz/fuzz_NAME FILE` runs again. FUZZ_FLAGS are libFuzzer's own.
set -u
: "${B:?}" "${FUZZ_RUNS:=20000}" "${FUZZ_SECONDS:=20}" "${FUZZ_FLAGS:=}"
failed=0
mkdir -p "$B/findings"
for program; do
    name=$(basename "$program")
    corpus=$B/corpus/$name log=$B/$name.log
    mkdir -p "$corpus"
    "$program" -runs="$FUZZ_RUNS" -max_total_time="$FUZZ_SECONDS" -timeout=20 -rss_limit_mb=2048 \
        -print_final_stats=1 -artifact_prefix="$B/findings/$name-" $FUZZ_FLAGS \
        "$corpus" "tests/fuzz/seeds/${name#fuzz_}" >"$log" 2>&1
    status=$?
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    if [ $status = 0 ] && [ "${runs:-0}" -gt 0 ]; then
        echo "[       OK ] ${name}_${runs}_runs"
    else
        grep -aE 'not so|ERROR|runtime error|SUMMARY|Test unit|^    #[0-9] ' "$log" | head -40
        echo "[  FAILED  ] ${name}_${FUZZ_RUNS}_runs"
        failed=1
    fi
done
exit $failed
