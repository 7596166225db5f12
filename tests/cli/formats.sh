#!/bin/sh
# formats.sh - files of lengths in every format, whole and broken, and what is made of
# them: lists, trees, steps.
#
# Binary files are made here byte by byte, so that nothing but a shell is needed. What
# must be refused is refused with exactly the message that stands here, the right exit
# code and nothing on standard output, as a file and, where it can, as a pipe. The
# examples of docs/inputs.md are run as they stand.
set -u

root=$(pwd)
. "$(dirname "$0")/../support/cases.sh"

# refuses NAME CODE MESSAGE ARGUMENT... : all of standard error is "slimpack: MESSAGE"
refuses() {
    name=$1 want=$2 text=$3
    shift 3
    run "$@"
    refused_as "$name" "$want" "$text"
}

# refused_as NAME CODE MESSAGE : the same of the last run
refused_as() {
    if [ "$(cat err)" = "slimpack: $3" ]; then
        failed_as "$1" "$2" "$3"
    else
        bad "$1" "not '$3': $(head -c 300 err)"
    fi
}

# piped FILE ARGUMENT... : as run, of lengths -, with the file as a pipe
piped() {
    from=$1
    shift
    cat "$from" | "$SLIMPACK" lengths - "$@" >out 2>err
    code=$?
}

# pipe_refuses NAME MESSAGE FILE ARGUMENT...
pipe_refuses() {
    name=$1 text=$2
    shift 2
    piped "$@"
    refused_as "$name" 1 "standard input: $text"
}

# numbers : the lengths that the last run printed, on one line
numbers() {
    grep -v '^#' out | tr '\n' ' '
}

# gives NAME "LENGTHS" ARGUMENT... : lengths prints these
gives() {
    name=$1 want=$2
    shift 2
    works "${name}_is_read" "" lengths "$@"
    holds "${name}_gives_its_lengths" [ "$(numbers)" = "$want " ]
}

# le VALUE BYTES : little-endian
le() {
    value=$1 bytes=$2
    while [ "$bytes" -gt 0 ]; do
        printf "\\$(printf %03o $((value & 255)))"
        value=$((value >> 8)) bytes=$((bytes - 1))
    done
}

# npy MAJOR DICTIONARY : the head of an array, padded to 64 bytes as numpy does
npy() {
    if [ "$1" = 1 ]; then wide=2; else wide=4; fi
    length=$((8 + wide + ${#2} + 1))
    pad=$(((64 - length % 64) % 64))
    printf '\223NUMPY'
    le "$1" 1
    le 0 1
    le $((${#2} + pad + 1)) $wide
    printf "%s%${pad}s\n" "$2" ""
}

# dictionary DESCR SHAPE
dictionary() {
    printf "{'descr': %s, 'fortran_order': False, 'shape': %s, }" "$1" "$2"
}

# array DESCR BYTES VALUE... : an array of one dimension
array() {
    descr=$1 wide_element=$2
    shift 2
    npy 1 "$(dictionary "'$descr'" "($#,)")"
    for element; do le "$element" "$wide_element"; done
}

# index_head VERSION CODE SEQUENCES DOCUMENTS
index_head() {
    printf 'MMIDIDX\000\000'
    le "$1" 8
    le "$2" 1
    le "$3" 8
    le "$4" 8
}

# index CODE TOKEN-BYTES "LENGTHS" "DOCUMENTS" : the index of a dataset
index() {
    token=$2 lengths=$3 documents=$4
    index_head 1 "$1" $(echo $lengths | wc -w) $(echo $documents | wc -w)
    for length in $lengths; do le "$length" 4; done
    pointer=0
    for length in $lengths; do
        le $pointer 8
        pointer=$((pointer + length * token))
    done
    for document in $documents; do le "$document" 8; done
}

# ---- text

printf '4000\n100\n2000\n7\n300\n1500\n64\n900\n' >good
all="4000 100 2000 7 300 1500 64 900"
gives text "$all" good
holds lengths_begin_with_path_and_count [ "$(head -n 1 out)" = "# good: 8 lengths" ]
cp out again
run lengths again
holds text_comes_back_as_it_is [ "$(numbers)" = "$all " ]
printf '\357\273\277# saved elsewhere\r\n5\r\n6\r\n' >bom
gives text_with_a_byte_order_mark "5 6" bom
gives part_of_a_text "2000 7 300" good --skip 2 --batch 3
refuses lengths_need_a_file 2 "lengths: DIR or FILE is missing (- is standard input)" lengths
refuses lengths_name_a_missing_file 1 "nowhere: No such file or directory" lengths nowhere
refuses field_of_text_is_refused 2 "--field: good holds text, not JSON lines" \
    lengths good --field tokens
refuses bytes_of_a_file_are_refused 2 "--bytes-per-token: good is not a directory" \
    lengths good --bytes-per-token 3

# ---- NumPy arrays

array '<i8' 8 $all >i8.npy
array '<i4' 4 $all >i4.npy
array '<u4' 4 $all >u4.npy
for kind in i8 i4 u4; do
    gives array_of_$kind "$all" $kind.npy
    piped $kind.npy
    holds array_of_${kind}_can_be_piped [ "$(numbers)" = "$all " ]
done
gives part_of_an_array "2000 7 300" i8.npy --skip 2 --batch 3
"$SLIMPACK" lengths - <i8.npy >out 2>err
holds array_as_standard_input_is_read [ "$(numbers)" = "$all " ]
holds standard_input_is_named_in_the_list [ "$(head -n 1 out)" = "# -: 8 lengths" ]
works array_is_planned "8 samples, 8,871 tokens, longest 4,000" plan i4.npy --device ideal
works array_is_compared "8 samples, 8,871 tokens, longest 4,000" compare i4.npy --device ideal
for version in 2 3; do
    { npy $version "$(dictionary "'<i8'" '(2,)')"; le 5 8; le 6 8; } >v$version.npy
    gives array_of_version_$version "5 6" v$version.npy
done
cat >odd_head <<'END'
{"shape":(2L,),"fortran_order":True,"descr":"<i4"}
END
{ npy 1 "$(cat odd_head)"; le 5 4; le 6 4; } >odd.npy
gives array_with_another_spelling "5 6" odd.npy

# npy_refused NAME MESSAGE : refused.npy, as a file and as a pipe
npy_refused() {
    refuses "$1" 1 "refused.npy: $2" lengths refused.npy
    pipe_refuses "${1}_in_a_pipe" "$2" refused.npy
}

accepted="accepted are <i4, <i8 and <u4"
array '>i8' 8 1 2 >refused.npy
npy_refused array_of_big_endian "dtype '>i8', which is big-endian; $accepted"
array '<f4' 4 1 2 >refused.npy
npy_refused array_of_floats "dtype '<f4'; $accepted"
array '<u8' 8 1 2 >refused.npy
npy_refused array_of_uint64 "dtype '<u8'; $accepted"
array '|u1' 1 1 2 >refused.npy
npy_refused array_of_bytes "dtype '|u1'; $accepted"
array '' 1 1 2 >refused.npy
npy_refused array_of_nothing "dtype ''; $accepted"
npy 1 "$(dictionary "[('a', '<i8'), ('b', '<i4', (2,))]" '(2,)')" >refused.npy
npy_refused structured_array "a structured dtype; $accepted"
npy 1 "$(dictionary "'<i8'" '()')" >refused.npy
npy_refused array_without_dimensions "shape (): 0 dimensions; accepted is 1"
npy 1 "$(dictionary "'<i8'" '(2, 3)')" >refused.npy
npy_refused array_of_two_dimensions "shape (2, 3): 2 dimensions; accepted is 1"
npy 1 "{'descr': '<i8', 'fortran_order': True, 'shape': (2, 3), }" >refused.npy
npy_refused array_in_fortran_order \
    "shape (2, 3) in Fortran order: 2 dimensions; accepted is 1"
npy 4 "$(dictionary "'<i8'" '(2,)')" >refused.npy
npy_refused array_of_version_4 ".npy version 4.0; accepted are 1.0, 2.0 and 3.0"
npy 0 "$(dictionary "'<i8'" '(2,)')" >refused.npy
npy_refused array_of_version_0 ".npy version 0.0; accepted are 1.0, 2.0 and 3.0"
{ printf '\223NUMPY\002\000'; le 4294967295 4; echo "{}"; } >refused.npy
npy_refused header_of_4_gb ".npy header: 4294967295 bytes are above 65536"
{ printf '\223NUMPY\001\000'; le 200 2; echo "{}"; } >refused.npy
npy_refused header_cut_short "truncated: the header takes 200 bytes, 3 are there"
printf '\223NUMPY\001' >refused.npy
npy_refused array_cut_in_its_version "truncated: the beginning takes 10 bytes, 7 are there"
printf '\223NUMPY\002\000\000' >refused.npy
npy_refused array_cut_in_its_header_length \
    "truncated: the beginning takes 12 bytes, 9 are there"

# head_refused NAME WRONG DICTIONARY
head_refused() {
    npy 1 "$3" >refused.npy
    npy_refused "$1" ".npy header: $2"
}

head_refused header_that_is_a_list "it is not a dictionary" '[1, 2]'
head_refused header_that_is_blank "it is not a dictionary" ''
head_refused header_without_an_end "it is not a dictionary" "{'descr': '<i8'"
head_refused header_without_commas "it is not a dictionary" "{'descr': '<i8' 'shape': (2,)}"
head_refused header_without_a_shape "descr, fortran_order or shape is missing" \
    "{'descr': '<i8', 'fortran_order': False, }"
head_refused header_with_another_key "it has an unknown key" "{'descr': '<i8', 'order': 1}"
head_refused header_with_a_key_twice "it has a key twice" "{'descr': '<i8', 'descr': '<i8'}"
head_refused header_with_an_open_string "it is not a dictionary" "{'descr"
head_refused descr_with_an_open_string "its descr is neither a string nor a list" "{'descr': '<i8"
head_refused descr_that_is_a_number "its descr is neither a string nor a list" "{'descr': 8}"
head_refused descr_without_an_end "its descr has no end" "{'descr': [('a', '<i8'), "
head_refused descr_with_an_open_field "its descr has a string without an end" "{'descr': [('a"
head_refused order_that_is_a_number "its fortran_order is neither True nor False" \
    "{'fortran_order': 0}"
head_refused shape_that_is_a_number "its shape is not a tuple" "{'shape': 2}"
head_refused shape_below_zero "its shape is not a tuple of whole numbers" "{'shape': (-1,)}"
head_refused shape_without_an_end "its shape is not a tuple of whole numbers" "{'shape': (2"
head_refused header_with_a_tail "something follows its dictionary" \
    "$(dictionary "'<i8'" '(2,)') + {}"
npy 1 "$(dictionary "'<i8'" '(18446744073709551616,)')" >refused.npy
npy_refused count_past_uint64 \
    "shape (18446744073709551616,): more elements than a file holds"
npy 1 "$(dictionary "'<i8'" '(100000000000000000,)')" >refused.npy
npy_refused count_past_the_file "truncated: 100000000000000000 elements of 8 bytes take \
800000000000000000 bytes, 0 are there"
array '<i8' 8 $all | head -c 188 >refused.npy
npy_refused array_cut_in_an_element \
    "truncated: 8 elements of 8 bytes take 64 bytes, 60 are there"
{ array '<i4' 4 $all; printf abc; } >refused.npy
refuses array_with_a_tail 1 \
    "refused.npy: trailing bytes: 8 elements of 4 bytes take 32 bytes, 35 are there" \
    lengths refused.npy
pipe_refuses array_with_a_tail_in_a_pipe \
    "trailing bytes: 8 elements of 4 bytes take 32 bytes, at least 33 are there" refused.npy
piped refused.npy --batch 8
holds tail_behind_what_was_asked_for_is_not_read [ "$(numbers)" = "$all " ]
array '<i8' 8 >refused.npy
npy_refused array_of_nothing_at_all "no lengths: the array is empty"
array '<i8' 8 5 0 >refused.npy
npy_refused element_of_zero "element 1: 0 is below 1, the shortest length"
array '<i4' 4 -5 >refused.npy
npy_refused element_below_zero "element 0: -5 is below 1, the shortest length"
array '<u4' 4 5 6 2147483648 >refused.npy
npy_refused element_past_int32 "element 2: 2147483648 is above 2147483647, the longest length"
array '<i8' 8 -9223372036854775808 >refused.npy
npy_refused element_of_the_least_int64 \
    "element 0: -9223372036854775808 is below 1, the shortest length"
refuses batch_above_the_array 1 "i8.npy: --batch 9: the file has only 8 lengths" \
    plan i8.npy --batch 9
refuses batch_after_skip_above_the_array 1 \
    "i8.npy: --batch 5 after --skip 6: only 2 of the file's 8 lengths are left" \
    plan i8.npy --batch 5 --skip 6
refuses field_of_an_array_is_refused 2 "--field: i8.npy holds a NumPy array, not JSON lines" \
    plan i8.npy --field tokens
# 65536 elements: more than a block of the reader.
{ le 1 4; le 2 4; le 3 4; le 70000 4; } >words
for i in 1 2 3 4 5 6 7; do cat words words words words >more && mv more words; done
{ npy 1 "$(dictionary "'<i4'" '(65536,)')"; cat words; } >blocks.npy
run lengths blocks.npy
holds array_of_many_blocks_is_read \
    [ "$(awk '{ n++; s += $1 } !/^#/ && $1 == 70000 { k++ } END { print n, s, k }' out)" = \
    "65537 1146978304 16384" ]

# ---- Megatron-LM indices

index 8 2 "$all" "0 3 8" >set.idx
index 4 4 "$all" "0 3 8" >wide.idx
index 7 8 "$all" "0 3 8" >floats.idx
{ cat set.idx; printf '\000\001\000\000\000\000\000\000'; } >modes.idx
for kind in set wide floats modes; do
    gives index_$kind "$all" $kind.idx
    piped $kind.idx
    holds index_${kind}_can_be_piped [ "$(numbers)" = "$all " ]
done
gives part_of_an_index "2000 7 300" set.idx --skip 2 --batch 3
works index_is_planned "8 samples, 8,871 tokens, longest 4,000" plan set.idx --device ideal

# idx_refused NAME MESSAGE : refused.idx, as a file and as a pipe
idx_refused() {
    refuses "$1" 1 "refused.idx: $2" lengths refused.idx
    pipe_refuses "${1}_in_a_pipe" "$2" refused.idx
}

# The size of three sequences in two documents, as messages give it.
takes="3 sequences and 3 documents take 94 bytes or, with modes, 97"
index_head 2 8 0 1 >refused.idx
idx_refused index_of_version_2 ".idx version 2; accepted is 1"
index_head 1 9 0 1 >refused.idx
idx_refused index_of_unknown_tokens "dtype code 9; known are 1 to 8"
index_head 1 0 0 1 >refused.idx
idx_refused index_of_tokens_0 "dtype code 0; known are 1 to 8"
index_head 1 8 3 3 | head -c 33 >refused.idx
idx_refused index_cut_in_its_head "truncated: the head takes 34 bytes, 33 are there"
index_head 1 8 -1 3 >refused.idx
idx_refused sequences_past_any_file \
    "18446744073709551615 sequences and 3 documents are more than a file holds"
index_head 1 8 3 -1 >refused.idx
idx_refused documents_past_any_file \
    "3 sequences and 18446744073709551615 documents are more than a file holds"
index_head 1 8 1099511627776 3 >refused.idx
idx_refused sequences_past_the_file "truncated: 1099511627776 sequences and 3 documents take \
13194139533370 bytes or, with modes, 14293651161146; 34 are there"
index 8 2 "5 6 7" "0 2 3" | head -c 93 >refused.idx
idx_refused index_cut_in_its_documents "truncated: $takes; 93 are there"
{ index 8 2 "5 6 7" "0 2 3"; printf '\000\000'; } >refused.idx
refuses index_with_too_few_modes 1 "refused.idx: trailing bytes: $takes; 96 are there" \
    lengths refused.idx
pipe_refuses index_with_too_few_modes_in_a_pipe \
    "trailing bytes: $takes; at least 96 are there" refused.idx
{ index 8 2 "5 6 7" "0 2 3"; printf '\000\000\000\000\000'; } >refused.idx
refuses index_with_a_tail 1 "refused.idx: trailing bytes: $takes; 99 are there" \
    lengths refused.idx
pipe_refuses index_with_a_tail_in_a_pipe \
    "trailing bytes: $takes; at least 98 are there" refused.idx
index 8 2 "5 0 7" "0 2 3" >refused.idx
idx_refused sequence_of_zero "sequence 1: 0 is below 1, the shortest length"
index 8 2 "5 6 -7" "0 2 3" >refused.idx
idx_refused sequence_below_zero "sequence 2: -7 is below 1, the shortest length"
{ index_head 1 4 3 3; index 8 2 "5 6 7" "0 2 3" | tail -c +35; } >refused.idx
idx_refused pointers_of_other_tokens \
    "the pointers do not follow from the lengths of sequences of 4-byte tokens"
index 8 2 "5 6 7" "1 2 3" >refused.idx
idx_refused documents_that_begin_late "document index 0: 1 is not 0"
index 8 2 "5 6 7" "0 3 2" >refused.idx
idx_refused documents_out_of_order "document index 2: 2 is below 3, the one before it"
index 8 2 "5 6 7" "0 2 4" >refused.idx
idx_refused documents_of_other_sequences \
    "the last document index is 4, not the 3 of the sequences"
index 8 2 "" "0" >refused.idx
idx_refused index_of_nothing "no lengths: the dataset has no sequences"
{ printf 'TNTIDX\000\000'; le 1 8; le 4 8; } >refused.idx
idx_refused index_of_the_older_format \
    "an index of the older TNTIDX format; convert the dataset to Megatron-LM's MMIDIDX"

# ---- JSON lines

if [ "$json" -eq 1 ]; then
    cat >lines.jsonl <<'END'
{"id": 1, "text": "abc", "tokens": [1, 2], "n": 7, "meta": {"len": 4, "a.b": {"c": 9}}}

{"id": 2, "text": "h\u00e9llo w\u00f6rld", "tokens": [5], "n": 12, "meta": {"len": 1}, "x.y": 2}
  {"id": 3, "text": "日本語\u0000", "tokens": [[1, 2], 3, null], "n": 3, "meta": {"len": 2}}
END
    gives json_number "7 12 3" lines.jsonl --field n
    gives json_string_in_characters "3 11 4" lines.jsonl --field text
    gives json_array_in_elements "2 1 3" lines.jsonl --field tokens
    gives json_field_within_a_field "4 1 2" lines.jsonl --field meta.len
    gives part_of_json_lines "12" lines.jsonl --field n --skip 1 --batch 1
    piped lines.jsonl --field n
    holds json_lines_can_be_piped [ "$(numbers)" = "7 12 3 " ]
    printf '\357\273\277\r\n\r\n{"n": 5, "a.b": 6, "a": {"b": 7}}\r\n \r\n{"n": 6, "a": {"b": 8}}' \
        >loose.jsonl
    gives json_lines_with_blanks_and_a_mark "5 6" loose.jsonl --field n
    gives json_field_whose_name_has_a_dot "6 8" loose.jsonl --field a.b
    works json_lines_are_planned "3 samples, 22 tokens, longest 12" plan lines.jsonl --field n \
        --device ideal
    works json_lines_are_compared "3 samples, 22 tokens, longest 12" compare lines.jsonl \
        --field n --device ideal

    # line_refused NAME MESSAGE LINE [FIELD] : a second line that must be refused
    line_refused() {
        { echo '{"n": 1}'; printf '%b\n' "$3"; } >refused.jsonl
        refuses "$1" 1 "refused.jsonl:2: $2" lengths refused.jsonl --field "${4:-n}"
        pipe_refuses "${1}_in_a_pipe" "$2" refused.jsonl --field "${4:-n}"
    }

    # The pipe's place is "standard input:2".
    pipe_refuses() {
        name=$1 text=$2
        shift 2
        piped "$@"
        refused_as "$name" 1 "standard input:2: $text"
    }

    line_refused json_without_the_field 'no field "n"' '{"m": 1}'
    line_refused json_number_of_zero 'field "n": 0 is below 1, the shortest length' '{"n": 0}'
    line_refused json_number_below_zero 'field "n": -3 is below 1, the shortest length' '{"n": -3}'
    line_refused json_number_past_int32 \
        'field "n": 2147483648 is above 2147483647, the longest length' '{"n": 2147483648}'
    line_refused json_number_with_a_fraction 'field "n": 1.5 is not written as a whole number of tokens' \
        '{"n": 1.5}'
    line_refused json_number_with_an_exponent 'field "n": 1000 is not written as a whole number of tokens' \
        '{"n": 1e3}'
    line_refused json_string_of_nothing 'field "n": 0 is below 1, the shortest length' '{"n": ""}'
    line_refused json_array_of_nothing 'field "n": 0 is below 1, the shortest length' '{"n": []}'
    line_refused json_null 'field "n": null is not a number, a string or an array' '{"n": null}'
    line_refused json_true 'field "n": true is not a number, a string or an array' '{"n": true}'
    line_refused json_false 'field "n": false is not a number, a string or an array' '{"n": false}'
    line_refused json_object 'field "n": an object is not a number, a string or an array' \
        '{"n": {}}'
    line_refused json_array_for_an_object "the line is JSON, but not an object" '[1]'
    line_refused json_number_for_an_object "the line is JSON, but not an object" '7'
    line_refused json_without_an_end "not JSON: string or '}' expected near end of file" '{"n": 1, '
    line_refused json_twice_on_a_line "not JSON: end of file expected near '{'" '{"n": 1} {"n": 2}'
    line_refused json_key_twice "not JSON: duplicate object key near '\"n\"'" '{"n": 1, "n": 2}'
    line_refused json_that_is_not_utf8 "not JSON: unable to decode byte 0xff near '\"'" \
        '{"n": 1, "t": "\0377"}'
    line_refused json_with_a_nul_byte "the line holds a NUL byte" '{"n": 1}\0000'
    { echo '{"n": {"m": 1}}'; echo '{"n": 5}'; } >refused.jsonl
    refuses json_without_the_field_within 1 'refused.jsonl:2: no field "n.m"' \
        lengths refused.jsonl --field n.m
    awk 'BEGIN { for (i = 1; i < 1000; i++) print "{\"tokens\":5}"; print "{}" }' >refused.jsonl
    refuses json_without_the_field_far_down 1 'refused.jsonl:1000: no field "tokens"' \
        lengths refused.jsonl --field tokens
    refuses json_needs_a_field 2 'lines.jsonl: JSON lines need --field NAME; the first line has '\
'"id", "text", "tokens", "n", "meta"' lengths lines.jsonl
    echo '{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1}' >many.jsonl
    refuses json_of_many_fields_needs_one 2 'many.jsonl: JSON lines need --field NAME; the first '\
'line has "a", "b", "c", "d", "e", "f", ...' plan many.jsonl
    echo '{}' >none.jsonl
    refuses json_of_no_fields_needs_one 2 \
        'none.jsonl: JSON lines need --field NAME; the first line has no fields' plan none.jsonl
    printf '{"n":' >refused.jsonl
    fails json_that_is_none_needs_no_field 1 "refused.jsonl:1: not JSON: " lengths refused.jsonl
    { echo '{"n": 5}'; printf '{"n": "'; head -c 70000000 /dev/zero | tr '\0' x; echo '"}'; } \
        >refused.jsonl
    refuses json_line_of_70_mb_names_the_bound 1 \
        "refused.jsonl:2: the line is longer than 67108864 bytes" lengths refused.jsonl --field n
    { printf '{"n": "'; head -c 20000000 /dev/zero | tr '\0' x; echo '"}'; } >long.jsonl
    gives json_line_of_20_mb "20000000" long.jsonl --field n
    awk 'BEGIN { for (i = 0; i < 3000; i++) printf "{\"n\":"; }' >refused.jsonl
    fails json_of_3000_levels_is_refused 1 "refused.jsonl:1: not JSON: maximum parsing depth" \
        lengths refused.jsonl --field n
else
    echo '{"n": 5}' >lines.jsonl
    refuses json_lines_without_json 1 "built without JSON (install libjansson-dev and rebuild)" \
        lengths lines.jsonl --field n
fi

# ---- what is no file of lengths

# unknown NAME MESSAGE : foreign, as a file and as a pipe
unknown() {
    refuses "$1_is_refused" 1 "foreign: $2" lengths foreign
    piped foreign
    refused_as "$1_is_refused_in_a_pipe" 1 "standard input: $2"
}

unpack="decompress it first and hand it over as -"
printf '\037\213\010\000abc' >foreign
unknown gzip "gzip data; $unpack"
printf '\050\265\057\375abc' >foreign
unknown zstd "zstd data; $unpack"
printf '\3757zXZ\000abc' >foreign
unknown xz "xz data; $unpack"
printf 'BZh91AY' >foreign
unknown bzip2 "bzip2 data; $unpack"
printf '\004\042\115\030abc' >foreign
unknown lz4 "lz4 data; $unpack"
printf 'PK\003\004abc' >foreign
unknown zip "zip data, such as .npz; take the .npy file out first"
printf 'PAR1abc' >foreign
unknown parquet "Parquet data; write the lengths as .npy or text first"
printf 'ARROW1\000\000' >foreign
unknown arrow "Arrow data; write the lengths as .npy or text first"
printf '\211HDF\r\n\032\n' >foreign
unknown hdf5 "HDF5 data; write the lengths as .npy or text first"
printf '\377\3765\000\n\000' >foreign
unknown utf16 "UTF-16 text; write it as UTF-8"
printf '[{"n": 5}]' >foreign
unknown json_array "a JSON array, not JSON lines with an object each"
binary="unknown binary data; lengths are read from text, .npy, Megatron-LM .idx and JSON lines"
{ le 100 4; le 200 4; } >foreign
unknown raw_integers "$binary"
printf '\177ELF\002\001' >foreign
unknown elf "$binary"
printf '\n\000\000\000' >foreign
unknown newline_of_a_raw_integer "$binary"
printf '\200\004\225' >foreign
unknown pickle "$binary"
: >foreign
unknown nothing "no lengths: the file is empty or holds comments only"

# ---- every truncation of a small file

# Each is refused, with one message and no output, or is itself a whole file.
cut_everywhere() {
    name=$1 file=$2 whole=$3
    shift 3
    bytes=$(wc -c <"$file") at=0 wrong=
    while [ "$at" -lt "$bytes" ]; do
        head -c "$at" "$file" >cut
        run lengths cut "$@"
        judge_cut
        piped cut "$@"
        judge_cut
        at=$((at + 1))
    done
    if [ "$at" -gt 30 ] && [ -z "$wrong" ]; then ok "$name"; else bad "$name" "at bytes$wrong"; fi
}

judge_cut() {
    if [ "$code" -eq 0 ] && [ -z "$whole" ]; then
        wrong="$wrong $at"
    elif [ "$code" -eq 0 ]; then
        [ -s err ] && wrong="$wrong $at"
    elif [ "$code" -ne 1 ] || [ -s out ] || [ "$(wc -l <err)" -ne 1 ] ||
        ! grep -q '^slimpack: \(cut\|standard input\):' err; then
        wrong="$wrong $at"
    fi
}

array '<i4' 4 5 6 7 >small.npy
index 8 2 "5 6" "0 1 2" >small.idx
cut_everywhere array_cut_anywhere_is_refused small.npy ""
cut_everywhere index_cut_anywhere_is_refused small.idx ""
refuses empty_file_with_a_field_is_empty 1 \
    "foreign: no lengths: the file is empty or holds comments only" lengths foreign --field n
if [ "$json" -eq 1 ]; then
    printf '{"n": [1, {"a": "\\u00e9"}]}\n{"m": {}, "n": "xyz"}\n' >small.jsonl
    cut_everywhere json_lines_cut_anywhere_are_read_or_refused small.jsonl whole --field n
fi

# Each byte of a head replaced: whatever comes, one message or a list.
flip_everywhere() {
    name=$1 file=$2 most=$3 whole=whole wrong=
    at=0
    while [ "$at" -lt "$most" ]; do
        { head -c "$at" "$file"; printf '\377'; tail -c +$((at + 2)) "$file"; } >cut
        run lengths cut
        judge_cut
        at=$((at + 1))
    done
    if [ -z "$wrong" ]; then ok "$name"; else bad "$name" "at bytes$wrong"; fi
}

flip_everywhere array_spoiled_anywhere_is_read_or_refused small.npy 80
flip_everywhere index_spoiled_anywhere_is_read_or_refused small.idx "$(wc -c <small.idx)"

# ---- trees

mkdir -p tree/b/.hidden tree/b/c tree/.git
printf 12345678 >tree/b/c/two
printf 123456789 >tree/b/c/three
printf 1 >tree/a
printf 12345 >tree/b.txt
printf 123 >tree/.hidden
printf 123 >tree/b/.hidden/file
: >tree/empty
ln -s a tree/link
ln -s b tree/linked
mkfifo tree/pipe
gives tree "1 2 3 2" tree
holds tree_counts_what_it_leaves_out [ "$(sed -n 2p out)" = \
    "# a file each, 4 bytes a token; left out: 3 hidden, 1 empty, 2 links, 1 others" ]
gives tree_with_a_slash "1 2 3 2" tree/
gives tree_of_other_tokens "1 5 9 8" tree --bytes-per-token 1
gives part_of_a_tree "2 3" tree --skip 1 --batch 2
gives link_to_a_tree "3 2" tree/linked
refuses batch_above_the_tree 1 "tree: --batch 3 after --skip 2: only 2 of 4 files are left" \
    lengths tree --skip 2 --batch 3
refuses skip_past_the_tree 1 "tree: --skip 4 leaves nothing of 4 files" lengths tree --skip 4
refuses field_of_a_tree_is_refused 2 "--field: tree is a directory, not JSON lines" \
    lengths tree --field n
refuses token_of_no_bytes_is_refused 2 "--bytes-per-token: 0 is below 1" \
    lengths tree --bytes-per-token 0
mkdir bare && : >bare/empty
refuses tree_without_files_is_refused 1 "bare: no files that are neither empty nor hidden" \
    lengths bare
run lengths tree && cp out tree.txt
works tree_is_planned "4 samples, 8 tokens, longest 3" plan tree.txt --device ideal
if truncate -s 9000000000 sparse 2>/dev/null; then
    mkdir large && mv sparse large/file
    refuses file_past_int32_tokens_is_refused 1 "large/file: 9000000000 bytes, 2250000000 tokens, \
are above 2147483647, the longest length" lengths large
    gives file_of_wider_tokens "1125000000" large --bytes-per-token 8
    rm large/file
else
    skip file_past_int32_tokens_is_refused "no sparse files"
fi
chmod 000 tree/b/c
if [ "$(id -u)" -ne 0 ]; then
    refuses folder_that_cannot_be_read_is_named 1 "tree/b/c: Permission denied" lengths tree
elif command -v setpriv >/dev/null && chmod 711 . &&
    setpriv --reuid=65534 --clear-groups "$SLIMPACK" --version >/dev/null 2>&1; then
    setpriv --reuid=65534 --clear-groups "$SLIMPACK" lengths tree >out 2>err
    code=$?
    refused_as folder_that_cannot_be_read_is_named 1 "tree/b/c: Permission denied"
else
    skip folder_that_cannot_be_read_is_named "root reads everything and setpriv does not do"
fi
chmod 755 tree/b/c

# ---- steps

seq 100 7 1000 >steps # 129 lengths
small="--dp 2 --pp 2 --device ideal --set max_packs=8"
works steps_are_planned "8 of 16 samples" plan steps $small --batch 16 --steps all
cp out table
holds steps_have_a_line_each [ "$(grep -c '^ *[0-9]* *16 ' table)" -eq 8 ]
holds steps_leave_out_a_short_batch \
    grep -q '^left out      the last 1 length, less than a batch$' table
holds steps_count_their_tokens grep -q "^tokens        $(head -n 128 steps |
    awk '{ s += $1 } END { printf "%d,%03d", s / 1000, s % 1000 }')$" table
run plan steps $small --batch 16 --steps 0
timeless_rows() { awk '$2 == 16 { print $1, $3, $4, $5, $6, $7, $10 }' "$1"; }
timeless_rows table >a && timeless_rows out >b
same zero_steps_are_all a b
# A step planned after others is planned as if it stood alone.
run plan steps $small --batch 16 --skip 32
ratio=$(awk '$1 == "ratio" { print $2 }' out)
makespan=$(awk '$1 == "makespan" { print $2, $3 }' out)
holds step_is_what_it_is_alone \
    [ "$(awk '$1 == 3 && $2 == 16 { print $5, $6, $7 }' table)" = "$ratio $makespan" ]
awk '$2 == 16 { print $5 }' table | sort -n >ratios
holds steps_have_the_median_ratio grep -q "^ratio *p50 $(sed -n 4p ratios)," table
holds steps_have_the_largest_ratio grep -q "^ratio .* max $(tail -n 1 ratios)$" table
run plan steps $small --batch 16 --steps 2 --skip 16
holds steps_stop_where_they_should [ "$(grep -c '^ *[0-9]* *16 ' out)" -eq 2 ]
holds steps_that_stop_leave_out_nothing [ "$(grep -c '^left out' out)" -eq 0 ]
works quiet_steps_succeed "" plan steps $small --batch 16 --steps all --quiet
holds quiet_steps_print_nothing [ ! -s out ]
array '<i4' 4 $(seq 100 107) >steps.npy
works steps_take_any_format "2 of 4 samples" plan steps.npy $small --batch 4 --steps 2
cat steps.npy | "$SLIMPACK" plan - $small --batch 4 --steps all >out 2>err
holds steps_take_a_pipe grep -q '2 of 4 samples' out
refuses steps_need_a_batch 2 "plan: --steps needs --batch N, the samples of a step" \
    plan steps --steps 3
refuses steps_give_no_json 2 "plan: --json writes one plan and --steps makes many; --skip and \
--batch choose one" plan steps --steps 3 --batch 4 --json x.json
refuses steps_give_no_trace 2 "plan: --trace writes one plan and --steps makes many; --skip and \
--batch choose one" plan steps --steps 3 --batch 4 --trace x.json
refuses steps_of_a_word_are_refused 2 "--steps: 'some' is not a whole number" \
    plan steps --steps some --batch 4
refuses steps_below_zero_are_refused 2 "--steps: -1 is below 0" plan steps --steps -1 --batch 4
refuses steps_are_of_plan_alone 2 "--steps is not an option of compare" compare steps --steps 1
refuses steps_of_a_short_file_are_refused 1 "steps: --batch 200: the file has only 129 lengths" \
    plan steps --batch 200 --steps all
refuses steps_without_a_plan_name_the_step 1 "good: step 1: lengths[0]: the whole sample of 4000 \
tokens takes 4000 on a rank, above max_pack_tokens 1024; allow slicing, or oversize alone" \
    plan good $small --batch 4 --steps all --set slicing=no --set max_pack_tokens=1024
run plan steps $small --batch 16 --steps 9
holds steps_past_the_file_fail [ "$code" -eq 1 ]
holds steps_past_the_file_name_its_end [ "$(cat err)" = \
    "slimpack: steps: --steps 9: the file ends after 8 batches of 16 and 1 lengths" ]
holds steps_past_the_file_have_no_summary [ "$(grep -c '^steps' out)" -eq 0 ]
{ seq 1 8; echo x; } >spoiled
run plan spoiled $small --batch 4 --steps all
holds steps_name_a_bad_line grep -q "^slimpack: spoiled:9: 'x' is not a length" err
if [ -c /dev/full ]; then
    "$SLIMPACK" plan steps $small --batch 4 --steps all >/dev/full 2>err
    holds steps_on_a_full_disk_fail [ $? -eq 1 ]
fi
case ${SANITIZE:-} in
*sanitize*) skip memory_does_not_grow_with_the_steps "sanitizers reserve address space" ;;
*)
    ( ulimit -v 65536 && yes 100 | "$SLIMPACK" plan - --device ideal --batch 2 --steps 20000 \
        >out 2>err; )
    holds memory_does_not_grow_with_the_steps grep -q '^steps *20,000 of 2 samples' out
    ;;
esac

# ---- terminals

# on_terminal TERM NO_COLOR ARGUMENT... : standard error on a terminal, kept in err
on_terminal() {
    term=$1 no_color=$2
    shift 2
    TERM=$term NO_COLOR=$no_color script -qec "\"$SLIMPACK\" $* >out" /dev/null >err </dev/null
}

escape=$(printf '\033')
if command -v script >/dev/null 2>&1 && script -qec true /dev/null >/dev/null 2>&1; then
    on_terminal xterm "" compare good $small
    holds bar_is_drawn_on_a_terminal grep -q 'comparing \[' err
    holds bar_is_coloured_on_a_terminal grep -q "$escape\[32m" err
    holds bar_is_gone_at_the_end [ "$(tail -c 4 err)" = "$(printf '\r\033[K')" ]
    holds bar_is_not_in_the_output [ "$(grep -c "$escape" out)" -eq 0 ]
    on_terminal xterm 1 compare good $small
    holds bar_without_colour_is_drawn grep -q 'comparing \[' err
    holds no_color_is_kept_to [ "$(grep -c "$escape\[3" err)" -eq 0 ]
    on_terminal dumb "" compare good $small
    holds dumb_terminal_gets_no_bar [ ! -s err ]
    on_terminal xterm "" compare good $small --quiet
    holds quiet_work_has_no_bar [ ! -s err ]
    on_terminal xterm "" plan steps $small --batch 16 --steps all
    holds bar_counts_steps_of_an_unknown_number grep -q 'planning [0-9]' err
    on_terminal xterm "" plan steps $small --batch 16 --steps 4
    holds bar_shows_how_many_steps_are_done grep -q 'planning \[.*25 %' err
    on_terminal xterm "" plan nowhere
    holds error_is_coloured_on_a_terminal grep -q "^$escape\[31mslimpack: $escape\[0mnowhere: " err
    on_terminal xterm 1 plan nowhere
    holds error_is_plain_with_no_color grep -q "^slimpack: nowhere: " err
    on_terminal dumb "" plan nowhere
    holds error_is_plain_on_a_dumb_terminal grep -q "^slimpack: nowhere: " err
else
    skip bar_is_drawn_on_a_terminal "no program script, which makes terminals"
fi
run compare good $small
holds nothing_is_drawn_into_a_pipe [ ! -s err ]

# ---- the examples of docs/inputs.md

# Between ```console and ```, a line "$ COMMAND" is run and what follows is what it says.
mkdir examples && cd examples || exit 1
slimpack() { "$SLIMPACK" "$@"; }
if [ "$json" -eq 1 ]; then
    awk '/^```console$/ { on = 1; next } /^```$/ { on = 0 } on' "$root/docs/inputs.md" >../told
    grep '^\$ ' ../told | while IFS= read -r line; do
        printf '%s\n' "$line"
        eval "${line#"$ "}" 2>&1
    done >../shown
    cd ..
    holds inputs_has_examples [ "$(grep -c '^\$ ' told)" -ge 5 ]
    same examples_of_inputs_say_what_the_program_says told shown
else
    cd ..
    skip examples_of_inputs_say_what_the_program_says "built without JSON"
fi

finish
