/*
 * test_given_counts.c - pack counts that a caller gives are kept or refused, by every
 * policy: never replaced in silence.
 */
#include <string.h>

#include "../support/planned.h"

typedef struct counts {
    int64_t policy, slicing, group, given[2], max_packs;
} counts;

static planned plan_with(const counts *c)
{
    const plan_input in = { .topology = "dp=2 pp=2",
                            .set = { { SP_PLANNER_POLICY, c->policy },
                                     { SP_PLANNER_SLICING, c->slicing },
                                     { SP_PLANNER_PACK_GROUP, c->group },
                                     { SP_PLANNER_FORWARD_PACKS, c->given[0] },
                                     { SP_PLANNER_BACKWARD_PACKS, c->given[1] },
                                     { SP_PLANNER_MAX_PACKS, c->max_packs } },
                            LENGTHS(900, 300, 400, 1200, 700, 500, 64, 250, 31, 80, 600, 150) };

    return try_to_plan(&in);
}

/* Whether no plan could keep these parameters, whatever the batch. */
static int contradict(const counts *c)
{
    int64_t most = c->max_packs / c->group * c->group;
    int is_1f1b = c->policy == SP_POLICY_FIXED_PACK || c->policy == SP_POLICY_BALANCED_PACK;

    for (int pass = 0; pass < 2; pass++)
        if (c->given[pass] % c->group != 0 || c->given[pass] > most)
            return 1;
    return most == 0 || (c->policy == SP_POLICY_UNIFORM_SLICE && !c->slicing) ||
           (is_1f1b && c->given[0] > 0 && c->given[1] > 0 && c->given[0] != c->given[1]);
}

static void expect_kept_or_refused(const counts *c, int *plans, int *refusals)
{
    planned p = plan_with(c);

    if (p.status == SP_OK) {
        const int64_t packs[2] = { p.stats.forward_packs, p.stats.backward_packs };

        for (int pass = 0; pass < 2; pass++) {
            assert_true(c->given[pass] == 0 || packs[pass] == c->given[pass]);
            assert_int_equal(packs[pass] % c->group, 0);
            assert_true(packs[pass] <= c->max_packs);
        }
        ++*plans;
    } else if (p.status == SP_ERR_INFEASIBLE) {
        assert_true(strncmp(sp_error_message(), "max_packs: ", 11) == 0 ||
                    strncmp(sp_error_message(), "forward_packs: ", 15) == 0 ||
                    strncmp(sp_error_message(), "backward_packs: ", 16) == 0);
        ++*refusals;
    }
    assert_int_equal(p.status == SP_ERR_INVALID, contradict(c));
    planned_free(&p);
}

static void every_policy_keeps_or_refuses_them(void **state)
{
    static const int64_t some[] = { 0, 1, 2, 3, 8, 17 };
    int plans = 0, refusals = 0;

    (void)state;
    for (int i = 0; i < 4 * 2 * 3 * 2 * 6 * 6; i++) {
        const counts c = { .policy = i % 4, .slicing = i / 4 % 2, .group = 1 + i / 8 % 3,
                           .max_packs = i / 24 % 2 ? 256 : 9,
                           .given = { some[i / 48 % 6], some[i / 288] } };

        expect_kept_or_refused(&c, &plans, &refusals);
    }
    assert_true(plans > 300);
    assert_true(refusals > 20);
}

static void passes_that_run_alike_take_one_count(void **state)
{
    const counts c = { SP_POLICY_FIXED_PACK, 1, 1, { 7, 9 }, 256 };
    planned p = plan_with(&c);

    (void)state;
    assert_int_equal(p.status, SP_ERR_INVALID);
    assert_string_equal(sp_error_message(), "backward_packs: 9 are not the 7 forward_packs, and "
                                            "policy fixed-pack runs both passes in the same packs");
    planned_free(&p);
}

static void too_few_for_the_batch_are_named(void **state)
{
    const counts c = { SP_POLICY_UNIFORM_SLICE, 1, 1, { 1, 0 }, 256 };
    planned p = plan_with(&c);

    (void)state;
    assert_int_equal(p.status, SP_ERR_INFEASIBLE);
    assert_string_equal(sp_error_message(),
                        "forward_packs: a replica needs 3 packs, but 1 are allowed");
    planned_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_policy_keeps_or_refuses_them),
        cmocka_unit_test(passes_that_run_alike_take_one_count),
        cmocka_unit_test(too_few_for_the_batch_are_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
