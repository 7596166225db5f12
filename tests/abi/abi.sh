#!/bin/sh
# abi.sh - today's library does what programs built against release 1.0 need of it:
# symbols and types by abidiff (a release that appends a field to a sized struct takes a
# new baseline, and keeps the old program), constants by their values, and an old program that runs.
# Each judge is shown to see a break first.
set -u
L=${L:-lib}
base=tests/abi/1.0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
say() {
    [ "$1" = 0 ] && echo "[       OK ] $2" && return
    echo "[  FAILED  ] $2"
    [ -s "$work/log" ] && head -n 40 "$work/log"
    failed=1
}

# kept FILE: every constant of the baseline is in the file with its value.
kept() {
    [ -s "$1" ] && ! grep -vxFf "$1" "$base/constants.txt" >"$work/log"
}
sh tests/abi/constants.sh include >"$work/constants" 2>"$work/log"
kept "$work/constants"
say $? constants_have_the_values_of_1_0
mkdir "$work/changed"
sed 's/^    SP_PLANNER_EFFORT = 2,/    SP_PLANNER_EFFORT = 3,/' include/slimpack.h >"$work/changed/slimpack.h"
sh tests/abi/constants.sh "$work/changed" >"$work/constants" 2>&1
! kept "$work/constants"
say $? an_enumerator_that_changes_is_noticed
sed 's/X(SP_ERR_ABI, -7,/X(SP_ERR_ABI, -17,/' include/slimpack.h >"$work/changed/slimpack.h"
sh tests/abi/constants.sh "$work/changed" >"$work/constants" 2>&1
! kept "$work/constants"
say $? a_status_that_changes_is_noticed

${CC:-cc} -std=c11 -I$base tests/abi/old_program.c -L"$L" -lslimpack ${SANITIZE:-} -o "$work/old" >"$work/log" 2>&1 &&
    LD_LIBRARY_PATH=$L "$work/old" >"$work/out" 2>"$work/log" && [ "$(cat "$work/out")" = '6000 tokens' ]
say $? program_of_1_0_runs

if ! command -v abidiff >/dev/null 2>&1; then
    echo '[  SKIPPED ] symbols_and_types_are_those_of_1_0: abidiff (abigail-tools) is not installed'
    exit $failed
fi
[ -n "${SANITIZE:-}" ] && exit $failed
# differs LIBRARY HEADERS: what abidiff says is fit for a minor release: additions only.
fits() {
    abidiff --no-added-syms --headers-dir1 $base --headers-dir2 "$2" $base/slimpack.abi "$1" >"$work/log" 2>&1
}
fits "$L/libslimpack.so" include
say $? symbols_and_types_are_those_of_1_0

# A library with one field of sp_stats wider, and one without a symbol.
cp -r src lib/slimpack.map "$work"
mkdir "$work/include"
rebuild() {
    ${CC:-cc} -std=c11 -D_POSIX_C_SOURCE=200809L -shared -fPIC -O0 -g -w -I"$work/src" -I"$work/include" \
        $(find "$work/src" -name '*.c' ! -path '*/cli/*') -Wl,--version-script,"$work/slimpack.map" \
        -Wl,-soname,libslimpack.so.1 -o "$work/libslimpack.so" -lm -lpthread >"$work/log" 2>&1
}
sed 's/^    int32_t first_replica;/    int64_t first_replica;/' include/slimpack.h >"$work/include/slimpack.h"
! cmp -s include/slimpack.h "$work/include/slimpack.h" && rebuild && ! fits "$work/libslimpack.so" "$work/include" && ! grep -q 'No such file' "$work/log"
say $? a_type_that_changes_is_noticed
cp include/slimpack.h "$work/include"
sed -i '/sp_batch_longest;/d' "$work/slimpack.map"
rebuild && ! fits "$work/libslimpack.so" include && grep -q sp_batch_longest "$work/log"
say $? a_symbol_that_goes_is_noticed
exit $failed
