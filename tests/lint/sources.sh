#!/bin/sh
# What the library's sources never contain: floating point where a plan is shaped,
# allocation past the hooks, output, exits, the environment, the locale, unfinished
# work; and files or lines too long to read.
set -u
failed=0

# forbid NAME PATTERN FILE...: comments are not looked at.
forbid() {
    name=$1 pattern=$2
    shift 2
    found=$(for f in "$@"; do
        [ -e "$f" ] || continue
        sed -e 's,/\*.*\*/,,' -e 's,^ *\*.*,,' -e 's,/\*.*,,' "$f" | grep -nE "$pattern" | sed "s,^,$f:,"
    done)
    if [ -z "$found" ]; then
        echo "[       OK ] $name"
    else
        echo "$found"
        echo "[  FAILED  ] $name"
        failed=1
    fi
}

forbid no_floating_point_where_plans_are_shaped '\b(double|float)\b' \
    src/base/*.[ch] src/cost/*.[ch] src/schedule/*.[ch] src/slice/*.[ch] src/exact/*.[ch] \
    src/partition/*.[ch] src/simulate/*.[ch] src/plan/*.[ch]
forbid no_allocation_past_the_hooks '\b(malloc|calloc|realloc|free|alloca|strdup) *\(' \
    $(find src -name '*.[ch]' -not -path 'src/cli/*' -not -path 'src/base/alloc.c')
forbid no_output_exit_environment_or_locale \
    '\b(printf|fprintf|puts|putchar|perror|abort|exit|_Exit|assert|getenv|setlocale|signal|qsort|time|clock_gettime) *\(' \
    $(find src -name '*.[ch]' -not -path 'src/cli/*')
forbid no_unfinished_work 'TODO|FIXME|XXX' $(find src include tests -name '*.[ch]')

long=$(find src include tests -name '*.[ch]' -exec awk 'length > 100 { print FILENAME ":" FNR ": " length " columns" }' {} \;)
sizes=$(find src -name '*.[ch]' -exec wc -l {} \; | awk '$1 > 500 { print $2 ": " $1 " lines" }')
if [ -z "$long$sizes" ]; then
    echo '[       OK ] files_and_lines_of_readable_size'
else
    echo "$long$sizes"
    echo '[  FAILED  ] files_and_lines_of_readable_size'
    failed=1
fi
exit $failed
