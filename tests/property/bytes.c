/*
 * bytes.c - plans a fixed list of random cases and prints a line for each.
 *
 * I9: built by other compilers and at other optimisation levels it has to print
 * the same bytes; same_bytes.sh compares them. An argument sets the number of
 * cases.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "../support/random_case.h"

#define CASES 80

static void print_plan(uint64_t seed, const sp_schedule *schedule)
{
    sp_stats s = SP_STATS_INIT;

    if (sp_schedule_stats(schedule, &s) != SP_OK)
        return;
    printf("%" PRIu64 " %016" PRIx64 " packs %" PRId64 " %" PRId64 " slices %" PRId64
           " merges %" PRId64 " makespan %" PRId64 " ideal %" PRId64 " bound %" PRId64
           " bubble %" PRId64 " bytes %" PRId64 " imbalance %" PRId64 " %" PRId64 " %" PRId64
           " %" PRId64 " %" PRId64 "\n", seed, sp_schedule_digest(schedule), s.forward_packs,
           s.backward_packs, s.slices, s.merges, s.makespan_ps, s.ideal_ps, s.bound_ps,
           s.bubble_ppm, s.peak_bytes, s.imbalance_dp_ppm, s.imbalance_pp_ppm, s.imbalance_cp_ppm,
           s.imbalance_forward_ppm, s.imbalance_backward_ppm);
}

/* Errors are printed too: the same case must fail alike. */
static void run_case(uint64_t seed)
{
    static random_case c;
    sp_schedule *schedule = NULL;
    case_handles h;
    sp_status status;

    random_case_make(seed, CASE_ANY, &c);
    if (random_case_open(&c, &h) != SP_OK) {
        printf("%" PRIu64 " cannot open: %s\n", seed, sp_error_message());
        return;
    }
    status = sp_plan_batch(h.planner, h.batch, &schedule);
    if (status == SP_OK)
        print_plan(seed, schedule);
    else
        printf("%" PRIu64 " %s: %s\n", seed, sp_status_name(status), sp_error_message());
    sp_schedule_destroy(schedule);
    random_case_close(&h);
}

int main(int argc, char **argv)
{
    int64_t cases = argc > 1 ? strtoll(argv[1], NULL, 10) : CASES;

    for (int64_t i = 0; i < cases; i++)
        run_case((uint64_t)i);
    return ferror(stdout) != 0;
}
