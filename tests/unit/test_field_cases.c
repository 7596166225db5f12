/*
 * test_field_cases.c - small inputs that broke other planners, kinds A, B and I.
 *
 * Each test is named for its case. Lengths below the alignment are never cut, so
 * that most cases are about whole samples unless they set alignment 1.
 */
#include <string.h>

#include "../support/planned.h"

/* A1, A13: every replica has the same number of packs, and none without need is empty. */
static void a1_every_replica_has_the_same_number_of_packs(void **state)
{
    const plan_input in = { .topology = "dp=2", .set = { { SP_PLANNER_MAX_PACK_TOKENS, 8 } },
                            LENGTHS(8, 8, 8, 2, 2, 2) };
    planned p = plan_it(&in);

    (void)state;
    assert_true(most_tokens(&p) <= 8);
    for (sp_pass pass = 0; pass < 2; pass++)
        for (int32_t dp = 0; dp < 2; dp++)
            assert_true(filled_packs(&p, dp, pass) >= 1);
    planned_free(&p);
}

static void a2_a_light_replica_gets_empty_packs_not_a_failure(void **state)
{
    const plan_input in = { .topology = "dp=2",
                            .set = { { SP_PLANNER_MAX_PACK_TOKENS, 8 }, { SP_PLANNER_SLICING, 0 } },
                            LENGTHS(8, 8, 8, 8, 1) };
    planned p = plan_it(&in);

    (void)state;
    assert_int_equal(p.stats.forward_packs, 3);
    planned_free(&p);
}

static void a3_an_empty_pack_runs_on_every_stage_and_costs_nothing(void **state)
{
    const plan_input in = { .topology = "dp=2 pp=2",
                            .set = { { SP_PLANNER_MAX_PACK_TOKENS, 10 }, { SP_PLANNER_SLICING, 0 },
                                     { SP_PLANNER_FORWARD_PACKS, 3 },
                                     { SP_PLANNER_BACKWARD_PACKS, 3 } },
                            LENGTHS(10, 10, 10, 1) };
    planned p = plan_it(&in);
    int found = 0;

    (void)state;
    for (int32_t rank = 0; rank < 4; rank++)
        for (int32_t i = 0; i < sp_schedule_op_count(p.schedule); i++) {
            sp_op_view op = SP_OP_VIEW_INIT;
            sp_pack_view pack = SP_PACK_VIEW_INIT;

            assert_int_equal(sp_schedule_op(p.schedule, rank, i, &op), SP_OK);
            assert_int_equal(sp_schedule_pack(p.schedule, rank, op.pass, op.pack, &pack), SP_OK);
            if (pack.count > 0)
                continue;
            found++;
            assert_int_equal(pack.flags & SP_PACK_EMPTY, SP_PACK_EMPTY);
            assert_int_equal(pack.tokens, 0);
            assert_int_equal(op.start_ps, op.end_ps);
        }
    assert_true(found > 0);
    planned_free(&p);
}

static void a4_the_plan_is_global_and_needs_two_packs_not_four(void **state)
{
    const plan_input in = { .topology = "dp=2",
                            .set = { { SP_PLANNER_MAX_PACK_TOKENS, 8 }, { SP_PLANNER_SLICING, 0 },
                                     { SP_PLANNER_FORWARD_PACKS, 2 },
                                     { SP_PLANNER_BACKWARD_PACKS, 2 } },
                            LENGTHS(6, 6, 6, 6, 1, 1, 1, 1) };
    planned p = plan_it(&in);

    (void)state;
    assert_int_equal(p.stats.forward_packs, 2);
    planned_free(&p);
}

static void a7_fewer_samples_than_replicas_leave_replicas_empty(void **state)
{
    const plan_input in = { .topology = "dp=8", LENGTHS(3, 4, 5) };
    planned p = plan_it(&in);
    int32_t empty = 0;

    (void)state;
    for (int32_t dp = 0; dp < 8; dp++)
        empty += filled_packs(&p, dp, SP_FORWARD) == 0;
    assert_int_equal(empty, 5);
    planned_free(&p);
}

static void a9_uneven_rows_with_equal_tokens_still_have_equal_packs(void **state)
{
    const plan_input in = { .topology = "dp=2", .set = { { SP_PLANNER_MAX_PACK_TOKENS, 10 } },
                            LENGTHS(5, 5, 5, 5, 10, 10) };
    planned p = plan_it(&in);

    (void)state;
    assert_true(most_tokens(&p) <= 10);
    planned_free(&p);
}

static void a10_one_sample_a_pack_gives_two_packs_and_one_empty_slot(void **state)
{
    const plan_input in = { .topology = "dp=2",
                            .set = { { SP_PLANNER_MAX_PACK_SAMPLES, 1 },
                                     { SP_PLANNER_FORWARD_PACKS, 2 },
                                     { SP_PLANNER_BACKWARD_PACKS, 2 } },
                            LENGTHS(4, 4, 4) };
    planned p = plan_it(&in);

    (void)state;
    assert_int_equal(filled_packs(&p, 0, SP_FORWARD) + filled_packs(&p, 1, SP_FORWARD), 3);
    planned_free(&p);
}

static void many_alike(const char *topology, int64_t samples, int64_t per_pack, int64_t packs)
{
    int64_t lengths[256];
    const plan_input in = { .topology = topology,
                            .set = { { SP_PLANNER_MAX_PACK_SAMPLES, per_pack },
                                     { SP_PLANNER_SLICING, 0 }, { SP_PLANNER_KEEP_ORDER, 1 },
                                     { SP_PLANNER_FORWARD_PACKS, packs },
                                     { SP_PLANNER_BACKWARD_PACKS, packs } },
                            .count = samples, .lengths = lengths };
    planned p;

    for (int64_t i = 0; i < samples; i++)
        lengths[i] = 7;
    p = plan_it(&in);
    assert_int_equal(p.stats.forward_packs, packs);
    assert_int_equal(p.stats.samples, samples);
    planned_free(&p);
}

static void a12_a_short_last_pack_loses_nothing(void **state)
{
    (void)state;
    many_alike("dp=1", 249, 2, 125);
}

static void a21_samples_that_do_not_divide_are_planned(void **state)
{
    (void)state;
    many_alike("dp=1", 146, 4, 37);
}

static void a13_a_small_batch_reaches_every_replica(void **state)
{
    const plan_input in = { .topology = "dp=4", .set = { { SP_PLANNER_MAX_PACK_TOKENS, 1024 } },
                            LENGTHS(1, 1, 1, 1) };
    planned p = plan_it(&in);

    (void)state;
    for (int32_t dp = 0; dp < 4; dp++)
        assert_int_equal(filled_packs(&p, dp, SP_FORWARD), 1);
    planned_free(&p);
}

static void a14_the_cap_holds_though_packs_stay_empty(void **state)
{
    const plan_input in = { .topology = "dp=4", .set = { { SP_PLANNER_MAX_PACK_TOKENS, 8 } },
                            LENGTHS(8, 8, 8, 8, 8) };
    planned p = plan_it(&in);

    (void)state;
    assert_int_equal(most_tokens(&p), 8);
    assert_true(p.stats.forward_packs >= 2);
    planned_free(&p);
}

static void a16_a_group_pads_the_count_alike_on_every_rank(void **state)
{
    const plan_input in = { .topology = "dp=2 pp=4", .set = { { SP_PLANNER_PACK_GROUP, 4 } },
                            LENGTHS(5, 6, 7, 8, 9, 10) };
    planned p = plan_it(&in);

    (void)state;
    assert_int_equal(p.stats.forward_packs % 4, 0);
    assert_int_equal(p.stats.backward_packs % 4, 0);
    planned_free(&p);
}

static void a18_a_contradiction_names_option_and_values(void **state)
{
    const plan_input in = { .topology = "dp=2",
                            .set = { { SP_PLANNER_PACK_GROUP, 8 }, { SP_PLANNER_MAX_PACKS, 4 } },
                            LENGTHS(4, 4, 4) };
    planned p = try_to_plan(&in);

    (void)state;
    assert_int_equal(p.status, SP_ERR_INVALID);
    assert_string_equal(sp_error_message(), "pack_group: 8 is above max_packs 4");
    planned_free(&p);
}

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

/* Equal tokens would be eight times as much attention on one side. */
static void i1_work_is_balanced_not_tokens(void **state)
{
    const plan_input in = { .topology = "dp=2",
                            LENGTHS(32768, 4096, 4096, 4096, 4096, 4096, 4096, 4096, 4096) };
    planned p = plan_it(&in);

    (void)state;
    assert_true(p.stats.imbalance_dp_ppm < 10000);
    assert_true(p.stats.slices > 9);
    planned_free(&p);
}

/* I2: short samples stay whole on a CP rank where balance allows it. */
static void i2_short_samples_stay_on_one_context_rank(void **state)
{
    const plan_input in = { .topology = "cp=2",
                            .set = { { SP_PLANNER_MAX_PACK_TOKENS, 1024 },
                                     { SP_PLANNER_FORWARD_PACKS, 1 },
                                     { SP_PLANNER_BACKWARD_PACKS, 1 } },
                            LENGTHS(512, 512, 512, 512) };
    planned p = plan_it(&in);

    (void)state;
    for (int32_t cp = 0; cp < 2; cp++) {
        sp_pack_view v = pack_of(&p, 0, cp, SP_FORWARD, 0);

        assert_int_equal(v.count, 2);
        assert_int_equal(v.tokens, 1024);
    }
    planned_free(&p);
}

static void i4_the_two_halves_are_within_one_percent(void **state)
{
    const plan_input in = {.topology = "dp=2",
                           LENGTHS(50, 50, 50, 50, 50, 50, 50, 50, 400, 100, 100, 100, 100, 400,
                                   100, 300, 200, 200, 200, 200, 200, 200)};
    planned p = plan_it(&in);

    (void)state;
    assert_true(p.stats.imbalance_dp_ppm <= 10000);
    planned_free(&p);
}

static void f4_samples_keep_their_order_when_asked_to(void **state)
{
    const plan_input in = {.topology = "dp=1",
                           .set = {{SP_PLANNER_MAX_PACK_TOKENS, 6},
                                   {SP_PLANNER_KEEP_ORDER, 1},
                                   {SP_PLANNER_FORWARD_PACKS, 2},
                                   {SP_PLANNER_BACKWARD_PACKS, 2}},
                           LENGTHS(5, 1, 5, 1)};
    planned p = plan_it(&in);

    (void)state;
    for (int32_t k = 0; k < 2; k++) {
        sp_slice_view v = slices_of(&p, 0, SP_FORWARD, k);

        assert_int_equal(v.count, 2);
        assert_int_equal(v.sample[0], 2 * k);
        assert_int_equal(v.sample[1], 2 * k + 1);
    }
    planned_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a1_every_replica_has_the_same_number_of_packs),
        cmocka_unit_test(a2_a_light_replica_gets_empty_packs_not_a_failure),
        cmocka_unit_test(a3_an_empty_pack_runs_on_every_stage_and_costs_nothing),
        cmocka_unit_test(a4_the_plan_is_global_and_needs_two_packs_not_four),
        cmocka_unit_test(a7_fewer_samples_than_replicas_leave_replicas_empty),
        cmocka_unit_test(a9_uneven_rows_with_equal_tokens_still_have_equal_packs),
        cmocka_unit_test(a10_one_sample_a_pack_gives_two_packs_and_one_empty_slot),
        cmocka_unit_test(a12_a_short_last_pack_loses_nothing),
        cmocka_unit_test(a13_a_small_batch_reaches_every_replica),
        cmocka_unit_test(a14_the_cap_holds_though_packs_stay_empty),
        cmocka_unit_test(a16_a_group_pads_the_count_alike_on_every_rank),
        cmocka_unit_test(a18_a_contradiction_names_option_and_values),
        cmocka_unit_test(a21_samples_that_do_not_divide_are_planned),
        cmocka_unit_test(b1_two_samples_never_share_a_pack_beyond_the_cap),
        cmocka_unit_test(b2_balancing_work_keeps_the_token_cap),
        cmocka_unit_test(b4_the_capacity_is_that_of_the_group),
        cmocka_unit_test(b5_a_sample_above_the_cap_is_sliced),
        cmocka_unit_test(b6_an_oversize_sample_runs_alone_and_flagged),
        cmocka_unit_test(b7_the_cap_counts_padded_tokens),
        cmocka_unit_test(b10_slices_sum_to_all_tokens),
        cmocka_unit_test(b11_an_overhang_stays_part_of_its_sample),
        cmocka_unit_test(b13_nothing_is_skipped),
        cmocka_unit_test(b14_all_within_the_cap_can_be_one_pack),
        cmocka_unit_test(b15_a_refusal_names_the_sample),
        cmocka_unit_test(i1_work_is_balanced_not_tokens),
        cmocka_unit_test(i2_short_samples_stay_on_one_context_rank),
        cmocka_unit_test(i4_the_two_halves_are_within_one_percent),
        cmocka_unit_test(f4_samples_keep_their_order_when_asked_to),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
