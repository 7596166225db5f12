#!/bin/sh
# run.sh - runs test programs and scripts, shows what they print, counts it all.
#
# A program speaks cmocka; a script prints the same lines, [       OK ] name,
# [  FAILED  ] name or [  SKIPPED ] name. Exit 77 skips the whole file. A file that
# dies, by a crash or by the time limit for example, counts as one more failure than
# it printed. The last line is "N passed, N failed", with ", N skipped" when any were.
set -u
passed=0 failed=0 skipped=0
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT

# count WORD: the tests that the log gives this word; a name has no blanks, as cmocka's
# summaries do. cmocka lists its failures twice, when they happen and at the end.
count() {
    grep "^\[ *$1 *\] [^ ][^ ]*$" "$log" | { [ "$1" = FAILED ] && sort -u || cat; } | wc -l
}

# died STATUS BAD: whether that exit status says more than the failures printed.
died() {
    [ "$1" = 0 ] || [ "$1" = 77 ] && return 1
    [ "$1" -ge 124 ] || [ "$2" = 0 ] && return 0
    case $test in
    *.sh) return 1 ;;
    *) ! grep -q 'FAILED TEST(S)' "$log" ;;
    esac
}

for test; do
    case $test in
    *.sh) run="sh $test" ;;
    *) run="${TEST_WRAPPER:-} $test" ;;
    esac
    echo "== $test"
    timeout -k 10 "${TEST_SECONDS:-600}" $run >"$log" 2>&1
    status=$?
    cat "$log"
    ok=$(count OK) bad=$(count FAILED) skip=$(count SKIPPED)
    if died $status "$bad"; then
        echo "[  FAILED  ] $test: exit status $status"
        bad=$((bad + 1))
    elif [ $status = 77 ]; then
        skip=$((skip + 1))
    elif [ $((ok + bad + skip)) = 0 ]; then
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
