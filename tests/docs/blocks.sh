#!/bin/sh
# blocks.sh - every code block of README and docs is run or compiled.
#
# ```sh blocks of a page run one after the other in a folder of the page's own, with the
# program on the path; a line that begins with make is only held to be a target.
# ```c and ```cpp blocks are whole programs and are compiled and run; ```python blocks
# of a page are one program, and run where python3 is. ```text is what something prints; ```console blocks, commands with
# their answers, are those of docs/inputs.md. There are no other fences.
set -u
root=$(pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
ln -s "$root/${SLIMPACK:-build/slimpack}" "$work/bin/slimpack"
PATH=$work/bin:$PATH
failed=0
say() {
    [ "$1" = 0 ] && echo "[       OK ] $2" && return
    echo "[  FAILED  ] $2"
    tail -n 12 "$work/log"
    failed=1
}

# split PAGE: writes the page's blocks as 01.sh, 02.c ... into the current folder.
split() {
    awk '
    /^```/ && on { on = 0; close(file); next }
    /^```/ { on = 1; file = sprintf("%02d.%s", ++n, substr($0, 4)); printf "" > file; next }
    on { print > file }
    END { if (on) print "a block that does not end" > "99.open" }' "$1"
}

run_sh() {
    sed "s|^make\\(.*\\)|env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -C '$root' -n \\1 >/dev/null|" "$1" >"$1.run"
    sh -e "./$1.run" # a shell of its own: -e has no effect to the left of ||
}

run_block() {
    case $1 in
    *.sh) run_sh "$1" ;;
    *.c) ${CC:-cc} -std=c11 -Wall -Wextra -Werror -I"$root/include" "$1" "$root/${L:-lib}/libslimpack.a" -lm \
        -lpthread ${SANITIZE:-} -o block && ./block ;;
    *.cpp) ! command -v g++ || { g++ -std=c++17 -Wall -Wextra -Werror -I"$root/include" "$1" \
        "$root/${L:-lib}/libslimpack.a" -lm -lpthread ${SANITIZE:-} -o block && ./block; } ;;
    *.python) cat "$1" >>all.py && { ! command -v python3 || [ -n "${SANITIZE:-}" ] ||
        SLIMPACK_LIBRARY=$root/${L:-lib}/libslimpack.so.1 PYTHONPATH=$root/src/python python3 all.py; } ;;
    *.text) ;;
    *.console) grep -q docs/inputs.md "$root/tests/cli/formats.sh" ;; # which runs them, answers and all
    *) echo "no rule for the block $1"; false ;;
    esac
}

total=0
for page in README.md docs/*.md; do
    name=$(basename "$page" .md)
    mkdir "$work/$name"
    cd "$work/$name" || exit 1
    split "$root/$page"
    bad=0
    for block in [0-9]*; do
        [ -e "$block" ] || continue
        total=$((total + 1))
        run_block "$block" >"$work/log" 2>&1 || { bad=1; echo "$page: block $block:"; break; }
    done
    cd "$root" || exit 1
    say $bad "blocks_of_$name"
done
[ $total -ge 10 ] || echo "only $total blocks were found" >"$work/log"
[ $total -ge 10 ]
say $? blocks_were_found
exit $failed
