#!/bin/sh
# A lint that cannot fail is none: each is given a copy of the tree with one fault.
set -u
top=$(pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

# plant NAME LINT COMMAND: the lint must fail after the command has run in a copy.
plant() {
    rm -rf "$work/tree"
    mkdir "$work/tree"
    cp -r Makefile README.md include lib src tests docs "$work/tree"
    if (cd "$work/tree" && eval "$3" && ! L=lib sh "tests/lint/$2" >"$work/log" 2>&1); then
        echo "[       OK ] $1"
    else
        cat "$work/log"
        echo "[  FAILED  ] $1"
        failed=1
    fi
}

plant floors_notices_a_climb floors.sh \
    "echo '#include \"plan/planner.h\"' >>src/base/sort.c"
plant floors_notices_strangers_that_meet floors.sh \
    "echo '#include \"slice/cut.h\"' >>src/exact/search.c"
plant floors_notices_a_program_that_looks_inside floors.sh \
    "echo '#include \"base/sort.h\"' >>src/cli/main.c"
plant exports_notices_a_name_that_the_map_lacks exports.sh \
    "sed -i '/sp_version;/d' lib/slimpack.map"
plant header_notices_a_broken_header header.sh \
    "sed -i 's/#include <stdint.h>//' include/slimpack.h"
plant orphans_notices_a_test_that_is_not_run orphans.sh \
    "sed -i 's,wildcard tests/unit/[*].c,wildcard tests/unit/test_abi.c,' Makefile"
plant sources_notices_floating_point sources.sh "echo 'double x;' >>src/plan/taper.c"
plant sources_notices_malloc sources.sh "echo 'void *p(void) { return malloc(1); }' >>src/plan/taper.c"
plant sources_notices_output sources.sh "echo 'void p(void) { puts(\"\"); }' >>src/plan/taper.c"
plant readme_notices_another_example readme.sh "sed -i 's/dp=4/dp=5/' README.md"
cd "$top"
exit $failed
