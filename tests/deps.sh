#!/bin/sh
# deps.sh - installs the packages that are missing, where that may be done.
#
#   deps.sh required|optional PACKAGE:TEST ... [required|optional PACKAGE:TEST ...]
#
# TEST is a header that the compiler must find, @program or /a/file. Installs by apt-get as
# root or through sudo, after one update. What stays missing is named; a required
# package then fails. An optional one that apt does not know never hinders another.
set -u

# Headers such as cmocka.h want these before them.
before='#include <stddef.h>\n#include <stdarg.h>\n#include <setjmp.h>\n#include <stdint.h>\n'

has() {
    case $1 in
    @*) command -v "${1#@}" >/dev/null 2>&1 ;;
    /*) [ -e "$1" ] ;;
    *) printf "$before#include <%s>\n" "$1" | ${CC:-cc} -x c -E - >/dev/null 2>&1 ;;
    esac
}

# missing KIND ...: the packages of that kind whose test fails.
missing() {
    wanted=$1 kind=
    shift
    for need; do
        case $need in
        required | optional) kind=$need ;;
        *) [ "$kind" = "$wanted" ] && { has "${need#*:}" || printf ' %s' "${need%%:*}"; } ;;
        esac
    done
}

install() {
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$@"
}

list="$(missing required "$@")$(missing optional "$@")"
[ -z "$list" ] && exit 0
sudo=
[ "$(id -u)" = 0 ] || sudo='sudo -n'
if command -v apt-get >/dev/null 2>&1 && $sudo true 2>/dev/null; then
    log=$(mktemp) || exit 1
    trap 'rm -f "$log"' EXIT
    echo "installing:$list"
    $sudo apt-get update -q >"$log" 2>&1 || tail -n 3 "$log" >&2
    if ! install $list >"$log" 2>&1; then
        for package in $list; do
            install "$package" >"$log" 2>&1 || tail -n 1 "$log" >&2
        done
    fi
fi
required=$(missing required "$@")
optional=$(missing optional "$@")
[ -z "$optional" ] || echo "missing packages:$optional; going on without them" >&2
[ -z "$required" ] && exit 0
echo "missing packages:$required; install them first" >&2
exit 1
