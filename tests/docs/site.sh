#!/bin/sh
# site.sh - the Doxygen site is built without a warning, chapters and pictures included.
set -u
if ! command -v doxygen >/dev/null 2>&1; then
    echo "skipped: the site needs doxygen"
    exit 77
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
say() {
    [ "$1" = 0 ] && echo "[       OK ] $2" && return
    echo "[  FAILED  ] $2"
    failed=1
}
env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make --no-print-directory B="$work" docs >"$work/log" 2>&1 &&
    [ "$(grep -vc '^  SITE' "$work/log")" = 0 ]
say $? site_is_built_without_a_warning || cat "$work/log"
missing=
for page in why start concepts integration parameters cli inputs plan_format report simulator architecture field_cases reliability python \
    changelog contributing; do
    [ -e "$work/docs/html/md_docs_$page.html" ] || missing="$missing $page"
done
for image in $(grep -oh 'src="pictures/[^"]*"' "$work"/docs/html/*.html | sed 's/src="//; s/"//'); do
    [ -e "$work/docs/html/$image" ] || missing="$missing $image"
done
[ -z "$missing" ] || { echo "missing:$missing"; cat "$work/log"; }
[ -z "$missing" ]
say $? chapters_and_pictures_are_there
exit $failed
