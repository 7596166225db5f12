#!/bin/sh
# What the library's sources never contain: floating point where a plan is shaped,
# allocation past the hooks, output, exits, the environment, the locale, unfinished
# work; and files or lines too long to read.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

# All code without comments and strings, as FILE:LINE: text.
find src -name '*.[ch]' | LC_ALL=C sort | xargs awk '
    FNR == 1 { inside = 0 }
    {
        line = ""
        for (rest = $0; rest != "";)
            if (inside) {
                at = index(rest, "*/")
                inside = at == 0
                rest = inside ? "" : substr(rest, at + 2)
            } else if (match(rest, /"([^"\\]|\\.)*"|\047\\?.\047|\/\*/)) {
                inside = substr(rest, RSTART, 2) == "/*"
                line = line substr(rest, 1, RSTART - 1) " "
                rest = substr(rest, RSTART + RLENGTH)
            } else {
                line = line rest
                rest = ""
            }
        print FILENAME ":" FNR ": " line
    }' >"$work/code"

# forbid NAME PATTERN EXCEPT FOLDER...: no code in these folders of src matches, but
# in the files excepted, a pattern. A folder without files is no pass.
forbid() {
    name=$1 pattern=$2 except=$3
    shift 3
    found=$(for folder; do
        grep "^src/$folder/" "$work/code" | grep -v "^src/$except:" >"$work/folder"
        [ -s "$work/folder" ] || echo "src/$folder: no code found"
        grep -E "^[^:]*:[0-9]+: .*($pattern)" "$work/folder"
    done)
    if [ -z "$found" ]; then
        echo "[       OK ] $name"
    else
        echo "$found"
        echo "[  FAILED  ] $name"
        failed=1
    fi
}

# Every folder of src but the program's and the Python package's.
library=$(ls src | grep -vxE 'cli|python')

# Measured times are floating point: cost/fit*.[ch] and simulate/calibrate.c turn them
# into the integers of a model or device, once, before any plan.
forbid no_floating_point_where_plans_are_shaped '\b(double|float)\b|\b[0-9]+\.[0-9]|math\.h' \
    '\(cost/fit[a-z_]*\.[ch]\|simulate/calibrate\.c\)' base cost schedule slice exact partition simulate plan
forbid no_allocation_past_the_hooks \
    '\b(malloc|calloc|realloc|aligned_alloc|posix_memalign|alloca|strdup)\b|\bfree *\(' \
    base/alloc.c $library
forbid no_output '\b(v?f?printf|v?dprintf|f?puts|f?putc|putchar|perror|fwrite) *\(|\b(stdout|stderr)\b' \
    none $library
forbid no_exit_environment_locale_or_time \
    '\b(abort|exit|_Exit|quick_exit|assert|(secure_)?getenv|setenv|environ|setlocale|localeconv|signal|qsort|s?rand|time|clock|clock_gettime) *\(' \
    none $library
unfinished=$(grep -rnE 'TODO|FIXME|XXX' src include tests docs README.md --include='*.[ch]' --include='*.md' --include='*.py')
if [ -z "$unfinished" ]; then
    echo '[       OK ] no_unfinished_work'
else
    echo "$unfinished"
    echo '[  FAILED  ] no_unfinished_work'
    failed=1
fi

long=$(find src include tests docs \( -name '*.[ch]' -a ! -path 'docs/*' -o -name '*.py' -a ! -path 'tests/browser/*' \) -exec awk 'length > 100 { print FILENAME ":" FNR ": " length " columns" }' {} \;)
sizes=$(find src docs \( -name '*.[ch]' -o -name '*.py' \) -exec wc -l {} \; | awk '$1 > 500 { print $2 ": " $1 " lines" }')
if [ -z "$long$sizes" ]; then
    echo '[       OK ] files_and_lines_of_readable_size'
else
    echo "$long$sizes"
    echo '[  FAILED  ] files_and_lines_of_readable_size'
    failed=1
fi
exit $failed
