#!/bin/sh
# A lint that cannot fail is none: each is given a copy of the tree with one fault. It
# must pass on the copy before, or its failure afterwards would say nothing.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

mkdir -p "$work/sound"
cp -r Makefile README.md include lib src tests docs "$work/sound"
cp "${L:-lib}"/libslimpack.* "$work/sound/lib"

copy() {
    rm -rf "$work/tree"
    cp -r "$work/sound" "$work/tree"
}

# lint NAME: runs it in the copy, on the copy's libraries.
lint() {
    (cd "$work/tree" && B=build L=lib sh "tests/lint/$1.sh") >"$work/log" 2>&1
}

# report STATUS NAME: one line; the lint's words too, where it went wrong.
report() {
    if [ "$1" = 0 ]; then
        echo "[       OK ] $2"
    else
        sed 's/^/    /' "$work/log"
        echo "[  FAILED  ] $2"
        failed=1
    fi
}

# plant NAME LINT TEST COMMAND: TEST of the lint fails once the command ran in a copy.
plant() {
    copy
    (cd "$work/tree" && eval "$4")
    if diff -r -q "$work/sound" "$work/tree" >"$work/log"; then
        echo "the fault changes nothing" >"$work/log"
        report 1 "$1"
        return
    fi
    ! lint "$2" && grep -qE "^\[  FAILED  \] $3$" "$work/log"
    report $? "$1"
}

copy
for name in collector exports floors header orphans readme sources; do
    lint $name
    report $? "${name}_passes_before_a_fault"
done

climbs=includes_go_downwards_only
plant floors_notices_a_climb floors $climbs \
    "echo '#include \"plan/planner.h\"' >>src/base/sort.c"
plant floors_notices_a_climb_in_odd_spacing floors $climbs \
    "echo ' # include  \"plan/planner.h\"' >>src/base/sort.c"
plant floors_notices_a_climb_in_angle_brackets floors $climbs \
    "echo '#include <plan/planner.h>' >>src/base/sort.c"
plant floors_notices_a_path_that_walks_around floors $climbs \
    "echo '#include \"../plan/planner.h\"' >>src/base/sort.c"
plant floors_notices_exact_in_slice floors $climbs \
    "echo '#include \"exact/search.h\"' >>src/slice/cut.c"
plant floors_notices_slice_in_exact floors $climbs \
    "echo '#include \"slice/cut.h\"' >>src/exact/search.c"
plant floors_notices_a_new_floor floors $climbs \
    "mkdir src/misc && echo '#include \"base/sort.h\"' >src/misc/sort.c"
plant floors_notices_a_program_that_looks_inside floors $climbs \
    "echo '#include \"base/sort.h\"' >>src/cli/main.c"

agree=header_map_and_object_agree
plant exports_notices_a_name_that_the_map_lacks exports $agree \
    "sed -i '/sp_version;/d' lib/slimpack.map"
plant exports_notices_a_name_that_the_header_lacks exports $agree \
    "sed -i 's/sp_version;/&sp_more;/' lib/slimpack.map"
plant exports_notices_a_name_that_the_object_lacks exports $agree \
    "sed -i 's/sp_version;/&sp_more;/' lib/slimpack.map && echo 'SP_API int32_t sp_more(void);' >>include/slimpack.h"

plant header_notices_a_missing_include header 'header_alone_.*' \
    "sed -i 's/#include <stdint.h>//' include/slimpack.h"
plant header_notices_a_definition header 'header_alone_.*' \
    "echo 'int sp_twice(void) { return 0; }' >>include/slimpack.h"
plant header_notices_what_is_not_c11 header 'header_alone_c11_.*' \
    "sed -i 's/^typedef struct sp_batch sp_batch;/&\nstatic const int sp_x = 0b1;/' include/slimpack.h"
plant header_notices_what_is_not_cxx header 'header_alone_cxx17_.*' \
    "sed -i 's/^typedef struct sp_batch sp_batch;/&\nint sp_x(int new);/' include/slimpack.h"

plant orphans_notices_a_test_that_is_not_run orphans every_test_file_is_run \
    "sed -i 's,wildcard tests/unit/[*].c,wildcard tests/unit/test_abi.c,' Makefile"
plant orphans_notices_a_script_of_python_that_is_not_run orphans every_test_file_is_run \
    "sed -i 's, browser python property, browser property,' Makefile"
plant orphans_notices_a_property_that_is_not_run orphans every_test_file_is_run \
    "sed -i 's,wildcard tests/property/test_[*].c,wildcard tests/property/test_checker.c,' Makefile"

# source NAME TEST LINE: the test of sources.sh fails with that line in a planner's file.
source() {
    plant "sources_notices_$1" sources "$2" "echo '$3' >>src/plan/taper.c"
}

source a_double no_floating_point_where_plans_are_shaped 'double x;'
source a_double_between_comments no_floating_point_where_plans_are_shaped '/* a */ double x; /* b */'
source a_fraction no_floating_point_where_plans_are_shaped 'int x = (int)(2 * 0.5);'
source malloc no_allocation_past_the_hooks 'void *p(void) { return malloc(1); }'
source a_pointer_to_malloc no_allocation_past_the_hooks 'void *(*p)(size_t) = malloc;'
source free no_allocation_past_the_hooks 'void p(void *x) { free(x); }'
source printf no_output 'void p(void) { printf("x"); }'
source stderr no_output 'void p(void) { fputs("x", stderr); }'
source abort no_exit_environment_locale_or_time 'void p(void) { abort(); }'
source getenv no_exit_environment_locale_or_time 'char *p(void) { return getenv("X"); }'
source setlocale no_exit_environment_locale_or_time 'void p(void) { setlocale(0, ""); }'
source unfinished_work no_unfinished_work '/* TO''DO */'
plant sources_notices_a_long_line sources files_and_lines_of_readable_size \
    "printf '/* %0100d */\n' 0 >>src/plan/taper.c"
plant sources_notices_a_long_file sources files_and_lines_of_readable_size \
    "yes '' | head -n 500 >>src/plan/taper.c"
plant sources_notices_a_long_line_of_python sources files_and_lines_of_readable_size \
    "printf '# %0100d\n' 0 >>src/python/slimpack/planner.py"
plant sources_notices_a_floor_without_files sources no_floating_point_where_plans_are_shaped \
    "rm src/slice/*"

plant readme_notices_another_example readme readme_shows_the_example_that_is_tested \
    "sed -i 's/dp=4 tp=8/dp=5 tp=8/' README.md"
plant collector_notices_a_crash_that_is_not_counted collector collector_counts_a_crash \
    "sed -i 's/^    \\[ \"\$1\" -ge 124.*/    return 1/' tests/run.sh"
plant collector_notices_a_failure_counted_twice collector collector_counts_a_failure_once \
    "sed -i 's/sort -u/sort/' tests/run.sh"
exit $failed
