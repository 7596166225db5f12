#!/bin/sh
# generated.sh - what is written by a program or drawn is what that would write today,
# and links between pages lead somewhere.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
say() {
    [ "$1" = 0 ] && echo "[       OK ] $2" && return
    echo "[  FAILED  ] $2"
    failed=1
}

sh docs/parameters.sh "${SLIMPACK:-build/slimpack}" >"$work/parameters" && diff "$work/parameters" docs/parameters.md
say $? parameters_page_is_that_of_the_tables
sh docs/pictures/floors.sh >"$work/floors" && diff "$work/floors" docs/pictures/floors.svg
say $? picture_of_the_floors_is_that_of_the_includes
if command -v python3 >/dev/null 2>&1; then
    python3 docs/pictures/packs.py >"$work/packs" && diff "$work/packs" docs/pictures/packs.svg
    say $? picture_of_the_packs_is_that_of_its_script
fi

broken=
for page in README.md docs/*.md; do
    for link in $(grep -o '](\([^)]*\))' "$page" | sed 's/^](//; s/)$//; s/#.*//' | grep -v '^http'); do
        [ -e "$(dirname "$page")/$link" ] || broken="$broken $page:$link"
    done
done
[ -z "$broken" ] || echo "broken links:$broken"
[ -z "$broken" ]
say $? links_between_pages_lead_somewhere

# Files that a page names in code are there.
broken=
for page in README.md docs/*.md; do
    for path in $(grep -o '`\(src\|tests\|docs\|include\|lib\)/[A-Za-z0-9_./-]*`' "$page" | tr -d '`'); do
        [ -e "$path" ] || case $path in lib/lib*) ;; *) broken="$broken $page:$path" ;; esac
    done
done
[ -z "$broken" ] || echo "missing files:$broken"
[ -z "$broken" ]
say $? files_that_pages_name_are_there
exit $failed
