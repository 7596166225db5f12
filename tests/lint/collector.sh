#!/bin/sh
# tests/run.sh counts what passes, fails, is skipped, crashes, hangs or says nothing.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

# counts NAME LINE FILE...: the collector's last line, and its exit status with it.
counts() {
    name=$1 line=$2 good=1
    shift 2
    NO_ORACLES='' TEST_WRAPPER='' TEST_SECONDS=2 sh tests/run.sh "$@" >"$work/log" 2>&1 && good=0
    case $line in *' 0 failed'*) want=0 ;; *) want=1 ;; esac
    if [ "$(tail -n 1 "$work/log")" = "$line" ] && [ $good = $want ]; then
        echo "[       OK ] $name"
    else
        sed 's/^/    /' "$work/log"
        echo "    not: $line"
        echo "[  FAILED  ] $name"
        failed=1
    fi
}

# fake FILE COMMANDS: a test to be collected.
fake() {
    printf '#!/bin/sh\n%s\n' "$2" >"$work/$1"
    chmod +x "$work/$1"
}

ok="echo '[       OK ] a'" bad="echo '[  FAILED  ] b'"
end="echo '[  FAILED  ] tests: 1 test(s), listed below:'; $bad; echo ' 1 FAILED TEST(S)'; exit 1"
fake fine "$ok; echo '[  PASSED  ] 1 test(s).'"
fake one_fails "$ok; $bad; $end"
fake crashes "$ok; kill -SEGV \$\$"
fake fails_and_dies "$ok; $bad; exit 1"
fake fails_and_crashes "$ok; $bad; kill -ABRT \$\$"
fake hangs "$ok; exec sleep 60"
fake silent "exit 0"
fake skips "exit 77"
fake script_fine.sh "$ok"
fake script_odd.sh "echo '[       OK ] cxx17_g++'; echo '[  FAILED  ] cxx17_clang++'; exit 1"
fake script_fails.sh "$ok; $bad; exit 1"
fake script_fails_softly.sh "$ok; $bad"
fake script_dies.sh "$ok; exit 3"
fake script_skips.sh "$ok; echo '[  SKIPPED ] c'"

counts collector_counts_a_pass '1 passed, 0 failed' "$work/fine"
counts collector_counts_a_failure_once '1 passed, 1 failed' "$work/one_fails"
counts collector_counts_a_crash '1 passed, 1 failed' "$work/crashes"
counts collector_counts_a_death_after_a_failure '1 passed, 2 failed' "$work/fails_and_dies"
counts collector_counts_a_crash_after_a_failure '1 passed, 2 failed' "$work/fails_and_crashes"
counts collector_counts_a_hang '1 passed, 1 failed' "$work/hangs"
counts collector_counts_a_missing_file '0 passed, 1 failed' "$work/nothing_here"
counts collector_counts_a_silent_success '1 passed, 0 failed' "$work/silent"
counts collector_counts_a_skipped_file '0 passed, 0 failed, 1 skipped' "$work/skips"
counts collector_counts_a_script '1 passed, 0 failed' "$work/script_fine.sh"
counts collector_counts_names_of_any_letters '1 passed, 1 failed' "$work/script_odd.sh"
counts collector_counts_a_failed_script '1 passed, 1 failed' "$work/script_fails.sh"
counts collector_counts_a_failure_behind_status_0 '1 passed, 1 failed' "$work/script_fails_softly.sh"
counts collector_counts_a_dead_script '1 passed, 1 failed' "$work/script_dies.sh"
counts collector_counts_a_skipped_test '1 passed, 0 failed, 1 skipped' "$work/script_skips.sh"
counts collector_goes_on_after_failures '4 passed, 4 failed, 1 skipped' \
    "$work/crashes" "$work/skips" "$work/fails_and_dies" "$work/one_fails" "$work/fine"
exit $failed
