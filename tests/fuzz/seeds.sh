#!/bin/sh
# seeds.sh - writes the seeds of the fuzz targets anew, by the project's own programs:
#
#     make fuzz-seeds
#
# Seeds that were findings once are called found-* and stay. A seed is a case where a
# search begins and a regression test, so none needs to be written anew when plans change.
set -eu
: "${B:=build}" "${SLIMPACK:=build/slimpack}"
seeds=tests/fuzz/seeds
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p $seeds/decode $seeds/topology $seeds/plan $seeds/builder $seeds/lengths $seeds/json $seeds/fit
find $seeds -type f ! -name 'found-*' -exec rm {} +
"$B/tests/fuzz/seeds" $seeds # decode, builder, plan, fit

# Topologies, and the names of all parameters with their defaults and an edge.
printf '%s\n' '' 'dp=8 pp=4 cp=2 tp=8' 'dp=8 pp=4 order=tp-cp-pp-dp' 'tp=2147483647' 'dp=65536 tp=65536' \
    'dp=0' 'dp=1 dp=2' 'order=tp-tp-dp-pp' 'zp=4' 'dp=' 'h100' 'llama2-7b' 'slimpack' >$seeds/topology/lines
for table in planner model device; do
    awk -v table=$table '/^## / { here = $2 } here == table && /^\| `/ {
        gsub(/[`|,]/, " "); match($0, /[0-9]+ to [0-9]+/); split(substr($0, RSTART, RLENGTH), bound, " ")
        print $1 "=" bound[1 + 2 * (NR % 2)] }' docs/parameters.md | split -l 9 - $seeds/topology/$table-
done

# Length files: the first two bytes are --skip and --batch.
{ printf '\0\0' && "$SLIMPACK" generate --distribution lognormal:1800,1.5,262144 --count 40 --seed 1; } >$seeds/lengths/generated
{ printf '\3\4' && "$SLIMPACK" generate --distribution uniform:1,9 --count 9 --seed 2; } >$seeds/lengths/part
printf '\0\0# comment\r\n\r\n  12\t\n7 # more\n+3\n1e3\n2147483647\n' >$seeds/lengths/blanks
printf '\0\0002147483648\n' >$seeds/lengths/large
printf '\0\1%s\n' 5 0 -1 1.5 >$seeds/lengths/wrong
printf '\0\0' >$seeds/lengths/empty

# Plans of each pipeline, with merges, context ranks and chunks.
plan() {
    name=$1 lengths=$2
    shift 2
    printf '%s\n' $lengths >"$work/lengths"
    "$SLIMPACK" plan "$work/lengths" --quiet --json "$seeds/json/$name" --set memory_bytes=9223372036854775807 "$@"
}
if "$SLIMPACK" plan --help | grep -q json; then
    plan one '7' --dp 1
    plan merge '900 40 7' --dp 2 --set max_packs=2 --set alignment=1
    plan context '90 40 7' --dp 1 --cp 2 --set max_packs=2
    plan stages '90 40 7 12' --dp 1 --pp 2 --set max_packs=2
    plan zero-bubble '90 40' --dp 1 --pp 2 --set max_packs=2 --set pipeline=zero-bubble
    plan chunks '90 40' --dp 1 --pp 2 --set max_packs=2 --set virtual_stages=2
fi
find $seeds -type f -size +4096c | grep . && echo 'seeds.sh: larger than 4096 bytes' && exit 1
echo "$(find $seeds -type f | wc -l) seeds"
