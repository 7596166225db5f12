#!/bin/sh
# constants.sh - prints every enumerator and number that the header in a folder defines,
# with its value, a line each.
#
#   constants.sh FOLDER
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Enumerators, those that SP_STATUS_MAP makes included; then macros that stand for a number.
{
    echo '#include "slimpack.h"' | ${CC:-cc} -I"$1" -E -P -x c - |
        awk '/^enum|^typedef enum/ { on = 1 } on { print } /}/ { on = 0 }' |
        grep -oE '\bSP_[A-Z0-9_]+ *=' | tr -d ' ='
    sed -nE 's/^#define (SP_[A-Z0-9_]+) +\(?-?[0-9A-Z_(].*/\1/p' "$1/slimpack.h" |
        grep -vE '_INIT$|^SP_API$|^SP_STATUS_MAP$|^SP_VERSION|^SP_STATUS_ENUM$'
} | LC_ALL=C sort -u >"$work/names"
{
    printf '#include <stdio.h>\n#include "slimpack.h"\nint main(void)\n{\n'
    sed 's/.*/    printf("%s %lld\\n", "&", (long long)(&));/' "$work/names"
    printf '    return 0;\n}\n'
} >"$work/print.c"
${CC:-cc} -I"$1" "$work/print.c" -o "$work/print"
"$work/print"
