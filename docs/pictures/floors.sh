#!/bin/sh
# floors.sh - draws the floors of src/ as SVG, from the includes that stand there: an
# arc from a floor to each that it includes, thicker the more includes there are.
#
#   sh docs/pictures/floors.sh > docs/pictures/floors.svg
set -eu
cd "$(dirname "$0")/../.."
grep -rho --include='*.[ch]' '^#include "[a-z]*/' src -H |
    sed 's|^src/\([a-z]*\)/[^:]*:#include "\([a-z]*\)/|\1 \2|' | LC_ALL=C sort | uniq -c |
    awk '
function row(name) { return 20 + at[name] * 52 }
BEGIN {
    n = split("cli wire plan simulate partition exact slice schedule cost input base", floor, " ")
    split("program|plan as bytes|the planner|the simulator|samples to replicas and packs|branch and bound|where streams are cut|the plan as data|costs and memory|lengths, cluster, model, device|memory, arithmetic, sorting", what, "|")
    for (i = 1; i <= n; i++) at[floor[i]] = i - 1
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 760 %d\" font-family=\"sans-serif\" font-size=\"13\">\n", n * 52 + 20
    printf "<rect width=\"760\" height=\"%d\" fill=\"#ffffff\"/>\n", n * 52 + 20
}
$2 != $3 && ($2 in at) && ($3 in at) { uses[$2, $3] = $1 }
END {
    for (i = 1; i <= n; i++) for (j = i + 1; j <= n; j++) if ((floor[i], floor[j]) in uses) {
        count = uses[floor[i], floor[j]]
        y1 = row(floor[i]) + 18; y2 = row(floor[j]) + 18; reach = 400 + 30 * (j - i)
        printf "<path d=\"M 400 %d C %d %d %d %d 400 %d\" fill=\"none\" stroke=\"#7aa6d8\" stroke-width=\"%.1f\"><title>%s includes %s %d times</title></path>\n", y1, reach, y1, reach, y2, y2, 0.5 + count / 8, floor[i], floor[j], count
    }
    for (i = 1; i <= n; i++) {
        y = row(floor[i])
        printf "<rect x=\"20\" y=\"%d\" width=\"380\" height=\"38\" rx=\"4\" fill=\"#eef3f9\" stroke=\"#7aa6d8\"/>\n", y
        printf "<text x=\"32\" y=\"%d\" font-weight=\"bold\">src/%s</text><text x=\"150\" y=\"%d\">%s</text>\n", y + 24, floor[i], y + 24, what[i]
    }
    print "</svg>"
}'
