/*
 * test_closed_forms.c - pipelines whose times and memory can be written down.
 *
 * Equal samples, one a pack, without a vocabulary head, on the ideal device: all
 * packs and stages alike. f, b, i and w are the times of a chunk's forward, backward,
 * input gradients and weight gradients, m the packs, v the chunks of a stage.
 */
#include "../support/expect.h"

enum { LENGTH = 1000, MOST = 64 };

typedef struct form {
    int32_t pp, packs, chunks;
    int64_t pipeline, policy, run_ahead;
} form;

typedef struct made {
    sp_topology *topology;
    sp_model *model;
    sp_device *device;
    sp_schedule *schedule;
    sp_stats stats;
} made;

static made make(const form *f)
{
    made m = { .stats = SP_STATS_INIT };
    int64_t lengths[MOST];
    sp_planner *planner;
    sp_batch *batch;

    for (int32_t i = 0; i < f->packs; i++)
        lengths[i] = LENGTH;
    assert_int_equal(sp_topology_create(1, 1, f->pp, 1, NULL, &m.topology), SP_OK);
    assert_int_equal(sp_model_create("llama2-7b", NULL, &m.model), SP_OK);
    assert_int_equal(sp_model_set(m.model, SP_MODEL_VOCAB, 0), SP_OK);
    assert_int_equal(sp_model_set(m.model, SP_MODEL_LAYERS, 2 * f->pp * f->chunks), SP_OK);
    assert_int_equal(sp_model_set(m.model, SP_MODEL_VIRTUAL_STAGES, f->chunks), SP_OK);
    assert_int_equal(sp_device_create("ideal", NULL, &m.device), SP_OK);
    assert_int_equal(sp_planner_create(m.topology, m.model, m.device, NULL, &planner), SP_OK);
    assert_int_equal(sp_planner_set(planner, SP_PLANNER_POLICY, f->policy), SP_OK);
    assert_int_equal(sp_planner_set(planner, SP_PLANNER_PIPELINE, f->pipeline), SP_OK);
    assert_int_equal(sp_planner_set(planner, SP_PLANNER_RUN_AHEAD, f->run_ahead), SP_OK);
    assert_int_equal(sp_batch_create(lengths, f->packs, NULL, &batch), SP_OK);
    assert_int_equal(sp_plan_batch(planner, batch, &m.schedule), SP_OK);
    assert_int_equal(sp_schedule_stats(m.schedule, &m.stats), SP_OK);
    sp_batch_destroy(batch);
    sp_planner_destroy(planner);
    return m;
}

static void drop(made *m)
{
    sp_schedule_destroy(m->schedule);
    sp_device_destroy(m->device);
    sp_model_destroy(m->model);
    sp_topology_destroy(m->topology);
}

/* Time of an op of a pass, read off rank 0's first. */
static int64_t time_of(const made *m, sp_pass pass)
{
    for (int32_t i = 0; i < sp_schedule_op_count(m->schedule); i++) {
        sp_op_view op = SP_OP_VIEW_INIT;

        assert_int_equal(sp_schedule_op(m->schedule, 0, i, &op), SP_OK);
        if (op.pass == pass)
            return op.end_ps - op.start_ps;
    }
    fail_msg("no op of pass %d", (int)pass);
    return 0;
}

static int64_t live_tokens(const made *m, int32_t stage)
{
    sp_stage_view v = SP_STAGE_VIEW_INIT;

    assert_int_equal(sp_schedule_stage(m->schedule, stage, &v), SP_OK);
    return v.peak_live_tokens;
}

/* Narayanan et al., arXiv 2104.04473, 2.2.2: the bubble is (pp - 1) (f + b), f and b
 * being those of a chunk, a v-th of 1F1B's. */
static void interleaving_divides_the_bubble_by_the_chunks(void **state)
{
    (void)state;
    for (int32_t pp = 2; pp <= 6; pp++)
        for (int32_t v = 2; v <= 4; v++)
            for (int32_t groups = 1; groups <= 3; groups++) {
                form f = { pp, pp * groups, v, SP_PIPELINE_1F1B, SP_POLICY_FIXED_PACK, 2 };
                made m = make(&f);
                int64_t both = time_of(&m, SP_FORWARD) + time_of(&m, SP_BACKWARD);

                assert_int_equal(m.stats.forward_packs, pp * groups);
                assert_int_equal(m.stats.makespan_ps, (groups * pp * v + pp - 1) * both);
                drop(&m);
            }
}

/* G7: ten packs of four stages become twelve, two of them empty. */
static void interleaving_rounds_packs_up_to_whole_groups(void **state)
{
    form f = { 4, 10, 2, SP_PIPELINE_1F1B, SP_POLICY_FIXED_PACK, 2 };
    made m = make(&f);
    int32_t empty = 0;

    (void)state;
    assert_int_equal(m.stats.forward_packs, 12);
    for (int32_t k = 0; k < 12; k++) {
        sp_pack_view v = SP_PACK_VIEW_INIT;

        assert_int_equal(sp_schedule_pack(m.schedule, 0, SP_FORWARD, k, &v), SP_OK);
        empty += (v.flags & SP_PACK_EMPTY) != 0;
    }
    assert_int_equal(empty, 2);
    drop(&m);
}

/* Stage s runs 2 (pp - 1 - s) + (v - 1) pp chunks ahead, and one more. */
static void interleaving_holds_what_it_runs_ahead(void **state)
{
    form f = { 4, 16, 2, SP_PIPELINE_1F1B, SP_POLICY_FIXED_PACK, 2 };
    made m = make(&f);

    (void)state;
    for (int32_t s = 0; s < 4; s++)
        assert_int_equal(live_tokens(&m, s), LENGTH * (2 * (3 - s) + 4 + 1));
    drop(&m);
}

/* Qi et al., arXiv 2401.10241, 3.1 (ZB-H1): the bubble is (pp - 1) (f + i - w), and no
 * stage holds more than the pp packs of 1F1B's first. */
static void zero_bubble_takes_the_weights_out_of_the_bubble(void **state)
{
    (void)state;
    for (int32_t pp = 2; pp <= 6; pp++)
        for (int32_t packs = 2 * pp; packs <= 3 * pp; packs++) {
            form f = { pp, packs, 1, SP_PIPELINE_ZERO_BUBBLE, SP_POLICY_FIXED_PACK, 2 };
            made m = make(&f);
            int64_t fw = time_of(&m, SP_FORWARD), in = time_of(&m, SP_BACKWARD);
            int64_t we = time_of(&m, SP_WEIGHT);

            assert_int_equal(m.stats.makespan_ps, packs * (fw + in + we) +
                                                      (pp - 1) * (fw + in - we));
            for (int32_t s = 0; s < pp; s++)
                assert_in_range(live_tokens(&m, s), 1, LENGTH * pp);
            drop(&m);
        }
}

/* Both halves of a backward are together what the whole is. */
static void a_split_backward_takes_as_long_as_a_whole_one(void **state)
{
    form whole = { 2, 4, 1, SP_PIPELINE_1F1B, SP_POLICY_FIXED_PACK, 2 }, split = whole;
    made a, b;

    (void)state;
    split.pipeline = SP_PIPELINE_ZERO_BUBBLE;
    a = make(&whole);
    b = make(&split);
    assert_in_range(time_of(&b, SP_BACKWARD) + time_of(&b, SP_WEIGHT),
                    time_of(&a, SP_BACKWARD), time_of(&a, SP_BACKWARD) + 1);
    assert_int_equal(a.stats.ideal_ps, b.stats.ideal_ps);
    drop(&a);
    drop(&b);
}

/* All forwards, then all backwards (Huang et al., arXiv 1811.06965): the bubble of
 * 1F1B, and every pack held at once. */
static void gpipe_has_the_bubble_of_1f1b_and_holds_all_packs(void **state)
{
    form f = { 4, 6, 1, SP_PIPELINE_1F1B, SP_POLICY_FIXED_PACK, 2 };
    made m = make(&f);
    sp_stats stats = SP_STATS_INIT;
    sp_builder *b;
    sp_batch *batch;
    sp_schedule *gpipe;
    sp_simulation *s;

    (void)state;
    assert_int_equal(sp_batch_create(sp_schedule_lengths(m.schedule), 6, NULL, &batch), SP_OK);
    assert_int_equal(sp_builder_create(m.topology, batch, NULL, &b), SP_OK);
    for (int32_t k = 0; k < 12; k++) {
        int32_t slice[3] = { k % 6, 0, LENGTH };

        assert_int_equal(sp_builder_add_pack(b, 0, k / 6, -1, 1, slice), SP_OK);
        assert_int_equal(sp_builder_add_shards(b, 0, k / 6, 0, 1, slice), SP_OK);
    }
    /* Times that keep the order; the replay finds the true ones. */
    for (int32_t stage = 0; stage < 4; stage++)
        for (int32_t k = 0; k < 12; k++) {
            int64_t at = k < 6 ? k + stage : 20 + k - stage;

            assert_int_equal(sp_builder_add_op(b, 0, stage, k / 6, k % 6, 0, at, at + 1), SP_OK);
        }
    assert_int_equal(sp_builder_finish(b, &gpipe), SP_OK);
    assert_int_equal(sp_simulate(gpipe, m.model, m.device, &s), SP_OK);
    assert_int_equal(sp_simulation_stats(s, &stats), SP_OK);
    assert_int_equal(stats.makespan_ps,
                     (6 + 4 - 1) * (time_of(&m, SP_FORWARD) + time_of(&m, SP_BACKWARD)));
    assert_int_equal(stats.peak_live_tokens, 6 * LENGTH);
    sp_simulation_destroy(s);
    sp_schedule_destroy(gpipe);
    sp_builder_destroy(b);
    sp_batch_destroy(batch);
    drop(&m);
}

/* A stage of 1F1B holds pp - s packs, each of what a token keeps, beside what is
 * always there and the buffers of what it sends and receives. */
static void memory_of_1f1b_is_that_of_its_packs(void **state)
{
    form f = { 4, 8, 1, SP_PIPELINE_1F1B, SP_POLICY_FIXED_PACK, 2 };
    made m = make(&f);
    /* Two layers: 4 hidden + 2 q + 2 kv + 3 ffn elements of 2 bytes, 4 bytes a head. */
    int64_t token = 2 * (2 * (8 * 4096 + 3 * 11008) + 4 * 32);

    (void)state;
    for (int32_t s = 0; s < 4; s++) {
        int32_t neighbours = s == 0 || s == 3 ? 1 : 2;
        sp_stage_view v = SP_STAGE_VIEW_INIT;

        assert_int_equal(sp_schedule_stage(m.schedule, s, &v), SP_OK);
        assert_int_equal(v.peak_bytes - v.static_bytes, (4 - s) * LENGTH * token +
                                                            neighbours * 2 * LENGTH * 2 * 4096);
    }
    drop(&m);
}

/* G12: slices of k to a sample, one a pack: a stage holds the k slices that the next
 * backward needs and r (pp - s) more, where 1F1B of whole samples holds (pp - s) k.
 * With r = 1 that is 2 samples on the first of 4 stages instead of 4. */
static void memory_of_slices_is_that_of_a_sample_and_the_run_ahead(void **state)
{
    int64_t lengths[8];
    sp_batch *batch;

    (void)state;
    for (int32_t i = 0; i < 8; i++)
        lengths[i] = 4096;
    assert_int_equal(sp_batch_create(lengths, 8, NULL, &batch), SP_OK);
    for (int64_t r = 0; r <= 2; r++) {
        form f = { 4, 1, 1, SP_PIPELINE_1F1B, SP_POLICY_UNIFORM_SLICE, r };
        made m = make(&f);
        sp_planner *planner;

        sp_schedule_destroy(m.schedule);
        assert_int_equal(sp_planner_create(m.topology, m.model, m.device, NULL, &planner), SP_OK);
        assert_int_equal(sp_planner_set(planner, SP_PLANNER_POLICY, f.policy), SP_OK);
        assert_int_equal(sp_planner_set(planner, SP_PLANNER_RUN_AHEAD, r), SP_OK);
        assert_int_equal(sp_planner_set(planner, SP_PLANNER_SLICE_TOKENS, 1024), SP_OK);
        assert_int_equal(sp_planner_set(planner, SP_PLANNER_MAX_PACK_TOKENS, 1024), SP_OK);
        assert_int_equal(sp_plan_batch(planner, batch, &m.schedule), SP_OK);
        for (int32_t s = 0; s < 4; s++)
            assert_in_range(live_tokens(&m, s), 4096, 1024 * (4 + r * (4 - s)));
        assert_int_equal(live_tokens(&m, 0), 1024 * (4 + r * 4));
        sp_planner_destroy(planner);
        drop(&m);
    }
    sp_batch_destroy(batch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interleaving_divides_the_bubble_by_the_chunks),
        cmocka_unit_test(interleaving_rounds_packs_up_to_whole_groups),
        cmocka_unit_test(interleaving_holds_what_it_runs_ahead),
        cmocka_unit_test(zero_bubble_takes_the_weights_out_of_the_bubble),
        cmocka_unit_test(a_split_backward_takes_as_long_as_a_whole_one),
        cmocka_unit_test(gpipe_has_the_bubble_of_1f1b_and_holds_all_packs),
        cmocka_unit_test(memory_of_1f1b_is_that_of_its_packs),
        cmocka_unit_test(memory_of_slices_is_that_of_a_sample_and_the_run_ahead),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
