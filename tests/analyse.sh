#!/bin/sh
# analyse.sh - clang-tidy (.clang-tidy says which checks) and cppcheck over src: nothing
# may be found. Each file is a line; a tool that is missing is a skipped one.
set -u
failed=0
say() {
    [ "$1" = 0 ] && echo "[       OK ] $2" && return
    echo "[  FAILED  ] $2"
    failed=1
}

if command -v clang-tidy >/dev/null 2>&1; then
    bad=0
    for file in src/*/*.c; do
        found=$(clang-tidy --quiet "$file" -- -std=c11 -D_POSIX_C_SOURCE=200809L ${JANSSON_CFLAGS:-} \
            -Isrc -Iinclude 2>/dev/null | grep -E ' (error|warning): ')
        [ -z "$found" ] || { echo "$found"; bad=1; }
    done
    say $bad clang_tidy_finds_nothing
else
    echo '[  SKIPPED ] clang_tidy_finds_nothing'
fi
if command -v cppcheck >/dev/null 2>&1; then
    # ctuuninitvar takes a struct that memset clears for one that nobody set.
    found=$(cppcheck --enable=warning,performance,portability --std=c11 --inline-suppr --quiet \
        --suppress=ctuuninitvar -U__clang_analyzer__ -Isrc -Iinclude --template='{file}:{line}: {id}: {message}' src 2>&1)
    [ -z "$found" ] || echo "$found"
    [ -z "$found" ]
    say $? cppcheck_finds_nothing
else
    echo '[  SKIPPED ] cppcheck_finds_nothing'
fi
exit $failed
