#!/bin/sh
# readme_table.sh - prints the README's table and puts it between its marks.
set -eu
data=${SLIMPACK_DATA:-../shared/data}
table=$(build/slimpack compare "$data/longtail-256k.txt" --batch 1024 --dp 8 --tp 8 --pp 4 \
    --model llama2-7b --device h100 --set memory_bytes=200000000000 | sed -n '/^policy/,$p')
echo "$table"
echo "$table" | sed 's/^/    /' >build/readme_table
sed -i -e '/<!-- compare:begin -->/,/<!-- compare:end -->/{//!d}' \
    -e '/<!-- compare:begin -->/r build/readme_table' README.md
