#!/bin/sh
# A file may include headers of its own floor or of a floor beneath it. slice and
# exact are strangers to each other. The program sees the public header alone. Every
# path is written from src/, so that no "../" walks around this.
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

# included FILE: the headers with a folder in their name, however the line is spaced;
# of the system's, only those that lie in a folder of src.
included() {
    sed -nE 's,^[[:space:]]*#[[:space:]]*include[[:space:]]*"([^"]*/[^"]*)".*,\1,p' "$1"
    sed -nE 's,^[[:space:]]*#[[:space:]]*include[[:space:]]*<([^>]*/[^>]*)>.*,\1,p' "$1" |
        while read -r path; do [ -d "src/${path%%/*}" ] && echo "$path"; done
}

bad=0
files=$(find src -name '*.[ch]')
[ -n "$files" ] || { echo "no sources found"; bad=1; }
for file in $files; do
    me=$(echo "$file" | cut -d/ -f2)
    for path in $(included "$file"); do
        dep=${path%%/*}
        case $me/$dep in
        */. | */.. | */) echo "$file: includes $path, not written from src/"; bad=1; continue ;;
        cli/cli) continue ;;
        cli/*) echo "$file: includes $path, which is not the public header"; bad=1; continue ;;
        slice/exact | exact/slice) echo "$file: $me and $dep are strangers"; bad=1; continue ;;
        esac
        [ "$(floor "$me")" = 99 ] && { echo "$file: no such floor: $me"; bad=1; }
        [ "$(floor "$dep")" -gt "$(floor "$me")" ] && { echo "$file: climbs from $me to $dep"; bad=1; }
    done
done
[ $bad = 0 ] && echo '[       OK ] includes_go_downwards_only' && exit 0
echo '[  FAILED  ] includes_go_downwards_only'
exit 1
