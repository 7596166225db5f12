#!/bin/sh
# The header declares what the map lists and the shared object exports: the same names.
set -u
L=${L:-lib}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
sed -n '/^SP_API/,/;/p' include/slimpack.h | grep -oE '\bsp_[a-z0-9_]+\(' | tr -d '(' | sort -u >"$work/header"
grep -oE '\bsp_[a-z0-9_]+' lib/slimpack.map | sort -u >"$work/map"
nm -D --defined-only "$L/libslimpack.so" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort -u >"$work/object"
bad=0
[ -s "$work/header" ] || { echo "no declarations found"; bad=1; }
diff "$work/header" "$work/map" || { echo "header and lib/slimpack.map differ"; bad=1; }
diff "$work/map" "$work/object" || { echo "lib/slimpack.map and $L/libslimpack.so differ"; bad=1; }
[ $bad = 0 ] && echo '[       OK ] header_map_and_object_agree' && exit 0
echo '[  FAILED  ] header_map_and_object_agree'
exit 1
