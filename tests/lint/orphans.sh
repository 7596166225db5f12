#!/bin/sh
# Every test file is run: what lies in the folders of tests is what make check names.
set -u
bad=0
names=$(make -s --no-print-directory print-tests)
for file in tests/unit/*.c tests/property/test_*.c tests/oracle/test_*.c* tests/*/*.sh tests/mpi/*.c \
    tests/fuzz/fuzz_*.c docs/examples/*.c; do
    case $file in tests/bench/* | tests/support/* | tests/abi/baseline.sh | tests/abi/constants.sh | tests/fuzz/*.sh) continue ;; esac
    [ -e "$file" ] || continue
    base=$(basename "${file%.c*}")
    case $file in *.sh) base=$file ;; esac
    echo "$names" | grep -qE "(^|[ /])$base( |$)" || { echo "$file: make check does not run it"; bad=1; }
done
[ $bad = 0 ] && echo '[       OK ] every_test_file_is_run' && exit 0
echo '[  FAILED  ] every_test_file_is_run'
exit 1
