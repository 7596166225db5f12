#!/bin/sh
# A file may include headers of its own floor or of a floor beneath it. slice and
# exact are strangers to each other. The program sees the public header alone.
set -u
floors='base input cost schedule slice exact partition simulate plan wire'

floor() {
    i=0
    for f in $floors; do
        [ "$f" = "$1" ] && { echo $i; return; }
        i=$((i + 1))
    done
    echo 99
}

bad=0
for file in $(find src -name '*.[ch]' -not -path 'src/cli/*'); do
    me=$(echo "$file" | cut -d/ -f2)
    [ "$(floor "$me")" = 99 ] && { echo "$file: no such floor: $me"; bad=1; }
    for dep in $(sed -n 's,^#include "\([a-z]*\)/.*,\1,p' "$file"); do
        case $me/$dep in
        slice/exact | exact/slice) echo "$file: $me and $dep are strangers"; bad=1 ;;
        esac
        [ "$(floor "$dep")" -gt "$(floor "$me")" ] && { echo "$file: climbs from $me to $dep"; bad=1; }
    done
done
for file in $(find src/cli -name '*.[ch]' 2>/dev/null); do
    for dep in $(sed -n 's,^#include "\([^"]*\)".*,\1,p' "$file"); do
        case $dep in
        slimpack.h) ;;
        */*) echo "$file: includes $dep, which is not the public header"; bad=1 ;;
        esac
    done
done
[ $bad = 0 ] && echo '[       OK ] includes_go_downwards_only' && exit 0
echo '[  FAILED  ] includes_go_downwards_only'
exit 1
