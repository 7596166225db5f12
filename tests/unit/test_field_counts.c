/*
 * test_field_counts.c - small inputs that broke other planners, kind A: ranks that
 * disagree on the number of packs, ranks without samples, counts that divide nothing.
 *
 * Each test is named for its case; docs/field-cases.md lists them all. Lengths below
 * the alignment are never cut, so that most cases are about whole samples unless they
 * set alignment 1.
 */
#include "../support/planned.h"
#include "../support/random_case.h"

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
                            .set_model = { { SP_MODEL_VIRTUAL_STAGES, 2 } },
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

/* Expert dispatch: each rank's tokens padded to the multiple of four that it needs.
 * Equal real tokens are not promised; the padded counts are in the views. */
static void a20_padded_tokens_suit_expert_dispatch(void **state)
{
    const plan_input in = { .topology = "dp=2", .model = "qwen3-30b-a3b",
                            .set = { { SP_PLANNER_PAD_MULTIPLE, 4 },
                                     { SP_PLANNER_FORWARD_PACKS, 1 },
                                     { SP_PLANNER_BACKWARD_PACKS, 1 } },
                            LENGTHS(5, 6) };
    planned p = plan_it(&in);

    (void)state;
    for (int32_t dp = 0; dp < 2; dp++)
        assert_int_equal(pack_of(&p, dp, 0, SP_FORWARD, 0).padded_tokens, 8);
    planned_free(&p);
}

/* Steps are the caller's: 32 samples are a batch of 24 and one of 8, both whole. */
static void a22_an_incomplete_step_is_planned_whole(void **state)
{
    int64_t lengths[32], samples = 0;

    (void)state;
    for (int i = 0; i < 32; i++)
        lengths[i] = 3 + i;
    for (int at = 0; at < 32; at += 24) {
        const plan_input in = { .topology = "dp=3", .count = at == 0 ? 24 : 8,
                                .lengths = lengths + at };
        planned p = plan_it(&in);

        assert_int_equal(p.stats.samples, in.count);
        samples += p.stats.samples;
        planned_free(&p);
    }
    assert_int_equal(samples, 32);
}

/* Whatever the degrees and limits, packs are as many on every replica (the checker's
 * I6), and no replica is idle where there are samples enough. */
static void a_no_replica_is_idle_while_samples_suffice(void **state)
{
    uint64_t seed = 53;

    (void)state;
    for (int i = 0; i < 300; i++) {
        const int32_t dp = 1 + i % 8;
        char topology[8] = { 'd', 'p', '=', (char)('0' + dp) };
        int64_t lengths[12];
        const plan_input in = { .topology = topology,
                                .set = { { SP_PLANNER_MAX_PACK_TOKENS, 64 + i % 9 },
                                         { SP_PLANNER_SLICING, i / 8 % 2 },
                                         { SP_PLANNER_PACK_GROUP, 1 + i / 16 % 3 },
                                         { SP_PLANNER_LOCKSTEP, i / 48 % 2 } },
                                .count = 1 + i % 12, .lengths = lengths };
        int32_t idle = 0;
        planned p;

        for (int64_t j = 0; j < in.count; j++)
            lengths[j] = 1 + random_below(&seed, 64);
        p = plan_it(&in);
        for (int32_t r = 0; r < dp; r++)
            idle += filled_packs(&p, r, SP_FORWARD) == 0;
        assert_true(idle <= (in.count < dp ? dp - in.count : 0));
        planned_free(&p);
    }
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
        cmocka_unit_test(a21_samples_that_do_not_divide_are_planned),
        cmocka_unit_test(a13_a_small_batch_reaches_every_replica),
        cmocka_unit_test(a14_the_cap_holds_though_packs_stay_empty),
        cmocka_unit_test(a16_a_group_pads_the_count_alike_on_every_rank),
        cmocka_unit_test(a18_a_contradiction_names_option_and_values),
        cmocka_unit_test(a20_padded_tokens_suit_expert_dispatch),
        cmocka_unit_test(a22_an_incomplete_step_is_planned_whole),
        cmocka_unit_test(a_no_replica_is_idle_while_samples_suffice),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
