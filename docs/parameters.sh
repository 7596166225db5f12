#!/bin/sh
# parameters.sh - writes docs/parameters.md from the program's tables.
#
#   sh docs/parameters.sh build/slimpack > docs/parameters.md
set -eu
echo '# Parameters'
echo
echo 'Set by `sp_planner_set()`, `sp_model_set()` and `sp_device_set()`, or by `--set name=value`. Written by'
echo '`docs/parameters.sh` from the tables that the library itself reads.'
for table in planner model device; do
    "$1" params $table | awk -v table=$table '
    function cell(text) { gsub(/\|/, "\\|", text); return text }
    /presets/ { presets = 1; print "\nPresets:"; next }
    presets && NF == 1 { printf "%s `%s`", sep, $1; sep = ","; next }
    /^  [a-z][a-z0-9_]*  / { name = $1; sub(/^  [^ ]+ +/, ""); help = $0; next }
    name != "" && /^ +[^ ]/ {
        sub(/^ +/, "")
        if (!begun++) printf "\n## %s\n\n| name | what | bounds and default |\n|---|---|---|\n", table
        printf "| `%s` | %s | %s |\n", name, cell(help), cell($0)
        name = ""
    }
    END { if (presets) print "." }'
done
