/*
 * test_field_caps.c - small inputs that broke other planners, kind B: the token cap,
 * samples above it, and tokens that went missing.
 *
 * The cap is that of a rank's padded tokens. Every sample is planned, flagged, or named
 * by the refusal.
 */
#include <string.h>

#include "../support/planned.h"
#include "../support/random_case.h"

static void b1_two_samples_never_share_a_pack_beyond_the_cap(void **state)
{
    const plan_input in = { .topology = "dp=1", .set = { { SP_PLANNER_MAX_PACK_TOKENS, 8 } },
                            LENGTHS(7, 7, 7, 7, 7, 7, 7, 7) };
    planned p = plan_it(&in);

    (void)state;
    assert_int_equal(most_tokens(&p), 7);
    assert_int_equal(filled_packs(&p, 0, SP_FORWARD), 8);
    assert_int_equal(filled_packs(&p, 0, SP_BACKWARD), 8);
    planned_free(&p);
}

static void b2_balancing_work_keeps_the_token_cap(void **state)
{
    const plan_input in = { .topology = "dp=1",
                            .set = { { SP_PLANNER_MAX_PACK_TOKENS, 12 },
                                     { SP_PLANNER_FORWARD_PACKS, 2 },
                                     { SP_PLANNER_BACKWARD_PACKS, 2 } },
                            LENGTHS(8, 4, 4, 4, 4) };
    planned p = plan_it(&in);

    (void)state;
    for (int32_t k = 0; k < 2; k++)
        assert_int_equal(slices_of(&p, 0, SP_FORWARD, k).tokens, 12);
    planned_free(&p);
}

/* The cap is on a rank: with CP 2, 20 tokens are one pack of 10 and 10. */
static void b4_the_capacity_is_that_of_the_group(void **state)
{
    const plan_input fits = { .topology = "cp=2",
                              .set = { { SP_PLANNER_MAX_PACK_TOKENS, 10 },
                                       { SP_PLANNER_FORWARD_PACKS, 1 },
                                       { SP_PLANNER_BACKWARD_PACKS, 1 } },
                              LENGTHS(20) };
    const plan_input sliced = { .topology = "cp=2",
                                .set = { { SP_PLANNER_MAX_PACK_TOKENS, 10 } }, LENGTHS(21) };
    const plan_input whole = { .topology = "cp=2",
                               .set = { { SP_PLANNER_MAX_PACK_TOKENS, 10 },
                                        { SP_PLANNER_SLICING, 0 } },
                               LENGTHS(21) };
    planned p = plan_it(&fits);

    (void)state;
    assert_int_equal(most_tokens(&p), 10);
    planned_free(&p);
    p = plan_it(&sliced);
    assert_true(most_tokens(&p) <= 10);
    assert_true(p.stats.slices >= 2);
    planned_free(&p);
    p = try_to_plan(&whole);
    assert_int_equal(p.status, SP_ERR_INFEASIBLE);
    assert_string_equal(sp_error_message(),
                        "lengths[0]: the whole sample of 21 tokens takes 12 on a rank, above "
                        "max_pack_tokens 10; allow slicing, or oversize alone");
    planned_free(&p);
}

static void b5_a_sample_above_the_cap_is_sliced(void **state)
{
    const plan_input in = { .topology = "dp=1", .set = { { SP_PLANNER_MAX_PACK_TOKENS, 16384 } },
                            LENGTHS(40960, 100) };
    planned p = plan_it(&in);

    (void)state;
    assert_true(most_tokens(&p) <= 16384);
    assert_int_equal(p.stats.tokens, 41060);
    planned_free(&p);
}

static void b6_an_oversize_sample_runs_alone_and_flagged(void **state)
{
    const plan_input in = { .topology = "dp=1",
                            .set = { { SP_PLANNER_MAX_PACK_TOKENS, 20 }, { SP_PLANNER_SLICING, 0 },
                                     { SP_PLANNER_OVERSIZE, SP_OVERSIZE_ALONE } },
                            LENGTHS(30, 5, 5) };
    planned p = plan_it(&in);
    int flagged = 0;

    (void)state;
    for (int32_t k = 0; k < p.stats.forward_packs; k++) {
        sp_pack_view v = pack_of(&p, 0, 0, SP_FORWARD, k);

        if ((v.flags & SP_PACK_OVERSIZE) == 0) {
            assert_true(v.tokens <= 20);
            continue;
        }
        flagged++;
        assert_int_equal(v.count, 1);
        assert_int_equal(v.sample[0], 0);
    }
    assert_int_equal(flagged, 1);
    planned_free(&p);
}

/* B7, C22: the cap is tested on padded lengths, and odd ones are kept. */
static void b7_the_cap_counts_padded_tokens(void **state)
{
    const plan_input in = {.topology = "tp=2",
                           .set = {{SP_PLANNER_MAX_PACK_TOKENS, 512}, {SP_PLANNER_PAD_MULTIPLE, 4}},
                           LENGTHS(33, 33, 34, 35, 31, 33, 33, 33, 32, 33, 35, 33, 33, 34, 33, 33)};
    planned p = plan_it(&in);

    (void)state;
    for (int32_t k = 0; k < p.stats.forward_packs; k++) {
        sp_pack_view v = pack_of(&p, 0, 0, SP_FORWARD, k);

        assert_true(v.padded_tokens <= 512);
        assert_int_equal(v.padded_tokens % 4, 0);
    }
    planned_free(&p);
}

static void b10_slices_sum_to_all_tokens(void **state)
{
    const plan_input in = {.topology = "dp=1",
                           .set = {{SP_PLANNER_MAX_PACK_TOKENS, 3}, {SP_PLANNER_ALIGNMENT, 1}},
                           LENGTHS(4, 2, 3, 1)};
    planned p = plan_it(&in);
    int64_t tokens = 0;

    (void)state;
    for (int32_t k = 0; k < p.stats.forward_packs; k++)
        tokens += slices_of(&p, 0, SP_FORWARD, k).tokens;
    assert_int_equal(tokens, 10);
    planned_free(&p);
}

/* Order and causal link are the checker's I2 and I3; whole-sample mode refuses. */
static void b11_an_overhang_stays_part_of_its_sample(void **state)
{
    const plan_input in = { .topology = "dp=1",
                            .set = { { SP_PLANNER_MAX_PACK_TOKENS, 10 },
                                     { SP_PLANNER_ALIGNMENT, 1 } },
                            LENGTHS(13, 11) };
    const plan_input whole = { .topology = "dp=1",
                               .set = { { SP_PLANNER_MAX_PACK_TOKENS, 10 },
                                        { SP_PLANNER_SLICING, 0 } },
                               LENGTHS(13, 11) };
    planned p = plan_it(&in);

    (void)state;
    assert_int_equal(p.stats.samples, 2);
    planned_free(&p);
    p = try_to_plan(&whole);
    assert_int_equal(p.status, SP_ERR_INFEASIBLE);
    planned_free(&p);
}

static void b13_nothing_is_skipped(void **state)
{
    const plan_input in = { .topology = "dp=1", .set = { { SP_PLANNER_MAX_PACK_TOKENS, 4096 } },
                            LENGTHS(5, 4097, 7) };
    planned p = plan_it(&in);

    (void)state;
    assert_int_equal(p.stats.samples, 3);
    assert_int_equal(p.stats.tokens, 4109);
    planned_free(&p);
}

static void b14_all_within_the_cap_can_be_one_pack(void **state)
{
    const plan_input in = { .topology = "dp=1",
                            .set = { { SP_PLANNER_MAX_PACK_TOKENS, 4096 },
                                     { SP_PLANNER_FORWARD_PACKS, 1 },
                                     { SP_PLANNER_BACKWARD_PACKS, 1 } },
                            LENGTHS(3, 2) };
    planned p = plan_it(&in);

    (void)state;
    assert_int_equal(slices_of(&p, 0, SP_FORWARD, 0).tokens, 5);
    planned_free(&p);
}

/* B15: a sample that has no plan is refused by name, for the caller to exclude. */
static void b15_a_refusal_names_the_sample(void **state)
{
    const plan_input in = { .topology = "dp=1",
                            .set = { { SP_PLANNER_MAX_PACK_TOKENS, 4096 },
                                     { SP_PLANNER_SLICING, 0 } },
                            LENGTHS(7, 5000) };
    planned p = try_to_plan(&in);

    (void)state;
    assert_int_equal(p.status, SP_ERR_INFEASIBLE);
    assert_non_null(strstr(sp_error_message(), "lengths[1]"));
    planned_free(&p);
}

static int oversize_packs(const planned *p)
{
    int flagged = 0;

    for (int32_t k = 0; k < p->stats.forward_packs; k++)
        flagged += (pack_of(p, 0, 0, SP_FORWARD, k).flags & SP_PACK_OVERSIZE) != 0;
    return flagged;
}

/* Samples around the cap: sliced, kept whole and refused by name, or alone and flagged.
 * The checker holds every pack to the cap and counts every token. */
static void b_every_sample_is_planned_flagged_or_named(void **state)
{
    uint64_t seed = 59;

    (void)state;
    for (int i = 0; i < 300; i++) {
        const int64_t cap = 4 + i % 20, pad = 1 + i / 20 % 4;
        int64_t lengths[10];
        const plan_input in = { .topology = "dp=1",
                                .set = { { SP_PLANNER_MAX_PACK_TOKENS, cap },
                                         { SP_PLANNER_ALIGNMENT, pad },
                                         { SP_PLANNER_PAD_MULTIPLE, pad },
                                         { SP_PLANNER_SLICING, i % 3 == 0 },
                                         { SP_PLANNER_OVERSIZE, i % 3 == 2 } },
                                .count = 1 + i % 10, .lengths = lengths };
        int oversize = 0;
        planned p;

        for (int64_t j = 0; j < in.count; j++) {
            lengths[j] = 1 + random_below(&seed, 30);
            oversize += (lengths[j] + pad - 1) / pad * pad > cap;
        }
        p = i % 3 == 1 && oversize > 0 ? try_to_plan(&in) : plan_it(&in);
        if (i % 3 == 1 && oversize > 0) {
            assert_int_equal(p.status, SP_ERR_INFEASIBLE);
            assert_int_equal(strncmp(sp_error_message(), "lengths[", 8), 0);
        } else {
            assert_int_equal(oversize_packs(&p), i % 3 == 2 ? oversize : 0);
        }
        planned_free(&p);
    }
}

/* Each pass alone keeps the cap, but every cut of one pads a slice more of the other, and
 * no multiple of both 3 and 5 is within 10 tokens. The planner looks no further; more
 * packs will do. */
static void b7_cuts_that_pad_each_other_are_refused_by_name(void **state)
{
    plan_input in = { .topology = "dp=1", .device = "h100",
                      .set = { { SP_PLANNER_MAX_PACK_TOKENS, 10 }, { SP_PLANNER_PAD_MULTIPLE, 5 },
                               { SP_PLANNER_ALIGNMENT, 3 }, { SP_PLANNER_MAX_PACKS, 6 },
                               { SP_PLANNER_MEMORY_BYTES, INT64_C(1) << 40 } },
                      LENGTHS(25, 2) };
    planned p = try_to_plan(&in);

    (void)state;
    assert_int_equal(p.status, SP_ERR_INFEASIBLE);
    assert_string_equal(sp_error_message(), "max_pack_tokens: found no cuts at alignment 3 with "
                                            "pad_multiple 5 that keep 10 tokens in 6 packs");
    planned_free(&p);
    in.set[3].value = 12;
    p = plan_it(&in);
    planned_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(b1_two_samples_never_share_a_pack_beyond_the_cap),
        cmocka_unit_test(b2_balancing_work_keeps_the_token_cap),
        cmocka_unit_test(b4_the_capacity_is_that_of_the_group),
        cmocka_unit_test(b5_a_sample_above_the_cap_is_sliced),
        cmocka_unit_test(b6_an_oversize_sample_runs_alone_and_flagged),
        cmocka_unit_test(b7_the_cap_counts_padded_tokens),
        cmocka_unit_test(b7_cuts_that_pad_each_other_are_refused_by_name),
        cmocka_unit_test(b10_slices_sum_to_all_tokens),
        cmocka_unit_test(b11_an_overhang_stays_part_of_its_sample),
        cmocka_unit_test(b13_nothing_is_skipped),
        cmocka_unit_test(b14_all_within_the_cap_can_be_one_pack),
        cmocka_unit_test(b15_a_refusal_names_the_sample),
        cmocka_unit_test(b_every_sample_is_planned_flagged_or_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
