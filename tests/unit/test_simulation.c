/*
 * test_simulation.c - what if: a finished plan under another model or device.
 */
#include <stdio.h>

#include "../support/expect.h"
#include "../support/planned.h"
#include "../support/small_plan.h"

typedef struct what_if {
    planned plan;
    sp_model *model;
    sp_device *device;
} what_if;

static const plan_input input = {
    .topology = "dp=2 pp=2 cp=2 tp=2", .device = "h100",
    LENGTHS(70000, 300, 4000, 1200, 700, 5000, 64, 2500, 31, 800)
};

static int open_what_if(void **state)
{
    static what_if w;

    w.plan = plan_it(&input);
    if (sp_model_create("llama2-7b", NULL, &w.model) != SP_OK ||
        sp_device_create("h100", NULL, &w.device) != SP_OK)
        return -1;
    *state = &w;
    return 0;
}

static int close_what_if(void **state)
{
    what_if *w = *state;

    sp_device_destroy(w->device);
    sp_model_destroy(w->model);
    planned_free(&w->plan);
    return 0;
}

static sp_simulation *simulate(const what_if *w)
{
    sp_simulation *s;

    if (sp_simulate(w->plan.schedule, w->model, w->device, &s) != SP_OK)
        fail_msg("%s", sp_error_message());
    return s;
}

static sp_stats stats_of(const sp_simulation *s)
{
    sp_stats stats = SP_STATS_INIT;

    assert_int_equal(sp_simulation_stats(s, &stats), SP_OK);
    return stats;
}

/* Under the costs it was planned with, every number is the plan's. */
static void the_same_costs_give_the_same_numbers(void **state)
{
    const what_if *w = *state;
    sp_simulation *s = simulate(w);
    sp_stats stats = stats_of(s), planned_stats = w->plan.stats;

    planned_stats.load_ps = planned_stats.load_bound_ps = planned_stats.exact_nodes = 0;
    assert_memory_equal(&stats, &planned_stats, sizeof stats);
    for (int32_t rank = 0; rank < sp_topology_size(w->plan.topology); rank++) {
        sp_stage_view a = SP_STAGE_VIEW_INIT, b = SP_STAGE_VIEW_INIT;

        assert_int_equal(sp_schedule_stage(w->plan.schedule, rank, &a), SP_OK);
        assert_int_equal(sp_simulation_stage(s, rank, &b), SP_OK);
        assert_memory_equal(&a, &b, sizeof a);
        for (int32_t i = 0; i < sp_schedule_op_count(w->plan.schedule); i++) {
            sp_op_view op = SP_OP_VIEW_INIT;
            int64_t start, end;

            assert_int_equal(sp_schedule_op(w->plan.schedule, rank, i, &op), SP_OK);
            assert_int_equal(sp_simulation_op(s, rank, i, &start, &end), SP_OK);
            assert_int_equal(start, op.start_ps);
            assert_int_equal(end, op.end_ps);
        }
    }
    sp_simulation_destroy(s);
}

static void a_better_device_is_faster(void **state)
{
    what_if *w = *state;
    sp_simulation *s;

    sp_device_destroy(w->device);
    assert_int_equal(sp_device_create("b200", NULL, &w->device), SP_OK);
    s = simulate(w);
    assert_true(stats_of(s).makespan_ps < w->plan.stats.makespan_ps);
    assert_true(stats_of(s).ideal_ps < w->plan.stats.ideal_ps);
    assert_int_equal(stats_of(s).memory_bytes, INT64_C(180000000000));
    sp_simulation_destroy(s);
}

/* The stats show by how much; it is no error. */
static void a_plan_above_the_memory_is_simulated_all_the_same(void **state)
{
    what_if *w = *state;
    sp_simulation *s;

    assert_int_equal(sp_device_set(w->device, SP_DEVICE_MEMORY_BYTES, 1000), SP_OK);
    s = simulate(w);
    assert_int_equal(stats_of(s).memory_bytes, 1000);
    assert_int_equal(stats_of(s).peak_bytes, w->plan.stats.peak_bytes);
    sp_simulation_destroy(s);
}

static void recomputation_saves_memory_and_costs_time(void **state)
{
    what_if *w = *state;
    sp_simulation *s;

    assert_int_equal(sp_model_set(w->model, SP_MODEL_RECOMPUTE, SP_RECOMPUTE_FULL), SP_OK);
    s = simulate(w);
    assert_true(stats_of(s).makespan_ps > w->plan.stats.makespan_ps);
    assert_true(stats_of(s).peak_bytes < w->plan.stats.peak_bytes);
    assert_int_equal(stats_of(s).peak_live_tokens, w->plan.stats.peak_live_tokens);
    sp_simulation_destroy(s);
}

/* An empty backward pack before all others waits for nothing, whatever its place in the
 * order: what the check takes can be simulated. */
static void an_empty_backward_pack_may_come_first(void **state)
{
    const what_if *w = *state;
    small_plan plan = small_plan_of_three_replicas();
    const small_op forward = plan.op[2][0][0];
    sp_simulation *simulation;
    sp_topology *topology;
    sp_schedule *schedule;
    int64_t start = -1, end = -1;

    plan.samples = 2;
    for (int pass = 0; pass < 2; pass++)
        plan.pack[2][pass][0].slices = plan.pack[2][pass][0].shards[0] = 0;
    plan.op[2][0][0] = (small_op){ SP_BACKWARD, 0, 0, 0 };
    plan.op[2][0][1] = forward;
    assert_int_equal(small_plan_build(&plan, &schedule, &topology), SP_OK);
    if (sp_simulate(schedule, w->model, w->device, &simulation) != SP_OK)
        fail_msg("%s", sp_error_message());
    assert_int_equal(sp_simulation_op(simulation, 2, 0, &start, &end), SP_OK);
    assert_int_equal(start, 0);
    assert_int_equal(end, 0);
    sp_simulation_destroy(simulation);
    sp_schedule_destroy(schedule);
    sp_topology_destroy(topology);
}

static void a_simulation_outlives_its_schedule(void **state)
{
    what_if *w = *state;
    sp_simulation *s = simulate(w);
    sp_stats before = stats_of(s), after;
    int64_t start, end;

    planned_free(&w->plan);
    after = stats_of(s);
    assert_memory_equal(&before, &after, sizeof before);
    assert_int_equal(sp_simulation_op(s, 15, 0, &start, &end), SP_OK);
    assert_true(end > start);
    sp_simulation_destroy(s);
}

static void null_arguments_are_named(void **state)
{
    const what_if *w = *state;
    sp_simulation *out = NULL;
    sp_stage_view stage = SP_STAGE_VIEW_INIT;
    sp_stats stats = SP_STATS_INIT;
    int64_t ps;

    EXPECT_FAIL(sp_simulate(NULL, w->model, w->device, &out), SP_ERR_INVALID, "schedule is NULL");
    EXPECT_FAIL(sp_simulate(w->plan.schedule, NULL, w->device, &out), SP_ERR_INVALID,
                "model is NULL");
    EXPECT_FAIL(sp_simulate(w->plan.schedule, w->model, NULL, &out), SP_ERR_INVALID,
                "device is NULL");
    EXPECT_FAIL(sp_simulate(w->plan.schedule, w->model, w->device, NULL), SP_ERR_INVALID,
                "out is NULL");
    assert_null(out);
    sp_simulation_destroy(NULL);
    out = simulate(w);
    EXPECT_FAIL(sp_simulation_op(NULL, 0, 0, &ps, &ps), SP_ERR_INVALID, "simulation is NULL");
    EXPECT_FAIL(sp_simulation_op(out, 0, 0, NULL, &ps), SP_ERR_INVALID, "start_ps is NULL");
    EXPECT_FAIL(sp_simulation_op(out, 0, 0, &ps, NULL), SP_ERR_INVALID, "end_ps is NULL");
    EXPECT_FAIL(sp_simulation_stage(NULL, 0, &stage), SP_ERR_INVALID, "simulation is NULL");
    EXPECT_FAIL(sp_simulation_stage(out, 0, NULL), SP_ERR_INVALID, "view is NULL");
    EXPECT_FAIL(sp_simulation_stats(NULL, &stats), SP_ERR_INVALID, "simulation is NULL");
    EXPECT_FAIL(sp_simulation_stats(out, NULL), SP_ERR_INVALID, "stats is NULL");
    sp_simulation_destroy(out);
}

static void ranks_and_ops_are_bounded(void **state)
{
    const what_if *w = *state;
    sp_simulation *s = simulate(w);
    sp_stage_view stage = SP_STAGE_VIEW_INIT;
    int32_t ops = sp_schedule_op_count(w->plan.schedule);
    int64_t start = -7, end = -8;
    char sentence[64];

    EXPECT_FAIL(sp_simulation_op(s, 16, 0, &start, &end), SP_ERR_RANGE,
                "rank: 16 is outside 0 to 15");
    EXPECT_FAIL(sp_simulation_op(s, -1, 0, &start, &end), SP_ERR_RANGE,
                "rank: -1 is outside 0 to 15");
    snprintf(sentence, sizeof sentence, "index: %d is outside 0 to %d", (int)ops, (int)ops - 1);
    EXPECT_FAIL(sp_simulation_op(s, 0, ops, &start, &end), SP_ERR_RANGE, sentence);
    snprintf(sentence, sizeof sentence, "index: -1 is outside 0 to %d", (int)ops - 1);
    EXPECT_FAIL(sp_simulation_op(s, 0, -1, &start, &end), SP_ERR_RANGE, sentence);
    EXPECT_FAIL(sp_simulation_stage(s, 16, &stage), SP_ERR_RANGE, "rank: 16 is outside 0 to 15");
    assert_int_equal(start, -7);
    assert_int_equal(end, -8);
    assert_int_equal(stage.peak_bytes, 0);
    sp_simulation_destroy(s);
}

/* A plan of two stages cannot run a model of one layer, or heads that TP splits. */
static void contradictions_leave_nothing(void **state)
{
    what_if *w = *state;
    sp_simulation *out = NULL;

    assert_int_equal(sp_model_set(w->model, SP_MODEL_LAYERS, 1), SP_OK);
    EXPECT_FAIL(sp_simulate(w->plan.schedule, w->model, w->device, &out), SP_ERR_INVALID,
                "topology pp: 2 stages are more than the model's 1 layers");
    assert_int_equal(sp_model_set(w->model, SP_MODEL_LAYERS, 32), SP_OK);
    assert_int_equal(sp_model_set(w->model, SP_MODEL_HEADS, 33), SP_OK);
    assert_int_equal(sp_model_set(w->model, SP_MODEL_KV_HEADS, 33), SP_OK);
    EXPECT_FAIL(sp_simulate(w->plan.schedule, w->model, w->device, &out), SP_ERR_INVALID,
                "topology tp: 2 does not divide the model's 33 heads");
    assert_null(out);
}

static void costs_that_do_not_fit_leave_nothing(void **state)
{
    what_if *w = *state;
    sp_simulation *out = NULL;

    assert_int_equal(sp_device_set(w->device, SP_DEVICE_LINEAR_FLOPS, 1000000000), SP_OK);
    assert_int_equal(sp_simulate(w->plan.schedule, w->model, w->device, &out), SP_ERR_OVERFLOW);
    assert_null(out);
}

#define WHAT_IF(test) cmocka_unit_test_setup_teardown(test, open_what_if, close_what_if)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WHAT_IF(the_same_costs_give_the_same_numbers),
        WHAT_IF(a_better_device_is_faster),
        WHAT_IF(a_plan_above_the_memory_is_simulated_all_the_same),
        WHAT_IF(recomputation_saves_memory_and_costs_time),
        WHAT_IF(an_empty_backward_pack_may_come_first),
        WHAT_IF(a_simulation_outlives_its_schedule),
        WHAT_IF(null_arguments_are_named),
        WHAT_IF(ranks_and_ops_are_bounded),
        WHAT_IF(contradictions_leave_nothing),
        WHAT_IF(costs_that_do_not_fit_leave_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
