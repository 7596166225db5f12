#!/bin/sh
# The example in the README is docs/examples/plan_step.c, which is compiled and run.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' README.md >"$work/readme"
sed '1,/^ \*\//d' docs/examples/plan_step.c >"$work/example"
if [ -s "$work/readme" ] && diff "$work/readme" "$work/example"; then
    echo '[       OK ] readme_shows_the_example_that_is_tested'
    exit 0
fi
echo '[  FAILED  ] readme_shows_the_example_that_is_tested'
exit 1
