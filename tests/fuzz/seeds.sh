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

# Length files: the first three bytes are --skip, --batch and which --field.
lengths() { # name, head, what writes the rest
    file=$seeds/lengths/$1
    printf "$2" >"$file"
    shift 2
    "$@" >>"$file"
}
lengths generated '\0\0\0' "$SLIMPACK" generate --distribution lognormal:1800,1.5,262144 --count 40 --seed 1
lengths part '\3\4\0' "$SLIMPACK" generate --distribution uniform:1,9 --count 9 --seed 2
lengths blanks '\0\0\0' printf '# comment\r\n\r\n  12\t\n7 # more\n+3\n1e3\n2147483647\n'
lengths large '\0\0\0' printf '2147483648\n'
lengths wrong '\0\1\0' printf '%s\n' 5 0 -1 1.5
lengths empty '\0\0\0' printf ''
lengths json '\0\0\1' printf '{"length":%s}\n' 5 '[1,2,3]' '"three words"' 7.5
lengths json-text '\1\1\2' printf '{"text":"a\\u00e9 %s","x":null}\r\n\n' b c d
lengths json-nested '\0\0\3' printf '{"a":{"b":[%s]}}\n' 1 '[],{}' '"a"'
lengths json-no-field '\0\0\0' printf '{"length":5}\n'
npy() { # version, header, values as printf's escapes
    size=$((${#2} + 1))
    printf "\223NUMPY\00$1\0\\$(printf '%03o' $size)\0$2\n"
    printf "$3"
}
lengths npy-4 '\0\0\0' npy 1 "{'descr': '<i4', 'fortran_order': False, 'shape': (3,), }" '\5\0\0\0\7\0\0\0\377\377\377\177'
lengths npy-8 '\1\1\0' npy 1 "{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }" '\5\0\0\0\0\0\0\0\7\0\0\0\0\0\0\0'
lengths npy-short '\0\0\0' npy 1 "{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }" '\5\0\0\0'
lengths npy-wrong '\0\0\0' npy 1 "{'descr': '>i4', 'fortran_order': True, 'shape': (2, 2), }" '\5\0\0\0'
idx() { # 2 sequences, 2 documents: sizes, then pointers, then documents
    printf 'MMIDIDX\0\0\1\0\0\0\0\0\0\0\4\2\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0'
    printf '\5\0\0\0\7\0\0\0\0\0\0\0\0\0\0\0\24\0\0\0\0\0\0\0'
    printf '\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0'
}
lengths idx '\0\0\0' idx

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
