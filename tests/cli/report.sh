#!/bin/sh
# report.sh - plans as pages and as traces: `slimpack report` and `plan --trace`.
#
# What a page shows in a browser is tested by tests/browser/page.sh; here it is what the
# files hold, and that bad command lines and files leave nothing behind. Traces are held
# against their plans by trace.py; without python3 that is printed as skipped.
set -u

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../support/cases.sh"

printf '4000\n100\n2000\n7\n300\n1500\n64\n900\n' >good
printf '60000\n900\n4100\n512\n30000\n2200\n7000\n64\n' >long
small="--dp 2 --pp 2 --tp 8 --set max_packs=8"

works report_has_help "--html OUT" help report
works plan_has_a_trace "--trace OUT" help plan
fails report_needs_a_plan 2 "report: PLAN.json is missing" report --html x.html
fails html_is_no_option_of_plan 2 "--html is not an option of plan" plan good --html x.html

# ---- a trace needs no JSON library

works plan_writes_a_trace "makespan" plan good $small --trace p.trace
run plan good $small --trace -
cp out dash.trace
same trace_on_standard_output_stands_alone p.trace dash.trace
fails trace_in_a_missing_folder_is_refused 1 "slimpack: no/p.trace: " \
    plan good $small --trace no/p.trace

if [ "$json" -eq 0 ]; then
    missing="slimpack: built without JSON (install libjansson-dev and rebuild)"
    fails report_without_json_says_so 1 "$missing" report good --html x.html
    skip reports_of_plans "built without JSON"
    finish
fi

# ---- traces against their plans

# shows NAME PLAN TRACE : the trace is that of the plan
shows() {
    if ! command -v python3 >/dev/null 2>&1; then
        skip "$1" "no python3"
    elif python3 "$here/trace.py" "$3" "$2" >log 2>&1; then
        ok "$1"
    else
        bad "$1" "$(tail -n 1 log)"
    fi
}

# planned NAME ARGUMENT... : a plan, its trace by plan and by report
planned() {
    what=$1
    shift
    works "plan_of_${what}_is_made" "" plan "$@" --quiet --json "$what.json" --trace "$what.trace"
    shows "trace_shows_${what}" "$what.json" "$what.trace"
    works "report_of_${what}_works" "" report "$what.json" --html "$what.html" \
        --trace again.trace
    same "report_and_plan_trace_${what}_alike" "$what.trace" again.trace
}

planned small good $small
planned merged long --dp 4 --pp 2 --tp 8 --set max_packs=16
planned context good --dp 2 --pp 2 --cp 2 --set max_packs=8
planned chunks good --dp 2 --pp 4 --tp 8 --set virtual_stages=2 --set max_packs=8
planned two_stages_in_chunks good --dp 1 --pp 2 --tp 8 --set virtual_stages=4 --set max_packs=8
planned zero_bubble good --dp 2 --pp 4 --tp 8 --set pipeline=zero-bubble --set max_packs=8
planned one_device good --device ideal
planned empty_packs good --dp 8 --pp 2 --tp 8 --set forward_packs=6 --set merges=no
holds merged_plan_has_a_merge grep -q '"merge":0' merged.json
holds trace_of_context_has_a_counter_for_each_rank \
    [ "$(grep -c 'memory cp1 (bytes)' context.trace)" -gt 0 ]
works what_if_is_traced "" report small.json --device h200 --trace h200.trace
run simulate small.json --device h200 --quiet --json h200.json
shows trace_shows_what_if h200.json h200.trace
holds what_if_changes_times sh -c '! cmp -s h200.trace small.trace'

# refuses NAME TEXT SED-SCRIPT : a trace edited by sed is not that of its plan
refuses() {
    sed "$3" small.trace >edited.trace
    if ! command -v python3 >/dev/null 2>&1; then
        skip "$1" "no python3"
    elif cmp -s small.trace edited.trace; then
        bad "$1" "the edit changes nothing"
    elif python3 "$here/trace.py" edited.trace small.json >log 2>&1 || ! grep -q "$2" log; then
        bad "$1" "$(tail -n 1 log)"
    else
        ok "$1"
    fi
}

refuses lost_op_is_noticed "not those of the plan" '/"name":"B1"/d'
refuses lost_flow_is_noticed "hand-overs\|do not pair" '0,/"ph":"s"/{/"ph":"s"/d}'
refuses time_without_digits_is_noticed "six digits" '0,/"ts":[0-9.]*/s//"ts":5.5/'
refuses overlap_is_noticed "overlaps" 's/"dur":/"dur":9/'
refuses nameless_process_is_noticed "with a name" '0,/process_name/{/process_name/d}'
refuses missing_field_is_noticed "fields" '0,/"bp":"e",/s///'

# ---- pages

size=$(wc -c <small.html)
holds page_is_small [ "$size" -lt 150000 ]
holds page_fetches_nothing sh -c '! grep -qE "(src|href)=\"?[a-z]+:|https?://|url\(|@import|fetch\(" small.html'
holds page_has_no_place_left_empty sh -c '! grep -qE "^@(META|DATA|include)" small.html'
for policy in slimpack uniform-slice balanced-pack fixed-pack; do
    holds "page_has_a_row_of_$(echo $policy | tr - _)" grep -q "\"policy\":\"$policy\"" small.html
done
"$SLIMPACK" report - --html - <small.json >out 2>err
same page_goes_from_standard_input_to_output out small.html
sed 's/"policy":"slimpack"/"policy":"<\/script><script>x=\\"\&amp;"/' small.json >evil.json
works page_of_a_policy_with_markup_works "" report evil.json --html evil.html --trace evil.trace
holds markup_is_escaped_in_the_page \
    grep -qF '"\u003c/script\u003e\u003cscript\u003ex=\u0022\u0026amp;"' evil.html
holds markup_closes_no_script [ "$(grep -c '</script>' evil.html)" -eq 3 ]
shows trace_of_a_policy_with_markup_is_json small.json evil.trace

sed 's/"model":"llama2-7b"/"model":"my <b>model"/' small.json >own.json
works page_of_an_unknown_model_has_the_times_of_the_plan "" report own.json --html own.html \
    --trace own.trace
holds page_of_an_unknown_model_says_why_there_is_no_table grep -qF '"noPolicies":"no preset' own.html
holds page_of_an_unknown_model_has_no_rate grep -q '"stats":null' own.html
holds trace_of_an_unknown_model_has_no_memory sh -c '! grep -q "\"ph\":\"C\"" own.trace'
shows trace_of_an_unknown_model_shows_the_plan own.json own.trace
fails what_if_of_an_unknown_model_says_so 1 "--model is not given" report own.json --html x.html \
    --set linear_flops=1000000000000
works unknown_model_may_be_replaced "" report own.json --html own.html --model llama2-7b
holds replaced_model_has_a_table grep -q '"policy":"fixed-pack"' own.html

# ---- what leaves nothing behind

rm -f x.html x.trace
fails report_needs_an_output 2 "report: --html or --trace is missing" report small.json
fails html_and_trace_in_one_file_are_refused 2 "report: --html and --trace are both 'x.html'" \
    report small.json --html x.html --trace x.html
fails one_file_by_two_names_is_refused 2 "--html and --trace are both" \
    report small.json --html x.html --trace ./x.html
ln small.html other.html
fails one_file_by_a_link_is_refused 2 "--html and --trace are both" \
    report small.json --html small.html --trace other.html
fails both_on_standard_output_are_refused 2 "--html and --trace are both '-'" \
    report small.json --html - --trace -
fails json_and_trace_in_one_file_are_refused 2 "plan: --json and --trace are both 'x.json'" \
    plan good --json x.json --trace x.json
fails report_of_a_missing_plan_is_refused 1 "slimpack: nowhere: No such file" \
    report nowhere --html x.html
fails report_of_lengths_is_refused 1 "slimpack: good:" report good --html x.html
fails report_takes_no_planner_parameter 2 "'effort' is a parameter of the planner" \
    report small.json --html x.html --set effort=fast
fails report_of_an_unknown_device_suggests 2 "did you mean 'h100'?" \
    report small.json --html x.html --device h1000
fails page_in_a_missing_folder_is_refused 1 "slimpack: no/x.html: " \
    report small.json --html no/x.html --trace x.trace
fails trace_of_a_page_in_a_missing_folder_is_refused 1 "slimpack: no/x.trace: " \
    report small.json --html x.html --trace no/x.trace
if [ -c /dev/full ]; then
    fails page_on_a_full_disk_is_reported 1 "slimpack: /dev/full: No space left" \
        report small.json --html /dev/full
    fails trace_on_a_full_disk_is_reported 1 "slimpack: /dev/full: No space left" \
        report small.json --html x.html --trace /dev/full
else
    skip page_on_a_full_disk_is_reported "no /dev/full"
fi
echo kept >keep.html
(
    ulimit -f 4
    "$SLIMPACK" report small.json --html keep.html >out 2>err
    echo $? >code
)
code=$(cat code)
failed_as page_that_fails_half_way_is_reported 1 "slimpack: keep.html: File too large"
holds page_that_fails_half_way_leaves_the_old_file [ "$(cat keep.html)" = kept ]
holds failures_leave_no_page [ ! -e x.html ]
holds failures_leave_no_trace [ ! -e x.trace ]
holds failures_leave_no_plan [ ! -e x.json ]
holds failures_leave_no_temporary_file [ "$(ls -A | grep -c slimpack)" -eq 0 ]

# ---- a program that is ended half-way

# ended_by SIGNAL : leaves the exit code in $code; the page is open while the pipe waits
ended_by() {
    mkdir -p left
    "$SLIMPACK" report small.json --html left/page.html --trace pipe >out 2>err </dev/null &
    n=0
    while [ -z "$(ls -A left)" ] && [ $n -lt 100 ]; do
        sleep 0.1
        n=$((n + 1))
    done
    holds "page_is_open_before_$1" [ -n "$(ls -A left)" ]
    kill -s "$1" $!
    wait $!
    code=$?
}
mkfifo pipe
for signal in TERM HUP; do
    ended_by $signal
    holds "${signal}_ends_the_program" [ "$code" -gt 128 ]
    holds "${signal}_leaves_no_temporary_file" [ -z "$(ls -A left)" ]
done

finish
