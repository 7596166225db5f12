#!/bin/sh
# manual.sh - writes the manual page: its frame with the program's own help filled in.
#
#   manual.sh PROGRAM VERSION < docs/slimpack.1
set -eu
program=$1 version=$2

escape() {
    sed 's/\\/\\\\/g; s/-/\\-/g'
}
verbs() {
    "$program" help | awk '/^  [a-z]+ / && $1 != "help" { print $1 }'
}
# A tag for each line "  NAME ARGUMENT   what it does".
tagged() {
    escape | sed -n 's/^  \([^ ].*[^ ]\)   *\([^ ].*\)$/.TP\n.B \1\n\2/p'
}

while IFS= read -r line; do
    case $line in
    @VERBS@) "$program" help | sed '/^  help /d; /^  \\*--version/d' | tagged ;;
    @OPTIONS@) for verb in $(verbs); do "$program" help "$verb"; done |
        grep '^  --' | sort -u | tagged ;;
    *) printf '%s\n' "$line" | sed "s/@VERSION@/$version/g" ;;
    esac
done
