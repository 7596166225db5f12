#!/bin/sh
# Every test file is run: what lies in the folders of tests is what make check names.
set -u
bad=0
names=$(make -s --no-print-directory print-tests)
for file in tests/unit/*.c tests/property/test_*.c tests/oracle/test_*.c* tests/lint/*.sh tests/cli/run.sh tests/property/*.sh tests/mpi/*.c tests/mpi/*.sh tests/examples/*.sh tests/python/*.sh docs/examples/*.c; do
    [ -e "$file" ] || continue
    base=$(basename "${file%.c*}")
    echo "$names" | grep -qE "(^|[ /])$base( |$)" || { echo "$file: make check does not run it"; bad=1; }
done
[ $bad = 0 ] && echo '[       OK ] every_test_file_is_run' && exit 0
echo '[  FAILED  ] every_test_file_is_run'
exit 1
