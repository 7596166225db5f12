#!/bin/sh
# field_cases.sh - docs/field-cases.md lists the tests of tests/unit/test_field_*.c, all
# of them and no other.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
sed -n 's/^static void \([a-j][0-9]*_[a-z0-9_]*\)(void \*\*state)$/\1/p' tests/unit/test_field_*.c |
    LC_ALL=C sort >"$work/tests"
grep -o '`[a-j][0-9]*_[a-z0-9_]*`' docs/field-cases.md | tr -d '`' | LC_ALL=C sort >"$work/page"
if [ -s "$work/tests" ] && diff "$work/tests" "$work/page"; then
    echo '[       OK ] every_field_case_is_on_its_page'
else
    echo '[  FAILED  ] every_field_case_is_on_its_page'
    exit 1
fi
