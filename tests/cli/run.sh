#!/bin/sh
# run.sh - drives the slimpack program through good and bad command lines.
#
# Takes the program from $SLIMPACK (default build/slimpack). A failing command
# must give the right exit code, one line on standard error that names the place,
# and nothing on standard output. Prints one line a case and the sum at the end.
# Cases that need what the machine lacks are printed as skipped.
set -u

. "$(dirname "$0")/../support/cases.sh"

printf '4000\n100\n2000\n7\n300\n1500\n64\n900\n' >good
seq 1 12 >twelve
small="--dp 2 --pp 2 --cp 2 --device ideal --set max_packs=8"

# ---- help and verbs

works help_names_every_verb "simulate" --help
works help_of_a_verb_lists_its_options "--memory-gb G" help plan
works a_verb_takes_help "--memory-gb G" plan --help
works help_has_a_short_name "simulate" -h
works a_verb_takes_the_short_name "--memory-gb G" plan -h
works version_is_printed "slimpack 1." --version
holds version_of_the_library_is_printed grep -q '^library: libslimpack 1\.' out
for verb in plan compare check simulate report fit generate lengths params; do
    works "help_of_${verb}_works" "usage: slimpack $verb" help $verb
done
run
holds no_verb_is_a_usage_error [ "$code" -eq 2 ]
holds no_verb_prints_the_usage grep -q '^usage: slimpack' err
fails unknown_verb_suggests_the_nearest 2 "unknown verb 'pln'; did you mean 'plan'?" pln
fails unknown_verb_far_from_all_is_named 2 "unknown verb 'zzzzzzzz'" zzzzzzzz
fails unknown_verb_of_help_is_an_error 2 "did you mean 'compare'?" help compar

# ---- options

fails unknown_option_suggests_the_nearest 2 "did you mean '--policy'?" plan good --polcy x
fails option_of_another_verb_is_named 2 "--dp is not an option of check" check good --dp 2
fails missing_value_is_named 2 "--dp: its value D is missing" plan good --dp
fails flag_with_a_value_is_refused 2 "--quiet takes no value" plan good --quiet=1
fails empty_value_is_refused 2 "--model: the value is empty" plan good --model=
fails second_file_is_refused 2 "unexpected argument 'more' after 'good'" plan good more
fails missing_file_is_named 2 "plan: FILE is missing" plan --dp 2
fails missing_plan_of_check_is_named 2 "check: PLAN.json is missing" check
fails degree_of_zero_is_below_1 2 "slimpack: --dp: 0 is below 1" plan good --dp 0
fails degree_below_zero_is_below_1 2 "--pp: -3 is below 1" plan good --pp -3
fails degree_that_is_a_word_is_refused 2 "--cp: 'two' is not a whole number" plan good --cp two
fails degree_with_a_fraction_is_refused 2 "--tp: '1.5' is not a whole number" plan good --tp 1.5
fails degree_past_int32_names_the_bound 2 "--dp: 3000000000 is above 2147483647" \
    plan good --dp 3000000000
fails degree_past_int64_names_the_bound 2 "--dp: 99999999999999999999 is above 2147483647" \
    plan good --dp 99999999999999999999
fails degrees_whose_product_overflows_are_refused 2 "2147483647" plan good --dp 65536 --cp 65536
fails more_stages_than_layers_are_refused 2 "33" plan good --pp 33
fails batch_of_zero_is_refused 2 "--batch: 0 is below 1" plan good --batch 0
fails skip_below_zero_is_refused 2 "--skip: -1 is below 0" plan good --skip -1
fails unknown_model_suggests_the_nearest 2 "did you mean 'llama2-7b'?" plan good --model lama2-7b
fails unknown_device_suggests_the_nearest 2 "did you mean 'h100'?" plan good --device h1000
fails unknown_policy_suggests_the_nearest 2 "did you mean 'fixed-pack'?" plan good --policy \
    fixd-pack
fails compare_takes_no_policy 2 "--policy is not an option of compare" compare good --policy \
    slimpack
fails compare_takes_no_policy_by_set 2 "compare runs every policy" compare good --set \
    policy=slimpack
fails unknown_parameter_suggests_the_nearest 2 "did you mean 'alignment'?" plan good --set \
    alignmnt=8
fails parameter_without_value_is_refused 2 "--set: 'alignment' is not name=value" \
    plan good --set alignment
fails parameter_without_name_is_refused 2 "--set: '=3' is not name=value" plan good --set =3
fails parameter_below_its_bound_is_refused 2 "--set layers: 0 is below 1" plan good --set layers=0
fails parameter_above_its_bound_is_refused 2 "--set effort: 9 is above 2" plan good --set effort=9
fails unknown_value_name_suggests_the_nearest 2 "did you mean 'full'?" plan good --set \
    recompute=ful
fails number_with_a_tail_is_refused 2 "--set layers: '8x' is not a whole number" \
    plan good --set layers=8x
fails simulate_takes_no_planner_parameter 2 "'effort' is a parameter of the planner" \
    simulate good --set effort=fast
fails memory_of_zero_is_refused 2 "--memory-gb: 0 is below 0.000000001" plan good --memory-gb 0
fails memory_that_is_a_word_is_refused 2 "--memory-gb: 'much' is not a decimal" \
    plan good --memory-gb much
fails memory_with_an_exponent_is_refused 2 "--memory-gb: '1e3' is not a decimal" \
    plan good --memory-gb 1e3
fails memory_finer_than_a_byte_is_refused 2 "is not a whole number of bytes" \
    plan good --memory-gb 1.0000000001
fails memory_past_int64_is_refused 2 "is above 9223372036.854775807" plan good --memory-gb \
    9223372037
works options_come_before_the_file "samples" plan --dp=2 --device ideal good
works last_of_equal_options_counts "dp=2" plan good --dp 4 --dp 2 --device ideal
works values_have_names "samples" plan good --device ideal --set recompute=full --set slicing=yes

# ---- input files

fails missing_file_is_an_error 1 "slimpack: nowhere: No such file" plan nowhere
fails directory_is_refused 1 "slimpack: .: it is a directory" plan .
: >empty
fails empty_file_is_refused 1 "slimpack: empty: no lengths" plan empty
printf '# only\n\n   # comments\n' >comments
fails file_of_comments_is_refused 1 "slimpack: comments: no lengths" plan comments
printf '5\n0\n' >zero
fails length_of_zero_names_its_line 1 "slimpack: zero:2: '0' is below 1" plan zero
printf '# x\n\n-5\n' >negative
fails negative_length_names_its_line 1 "slimpack: negative:3: '-5' is below 1" plan negative
printf '1.5\n' >fraction
fails fraction_is_refused 1 "slimpack: fraction:1: '1.5' is not a whole number" plan fraction
printf '7\nabc\n' >word
fails word_is_refused 1 "slimpack: word:2: 'abc' is not a length" plan word
printf '12 34\n' >pair
fails two_lengths_on_a_line_are_refused 1 "slimpack: pair:1: '12 34' is not a length" plan pair
printf '0x10\n' >hex
fails hexadecimal_is_refused 1 "slimpack: hex:1: '0x10' is not a length" plan hex
printf '99999999999999999999\n' >huge
fails length_past_int64_names_the_bound 1 \
    "huge:1: '99999999999999999999' is above 2147483647" plan huge
printf '2147483648\n' >past
fails length_past_int32_names_the_bound 1 "past:1: '2147483648' is above 2147483647" plan past
printf '5\n1\0002\n' >nul
fails nul_byte_is_refused 1 "slimpack: nul:2: the line holds a NUL byte" plan nul
printf '\033[31m7\n' >control
fails control_bytes_are_not_echoed 1 "control:1: '\\x1b[31m7' is not a length" plan control
{ printf '3\n'; head -c 10000000 /dev/zero | tr '\0' 1; printf '\n4\n'; } >long
fails line_of_10_mb_is_abbreviated 1 "slimpack: long:2: '1111111111" plan long
{ printf '3 #'; head -c 10000000 /dev/zero | tr '\0' x; printf '\n4\n'; } >longcomment
works comment_of_10_mb_is_passed_over "2 samples" plan longcomment --device ideal
printf '# lengths\r\n100\r\n\r\n  200 # two hundred\r\n\t300' >crlf
works crlf_blanks_and_comments_are_tolerated "3 samples, 600 tokens, longest 300" \
    plan crlf --device ideal
"$SLIMPACK" plan - --device ideal <good >out 2>err
holds dash_reads_standard_input grep -q '8 samples, 8,871 tokens, longest 4,000' out
printf '5\nx\n' | "$SLIMPACK" plan - >out 2>err
code=$?
failed_as standard_input_is_named_in_messages 1 "slimpack: standard input:2: 'x'"
works batch_takes_lengths_after_skip "3 samples, 2,307 tokens, longest 2,000" \
    plan good --skip 2 --batch 3 --device ideal
works skip_takes_the_rest "3 samples, 33 tokens, longest 12" plan twelve --skip 9 --device ideal
fails batch_above_the_file_names_both_numbers 1 \
    "good: --batch 9: the file has only 8 lengths" plan good --batch 9
fails batch_after_skip_names_all_numbers 1 \
    "good: --batch 5 after --skip 6: only 2 of the file's 8 lengths are left" \
    plan good --batch 5 --skip 6
fails skip_past_the_file_is_refused 1 "good: --skip 8 leaves nothing of the file's 8 lengths" \
    plan good --skip 8
cp good secret && chmod 000 secret
if [ "$(id -u)" -ne 0 ]; then
    fails unreadable_file_is_an_error 1 "slimpack: secret: Permission denied" plan secret
elif command -v setpriv >/dev/null && chmod 711 . && chmod 644 good &&
    setpriv --reuid=65534 --clear-groups "$SLIMPACK" --version >/dev/null 2>&1; then
    setpriv --reuid=65534 --clear-groups "$SLIMPACK" plan secret >out 2>err
    code=$?
    failed_as unreadable_file_is_an_error 1 "slimpack: secret: Permission denied"
else
    skip unreadable_file_is_an_error "root reads everything and setpriv does not do"
fi

# ---- plan and compare

run plan good $small
cp out summary
for label in batch topology policy model device packs slices merges makespan ideal 'lower bound' \
    ratio bubble imbalance memory 'live tokens' 'planned in' fixed-pack speed-up; do
    holds "summary_has_a_line_of_$(echo "$label" | tr ' -' '__')" grep -q "^$label  *[^ ]" summary
done
works quiet_plan_succeeds "" plan good $small --quiet
holds quiet_plan_prints_nothing [ ! -s out ]
run plan good $small --policy fixed-pack
holds fixed_pack_is_not_compared_with_itself [ "$(grep -c fixed-pack out)" -eq 1 ]
works a_tiny_cap_is_planned "slimpack" plan good $small --set max_pack_tokens=512 \
    --set max_packs=256
holds a_baseline_without_a_plan_gives_its_reason grep -Eq '^fixed-pack +no plan: .*[0-9]' out
fails batch_that_no_plan_can_keep_is_infeasible 1 "slimpack: good: " \
    plan good --device ideal --set slicing=no --set max_pack_tokens=512
fails memory_that_no_plan_can_keep_is_infeasible 1 "slimpack: good: " \
    plan good --dp 2 --memory-gb 0.5
run compare good $small
for policy in slimpack uniform-slice balanced-pack fixed-pack; do
    holds "compare_has_one_row_of_$(echo $policy | tr - _)" \
        [ "$(grep -c "^$policy " out)" -eq 1 ]
done
works compare_goes_on_past_policies_without_a_plan "slimpack" \
    compare good $small --set max_packs=256 --set max_pack_tokens=512
holds compare_gives_the_reason_in_the_row grep -Eq '^fixed-pack +no plan: ' out
fails a_comparison_without_any_plan_fails 1 "no policy has a plan" \
    compare good --quiet --dp 2 --memory-gb 0.5

# ---- generate and params

# The same on every machine: this sum was taken once and never changes.
run generate --distribution lognormal:1800,1.5,262144 --count 1000 --seed 7
holds lognormal_lengths_are_the_same_on_every_machine [ "$(cksum <out)" = "1514292618 4816" ]
holds lognormal_states_distribution_and_seed \
    [ "$(grep -c -e '^# distribution: lognormal:1800,1.5,262144$' -e '^# seed: 7$' out)" -eq 2 ]
grep -v '^#' out | sort -n >drawn
holds lognormal_draws_as_many_as_asked [ "$(wc -l <drawn)" -eq 1000 ]
holds lognormal_has_its_median \
    [ "$(awk 'NR == 500 { print ($1 > 1600 && $1 < 2000) }' drawn)" -eq 1 ]
# A share of 0.1587 lies above one sigma, 1800 e^1.5 tokens.
holds lognormal_has_its_spread \
    [ "$(awk '$1 > 8067 { n++ } END { print (n > 125 && n < 195) }' drawn)" -eq 1 ]
holds lengths_are_1_at_least_and_max_at_most \
    [ "$(awk '$1 < 1 || $1 > 262144 { n++ } END { print n + 0 }' drawn)" -eq 0 ]
cp out lengths
works generated_lengths_can_be_planned "1,000 samples" plan lengths --device ideal --dp 2 --pp 2
run generate --distribution lognormal:1800,1.5,262144 --count 1000 --seed 8
holds another_seed_gives_other_lengths \
    [ "$(grep -v '^#' out | cksum)" != "$(grep -v '^#' lengths | cksum)" ]
run generate --distribution lognormal:10,10,50 --count 2000 --seed 1
holds wide_lognormal_keeps_its_bounds \
    [ "$(grep -v '^#' out | sort -n | sed -n '1p;$p' | tr '\n' ' ')" = "1 50 " ]
run generate --distribution uniform:10,19 --count 1000 --seed 3
holds uniform_lengths_cover_their_range \
    [ "$(grep -v '^#' out | sort -nu | tr '\n' ' ')" = "10 11 12 13 14 15 16 17 18 19 " ]
run generate --distribution constant:77 --count 5
holds constant_lengths_are_constant [ "$(grep -v '^#' out | tr '\n' ' ')" = "77 77 77 77 77 " ]
fails unknown_distribution_suggests_the_nearest 2 "did you mean 'lognormal'?" \
    generate --distribution lognorml:1,1,1 --count 1
fails distribution_with_missing_fields_shows_the_form 2 "lognormal:MEDIAN,SIGMA,MAX" \
    generate --distribution lognormal:1800,1.5 --count 1
fails distribution_with_too_many_fields_shows_the_form 2 "uniform:MIN,MAX" \
    generate --distribution uniform:1,2,3 --count 1
fails distribution_with_a_bad_field_names_it 2 "SIGMA: 'x' is not a decimal" \
    generate --distribution lognormal:1800,x,100 --count 1
fails distribution_with_max_below_min_names_both 2 "MAX: 4 is below 5" \
    generate --distribution uniform:5,4 --count 1
fails distribution_is_needed 2 "--distribution is missing" generate --count 3
fails count_is_needed 2 "--count is missing" generate --distribution constant:3
fails generate_takes_no_file 2 "unexpected argument 'good'" generate good
works params_lists_the_planner "alignment" params planner
works params_lists_model_presets "llama2-7b" params model
works params_lists_device_presets "h100" params device
works params_gives_value_names "slimpack,uniform-slice,balanced-pack,fixed-pack" params
fails params_of_an_unknown_table_suggests 2 "did you mean 'planner'?" params planer

# ---- fit

# slices FILE COMMAND : a grid of slices, timed by known costs; the command changes $3 or $4
slices() {
    awk 'BEGIN {
        print "start,length,forward_s,backward_s"
        for (start = 0; start < 40000; start = start * 4 + 1000)
            for (length_ = 100; length_ < 20000; length_ *= 3) {
                pairs = length_ * start + length_ * (length_ + 1) / 2
                printf "%d,%d,%.12g,%.12g\n", start, length_,
                       4 * (30e-9 * length_ + 6e-13 * pairs + 50e-6),
                       4 * (62e-9 * length_ + 15e-13 * pairs + 90e-6)
            }
    }' | awk -F, -v OFS=, "$2" >"$1"
}

slices times.csv '{ print }'
works fit_finds_known_costs "mean error    0.00 %" fit times.csv --layers 4
for line in forward_token_as=30000000000 forward_pair_as=600000 forward_start_ps=50000000 \
    forward_floor_ps=0 backward_token_as=62000000000 backward_pair_as=1500000 \
    backward_start_ps=90000000 backward_floor_ps=0; do
    holds "fit_prints_${line%=*}" grep -qx "$line" out
done
holds fit_has_a_row_of_each_measurement \
    [ "$(grep -cE '^ +[0-9]+ +[0-9]+ +[0-9]+ ' out)" -eq $(($(wc -l <times.csv) - 1)) ]
holds fit_without_outliers_names_none [ "$(grep -c outlier out)" -eq 0 ]
cp out fitted
set --
for line in $(grep = fitted); do set -- "$@" --set "$line"; done
works fitted_costs_can_be_set "samples" plan good --device ideal "$@"
"$SLIMPACK" fit - --layers 4 <times.csv >out 2>err
same fit_reads_standard_input out fitted
works fit_of_one_layer_is_the_default "forward_token_as=120000000000" fit times.csv
works fit_takes_a_model "model         llama3-8b" fit times.csv --model llama3-8b
run fit times.csv --layers 4 --set window=512
holds fit_takes_model_parameters [ "$(grep -c '^forward_pair_as=600000$' out)" -eq 0 ]
slices spoiled.csv 'NR == 6 { $3 *= 3 } { print }'
works fit_names_an_outlier_by_its_line "outlier       line 6: forward -66.67 %, backward +0.00 %" \
    fit spoiled.csv --layers 4
holds fit_names_an_outlier_once [ "$(grep -c '^outlier' out)" -eq 1 ]
holds fit_without_the_outlier_is_exact grep -qx forward_token_as=30000000000 out
{ printf '# measured\r\n\n'; sed 's/,/ ,\t/g; s/$/ # layer\r/' times.csv; } >loose.csv
run fit loose.csv --layers 4
grep = out >a && grep = fitted >b
same fit_tolerates_comments_blanks_and_crlf a b
tail -n +2 times.csv >bare.csv
works fit_needs_no_header "forward_pair_as=600000" fit bare.csv --layers 4
fails fit_needs_a_file 2 "fit: MEASUREMENTS.csv is missing" fit
fails fit_names_a_missing_file 1 "slimpack: nowhere: No such file" fit nowhere
fails fit_refuses_an_empty_file 1 "slimpack: empty: no measurements" fit empty
fails fit_takes_no_device 2 "--device is not an option of fit" fit times.csv --device h100
fails fit_takes_no_device_parameter 2 "--set linear_flops=5000000: fit takes the model's" \
    fit times.csv --set linear_flops=5000000
fails fit_takes_no_planner_parameter 2 "'effort' is a parameter of the planner" fit times.csv --set effort=2
fails layers_of_zero_are_refused 2 "--layers: 0 is below 1" fit times.csv --layers 0
fails layers_are_no_option_of_plan 2 "--layers is not an option of plan" plan good --layers 2

# unfit NAME TEXT LINE : a file whose second line is LINE must be refused
unfit() {
    { echo 0,100,0.1,0.2; echo "$3"; tail -n +2 times.csv; } >unfit.csv
    fails "$1" 1 "$2" fit unfit.csv
}

unfit fit_names_the_line_of_a_bad_start "slimpack: unfit.csv:2: start: '-1' is below 0" -1,5,1,1
unfit fit_refuses_a_start_with_a_fraction "unfit.csv:2: start: '1.5' is not a whole" 1.5,5,1,1
unfit fit_refuses_a_length_of_zero "unfit.csv:2: length: '0' is below 1" 0,0,1,1
unfit fit_refuses_a_length_past_int32 "length: '2147483648' is above 2147483647" 0,2147483648,1,1
unfit fit_refuses_junk_behind_a_time "unfit.csv:2: forward_s: '1s' is not a number" 0,5,1s,1
unfit fit_refuses_an_empty_time "unfit.csv:2: backward_s: '' is not a number" 0,5,1,
unfit fit_refuses_a_hexadecimal_time "forward_s: '0x1p3' is not a number" 0,5,0x1p3,1
unfit fit_refuses_a_missing_field "unfit.csv:2: 3 fields, not the 4 of start,length" 0,5,1
unfit fit_refuses_one_field_more "unfit.csv:2: 5 fields, not the 4" 0,5,1,1,1
unfit fit_refuses_names_below_a_measurement "unfit.csv:2: start: 'start' is not a whole" \
    start,length,forward_s,backward_s
(printf '\357\273\277' && cat times.csv) >marked.csv
"$SLIMPACK" fit times.csv >out 2>err
"$SLIMPACK" fit marked.csv >fitted 2>>err
same fit_reads_a_file_with_a_byte_order_mark out fitted
unfit fit_refuses_nan "slimpack: unfit.csv:2: forward_s: 'nan' is outside 1e-18 to 1e15 seconds" \
    0,5,nan,1
unfit fit_refuses_infinity "backward_s: '1e999' is outside 1e-18" 0,5,1,1e999
unfit fit_refuses_a_time_of_zero "forward_s: '0' is outside 1e-18" 0,5,0,1
unfit fit_refuses_a_time_below_zero "forward_s: '-1' is outside 1e-18" 0,5,-1,1
unfit fit_refuses_an_endless_line "unfit.csv:2: the line is too long" "$(printf '%0300d' 1),5,1,1"
printf 'length,start,forward_s,backward_s\n5,0,1,1\n' >swapped.csv
fails fit_refuses_other_names 1 "swapped.csv:1: start: 'length' is not a whole" fit swapped.csv
printf '0,5,1,1\n0,\0006,1,1\n' >nul.csv
fails fit_refuses_a_nul_byte 1 "slimpack: nul.csv:2: the line holds a NUL byte" fit nul.csv
head -n 3 times.csv >few.csv
fails fit_of_few_says_how_many_it_needs 1 \
    "few.csv: count: 2 measurements are below the 4 that a fit needs" fit few.csv
for i in 1 2 3 4 5; do echo 0,100,0.1,0.2; done >alike.csv
fails fit_of_slices_that_are_alike_is_refused 1 "alike.csv: start, length: the 5 slices" \
    fit alike.csv

# ---- standard output that cannot be written

"$SLIMPACK" generate --distribution constant:77 --count 1000000 2>err | head -n 1 >out
holds closed_pipe_is_reported grep -q '^slimpack: standard output: Broken pipe$' err
{ "$SLIMPACK" generate --distribution constant:77 --count 1000000 2>err; echo $? >code; } |
    head -n 1 >out
holds closed_pipe_fails [ "$(cat code)" -eq 1 ]
if [ -c /dev/full ]; then
    : >out
    "$SLIMPACK" plan good $small >/dev/full 2>err
    code=$?
    failed_as full_disk_under_standard_output_is_reported 1 "standard output: No space left"
else
    skip full_disk_under_standard_output_is_reported "no /dev/full"
fi

# ---- JSON

if [ "$json" -eq 0 ]; then
    missing="slimpack: built without JSON (install libjansson-dev and rebuild)"
    fails plan_without_json_says_so 1 "$missing" plan good --json p.json
    fails check_without_json_says_so 1 "$missing" check good
    fails simulate_without_json_says_so 1 "$missing" simulate good
    skip plans_as_json "built without JSON"
    finish
fi

works plan_is_written_as_json "makespan" plan good $small --json p.json
works plan_of_the_program_is_valid "p.json: valid: 8 samples, 8,871 tokens" check p.json
holds no_other_file_is_left [ "$(ls -A | grep -c slimpack)" -eq 0 ]
works quiet_check_succeeds "" check p.json --quiet
holds quiet_check_prints_nothing [ ! -s out ]
"$SLIMPACK" plan good $small --json - >dash.json 2>err
timeless p.json >a && timeless dash.json >b
same json_on_standard_output_stands_alone a b
"$SLIMPACK" check - <p.json >out 2>err
holds check_reads_standard_input grep -q '^standard input: valid: ' out
for policy in slimpack uniform-slice balanced-pack fixed-pack; do
    run plan good $small --policy $policy --quiet --json policy.json
    works "plan_of_$(echo $policy | tr - _)_is_valid" "valid" check policy.json
done
run plan good --dp 3 --pp 3 --tp 2 --device ideal --quiet --json odd.json
works plan_of_odd_degrees_is_valid "valid" check odd.json
run plan good $small --memory-gb 1000.000000001 --quiet --json gb.json
holds memory_is_exact_to_the_byte grep -q '"memory_bytes":1000000000001,' gb.json
run plan good $small --set alignment=64 --quiet --json aligned.json
holds alignment_is_in_the_file grep -q '"alignment":64,' aligned.json
works aligned_plan_is_valid "valid" check aligned.json
works comparison_is_written_as_json "policy" compare good $small --json c.json
holds comparison_has_every_policy [ "$(grep -c '"policy":' c.json)" -eq 4 ]

# ---- simulate

works simulation_prints_both_sides "simulated" simulate p.json
works simulation_is_written_as_json "makespan" simulate p.json --json s.json
same simulation_under_the_same_costs_changes_nothing p.json s.json
for set in pad_multiple=512 lockstep=1; do
    run plan good --dp 4 --pp 3 --set $set --quiet --json shaped.json
    works "plan_of_${set%=*}_is_valid" "valid" check shaped.json
    run simulate shaped.json --quiet --json again.json
    same "plan_of_${set%=*}_is_simulated_alike" shaped.json again.json
done
works simulation_under_another_device_works "h200" simulate p.json --device h200 --json h.json
holds simulation_under_another_device_changes_times \
    [ "$(grep -o '"makespan_ps":[0-9]*' h.json)" != "$(grep -o '"makespan_ps":[0-9]*' p.json)" ]
works simulated_plan_is_valid "valid" check h.json
run simulate p.json --set linear_flops=1000000000000 --json slow.json --quiet
holds simulation_takes_device_parameters \
    [ "$(grep -o '"makespan_ps":[0-9]*' slow.json)" != "$(grep -o '"makespan_ps":[0-9]*' p.json)" ]
works simulation_under_another_model_works "llama3-8b" simulate p.json --model llama3-8b
works simulation_past_the_memory_says_so "does not fit" simulate p.json --set memory_bytes=1000000
sed 's/"model":"llama2-7b"/"model":"my-model"/' p.json >own.json
fails simulation_of_an_unknown_model_says_so 1 "--model is not given" simulate own.json
works simulation_of_an_unknown_model_takes_another "my-model" simulate own.json --model llama2-7b

# What a file claims of its times is its own business; a ratio past int64 stops there.
sed 's/"makespan_ps":[0-9]*/"makespan_ps":9223372036854775807/; s/"ideal_ps":[0-9]*/"ideal_ps":1/' p.json >odd.json
works simulation_shows_the_largest_ratio "9223372036854.7754" simulate odd.json

works simulation_says_where_time_goes "critical path" simulate h.json
works simulation_says_where_memory_goes "activations" simulate h.json
works simulation_says_what_would_help "linear layers" simulate h.json
works simulation_says_how_well_devices_are_used "MFU" simulate h.json

# ---- pipelines

deep="--dp 2 --pp 4 --device h100 --tp 8 --set max_packs=8"
for pipeline in 1f1b zero-bubble; do
    for chunks in 1 2 4; do
        works "plan_of_${pipeline}_in_${chunks}_chunks_is_made" "packs" plan good $deep \
            --set pipeline=$pipeline --set virtual_stages=$chunks --json pipe.json
        works "plan_of_${pipeline}_in_${chunks}_chunks_is_valid" "valid" check pipe.json
        works "plan_of_${pipeline}_in_${chunks}_chunks_is_replayed" "makespan" simulate pipe.json \
            --json again.json
        same "plan_of_${pipeline}_in_${chunks}_chunks_stays_itself" pipe.json again.json
    done
done
works pipeline_of_a_plan_is_said "interleaved zero-bubble, 4 virtual stages" simulate pipe.json
fails chunks_that_do_not_divide_the_layers_are_refused 2 \
    "virtual_stages: 3 chunks do not divide the 8 layers of stage 0" \
    plan good $deep --set virtual_stages=3
fails chunks_without_a_pipeline_are_refused 2 \
    "virtual_stages: 2 chunks a stage need a pipeline of at least 2 stages, but pp is 1" \
    plan good --dp 2 --device ideal --set virtual_stages=2
fails bandwidth_of_nothing_is_refused 2 "inter_bandwidth: 0 is below 1" \
    plan good $deep --set inter_bandwidth=0
sed 's/"pipeline":"zero-bubble"/"pipeline":"gpipe"/' pipe.json >broken.json
fails unknown_pipeline_is_refused 1 "broken.json: pipeline: 'gpipe' is neither 1f1b nor zero-bubble" \
    check broken.json
sed 's/"pipeline":"zero-bubble"/"pipeline":"1f1b"/' pipe.json >broken.json
fails plan_of_another_pipeline_breaks_an_invariant 1 "I4: " check broken.json
sed 's/"virtual_stages":4/"virtual_stages":1/' pipe.json >broken.json
fails plan_of_other_chunks_is_refused 1 "the size of [pass, pack, start, end]" check broken.json

# ---- plans that are not

# broken NAME TEXT SED-SCRIPT : a plan edited by sed must be refused, at a place if TEXT has one
broken() {
    sed "$3" p.json >broken.json
    if cmp -s p.json broken.json; then
        bad "$1" "the edit changes nothing"
    else
        fails "$1" 1 "$2" check broken.json
    fi
}

# breaks NAME SED-SCRIPT : as broken, by an invariant, whichever comes first
breaks() {
    sed "$2" p.json >broken.json
    run check broken.json
    if cmp -s p.json broken.json; then
        bad "$1" "the edit changes nothing"
    elif [ "$code" -ne 1 ] || ! grep -q '^slimpack: broken.json: I[1-8]: ' err; then
        bad "$1" "exit code $code: $(head -c 200 err)"
    else
        ok "$1"
    fi
}

head -c 700 p.json >broken.json
fails truncated_plan_is_refused 1 "slimpack: broken.json:" check broken.json
fails empty_plan_is_refused 1 "slimpack: empty:" check empty
fails text_is_no_plan 1 "slimpack: good:" check good
fails missing_plan_is_an_error 1 "slimpack: nowhere: No such file" check nowhere
fails directory_is_no_plan 1 "slimpack: .: it is a directory" check .
{ head -c 700 p.json; printf '\0'; tail -c +701 p.json; } >broken.json
fails nul_byte_in_a_plan_is_refused 1 "broken.json: not JSON: it holds a NUL byte" check broken.json
echo '[1]' >broken.json
fails array_is_no_plan 1 "broken.json: the document is not an object" check broken.json
broken other_format_is_refused "broken.json: format: 'other' is not slimpack-plan" \
    's/"slimpack-plan"/"other"/'
broken newer_version_is_refused "broken.json: version: 2 is above 1" 's/"version":1/"version":2/'
broken degree_that_is_a_string_is_refused \
    "broken.json: topology.dp: a string stands where an integer is expected" \
    's/"dp":2,"tp"/"dp":"2","tp"/'
broken degree_above_the_replicas_is_refused \
    "broken.json: replicas: 2 entries, but topology.dp is 3" \
    's/"dp":2,"tp"/"dp":3,"tp"/'
# Degrees that the file does not bear out, before they take memory.
broken huge_dp_in_a_plan_is_refused "broken.json: replicas: 2 entries, but topology.dp is 300000000" \
    's/"dp":2,"tp"/"dp":300000000,"tp"/'
broken huge_pp_in_a_plan_is_refused \
    "broken.json: replicas[0].stages: 2 entries, but topology.pp is 300000000" \
    's/"pp":2,"cp"/"pp":300000000,"cp"/'
broken huge_cp_in_a_plan_is_refused \
    "broken.json: replicas[0].forward[0].shards: 2 entries, but topology.cp is 300000000" \
    's/"cp":2}/"cp":300000000}/'
broken replica_without_packs_is_refused \
    "broken.json: replicas[0].forward: no entries, but every replica has a pack" \
    's/"forward":/"forward":[],"former":/'
broken degree_of_zero_in_a_plan_is_refused "broken.json: topology.dp: 0 is below 1" \
    's/"dp":2,"tp"/"dp":0,"tp"/'
broken overflowing_degrees_in_a_plan_are_refused "broken.json: topology: " \
    's/"dp":2,"tp":1/"dp":65536,"tp":65536/'
broken missing_stats_are_named "broken.json: stats: an object is missing" \
    's/"stats"/"statistics"/'
broken sample_with_a_fraction_is_refused \
    "broken.json: samples[0]: a number with a fraction stands where an integer is expected" \
    's/"samples":\[4000/"samples":[4000.5/'
broken integer_past_int64_is_refused "broken.json:" \
    's/"samples":\[4000/"samples":[99999999999999999999/'
broken sample_of_zero_is_refused "broken.json: samples[1]: 0 is below 1" \
    's/"samples":\[4000,100,/"samples":[4000,0,/'
broken twice_the_same_member_is_refused "broken.json:" 's/"version":1/"version":1,"version":1/'
broken replica_out_of_order_is_refused "broken.json: replicas[1].dp: 0 is below 1" \
    's/{"dp":1,/{"dp":0,/'
broken stage_out_of_order_is_refused "broken.json: replicas[0].stages[0].pp: 1 is above 0" \
    's/{"pp":0,/{"pp":1,/'
broken op_of_no_pass_is_refused \
    "broken.json: replicas[0].stages[0].ops[0][0]: 'G' is none of F, B and W" \
    's/\["F"/["G"/'
broken op_that_ends_before_it_starts_is_refused "broken.json: replicas[0].stages[0].ops[" \
    's/\(\["[FB]",[0-9]*,[1-9][0-9]*,\)[0-9]*\]/\10]/'
broken slice_of_no_sample_is_refused "].slices[0][0]: 8 is above 7" \
    's/"slices":\[\[[0-9]*,/"slices":[[8,/'
broken merge_that_is_not_listed_is_refused ".merge: 7 is above" 's/"merge":-*[0-9]*/"merge":7/'
broken digest_that_is_no_digest_is_refused \
    "broken.json: stats.digest: 'xyz' is not 16 hex digits" \
    's/"digest":"[0-9a-f]*"/"digest":"xyz"/'
broken other_digest_is_refused \
    "broken.json: stats.digest: 0123456789abcdef, but the contents give " \
    's/"digest":"[0-9a-f]*"/"digest":"0123456789abcdef"/'
broken other_makespan_is_refused "broken.json: stats.makespan_ps: 5, but the last op ends at " \
    's/"makespan_ps":[0-9]*/"makespan_ps":5/'
broken ideal_above_the_makespan_is_refused "broken.json: stats.ideal_ps: 9223372036854775807 is above" \
    's/"ideal_ps":[0-9]*/"ideal_ps":9223372036854775807/'
broken bound_above_the_makespan_is_refused "broken.json: stats.bound_ps: 9223372036854775807 is above" \
    's/"bound_ps":[0-9]*/"bound_ps":9223372036854775807/'
broken longer_sample_changes_the_plan "broken.json: I" 's/"samples":\[4000/"samples":[4016/'
breaks token_that_no_slice_holds_breaks_an_invariant 's/"samples":\[4000,100/"samples":[4000,101/'
breaks lost_op_breaks_an_invariant 's/"ops":\[\["F",0,[0-9]*,[0-9]*\],/"ops":[/'
breaks op_run_twice_breaks_an_invariant 's/\["F",1,/["F",0,/'
breaks memory_above_the_cap_breaks_an_invariant 's/"memory_bytes":[0-9]*/"memory_bytes":1000/'
broken other_padding_has_another_digest "stats.digest" 's/"pad_multiple":1,/"pad_multiple":8,/'
broken padding_below_its_bound_is_refused "pad_multiple: 0 is below 1" 's/"pad_multiple":1,/"pad_multiple":0,/'
broken lockstep_is_true_or_false "lockstep: an integer stands where a truth value is expected" \
    's/"lockstep":false/"lockstep":3/'
breaks other_alignment_breaks_an_invariant 's/"alignment":[0-9]*/"alignment":4096/'

# ---- outputs that cannot be written

if [ -c /dev/full ]; then
    fails full_disk_is_reported 1 "slimpack: /dev/full: No space left" \
        plan good $small --json /dev/full
    : >out
    "$SLIMPACK" plan good $small --json - >/dev/full 2>err
    code=$?
    failed_as full_disk_under_json_on_standard_output_is_reported 1 \
        "standard output: No space left"
else
    skip full_disk_is_reported "no /dev/full"
fi
{ "$SLIMPACK" plan lengths --dp 4 --pp 4 --device ideal --json - 2>err; echo $? >code; } |
    head -c 1 >out
holds json_into_a_closed_pipe_is_reported grep -q '^slimpack: standard output: Broken pipe$' err
holds json_into_a_closed_pipe_fails [ "$(cat code)" -eq 1 ]
fails output_in_a_missing_folder_is_refused 1 "slimpack: no/p.json: " \
    plan good $small --json no/p.json
mkdir folder
fails output_that_is_a_directory_is_refused 1 "slimpack: folder: it is a directory" \
    plan good $small --json folder
echo kept >keep.json
# The file may grow to a few blocks only: the write fails half-way.
(
    ulimit -f 4
    "$SLIMPACK" plan lengths --dp 4 --pp 4 --device ideal --quiet --json keep.json >out 2>err
    echo $? >code
)
code=$(cat code)
failed_as write_that_fails_half_way_is_reported 1 "slimpack: keep.json: File too large"
holds write_that_fails_half_way_leaves_the_old_file [ "$(cat keep.json)" = kept ]
holds write_that_fails_half_way_leaves_no_other_file [ "$(ls -A | grep -c slimpack)" -eq 0 ]
ln -s keep.json link.json && chmod 640 keep.json
works output_through_a_link_is_written "" plan good $small --quiet --json link.json
holds link_stays_a_link [ -L link.json ]
works file_behind_the_link_is_the_plan "valid" check keep.json
holds file_keeps_its_mode [ "$(ls -l keep.json | cut -c1-10)" = "-rw-r-----" ]

# ---- outputs that are no file of their own

cp good input
fails output_that_is_the_input_is_refused 2 "--json: 'input' is what is read" plan input $small \
    --json input
fails output_that_is_the_input_by_another_name_is_refused 2 "--trace: './input' is what is read" \
    plan input $small --trace ./input
same input_is_as_it_was good input
echo kept >log
"$SLIMPACK" plan good $small --quiet --json /dev/stdout >>log 2>err
holds standard_output_by_name_keeps_what_was_there [ "$(head -n 1 log)" = kept ]
sed 1d log >by_name.json
works standard_output_by_name_has_the_plan "valid" check by_name.json
fails two_outputs_are_not_mixed_by_name 2 "are both '-'" plan good $small --json - \
    --trace /dev/stdout
fails control_bytes_of_a_file_name_are_not_repeated 1 "slimpack: a?[31mb?c: No such file" \
    check "$(printf 'a\033[31mb\nc')"

fails option_in_the_place_of_a_value_is_refused 2 "--json: its value OUT is missing before --quiet" \
    plan good $small --json --quiet

# ---- the cap of a plan

works plan_under_a_cap_of_its_own "" plan good $small --memory-gb 123.4 --json capped.json --quiet
works simulate_keeps_the_plans_cap "cap 123.4 GB" simulate capped.json
works another_device_has_its_own_cap "cap 80.00 GB" simulate capped.json --device h100
works a_cap_that_is_set_counts "cap 99.00 GB" simulate capped.json --set memory_bytes=99000000000
works simulated_plan_keeps_the_cap "" simulate capped.json --json again.json --quiet
works simulated_plan_is_valid "valid" check again.json
(printf '\357\273\277' && cat capped.json) >marked.json
works plan_with_a_byte_order_mark_is_read "valid" check marked.json

finish
