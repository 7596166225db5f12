#!/bin/sh
# The public header stands alone, twice in a file and in two files of a program, in
# C11, C17 and C++17, without a warning.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
printf '#include "slimpack.h"\n#include "slimpack.h"\nint other(void);\nint other(void) { return SP_OK; }\n' >"$work/a.c"
printf '#include "slimpack.h"\nint other(void);\nint main(void) { sp_stats s = SP_STATS_INIT; sp_pack_view v = SP_PACK_VIEW_INIT; return other() + (s.struct_size != sizeof s) + (v.struct_size != sizeof v); }\n' >"$work/b.c"
cp "$work/a.c" "$work/a.cc"
cp "$work/b.c" "$work/b.cc"
failed=0

try() {
    name=$1
    shift
    if "$@" -Wall -Wextra -Wpedantic -Werror -Iinclude -o "$work/program" && "$work/program"; then
        echo "[       OK ] header_alone_$name"
    else
        echo "[  FAILED  ] header_alone_$name"
        failed=1
    fi
}

for cc in ${CC:-cc} clang; do
    command -v $cc >/dev/null 2>&1 || continue
    try "c11_$cc" $cc -std=c11 "$work/a.c" "$work/b.c"
    try "c17_$cc" $cc -std=c17 "$work/a.c" "$work/b.c"
done
tried=
for cxx in ${CXX:-g++} clang++; do
    command -v $cxx >/dev/null 2>&1 || continue
    tried=1
    try "cxx17_$cxx" $cxx -std=c++17 "$work/a.cc" "$work/b.cc"
done
[ -n "$tried" ] || echo '[  SKIPPED ] header_alone_cxx17'
exit $failed
