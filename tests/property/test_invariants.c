/*
 * test_invariants.c - thousands of random cases: every plan keeps every invariant.
 *
 * SLIMPACK_CASES sets how many (2000) from seed SLIMPACK_FIRST (0) on; SLIMPACK_SEED
 * runs a single one again, as the report of a failure names it; SLIMPACK_WIDE=1 takes
 * clusters of up to DP 512, PP 64 and CP 16 and lengths of up to 2^40 in. A plan passes
 * both checkers; each SLIMPACK_EACHth (1) is also made twice and by a second planner,
 * with the same digest, replayed, with the same times, and sent as bytes. A case may
 * end in SP_ERR_INFEASIBLE or SP_ERR_OVERFLOW only when it sets a limit that explains it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../support/checker.h"
#include "../support/expect.h"
#include "../support/random_case.h"
#include "../support/round_trip.h"

static int64_t number_from(const char *name, int64_t other)
{
    const char *text = getenv(name);

    return text != NULL && *text != '\0' ? strtoll(text, NULL, 10) : other;
}

/* Every failure prints the case before it ends the test. */
static void blame(const random_case *c, const char *what)
{
    random_case_print(c);
    fail_msg("seed %" PRIu64 ": %s", c->seed, what);
}

static sp_schedule *plan(const random_case *c, case_handles *h, sp_planner *planner)
{
    sp_schedule *schedule = NULL;
    sp_status status = sp_plan_batch(NULL, h->batch, &schedule); /* a message to be kept */
    char words[400];

    status = sp_plan_batch(planner, h->batch, &schedule);
    if (status == SP_OK && strcmp(sp_error_message(), "planner is NULL") != 0)
        blame(c, "a call that succeeds changes the last message");
    if (status == SP_OK)
        return schedule;
    if (c->has_cap && (status == SP_ERR_INFEASIBLE || status == SP_ERR_OVERFLOW))
        return NULL;
    snprintf(words, sizeof words, "%s: %s", sp_status_name(status), sp_error_message());
    blame(c, words);
    return NULL;
}

/* The same plan from the warm planner and from a new one. */
static void check_digests(const random_case *c, case_handles *h, const sp_schedule *first)
{
    sp_schedule *again = plan(c, h, h->planner), *other;
    sp_planner *second;

    assert_int_equal(random_case_planner(c, h, &second), SP_OK);
    other = plan(c, h, second);
    if (again == NULL || other == NULL)
        blame(c, "planned once, but not twice");
    if (sp_schedule_digest(again) != sp_schedule_digest(first))
        blame(c, "a warm planner plans otherwise");
    if (sp_schedule_digest(other) != sp_schedule_digest(first))
        blame(c, "a new planner plans otherwise");
    sp_schedule_destroy(again);
    sp_schedule_destroy(other);
    sp_planner_destroy(second);
}

static void check_replayed_rank(const random_case *c, const sp_schedule *schedule,
                                const sp_simulation *simulation, int32_t rank)
{
    sp_stage_view planned = SP_STAGE_VIEW_INIT, replayed = SP_STAGE_VIEW_INIT;

    for (int32_t i = 0; i < sp_schedule_op_count(schedule); i++) {
        sp_op_view op = SP_OP_VIEW_INIT;
        int64_t start = -1, end = -1;

        if (sp_schedule_op(schedule, rank, i, &op) != SP_OK ||
            sp_simulation_op(simulation, rank, i, &start, &end) != SP_OK)
            blame(c, sp_error_message());
        if (start != op.start_ps || end != op.end_ps)
            blame(c, "sp_simulate gives an op other times than the plan");
    }
    if (sp_schedule_stage(schedule, rank, &planned) != SP_OK ||
        sp_simulation_stage(simulation, rank, &replayed) != SP_OK)
        blame(c, sp_error_message());
    if (memcmp(&planned, &replayed, sizeof planned) != 0)
        blame(c, "sp_simulate gives a device other memory than the plan");
}

/* A plan replayed on the machine that it was made for takes what it says. */
static void check_replay(const random_case *c, const case_handles *h, const sp_schedule *schedule)
{
    sp_stats planned = SP_STATS_INIT, replayed = SP_STATS_INIT;
    sp_simulation *simulation;

    if (sp_simulate(schedule, h->model, h->device, &simulation) != SP_OK)
        blame(c, sp_error_message());
    for (int32_t rank = 0; rank < sp_topology_size(h->topology); rank++)
        check_replayed_rank(c, schedule, simulation, rank);
    assert_int_equal(sp_schedule_stats(schedule, &planned), SP_OK);
    assert_int_equal(sp_simulation_stats(simulation, &replayed), SP_OK);
    if (planned.makespan_ps != replayed.makespan_ps || planned.ideal_ps != replayed.ideal_ps ||
        planned.bubble_ppm != replayed.bubble_ppm || planned.peak_bytes != replayed.peak_bytes)
        blame(c, "sp_simulate gives other stats than the plan");
    sp_simulation_destroy(simulation);
}

static void check_twice(const random_case *c, case_handles *h, const sp_schedule *schedule)
{
    int32_t rank = (int32_t)(c->seed % (uint64_t)sp_topology_size(h->topology));
    char why[400];

    check_replay(c, h, schedule);
    check_digests(c, h, schedule);
    if (round_trip_check(schedule, h->topology, rank, why, sizeof why) != 0)
        blame(c, why);
}

/* Whether the case had a plan. */
static int run_case(uint64_t seed, int kinds, int64_t each)
{
    random_case c;
    case_handles h;
    sp_schedule *schedule;
    char why[400];

    random_case_make(seed, kinds, &c);
    if (random_case_open(&c, &h) != SP_OK)
        blame(&c, sp_error_message());
    schedule = plan(&c, &h, h.planner);
    if (schedule != NULL) {
        if (check_schedule(schedule, h.topology, c.length, c.count, &c.limits, why,
                           sizeof why) != 0)
            blame(&c, why);
        if (sp_schedule_check(schedule) != SP_OK)
            blame(&c, sp_error_message());
        if (seed % (uint64_t)each == 0)
            check_twice(&c, &h, schedule);
    }
    sp_schedule_destroy(schedule);
    random_case_close(&h);
    return schedule != NULL;
}

static void every_plan_of_a_random_case_keeps_every_invariant(void **state)
{
    int64_t cases = number_from("SLIMPACK_CASES", 2000), planned = 0;
    int64_t only = number_from("SLIMPACK_SEED", -1), first = number_from("SLIMPACK_FIRST", 0);
    int64_t each = number_from("SLIMPACK_EACH", 1);
    int kinds = number_from("SLIMPACK_WIDE", 0) != 0 ? CASE_WIDE : CASE_ANY;

    (void)state;
    if (only >= 0) {
        run_case((uint64_t)only, kinds, 1);
        return;
    }
    for (int64_t i = 0; i < cases; i++) {
        planned += run_case((uint64_t)(first + i), kinds, each);
        if ((i + 1) % 10000 == 0)
            print_message("%" PRId64 " of %" PRId64 " cases have a plan\n", planned, i + 1);
    }
    print_message("%" PRId64 " of %" PRId64 " cases have a plan\n", planned, cases);
    /* A generator whose cases were mostly infeasible would prove little. */
    assert_true(2 * planned >= cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_plan_of_a_random_case_keeps_every_invariant),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
