/*
 * test_simulate.c - the simulator against closed forms and against itself.
 *
 * Samples of equal length without a vocabulary head make all stages and packs equal,
 * for which the times of 1F1B are known (Narayanan et al., arXiv 2104.04473, 2.2.1).
 */
#include "../support/expect.h"

enum { LENGTH = 1000 };

typedef struct pipeline {
    sp_topology *topology;
    sp_model *model;
    sp_device *device;
    sp_planner *planner;
    sp_schedule *schedule;
    sp_stats stats;
} pipeline;

/* packs samples of LENGTH tokens, each a pack, on one replica of pp stages. */
static pipeline run_1f1b(int32_t pp, int32_t packs)
{
    pipeline p = { .stats = SP_STATS_INIT };
    int64_t lengths[64];
    sp_batch *batch;

    for (int32_t i = 0; i < packs; i++)
        lengths[i] = LENGTH;
    assert_int_equal(sp_topology_create(1, 1, pp, 1, NULL, &p.topology), SP_OK);
    assert_int_equal(sp_model_create("llama2-7b", NULL, &p.model), SP_OK);
    assert_int_equal(sp_model_set(p.model, SP_MODEL_VOCAB, 0), SP_OK);
    assert_int_equal(sp_model_set(p.model, SP_MODEL_LAYERS, 2 * pp), SP_OK);
    assert_int_equal(sp_device_create("ideal", NULL, &p.device), SP_OK);
    assert_int_equal(sp_planner_create(p.topology, p.model, p.device, NULL, &p.planner), SP_OK);
    assert_int_equal(sp_planner_set(p.planner, SP_PLANNER_POLICY, SP_POLICY_FIXED_PACK), SP_OK);
    assert_int_equal(sp_batch_create(lengths, packs, NULL, &batch), SP_OK);
    assert_int_equal(sp_plan_batch(p.planner, batch, &p.schedule), SP_OK);
    assert_int_equal(sp_schedule_stats(p.schedule, &p.stats), SP_OK);
    sp_batch_destroy(batch);
    return p;
}

static void close_pipeline(pipeline *p)
{
    sp_schedule_destroy(p->schedule);
    sp_planner_destroy(p->planner);
    sp_device_destroy(p->device);
    sp_model_destroy(p->model);
    sp_topology_destroy(p->topology);
}

/* Time of a pack in one pass, read off rank 0's first op of it. */
static int64_t pack_time(const pipeline *p, sp_pass pass)
{
    for (int32_t i = 0; i < sp_schedule_op_count(p->schedule); i++) {
        sp_op_view op = SP_OP_VIEW_INIT;

        assert_int_equal(sp_schedule_op(p->schedule, 0, i, &op), SP_OK);
        if (op.pass == pass)
            return op.end_ps - op.start_ps;
    }
    return 0;
}

static void a_step_of_1f1b_takes_packs_plus_stages_less_one(void **state)
{
    (void)state;
    for (int32_t pp = 1; pp <= 6; pp++)
        for (int32_t packs = 1; packs <= 13; packs += 3) {
            pipeline p = run_1f1b(pp, packs);
            int64_t both = pack_time(&p, SP_FORWARD) + pack_time(&p, SP_BACKWARD);

            assert_int_equal(p.stats.makespan_ps, (packs + pp - 1) * both);
            assert_in_range(p.stats.bubble_ppm, 1000000 * (int64_t)(pp - 1) / (packs + pp - 1),
                            1000000 * (int64_t)(pp - 1) / (packs + pp - 1) + 1);
            close_pipeline(&p);
        }
}

/* G1: fewer packs than stages have a bubble of 3/4 and more, and run. */
static void fewer_packs_than_stages_run(void **state)
{
    pipeline p = run_1f1b(4, 1);

    (void)state;
    assert_int_equal(p.stats.bubble_ppm, 750000);
    close_pipeline(&p);
}

/* Stage s holds pp - s packs at most. H6: no more with many packs than with few. */
static void stages_of_1f1b_hold_as_many_packs_as_stages_follow(void **state)
{
    (void)state;
    for (int32_t packs = 2; packs <= 40; packs += 19) {
        pipeline p = run_1f1b(4, packs);

        for (int32_t s = 0; s < 4; s++) {
            sp_stage_view v = SP_STAGE_VIEW_INIT;

            assert_int_equal(sp_schedule_stage(p.schedule, s, &v), SP_OK);
            assert_int_equal(v.peak_live_tokens, LENGTH * (4 - s < packs ? 4 - s : packs));
        }
        close_pipeline(&p);
    }
}

static void a_replay_under_the_same_costs_gives_the_same_times(void **state)
{
    pipeline p = run_1f1b(3, 7);
    sp_simulation *simulation;

    (void)state;
    assert_int_equal(sp_simulate(p.schedule, p.model, p.device, &simulation), SP_OK);
    for (int32_t rank = 0; rank < 3; rank++)
        for (int32_t i = 0; i < sp_schedule_op_count(p.schedule); i++) {
            sp_op_view op = SP_OP_VIEW_INIT;
            int64_t start, end;

            assert_int_equal(sp_schedule_op(p.schedule, rank, i, &op), SP_OK);
            assert_int_equal(sp_simulation_op(simulation, rank, i, &start, &end), SP_OK);
            assert_int_equal(start, op.start_ps);
            assert_int_equal(end, op.end_ps);
        }
    sp_simulation_destroy(simulation);
    close_pipeline(&p);
}

static void half_the_rate_takes_twice_the_time(void **state)
{
    pipeline p = run_1f1b(3, 7);
    sp_stats stats = SP_STATS_INIT;
    sp_simulation *simulation;

    (void)state;
    for (int32_t key = SP_DEVICE_LINEAR_FLOPS; key <= SP_DEVICE_ATTENTION_BACKWARD_FLOPS; key++) {
        int64_t value;

        assert_int_equal(sp_device_get(p.device, key, &value), SP_OK);
        assert_int_equal(sp_device_set(p.device, key, value / 2), SP_OK);
    }
    assert_int_equal(sp_simulate(p.schedule, p.model, p.device, &simulation), SP_OK);
    assert_int_equal(sp_simulation_stats(simulation, &stats), SP_OK);
    assert_in_range(stats.makespan_ps, 2 * p.stats.makespan_ps - 20, 2 * p.stats.makespan_ps + 20);
    sp_simulation_destroy(simulation);
    close_pipeline(&p);
}

/* A hand-over delays the next stage by its latency and bytes: LENGTH * 4096 * 2. */
static void hand_overs_delay_the_next_stage(void **state)
{
    pipeline p = run_1f1b(2, 1);
    sp_stats stats = SP_STATS_INIT;
    sp_simulation *simulation;
    const int64_t hop = 1000 + INT64_C(8192000) * 1000; /* at 1 GB/s a byte takes 1000 ps */

    (void)state;
    assert_int_equal(sp_device_set(p.device, SP_DEVICE_INTRA_BANDWIDTH, 1000000000), SP_OK);
    assert_int_equal(sp_device_set(p.device, SP_DEVICE_INTRA_LATENCY_PS, 1000), SP_OK);
    assert_int_equal(sp_simulate(p.schedule, p.model, p.device, &simulation), SP_OK);
    assert_int_equal(sp_simulation_stats(simulation, &stats), SP_OK);
    assert_int_equal(stats.makespan_ps, p.stats.makespan_ps + 2 * hop);
    sp_simulation_destroy(simulation);
    close_pipeline(&p);
}

static void arguments_of_queries_are_checked(void **state)
{
    pipeline p = run_1f1b(2, 3);
    sp_pack_view pack = SP_PACK_VIEW_INIT;
    sp_op_view op = SP_OP_VIEW_INIT;
    sp_stats stats = { .struct_size = 8 };
    const void *data;
    size_t bytes;

    (void)state;
    EXPECT_FAIL(sp_schedule_pack(NULL, 0, 0, 0, &pack), SP_ERR_INVALID, "schedule is NULL");
    EXPECT_FAIL(sp_schedule_pack(p.schedule, 2, 0, 0, &pack), SP_ERR_RANGE,
                "rank: 2 is outside 0 to 1");
    EXPECT_FAIL(sp_schedule_pack(p.schedule, 0, 3, 0, &pack), SP_ERR_RANGE,
                "pass: 3 is outside 0 to 2");
    EXPECT_FAIL(sp_schedule_pack(p.schedule, 0, 0, 3, &pack), SP_ERR_RANGE,
                "pack: 3 is outside 0 to 2");
    EXPECT_FAIL(sp_schedule_pack(p.schedule, 0, 0, 0, NULL), SP_ERR_INVALID, "view is NULL");
    EXPECT_FAIL(sp_schedule_op(p.schedule, 0, 6, &op), SP_ERR_RANGE, "index: 6 is outside 0 to 5");
    EXPECT_FAIL(sp_schedule_stats(p.schedule, &stats), SP_ERR_INVALID,
                "stats: struct_size 8 is below 224; set it before the call");
    EXPECT_FAIL(sp_schedule_block(p.schedule, 0, &data, NULL), SP_ERR_INVALID, "bytes is NULL");
    assert_int_equal(sp_schedule_block(p.schedule, 0, &data, &bytes), SP_OK);
    assert_int_equal((uintptr_t)data % 64, 0);
    assert_int_equal(bytes % 64, 0);
    assert_int_equal(sp_schedule_pack_count(p.schedule, 7), -1);
    close_pipeline(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_of_1f1b_takes_packs_plus_stages_less_one),
        cmocka_unit_test(fewer_packs_than_stages_run),
        cmocka_unit_test(stages_of_1f1b_hold_as_many_packs_as_stages_follow),
        cmocka_unit_test(a_replay_under_the_same_costs_gives_the_same_times),
        cmocka_unit_test(half_the_rate_takes_twice_the_time),
        cmocka_unit_test(hand_overs_delay_the_next_stage),
        cmocka_unit_test(arguments_of_queries_are_checked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
