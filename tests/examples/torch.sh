#!/bin/sh
# The PyTorch example trains by plans, on several processes, to the losses of plain
# training. Skipped where no interpreter has torch.
set -u
for python in "${PYTHON:-python3}" /usr/bin/python3; do
    [ -z "${SANITIZE:-}" ] && "$python" -c 'import torch.distributed' 2>/dev/null && break
    python=
done
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export SLIMPACK_LIBRARY="$(pwd)/${L:-lib}/libslimpack.so.1"
export PYTHONPATH="$(pwd)/src/python" PYTHONDONTWRITEBYTECODE=1
failed=0

# trains NAME TOPOLOGY MERGED: 20 steps, MERGED (0 or 1) of them with merges at least.
trains() {
    if [ -z "$python" ]; then
        echo "[  SKIPPED ] $1"
    elif "$python" docs/examples/train_torch.py "$2" >"$work/log" 2>&1 &&
        [ "$(grep -c '^ *[0-9].*e[-+][0-9][0-9]$' "$work/log")" = 20 ] &&
        [ "$(grep -c '^ *[0-9]* *[0-9]* *[1-9][0-9]* ' "$work/log")" -ge "$3" ]; then
        echo "[       OK ] $1"
    else
        sed 's/^/    /' "$work/log"
        echo "[  FAILED  ] $1"
        failed=1
    fi
}

trains gpt_trained_by_plans_on_a_pipeline "dp=2 pp=2" 1
trains gpt_trained_by_plans_on_context_ranks "cp=2" 0
exit $failed
