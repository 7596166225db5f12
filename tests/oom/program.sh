#!/bin/sh
# program.sh - each verb of the program with each of its allocations failing in turn: it
# ends with 0 or 1, never by a signal, says so in one line, and leaves no half-written
# file. Where a verb allocates often, every n-th is failed beyond the first hundred.
set -u
[ -n "${SANITIZE:-}" ] && { echo "skipped: a sanitizer has a malloc of its own"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
shim=$work/failing_malloc.so
if ! ${CC:-cc} -shared -fPIC -O1 tests/oom/failing_malloc.c -o "$shim" 2>"$work/log"; then
    echo "skipped: no malloc can be put in front of this system's"
    exit 77
fi
program=$(pwd)/${SLIMPACK:-build/slimpack}
cd "$work" || exit 1
"$program" generate --distribution lognormal:600,1,8000 --count 40 --seed 2 >lengths.txt
"$program" plan lengths.txt --dp 2 --pp 2 --tp 8 --json plan.json --quiet || exit 1
printf '{"n": 5}\n{"n": 7}\n' >lengths.jsonl
printf 'start,length,forward_s,backward_s\n0,1024,0.001,0.002\n0,4096,0.005,0.010\n4096,4096,0.006,0.012\n0,16384,0.022,0.052\n' >fit.csv
failed=0

# whole FILE: it is absent, or complete.
whole() {
    [ ! -e "$1" ] && return 0
    case $1 in
    *.json) tail -c 3 "$1" | grep -q '}' ;;
    *) tail -c 20 "$1" | grep -q '</html>' ;;
    esac
}

# survives NAME OUT ARGUMENT...
survives() {
    name=$1 out=$2
    shift 2
    COUNT_TO=$work/count LD_PRELOAD=$shim "$program" "$@" >stdout 2>stderr || { cat stderr; failed=1; }
    count=$(cat count) k=1 tried=0 bad=
    while [ "$k" -le "$count" ] && [ -z "$bad" ]; do
        rm -f "$out"
        FAIL_AT=$k LD_PRELOAD=$shim timeout 20 "$program" "$@" >stdout 2>stderr
        code=$?
        [ $code -le 1 ] || bad="exit status $code"
        [ -n "$bad" ] || [ $code = 0 ] || [ "$(wc -l <stderr)" = 1 ] || bad="$(wc -l <stderr) lines on standard error"
        whole "$out" || bad="$out is half written"
        [ -z "$bad" ] || echo "allocation $k of $count: $bad"
        tried=$((tried + 1))
        if [ $k -lt 100 ]; then k=$((k + 1)); else k=$((k + 1 + count / 100)); fi
    done
    if [ -z "$bad" ] && [ $tried -ge 1 ]; then
        echo "[       OK ] ${name}_survives_$tried"
    else
        echo "[  FAILED  ] ${name}_survives"
        failed=1
    fi
}

survives plan out.json plan lengths.txt --dp 2 --pp 2 --tp 8 --json out.json --trace -
survives steps none plan lengths.txt --batch 10 --steps all --tp 8
survives compare out.json compare lengths.txt --dp 2 --pp 2 --tp 8 --json out.json
survives check none check plan.json
survives simulate none simulate plan.json --device h200
survives report out.html report plan.json --html out.html
survives fit none fit fit.csv
survives lengths none lengths lengths.jsonl --field n
survives tree none lengths .
survives generate none generate --distribution uniform:1,10 --count 5
survives params none params
exit $failed
