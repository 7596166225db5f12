#!/bin/sh
# run.sh - runs test programs and scripts, shows what they print, counts it all.
#
# A program speaks cmocka; a script prints the same lines, [       OK ] name,
# [  FAILED  ] name or [  SKIPPED ] name. Exit 77 skips the whole file. A file that
# ends otherwise without a failed line, by a crash for example, counts as one
# failure. The last line is "N passed, N failed", with ", N skipped" when any were.
set -u
passed=0 failed=0 skipped=0
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT

count() {
    grep -c "^\[ *$1 *\] [A-Za-z0-9_./-]*$" "$log"
}

for test; do
    case $test in
    *.sh) run="sh $test" ;;
    *) run="${TEST_WRAPPER:-} $test" ;;
    esac
    echo "== $test"
    timeout 600 $run >"$log" 2>&1
    status=$?
    cat "$log"
    ok=$(count OK) bad=$(count FAILED) skip=$(count SKIPPED)
    # cmocka lists its failures twice, when they happen and at the end.
    case $test in *.sh) ;; *) bad=$((bad / 2)) ;; esac
    if [ $status = 77 ]; then
        skip=$((skip + 1))
    elif [ $status != 0 ] && [ "$bad" = 0 ]; then
        echo "[  FAILED  ] $test: exit status $status"
        bad=1
    elif [ $status = 0 ] && [ $((ok + bad + skip)) = 0 ]; then
        ok=1
    fi
    passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + skip))
done
for oracle in ${NO_ORACLES:-}; do
    echo "[  SKIPPED ] $oracle: its library is not installed"
    skipped=$((skipped + 1))
done
echo
if [ "$skipped" -gt 0 ]; then
    echo "$passed passed, $failed failed, $skipped skipped"
else
    echo "$passed passed, $failed failed"
fi
[ "$failed" = 0 ]
