/*
 * test_explain.c - what a simulation says of time, memory and the critical path adds
 * up, in all pipelines, with every kind of send, with merges and in lockstep.
 */
#include <stdlib.h>

#include "../support/expect.h"
#include "../support/random_case.h"

typedef struct explained {
    random_case given;
    case_handles handles;
    sp_schedule *schedule;
    sp_simulation *simulation;
    sp_stats stats;
    int32_t ranks;
} explained;

static int open_case(explained *x, uint64_t seed)
{
    random_case_make(seed, CASE_NO_CAPS | CASE_SMALL, &x->given);
    assert_int_equal(random_case_open(&x->given, &x->handles), SP_OK);
    if (sp_plan_batch(x->handles.planner, x->handles.batch, &x->schedule) != SP_OK) {
        random_case_close(&x->handles);
        return 0;
    }
    if (sp_simulate(x->schedule, x->handles.model, x->handles.device, &x->simulation) != SP_OK)
        fail_msg("seed %lu: %s", (unsigned long)seed, sp_error_message());
    x->stats = (sp_stats)SP_STATS_INIT;
    assert_int_equal(sp_simulation_stats(x->simulation, &x->stats), SP_OK);
    x->ranks = sp_topology_size(x->handles.topology);
    return 1;
}

static void close_case(explained *x)
{
    sp_simulation_destroy(x->simulation);
    sp_schedule_destroy(x->schedule);
    random_case_close(&x->handles);
}

/* A replay under the plan's own costs has the plan's times and memory. */
static void check_replay(const explained *x)
{
    sp_stats plan = SP_STATS_INIT;

    assert_int_equal(sp_schedule_stats(x->schedule, &plan), SP_OK);
    assert_int_equal(plan.makespan_ps, x->stats.makespan_ps);
    assert_int_equal(plan.step_ps, x->stats.step_ps);
    assert_int_equal(plan.peak_bytes, x->stats.peak_bytes);
    assert_int_equal(plan.bound_ps, x->stats.bound_ps);
    assert_true(plan.step_ps >= plan.makespan_ps);
    assert_true(plan.makespan_ps >= plan.bound_ps);
}

static int64_t check_device(const explained *x, int32_t rank)
{
    sp_device_view v = SP_DEVICE_VIEW_INIT;

    assert_int_equal(sp_simulation_device(x->simulation, rank, &v), SP_OK);
    assert_int_equal(v.forward_ps + v.backward_ps + v.weight_ps + v.communication_ps + v.bubble_ps,
                     x->stats.makespan_ps);
    assert_true(v.forward_ps >= 0 && v.backward_ps >= 0 && v.weight_ps >= 0);
    assert_true(v.communication_ps >= 0 && v.bubble_ps >= 0);
    assert_true(v.reduce_ps >= 0 && v.finish_ps <= x->stats.step_ps);
    assert_in_range(v.peak_ps, 0, x->stats.makespan_ps);
    return v.finish_ps;
}

/* The kinds add up to the peak, and are all there is before the first op and after. */
static void check_memory(const explained *x, int32_t rank)
{
    int32_t ops = sp_schedule_op_count(x->schedule);
    int64_t *bytes = malloc((size_t)ops * SP_MEMORY_KINDS * sizeof *bytes), most = 0;
    sp_stage_view stage = SP_STAGE_VIEW_INIT;

    assert_non_null(bytes);
    assert_int_equal(sp_simulation_memory(x->simulation, rank, bytes), SP_OK);
    assert_int_equal(sp_simulation_stage(x->simulation, rank, &stage), SP_OK);
    for (int32_t i = 0; i < ops; i++) {
        int64_t sum = 0;

        for (int kind = 0; kind < SP_MEMORY_KINDS; kind++) {
            assert_true(bytes[i * SP_MEMORY_KINDS + kind] >= 0);
            sum += bytes[i * SP_MEMORY_KINDS + kind];
        }
        most = sum > most ? sum : most;
    }
    assert_int_equal(most, stage.peak_bytes);
    assert_int_equal(bytes[SP_MEMORY_WEIGHTS] + bytes[SP_MEMORY_GRADIENTS] +
                         bytes[SP_MEMORY_OPTIMIZER], stage.static_bytes);
    free(bytes);
}

/* A chain without a gap, of ops that are what the path says they are. */
static void check_path(const explained *x)
{
    int32_t count = sp_simulation_path_count(x->simulation);
    int64_t at = 0;

    assert_true(count >= 1);
    for (int32_t i = 0; i < count; i++) {
        sp_path_view step = SP_PATH_VIEW_INIT;
        int64_t start, end;

        assert_int_equal(sp_simulation_path(x->simulation, i, &step), SP_OK);
        assert_int_equal(sp_simulation_op(x->simulation, step.rank, step.op, &start, &end), SP_OK);
        assert_true(step.start_ps == start && step.end_ps == end);
        assert_int_equal(step.wait == SP_WAIT_NOTHING, i == 0);
        assert_true(step.transfer_ps >= 0);
        assert_int_equal(step.start_ps, at + step.transfer_ps);
        at = step.end_ps;
    }
    /* It ends with the last op of a stage, and the step with what follows that. */
    assert_true(at <= x->stats.makespan_ps && at <= x->stats.step_ps);
}

static void everything_adds_up(void **state)
{
    int plans = 0, split = 0, chunked = 0, blocking = 0, merged = 0, lockstep = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        static explained x;
        int64_t last = 0;

        if (!open_case(&x, seed))
            continue;
        check_replay(&x);
        for (int32_t rank = 0; rank < x.ranks; rank++) {
            int64_t finish = check_device(&x, rank);

            last = finish > last ? finish : last;
            check_memory(&x, rank);
        }
        assert_int_equal(last > x.stats.makespan_ps ? last : x.stats.makespan_ps, x.stats.step_ps);
        check_path(&x);
        plans++;
        chunked += x.given.virtual_stages > 1;
        blocking += x.given.blocking_sends;
        merged += x.stats.merges > 0;
        split += random_case_value(&x.given, SP_PLANNER_PIPELINE, 0) != 0;
        lockstep += random_case_value(&x.given, SP_PLANNER_LOCKSTEP, 0) != 0;
        close_case(&x);
    }
    print_message("    %d plans: %d zero-bubble, %d interleaved, %d with blocking sends, %d with "
                  "merges, %d in lockstep\n", plans, split, chunked, blocking, merged, lockstep);
    assert_true(plans > 300 && split > 30 && chunked > 15 && blocking > 30 && merged > 15 &&
                lockstep > 15);
}

/* Two samples of 1000 tokens on two stages, by hand: 6 FLOPs a weight and 12 * q a
 * pair, at the ideal device's 400 TFLOP/s. */
static void throughput_and_utilisation_follow_from_the_step(void **state)
{
    const int64_t lengths[2] = { 1000, 1000 };
    sp_stats s = SP_STATS_INIT;
    sp_topology *topology;
    sp_planner *planner;
    sp_schedule *schedule;
    sp_device *device;
    sp_model *model;
    sp_batch *batch;
    int64_t weights = INT64_C(32) * (4 * 4096 * 4096 + 3 * 4096 * 11008) + 4096 * 32000;
    int64_t pairs = 2 * 1000 * 1001 / 2;

    (void)state;
    assert_int_equal(sp_topology_create(1, 1, 2, 1, NULL, &topology), SP_OK);
    assert_int_equal(sp_model_create("llama2-7b", NULL, &model), SP_OK);
    assert_int_equal(sp_device_create("ideal", NULL, &device), SP_OK);
    assert_int_equal(sp_planner_create(topology, model, device, NULL, &planner), SP_OK);
    assert_int_equal(sp_batch_create(lengths, 2, NULL, &batch), SP_OK);
    assert_int_equal(sp_plan_batch(planner, batch, &schedule), SP_OK);
    assert_int_equal(sp_schedule_stats(schedule, &s), SP_OK);
    assert_int_equal(s.step_ps, s.makespan_ps); /* one replica, infinite memory bandwidth */
    assert_int_equal(s.tokens_per_s, (int64_t)(2000e12 / (double)s.step_ps));
    assert_in_range(s.model_gflop, (6 * weights * 2000 + 12 * 4096 * 32 * pairs) / 1000000000 - 2,
                    (6 * weights * 2000 + 12 * 4096 * 32 * pairs) / 1000000000);
    assert_in_range(s.device_gflops,
                    (int64_t)((double)s.model_gflop * 1e12 / (double)s.step_ps / 2) - 1,
                    (int64_t)((double)s.model_gflop * 1e12 / (double)s.step_ps / 2) + 1);
    assert_in_range(s.mfu_ppm, s.device_gflops * 10 / 4 - 1, s.device_gflops * 10 / 4 + 1);
    sp_schedule_destroy(schedule);
    sp_batch_destroy(batch);
    sp_planner_destroy(planner);
    sp_device_destroy(device);
    sp_model_destroy(model);
    sp_topology_destroy(topology);
}

static void arguments_are_checked(void **state)
{
    static explained x;
    sp_device_view device = SP_DEVICE_VIEW_INIT;
    sp_path_view path = SP_PATH_VIEW_INIT;
    int64_t bytes = 99;
    uint64_t seed = 1;

    (void)state;
    while (!open_case(&x, seed))
        seed++;
    EXPECT_FAIL(sp_simulation_memory(NULL, 0, &bytes), SP_ERR_INVALID, "simulation is NULL");
    EXPECT_FAIL(sp_simulation_memory(x.simulation, 0, NULL), SP_ERR_INVALID, "bytes is NULL");
    assert_int_equal(sp_simulation_memory(x.simulation, x.ranks, &bytes), SP_ERR_RANGE);
    assert_int_equal(bytes, 99);
    EXPECT_FAIL(sp_simulation_device(x.simulation, 0, NULL), SP_ERR_INVALID, "view is NULL");
    assert_int_equal(sp_simulation_device(x.simulation, -1, &device), SP_ERR_RANGE);
    EXPECT_FAIL(sp_simulation_path(x.simulation, 0, NULL), SP_ERR_INVALID, "view is NULL");
    EXPECT_FAIL(sp_simulation_path(NULL, 0, &path), SP_ERR_INVALID, "simulation is NULL");
    assert_int_equal(sp_simulation_path(x.simulation, -1, &path), SP_ERR_RANGE);
    assert_int_equal(sp_simulation_path(x.simulation, sp_simulation_path_count(x.simulation),
                                        &path), SP_ERR_RANGE);
    close_case(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_adds_up),
        cmocka_unit_test(throughput_and_utilisation_follow_from_the_step),
        cmocka_unit_test(arguments_are_checked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
