#!/bin/sh
# same_bytes.sh - I9: the same plans, whatever the compiler and its optimisation.
#
# Builds the library's sources and bytes.c once for each compiler command given
# (default: gcc -O0, gcc -O3, clang -O2) under build/bytes, runs them and compares
# what they print. A compiler that is not installed is skipped and named; fewer
# than two make the whole a skip (exit 77). Run from the top of the tree.
#
#     tests/property/same_bytes.sh ['gcc -O0' 'gcc -O3' ...]
set -eu

[ $# -gt 0 ] || set -- 'gcc -O0' 'gcc -O3' 'clang -O2'
sources="$(find src -name '*.c' -not -path 'src/cli/*' | LC_ALL=C sort)"
helpers='tests/property/bytes.c tests/support/random_case.c'
out=build/bytes
cases="${SLIMPACK_BYTES_CASES:-80}"
first=
built=0

mkdir -p "$out"
for compiler in "$@"; do
    if ! command -v "${compiler%% *}" >/dev/null; then
        echo "same_bytes: ${compiler%% *} is not installed, skipped"
        continue
    fi
    name="$out/$(echo "$compiler" | tr -c 'A-Za-z0-9\n' _)"
    # Unquoted on purpose: a compiler comes with its options.
    $compiler -std=c11 -Iinclude -Isrc -pthread -o "$name" $sources $helpers -lm
    "$name" "$cases" >"$name.txt"
    built=$((built + 1))
    if [ -z "$first" ]; then
        first="$name.txt"
    elif ! cmp "$first" "$name.txt"; then
        diff "$first" "$name.txt" | head -n 6
        echo "same_bytes: '$compiler' plans otherwise than the first compiler"
        exit 1
    fi
done
if [ "$built" -lt 2 ]; then
    echo "same_bytes: $built compiler, nothing to compare"
    exit 77
fi
if ! grep -q ' makespan ' "$first"; then
    echo "same_bytes: no case has a plan"
    exit 1
fi
echo "same_bytes: $(wc -l <"$first") cases, $built builds, the same bytes"
