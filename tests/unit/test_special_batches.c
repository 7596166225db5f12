/*
 * test_special_batches.c - batches at the edges: one giant, all equal, one a replica,
 * merges of all and side by side, degrees that divide nothing.
 */
#include "../support/planned.h"

static void one_sample_of_a_million_tokens_is_shared_by_all_replicas(void **state)
{
    const plan_input in = { .topology = "dp=8 pp=4", LENGTHS(1048576) };
    planned p = plan_it(&in);
    sp_merge_view merge = SP_MERGE_VIEW_INIT;

    (void)state;
    assert_int_equal(p.stats.merges, 1);
    assert_int_equal(sp_schedule_merge(p.schedule, 0, &merge), SP_OK);
    assert_int_equal(merge.sample, 0);
    assert_int_equal(merge.replicas, 8);
    assert_true(p.stats.ratio_ppm < 1100000);
    planned_free(&p);
}

static void equal_samples_are_balanced_exactly(void **state)
{
    int64_t lengths[64];
    const plan_input in = { .topology = "dp=8 pp=2", .count = 64, .lengths = lengths };
    planned p;

    (void)state;
    for (int i = 0; i < 64; i++)
        lengths[i] = 2048;
    p = plan_it(&in);
    assert_int_equal(p.stats.imbalance_dp_ppm, 0);
    assert_int_equal(p.stats.load_ps, p.stats.load_bound_ps);
    planned_free(&p);
}

static void one_sample_a_replica_is_planned(void **state)
{
    const plan_input in = { .topology = "dp=4 pp=3", LENGTHS(4096, 4096, 4096, 4096) };
    planned p = plan_it(&in);

    (void)state;
    assert_int_equal(p.stats.merges, 0);
    planned_free(&p);
}

/* Two samples of two fair shares each, and crumbs. */
static void two_merges_stand_side_by_side(void **state)
{
    const plan_input in = { .topology = "dp=4 pp=2", LENGTHS(65536, 65536, 512, 512, 512, 512) };
    planned p = plan_it(&in);

    (void)state;
    assert_true(p.stats.merges >= 2);
    assert_true(p.stats.imbalance_dp_ppm < 50000);
    planned_free(&p);
}

static void three_context_ranks_take_one_two_and_seven_tokens(void **state)
{
    const plan_input in = { .topology = "cp=3 pp=2", LENGTHS(1, 2, 7) };
    planned p = plan_it(&in);

    (void)state;
    assert_int_equal(p.stats.tokens, 10);
    planned_free(&p);
}

static void degrees_that_divide_nothing_work(void **state)
{
    int64_t lengths[40];
    const plan_input in = { .topology = "dp=6 cp=3 pp=5", .count = 40, .lengths = lengths };
    planned p;

    (void)state;
    for (int i = 0; i < 40; i++)
        lengths[i] = 17 + 631 * i;
    p = plan_it(&in);
    assert_true(p.stats.ratio_ppm < 1200000);
    planned_free(&p);
}

/* A device alone has no bubble, no imbalance and, ideal, no overhead. */
static void a_single_device_has_ratio_one(void **state)
{
    const plan_input in = { .topology = "dp=1 pp=1",
                            .set = { { SP_PLANNER_FORWARD_PACKS, 1 },
                                     { SP_PLANNER_BACKWARD_PACKS, 1 } },
                            LENGTHS(1000, 2000, 31) };
    planned p = plan_it(&in);

    (void)state;
    assert_true(p.stats.makespan_ps - p.stats.ideal_ps <= 2);
    assert_int_equal(p.stats.ratio_ppm, 1000000);
    planned_free(&p);
}

static void more_stages_than_layers_are_refused_with_both_numbers(void **state)
{
    sp_planner *planner = NULL;
    sp_topology *topology;
    sp_model *model;
    sp_device *device;

    (void)state;
    assert_int_equal(sp_topology_parse("pp=33", &topology), SP_OK);
    assert_int_equal(sp_model_create("llama2-7b", NULL, &model), SP_OK);
    assert_int_equal(sp_device_create("ideal", NULL, &device), SP_OK);
    EXPECT_FAIL(sp_planner_create(topology, model, device, NULL, &planner), SP_ERR_INVALID,
                "topology pp: 33 stages are more than the model's 32 layers");
    assert_null(planner);
    sp_topology_destroy(topology);
    sp_model_destroy(model);
    sp_device_destroy(device);
}

/* Tokens of samples that are open on stage 0 at most, plus 2 * pp packs. */
static void the_first_stage_does_not_run_far_ahead(void **state)
{
    int64_t lengths[200], longest = 0, largest = 0;
    const plan_input in = { .topology = "dp=2 pp=4", .count = 200, .lengths = lengths };
    planned p;

    (void)state;
    for (int i = 0; i < 200; i++) {
        lengths[i] = 100 + (i * 7919) % 3000 + (i % 50 == 0 ? 20000 : 0);
        longest = lengths[i] > longest ? lengths[i] : longest;
    }
    p = plan_it(&in);
    for (int32_t dp = 0; dp < 2; dp++)
        for (int32_t k = 0; k < p.stats.forward_packs; k++) {
            int64_t tokens = slices_of(&p, dp, SP_FORWARD, k).tokens;

            largest = tokens > largest ? tokens : largest;
        }
    /* One sample is open at a time but for those whose last backward pack another
     * sample has entered: two. */
    assert_true(p.stats.peak_live_tokens <= 2 * longest + 2 * 4 * largest);
    planned_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_sample_of_a_million_tokens_is_shared_by_all_replicas),
        cmocka_unit_test(equal_samples_are_balanced_exactly),
        cmocka_unit_test(one_sample_a_replica_is_planned),
        cmocka_unit_test(two_merges_stand_side_by_side),
        cmocka_unit_test(three_context_ranks_take_one_two_and_seven_tokens),
        cmocka_unit_test(degrees_that_divide_nothing_work),
        cmocka_unit_test(a_single_device_has_ratio_one),
        cmocka_unit_test(more_stages_than_layers_are_refused_with_both_numbers),
        cmocka_unit_test(the_first_stage_does_not_run_far_ahead),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
