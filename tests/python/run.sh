#!/bin/sh
# run.sh - the Python module: its types, and its tests without and with numpy.
#
# Takes the library from $L (default lib) and the program from $SLIMPACK. The interpreter
# is $PYTHON or python3; numpy and mypy may be those of another one, such as the
# distribution's. A sanitized library wants its runtime loaded before the interpreter.
set -u
python=${PYTHON:-python3}
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 8))' 2>/dev/null; then
    echo "[  SKIPPED ] python: no python3 of 3.8 or newer"
    exit 77
fi
export SLIMPACK_LIBRARY="$(pwd)/${L:-lib}/libslimpack.so.1"
export PYTHONPATH="$(pwd)/src/python" PYTHONDONTWRITEBYTECODE=1
failed=0

report() {
    if [ "$1" = 0 ]; then
        echo "[       OK ] $2"
    else
        echo "[  FAILED  ] $2"
        failed=1
    fi
}

# with MODULE: the first interpreter that has it.
with() {
    for p in "$python" /usr/bin/python3; do
        "$p" -c "import $1" 2>/dev/null && echo "$p" && return
    done
}

checker=$(with mypy)
if [ -n "$checker" ]; then
    "$checker" -m mypy --strict --no-error-summary --python-version 3.8 --cache-dir /dev/null src/python/slimpack
    report $? python_types_hold
else
    echo "[  SKIPPED ] python_types_hold"
fi

case ${SANITIZE:-} in
*address*)
    case $(${CC:-cc} --version) in
    *clang*)
        echo "[  SKIPPED ] python_package: clang's runtime is in the program, or loaded before it, not both"
        exit 77
        ;;
    esac
    LD_PRELOAD="$(${CC:-cc} -print-file-name=libasan.so) $(${CC:-cc} -print-file-name=libubsan.so)"
    ASAN_OPTIONS=detect_leaks=0 # the interpreter's own
    export LD_PRELOAD ASAN_OPTIONS
    ;;
esac

"$python" -W error tests/python/runner.py without_numpy || failed=1
numpy=$(with numpy)
if [ -n "$numpy" ]; then
    "$numpy" -W error tests/python/runner.py with_numpy || failed=1
else
    echo "[  SKIPPED ] python_with_numpy"
fi
exit $failed
