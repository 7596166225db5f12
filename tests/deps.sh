#!/bin/sh
# deps.sh - installs the packages that are missing, where that may be done.
#
#   deps.sh required|optional PACKAGE:TEST ...
#
# TEST is a header that the compiler must find, or @program. Installs by apt-get as
# root or through sudo. What stays missing is named; required packages then fail.
set -u
kind=$1
shift

has() {
    case $1 in
    @*) command -v "${1#@}" >/dev/null 2>&1 ;;
    *) printf '#include <stddef.h>\n#include <stdarg.h>\n#include <setjmp.h>\n#include <stdint.h>\n#include <%s>\n' "$1" |
        ${CC:-cc} -x c -E - >/dev/null 2>&1 ;;
    esac
}

missing() {
    for need; do
        has "${need#*:}" || printf ' %s' "${need%%:*}"
    done
}

list=$(missing "$@")
[ -z "$list" ] && exit 0
sudo=
[ "$(id -u)" = 0 ] || sudo='sudo -n'
if command -v apt-get >/dev/null 2>&1 && $sudo true 2>/dev/null; then
    echo "installing:$list"
    { $sudo apt-get update -q && $sudo env DEBIAN_FRONTEND=noninteractive \
        apt-get install -q -y --no-install-recommends $list; } >/tmp/slimpack-deps.$$ 2>&1 ||
        tail -n 3 /tmp/slimpack-deps.$$ >&2
    rm -f /tmp/slimpack-deps.$$
fi
list=$(missing "$@")
[ -z "$list" ] && exit 0
echo "missing packages:$list" >&2
[ "$kind" = optional ] && { echo "going on without them" >&2; exit 0; }
exit 1
