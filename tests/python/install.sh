#!/bin/sh
# install.sh - the installed package is found by its interpreter, finds the installed
# library, and leaves nothing behind when it is uninstalled.
set -u
python=${PYTHON:-python3}
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 8))' 2>/dev/null || exit 77
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

report() {
    if [ "$1" = 0 ]; then
        echo "[       OK ] $2"
    else
        sed 's/^/    /' "$work/log"
        echo "[  FAILED  ] $2"
        failed=1
    fi
}

# run GOAL NAME=VALUE...: on what is built already, for whatever flags
run() {
    make -s --no-print-directory -o all B="${B:-build}" PREFIX=/usr/local PYTHON="$python" "$@" >"$work/log" 2>&1
}

# A sanitized library wants its runtime in the interpreter: the path alone is looked at.
loads() {
    dir=$(dirname "$1")
    case ${SANITIZE:-} in ?*) [ -f "$dir/../../libslimpack.so.1" ] && return ;; esac
    (cd / && env -u SLIMPACK_LIBRARY -u LD_LIBRARY_PATH PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$dir" "$python" -c "
import slimpack, sys
assert slimpack.__path__ == ['$1'], slimpack.__path__
assert slimpack._abi.lib._name == '$work/a/usr/local/lib/libslimpack.so.1', slimpack._abi.lib._name")
}

run install DESTDIR="$work/a" && package=$(find "$work/a" -type d -name slimpack ! -path '*cmake*') && loads "$package" >"$work/log" 2>&1
report $? python_package_finds_the_installed_library
run uninstall DESTDIR="$work/a" && [ -z "$(find "$work/a" ! -type d)" ] && [ ! -e "$package" ]
report $? python_package_is_uninstalled

run install DESTDIR="$work/b" PYTHONDIR=/site && [ -f "$work/b/site/slimpack/py.typed" ] &&
    run uninstall DESTDIR="$work/b" PYTHONDIR=/site && [ -z "$(find "$work/b" ! -type d)" ]
report $? python_package_goes_where_it_is_told

run install DESTDIR="$work/c" PYTHON= && grep -q 'package is not installed' "$work/log" &&
    [ -z "$(find "$work/c" -name '*.py')" ] && run uninstall DESTDIR="$work/c" PYTHON= &&
    [ -z "$(find "$work/c" ! -type d)" ]
report $? python_package_is_left_out_without_python

# What where.py says is a folder that the interpreter itself looks into.
(cd / && "$python" - "$OLDPWD/src/python/where.py") >"$work/log" 2>&1 <<'PYTHON'
import runpy, site, sys
folder = runpy.run_path(sys.argv[1])["folder"]
for path in site.getsitepackages():
    prefix = path[: path.index("/lib")]
    assert folder(prefix) in site.getsitepackages(), (prefix, folder(prefix))
assert folder("/opt/x") == "/opt/x/lib/python%d.%d/site-packages" % sys.version_info[:2]
assert folder("/usr/loc").startswith("/usr/loc/lib/")
PYTHON
report $? python_package_goes_where_its_interpreter_looks
exit $failed
