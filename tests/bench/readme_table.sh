#!/bin/sh
# readme_table.sh - prints the README's tables and puts them between their marks: what
# build/slimpack says of two data files, under the device's own memory and, where
# fixed-pack does not fit that, under a raised cap.
set -eu
data=${SLIMPACK_DATA:-../shared/data}
tables=$(mktemp)
trap 'rm -f "$tables"' EXIT

# table FILE OPTION...: the command and its table, indented as the README wants them.
table() {
    file=$1
    shift
    said=$(build/slimpack compare "$data/$file" --batch 1024 --dp 8 --tp 8 --pp 4 \
        --model llama2-7b --device h100 "$@")
    rows=$(echo "$said" | sed -n '/^policy/,$p')
    [ -n "$rows" ] || { echo "readme_table: no table of $file" >&2; exit 1; }
    printf '\n%s\n%s\n' "$file${*:+, $*}:" "$rows" | sed 's/^./    &/'
}

{
    table longtail-64k.txt
    table longtail-256k.txt --set memory_bytes=200000000000
    echo
} >"$tables"
cat "$tables"
sed -i -e '/<!-- compare:begin -->/,/<!-- compare:end -->/{//!d}' \
    -e "/<!-- compare:begin -->/r $tables" README.md
