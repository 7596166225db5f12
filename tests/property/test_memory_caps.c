/*
 * test_memory_caps.c - I5 under caps that bind.
 *
 * Each case is planned without a cap first; then under caps between what is always
 * there and what that plan takes. A plan has to stay within its cap, and a refusal
 * has to name a cap that would do: it is taken at its word.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../support/checker.h"
#include "../support/expect.h"
#include "../support/random_case.h"

#define CASES 300

/* Caps tried: this many 16ths of the way from the static bytes to the peak. */
static const int64_t sixteenths[] = { 15, 12, 8, 4, 1 };

static void blame(const random_case *c, const char *what)
{
    random_case_print(c);
    fail_msg("seed %" PRIu64 ": %s", c->seed, what);
}

static void expect_fits(const random_case *c, const case_handles *h, const sp_schedule *schedule,
                        int64_t cap)
{
    check_limits limits = CHECK_LIMITS_INIT; /* the others are for test_invariants.c */
    sp_stats stats = SP_STATS_INIT;
    char why[400];

    limits.pad_multiple = c->limits.pad_multiple;
    limits.memory_bytes = cap;
    if (check_schedule(schedule, h->topology, c->length, c->count, &limits, why, sizeof why) != 0)
        blame(c, why);
    assert_int_equal(sp_schedule_stats(schedule, &stats), SP_OK);
    if (stats.peak_bytes > cap || stats.memory_bytes != cap)
        blame(c, "the peak is above the cap, or the cap not the one that was set");
}

/* The cap that a refusal names: the last number of its message. */
static int64_t named_cap(const char *message)
{
    const char *at = message + strlen(message);

    while (at > message && (at[-1] < '0' || at[-1] > '9'))
        at--;
    while (at > message && at[-1] >= '0' && at[-1] <= '9')
        at--;
    return strtoll(at, NULL, 10);
}

/* Plans under a cap; the cap that a refusal names, 0 when there was a plan. */
static int64_t plan_under(const random_case *c, case_handles *h, int64_t cap)
{
    sp_schedule *schedule = NULL;
    sp_status status;
    char words[500];

    assert_int_equal(sp_planner_set(h->planner, SP_PLANNER_MEMORY_BYTES, cap), SP_OK);
    status = sp_plan_batch(h->planner, h->batch, &schedule);
    if (status == SP_OK) {
        expect_fits(c, h, schedule, cap);
        sp_schedule_destroy(schedule);
        return 0;
    }
    snprintf(words, sizeof words, "under a cap of %" PRId64 ": %s", cap, sp_error_message());
    if (status != SP_ERR_INFEASIBLE || named_cap(words) <= cap)
        blame(c, words);
    return named_cap(words);
}

/* Static bytes of the fullest device and peak of a plan without a cap; 0 without plan. */
static int measure(const random_case *c, case_handles *h, int64_t *least, int64_t *most)
{
    sp_stats stats = SP_STATS_INIT;
    sp_schedule *schedule;

    assert_int_equal(sp_planner_set(h->planner, SP_PLANNER_MEMORY_BYTES, INT64_MAX), SP_OK);
    if (sp_plan_batch(h->planner, h->batch, &schedule) != SP_OK) {
        if (!c->has_cap)
            blame(c, sp_error_message());
        return 0;
    }
    assert_int_equal(sp_schedule_stats(schedule, &stats), SP_OK);
    *most = stats.peak_bytes;
    *least = 0;
    for (int32_t rank = 0; rank < sp_topology_size(h->topology); rank++) {
        sp_stage_view view = SP_STAGE_VIEW_INIT;

        assert_int_equal(sp_schedule_stage(schedule, rank, &view), SP_OK);
        *least = view.static_bytes > *least ? view.static_bytes : *least;
    }
    sp_schedule_destroy(schedule);
    return 1;
}

typedef struct tally {
    int64_t plans, refusals;
} tally;

static void try_caps(const random_case *c, case_handles *h, tally *t)
{
    int64_t least, most;

    if (!measure(c, h, &least, &most))
        return;
    for (size_t i = 0; i < sizeof sixteenths / sizeof *sixteenths; i++) {
        int64_t cap = least + (most - least) / 16 * sixteenths[i];
        int64_t named = plan_under(c, h, cap);

        t->plans += named == 0;
        t->refusals += named > 0;
        if (named > 0 && plan_under(c, h, named) != 0)
            blame(c, "the cap that a refusal names does not do");
    }
}

static void plans_fit_their_caps_and_refusals_name_one_that_does(void **state)
{
    static random_case c;
    tally t = { 0, 0 };
    case_handles h;

    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        random_case_make(seed, CASE_NO_CAPS, &c);
        if (random_case_open(&c, &h) != SP_OK)
            blame(&c, sp_error_message());
        try_caps(&c, &h, &t);
        random_case_close(&h);
    }
    print_message("    %" PRId64 " plans under a cap, %" PRId64 " refusals\n", t.plans, t.refusals);
    assert_true(t.plans > 0 && t.refusals > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_fit_their_caps_and_refusals_name_one_that_does),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
