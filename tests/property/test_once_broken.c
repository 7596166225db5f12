/*
 * test_once_broken.c - random cases that once broke an invariant, each named for its fault.
 *
 * The seeds are those of test_invariants.c when the fault was found; they mean the same
 * case only while random_case.c draws as it did, so a fault that can be stated in a few
 * lengths has a unit test of its own instead.
 */
#include <stdio.h>
#include <string.h>

#include "../support/checker.h"
#include "../support/expect.h"
#include "../support/random_case.h"

static void plan_and_judge(uint64_t seed)
{
    random_case c;
    case_handles h;
    sp_schedule *schedule;
    sp_status status;
    char why[400];

    random_case_make(seed, CASE_ANY, &c);
    assert_int_equal(random_case_open(&c, &h), SP_OK);
    status = sp_plan_batch(h.planner, h.batch, &schedule);
    if (status != SP_OK) {
        if (!c.has_cap)
            fail_msg("seed %lu: %s", (unsigned long)seed, sp_error_message());
        random_case_close(&h);
        return;
    }
    if (check_schedule(schedule, h.topology, c.length, c.count, &c.limits, why, sizeof why) != 0) {
        random_case_print(&c);
        fail_msg("seed %lu: %s", (unsigned long)seed, why);
    }
    sp_schedule_destroy(schedule);
    random_case_close(&h);
}

/* A refined draft left its offsets to the next one, so the plan written was another
 * than the one whose memory had been measured: above the cap. */
static void refinement_leaves_nothing_to_the_next_draft(void **state)
{
    (void)state;
    plan_and_judge(94049);
}

/* Packs that were rounded down each made the step faster than its ideal. */
static void no_step_is_faster_than_its_ideal(void **state)
{
    (void)state;
    plan_and_judge(85);
}

/* Groups rounded a whole-sample draft above max_packs; a policy ignored the limit. */
static void groups_and_limits_of_packs_bind_every_policy(void **state)
{
    static const uint64_t seeds[] = { 7, 17, 36, 76, 509, 682, 843, 911, 922, 1442 };

    (void)state;
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++)
        plan_and_judge(seeds[i]);
}

/* Caps below the pad multiple or the alignment let packs of several samples pass. */
static void small_caps_are_kept_or_refused(void **state)
{
    static const uint64_t seeds[] = { 8685, 30285, 33343, 37817, 37847, 38798 };

    (void)state;
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++)
        plan_and_judge(seeds[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refinement_leaves_nothing_to_the_next_draft),
        cmocka_unit_test(no_step_is_faster_than_its_ideal),
        cmocka_unit_test(groups_and_limits_of_packs_bind_every_policy),
        cmocka_unit_test(small_caps_are_kept_or_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
