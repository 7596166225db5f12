#!/bin/sh
# page.sh - drives pages of `slimpack report` in headless Chromium: see page.py.
# Skipped where there is no Chromium, no python3, or no JSON in the program.
set -u
here=$(cd "$(dirname "$0")" && pwd)
SLIMPACK=${SLIMPACK:-build/slimpack}
skip() {
    echo "[  SKIPPED ] pages_in_a_browser: $1"
    exit 77
}
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) ||
    skip "no chromium"
command -v python3 >/dev/null 2>&1 || skip "no python3"
"$SLIMPACK" --version | grep -q 'JSON: none' && skip "the program is built without JSON"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# page NAME ARGUMENT... : a plan of generated lengths and its page
page() {
    name=$1 count=$2
    shift 2
    "$SLIMPACK" generate --distribution lognormal:1800,1.5,262144 --count "$count" |
        "$SLIMPACK" plan - --tp 8 --quiet --json "$work/plan.json" "$@" &&
        "$SLIMPACK" report "$work/plan.json" --html "$work/$name.html" || exit 1
}

page merged 64 --dp 4 --pp 4 --cp 2 --set max_packs=24 --set pipeline=zero-bubble
page large 4096 --dp 64 --pp 8 --set forward_packs=256 --set backward_packs=256
# Last, for its plan file is used once more.
page small 64 --dp 2 --pp 2 --set max_packs=16
sed 's/"model":"llama2-7b"/"model":"<\/script><b>own"/' "$work/plan.json" >"$work/own.json"
"$SLIMPACK" report "$work/own.json" --html "$work/own.html" || exit 1
python3 -B "$here/page.py" "$browser" "$work"
