/*
 * test_parameters.c - what each parameter of the planner does.
 */
#include <stdlib.h>
#include <string.h>

#include "../support/planned.h"

#define BATCH LENGTHS(9000, 300, 4000, 1200, 700, 5000, 64, 2500, 31, 800, 6000, 150)

/* The batch of all tests here, on two replicas of two stages, with one setting. */
static planned with(int32_t key, int64_t value)
{
    const plan_input in = { .topology = "dp=2 pp=2", .set = { { key, value } }, BATCH };

    return plan_it(&in);
}

static void refuse(int32_t key, int64_t value, const char *sentence)
{
    planned p = with(SP_PLANNER_EFFORT, SP_EFFORT_FAST);

    EXPECT_FAIL(sp_planner_set(p.planner, key, value), SP_ERR_RANGE, sentence);
    planned_free(&p);
}

static void policies_differ(void **state)
{
    uint64_t digest[4];

    (void)state;
    for (int32_t i = 0; i < 4; i++) {
        planned p = with(SP_PLANNER_POLICY, i);

        digest[i] = sp_schedule_digest(p.schedule);
        for (int32_t j = 0; j < i; j++)
            assert_true(digest[i] != digest[j]);
        planned_free(&p);
    }
    assert_null(sp_policy_name(4));
    refuse(SP_PLANNER_POLICY, 4, "planner parameter policy: 4 is above 3");
}

static void more_effort_is_never_slower_here(void **state)
{
    int64_t last = INT64_MAX;

    (void)state;
    for (int64_t effort = SP_EFFORT_FAST; effort <= SP_EFFORT_THOROUGH; effort++) {
        planned p = with(SP_PLANNER_EFFORT, effort);

        assert_true(p.stats.makespan_ps <= last);
        last = p.stats.makespan_ps;
        planned_free(&p);
    }
}

static int64_t makespan_between_nodes(int64_t lockstep)
{
    const plan_input in = { .topology = "dp=3 pp=3", .device = "h100",
                            .set = { { SP_PLANNER_POLICY, SP_POLICY_FIXED_PACK },
                                     { SP_PLANNER_LOCKSTEP, lockstep } },
                            .set_device = { { SP_DEVICE_INTER_LATENCY_PS, 1000000000000 } },
                            LENGTHS(4000, 4000, 4000) };
    planned p = plan_it(&in);
    int64_t makespan = p.stats.makespan_ps;

    planned_free(&p);
    return makespan;
}

/* Of the hand-overs only one of replica 2 leaves its node, in both passes: in lockstep
 * all wait for it. */
static void in_lockstep_the_slowest_link_counts(void **state)
{
    int64_t alone = makespan_between_nodes(0);

    (void)state;
    assert_true(alone > 2000000000000);
    assert_true(makespan_between_nodes(1) >= alone);
}

static void threads_never_change_the_plan(void **state)
{
    planned one = with(SP_PLANNER_THREADS, 1), eight = with(SP_PLANNER_THREADS, 8);

    (void)state;
    assert_true(sp_schedule_digest(one.schedule) == sp_schedule_digest(eight.schedule));
    planned_free(&one);
    planned_free(&eight);
}

static void slices_start_at_the_alignment(void **state)
{
    planned p = with(SP_PLANNER_ALIGNMENT, 512); /* the checker holds the plan to it */

    (void)state;
    planned_free(&p);
}

static void whole_samples_are_not_sliced(void **state)
{
    planned p = with(SP_PLANNER_SLICING, 0);

    (void)state;
    assert_int_equal(p.stats.slices, 12);
    planned_free(&p);
}

static void packs_are_limited_and_grouped(void **state)
{
    planned p = with(SP_PLANNER_MAX_PACKS, 9);

    (void)state;
    assert_true(p.stats.backward_packs <= 9);
    planned_free(&p);
    p = with(SP_PLANNER_PACK_GROUP, 7);
    assert_int_equal(p.stats.forward_packs % 7, 0);
    planned_free(&p);
}

static void counts_come_out_as_given(void **state)
{
    const plan_input in = { .topology = "dp=2 pp=2",
                            .set = { { SP_PLANNER_FORWARD_PACKS, 13 },
                                     { SP_PLANNER_BACKWARD_PACKS, 21 } },
                            BATCH };
    planned p = plan_it(&in);

    (void)state;
    assert_int_equal(p.stats.forward_packs, 13);
    assert_int_equal(p.stats.backward_packs, 21);
    planned_free(&p);
}

static void merges_can_be_left_out_or_narrowed(void **state)
{
    const plan_input wide = { .topology = "dp=4", LENGTHS(100000) };
    const plan_input none = { .topology = "dp=4", .set = { { SP_PLANNER_MERGES, 0 } },
                              LENGTHS(100000) };
    const plan_input narrow = { .topology = "dp=4", .set = { { SP_PLANNER_MAX_MERGE_DEGREE, 2 } },
                                LENGTHS(100000) };
    sp_merge_view merge = SP_MERGE_VIEW_INIT;
    planned p = plan_it(&wide);

    (void)state;
    assert_int_equal(p.stats.merges, 1);
    planned_free(&p);
    p = plan_it(&none);
    assert_int_equal(p.stats.merges, 0);
    planned_free(&p);
    p = plan_it(&narrow);
    assert_int_equal(sp_schedule_merge(p.schedule, 0, &merge), SP_OK);
    assert_int_equal(merge.replicas, 2);
    planned_free(&p);
}

static void running_ahead_costs_live_tokens_and_saves_time(void **state)
{
    planned none = with(SP_PLANNER_RUN_AHEAD, 0), some = with(SP_PLANNER_RUN_AHEAD, 2);

    (void)state;
    assert_true(none.stats.peak_live_tokens < some.stats.peak_live_tokens);
    assert_true(none.stats.makespan_ps > some.stats.makespan_ps);
    planned_free(&none);
    planned_free(&some);
}

static void slice_tokens_set_the_uniform_slice(void **state)
{
    const plan_input in = { .topology = "dp=2 pp=2",
                            .set = { { SP_PLANNER_POLICY, SP_POLICY_UNIFORM_SLICE },
                                     { SP_PLANNER_SLICE_TOKENS, 1024 } },
                            BATCH };
    const plan_input odd = { .topology = "dp=2 pp=2",
                             .set = { { SP_PLANNER_POLICY, SP_POLICY_UNIFORM_SLICE },
                                      { SP_PLANNER_SLICE_TOKENS, 1000 } },
                             BATCH };
    const plan_input capped = { .topology = "dp=2 pp=2",
                                .set = { { SP_PLANNER_POLICY, SP_POLICY_UNIFORM_SLICE },
                                         { SP_PLANNER_MAX_PACK_TOKENS, 512 },
                                         { SP_PLANNER_SLICE_TOKENS, 1024 } },
                                BATCH };
    const plan_input whole = { .topology = "dp=2 pp=2",
                               .set = { { SP_PLANNER_POLICY, SP_POLICY_UNIFORM_SLICE } },
                               .set_model = { { SP_MODEL_CAUSAL, 0 } }, BATCH };
    planned p = plan_it(&in);

    (void)state;
    assert_true(most_tokens(&p) <= 1024);
    planned_free(&p);
    p = try_to_plan(&odd);
    assert_int_equal(p.status, SP_ERR_INVALID);
    assert_string_equal(sp_error_message(), "slice_tokens: 1000 is no multiple of alignment 16");
    planned_free(&p);
    p = try_to_plan(&capped);
    assert_int_equal(p.status, SP_ERR_INFEASIBLE);
    assert_string_equal(sp_error_message(),
                        "slice_tokens: 1024 are above the 512 that max_pack_tokens allows");
    planned_free(&p);
    p = try_to_plan(&whole);
    assert_int_equal(p.status, SP_ERR_INVALID);
    assert_string_equal(sp_error_message(),
                        "policy uniform-slice: it needs slicing and causal attention");
    planned_free(&p);
}

/* Two billion tokens in slices of 16 are too many packs before any is made. */
static void uniform_slices_past_max_packs_are_counted_only(void **state)
{
    const plan_input in = { .topology = "dp=1",
                            .set = { { SP_PLANNER_POLICY, SP_POLICY_UNIFORM_SLICE },
                                     { SP_PLANNER_SLICE_TOKENS, 16 } },
                            .set_model = { { SP_MODEL_WINDOW, 4096 } }, LENGTHS(INT32_MAX) };
    planned p = try_to_plan(&in);

    (void)state;
    assert_int_equal(p.status, SP_ERR_INFEASIBLE);
    assert_string_equal(sp_error_message(), "max_packs: a replica needs 134217728 packs or more, "
                                            "but 256 are allowed");
    planned_free(&p);
}

/* The last slice ends at the largest int32: no sum on the way passes it. */
static void uniform_slices_reach_the_longest_sample(void **state)
{
    const plan_input in = { .topology = "dp=1", .device = "ideal",
                            .set = { { SP_PLANNER_POLICY, SP_POLICY_UNIFORM_SLICE },
                                     { SP_PLANNER_SLICE_TOKENS, INT64_C(1) << 29 } },
                            .set_model = { { SP_MODEL_WINDOW, 4096 } }, LENGTHS(INT32_MAX) };
    const plan_input whole = { .topology = "dp=1", .device = "ideal",
                               .set = { { SP_PLANNER_POLICY, SP_POLICY_UNIFORM_SLICE },
                                        { SP_PLANNER_MAX_PACKS, 1 } },
                               .set_model = { { SP_MODEL_WINDOW, 4096 } }, LENGTHS(INT32_MAX) };
    planned p = plan_it(&in);

    (void)state;
    assert_int_equal(p.stats.slices, 4);
    planned_free(&p);
    p = plan_it(&whole);
    assert_int_equal(p.stats.slices, 1);
    planned_free(&p);
}

/* Cuts anywhere pad each slice; cuts at multiples of the padding none but the last. */
static void a_cap_of_one_padding_cuts_at_its_multiples(void **state)
{
    static const char *const where[] = { "dp=1", "dp=2 pp=2", "dp=1 cp=2" };
    static const int64_t cap[] = { 4, 4, 8 };

    (void)state;
    for (int i = 0; i < 3; i++) {
        const plan_input in = { .topology = where[i], .device = "ideal",
                                .set = { { SP_PLANNER_ALIGNMENT, 1 },
                                         { SP_PLANNER_PAD_MULTIPLE, 4 },
                                         { SP_PLANNER_MAX_PACK_TOKENS, cap[i] } },
                                LENGTHS(9, 30, 5, 2, 61) };
        planned p = plan_it(&in);

        assert_true(most_tokens(&p) <= cap[i]);
        planned_free(&p);
    }
}

/* What links take counts where sums must fit: 4 million tokens at seconds each. */
static void work_that_fits_only_without_communication_is_refused(void **state)
{
    const plan_input in = { .topology = "tp=8", .device = "h100",
                            .set_model = { { SP_MODEL_WINDOW, 64 } },
                            .set_device = { { SP_DEVICE_INTRA_BANDWIDTH, 1000000 },
                                            { SP_DEVICE_TP_EXPOSED_PERCENT, 100 } },
                            LENGTHS(4000000) };
    planned p = try_to_plan(&in);

    (void)state;
    assert_int_equal(p.status, SP_ERR_OVERFLOW);
    assert_string_equal(sp_error_message(),
                        "lengths: on stage 0 the work of 4000000 tokens with its communication "
                        "passes 2^61 ps");
    planned_free(&p);
}

/* In lockstep all replicas run pack k of a stage at the same time. */
static void lockstep_starts_a_pack_everywhere_at_once(void **state)
{
    planned p = with(SP_PLANNER_LOCKSTEP, 1), free_running = with(SP_PLANNER_LOCKSTEP, 0);

    (void)state;
    for (int32_t stage = 0; stage < 2; stage++)
        for (int32_t i = 0; i < sp_schedule_op_count(p.schedule); i++) {
            sp_op_view a = SP_OP_VIEW_INIT, b = SP_OP_VIEW_INIT;
            sp_coordinates at = SP_COORDINATES_INIT;
            int32_t rank;

            at.pp = stage;
            assert_int_equal(sp_topology_rank(p.topology, &at, &rank), SP_OK);
            assert_int_equal(sp_schedule_op(p.schedule, rank, i, &a), SP_OK);
            at.dp = 1;
            assert_int_equal(sp_topology_rank(p.topology, &at, &rank), SP_OK);
            assert_int_equal(sp_schedule_op(p.schedule, rank, i, &b), SP_OK);
            assert_int_equal(a.pass, b.pass);
            assert_int_equal(a.pack, b.pack);
            assert_int_equal(a.start_ps, b.start_ps);
        }
    assert_true(p.stats.makespan_ps >= free_running.stats.makespan_ps);
    planned_free(&p);
    planned_free(&free_running);
}

static void a_lockstep_plan_replays_in_lockstep(void **state)
{
    planned p = with(SP_PLANNER_LOCKSTEP, 1);
    sp_stats stats = SP_STATS_INIT;
    sp_simulation *simulation;
    sp_model *model;
    sp_device *device;

    (void)state;
    assert_int_equal(sp_model_create("llama2-7b", NULL, &model), SP_OK);
    assert_int_equal(sp_device_create("ideal", NULL, &device), SP_OK);
    assert_int_equal(sp_simulate(p.schedule, model, device, &simulation), SP_OK);
    assert_int_equal(sp_simulation_stats(simulation, &stats), SP_OK);
    assert_int_equal(stats.makespan_ps, p.stats.makespan_ps);
    sp_simulation_destroy(simulation);
    sp_device_destroy(device);
    sp_model_destroy(model);
    planned_free(&p);
}

static void exact_nodes_prove_the_assignment(void **state)
{
    const plan_input in = { .topology = "dp=3",
                            .set = { { SP_PLANNER_MERGES, 0 },
                                     { SP_PLANNER_EXACT_NODES, 1000000 } },
                            BATCH };
    planned p = plan_it(&in), fast;
    const plan_input without = { .topology = "dp=3", .set = { { SP_PLANNER_MERGES, 0 } }, BATCH };

    (void)state;
    assert_true(p.stats.exact_nodes > 0);
    assert_int_equal(p.stats.load_ps, p.stats.load_bound_ps);
    fast = plan_it(&without);
    assert_true(fast.stats.load_ps >= p.stats.load_ps);
    assert_int_equal(fast.stats.exact_nodes, 0);
    planned_free(&p);
    planned_free(&fast);
}

static void an_exact_assignment_of_too_many_samples_is_refused(void **state)
{
    int64_t lengths[1025];
    const plan_input in = { .topology = "dp=2", .set = { { SP_PLANNER_EXACT_NODES, 1 } },
                            .count = 1025, .lengths = lengths };
    planned p;

    (void)state;
    for (int i = 0; i < 1025; i++)
        lengths[i] = 1 + i;
    p = try_to_plan(&in);
    assert_int_equal(p.status, SP_ERR_INVALID);
    assert_string_equal(sp_error_message(), "exact_nodes: 1025 samples on 2 replicas are above "
                                            "the 1024 and 64 that are searched exactly");
    planned_free(&p);
}

static void a_memory_cap_is_kept_or_refused_with_one_that_does(void **state)
{
    planned p = with(SP_PLANNER_EFFORT, SP_EFFORT_BALANCED);
    int64_t peak = p.stats.peak_bytes;
    const plan_input in = { .topology = "dp=2 pp=2", .set = { { SP_PLANNER_MEMORY_BYTES, 1 } },
                            BATCH };
    const char *words;
    int64_t cap;

    (void)state;
    planned_free(&p);
    p = with(SP_PLANNER_MEMORY_BYTES, peak - 1);
    assert_true(p.stats.peak_bytes < peak);
    planned_free(&p);
    p = try_to_plan(&in);
    assert_int_equal(p.status, SP_ERR_INFEASIBLE);
    words = strstr(sp_error_message(), "would do is ");
    assert_non_null(words);
    cap = strtoll(words + strlen("would do is "), NULL, 10);
    planned_free(&p);
    p = with(SP_PLANNER_MEMORY_BYTES, cap);
    assert_int_equal(p.stats.peak_bytes, cap);
    planned_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(policies_differ),
        cmocka_unit_test(more_effort_is_never_slower_here),
        cmocka_unit_test(in_lockstep_the_slowest_link_counts),
        cmocka_unit_test(threads_never_change_the_plan),
        cmocka_unit_test(slices_start_at_the_alignment),
        cmocka_unit_test(whole_samples_are_not_sliced),
        cmocka_unit_test(packs_are_limited_and_grouped),
        cmocka_unit_test(counts_come_out_as_given),
        cmocka_unit_test(merges_can_be_left_out_or_narrowed),
        cmocka_unit_test(running_ahead_costs_live_tokens_and_saves_time),
        cmocka_unit_test(slice_tokens_set_the_uniform_slice),
        cmocka_unit_test(uniform_slices_past_max_packs_are_counted_only),
        cmocka_unit_test(uniform_slices_reach_the_longest_sample),
        cmocka_unit_test(a_cap_of_one_padding_cuts_at_its_multiples),
        cmocka_unit_test(work_that_fits_only_without_communication_is_refused),
        cmocka_unit_test(lockstep_starts_a_pack_everywhere_at_once),
        cmocka_unit_test(a_lockstep_plan_replays_in_lockstep),
        cmocka_unit_test(exact_nodes_prove_the_assignment),
        cmocka_unit_test(an_exact_assignment_of_too_many_samples_is_refused),
        cmocka_unit_test(a_memory_cap_is_kept_or_refused_with_one_that_does),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
