#!/bin/sh
# baseline.sh - writes the ABI of the library as built into tests/abi/1.0: what abidw
# sees, the header without its comments, and every constant's value. Run once for each
# release of a minor version; never for one that is out.
#
#   make && sh tests/abi/baseline.sh
set -eu
to=${1:-tests/abi/1.0}
mkdir -p "$to"
awk '{ # comments go: they never hold code between them on a line
    line = $0
    while (1) {
        if (inside) {
            if ((at = index(line, "*/")) == 0) { line = ""; break }
            line = substr(line, at + 2); inside = 0
        }
        if ((at = index(line, "/*")) == 0) break
        rest = substr(line, at + 2); line = substr(line, 1, at - 1)
        if ((end = index(rest, "*/")) > 0) { line = line substr(rest, end + 2); continue }
        inside = 1; break
    }
    sub(/ *\/\/.*/, "", line); sub(/ +$/, "", line)
    if (line != "") print line
}' include/slimpack.h >"$to/slimpack.h"
sh tests/abi/constants.sh include >"$to/constants.txt"
abidw --no-corpus-path --no-comp-dir-path --exported-interfaces-only --type-id-style hash \
    --headers-dir include --drop-private-types "${L:-lib}/libslimpack.so" >"$to/slimpack.abi"
