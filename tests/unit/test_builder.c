/*
 * test_builder.c - a schedule from its parts: errors of each call, round trips.
 *
 * What the builder refuses of a whole plan is in test_builder_invariants.c, what it does
 * without memory in test_builder_memory.c.
 */
#include "../support/expect.h"
#include "../support/planned.h"
#include "../support/small_plan.h"

static sp_topology *topology;
static sp_batch *batch;
static sp_builder *builder;

/* dp 2, pp 3, cp 2, four samples. */
static int open_builder(void **state)
{
    static const int64_t lengths[] = { 32, 8, 8, 64 };

    (void)state;
    return sp_topology_parse("dp=2 pp=3 cp=2 tp=2", &topology) == SP_OK &&
                   sp_batch_create(lengths, 4, NULL, &batch) == SP_OK &&
                   sp_builder_create(topology, batch, NULL, &builder) == SP_OK
               ? 0 : -1;
}

static int close_builder(void **state)
{
    (void)state;
    sp_builder_destroy(builder);
    sp_batch_destroy(batch);
    sp_topology_destroy(topology);
    return 0;
}

static void null_arguments_are_named(void **state)
{
    sp_builder *b = NULL;
    sp_schedule *s = NULL;

    (void)state;
    EXPECT_FAIL(sp_builder_create(NULL, batch, NULL, &b), SP_ERR_INVALID, "topology is NULL");
    EXPECT_FAIL(sp_builder_create(topology, NULL, NULL, &b), SP_ERR_INVALID, "batch is NULL");
    EXPECT_FAIL(sp_builder_create(topology, batch, NULL, NULL), SP_ERR_INVALID, "out is NULL");
    EXPECT_FAIL(sp_builder_set_alignment(NULL, 1), SP_ERR_INVALID, "builder is NULL");
    EXPECT_FAIL(sp_builder_set_pad_multiple(NULL, 1), SP_ERR_INVALID, "builder is NULL");
    EXPECT_FAIL(sp_builder_set_lockstep(NULL, 1), SP_ERR_INVALID, "builder is NULL");
    EXPECT_FAIL(sp_builder_add_merge(NULL, 0, 0, 2), SP_ERR_INVALID, "builder is NULL");
    EXPECT_FAIL(sp_builder_add_pack(NULL, 0, 0, -1, 0, NULL), SP_ERR_INVALID, "builder is NULL");
    EXPECT_FAIL(sp_builder_add_pack(builder, 0, 0, -1, 1, NULL), SP_ERR_INVALID, "slices is NULL");
    EXPECT_FAIL(sp_builder_add_shards(NULL, 0, 0, 0, 0, NULL), SP_ERR_INVALID, "builder is NULL");
    EXPECT_FAIL(sp_builder_add_shards(builder, 0, 0, 0, 1, NULL), SP_ERR_INVALID,
                "shards is NULL");
    EXPECT_FAIL(sp_builder_add_op(NULL, 0, 0, 0, 0, 0, 0, 0), SP_ERR_INVALID, "builder is NULL");
    EXPECT_FAIL(sp_builder_set_memory(NULL, 0, 0, 0, 0, 0), SP_ERR_INVALID, "builder is NULL");
    EXPECT_FAIL(sp_builder_finish(NULL, &s), SP_ERR_INVALID, "builder is NULL");
    EXPECT_FAIL(sp_schedule_pipeline(NULL, NULL), SP_ERR_INVALID, "schedule is NULL");
    EXPECT_FAIL(sp_builder_finish(builder, NULL), SP_ERR_INVALID, "out is NULL");
    assert_null(b);
    assert_null(s);
    sp_builder_destroy(NULL);
}

static void merges_are_bounded(void **state)
{
    (void)state;
    EXPECT_FAIL(sp_builder_add_merge(builder, 4, 0, 2), SP_ERR_RANGE,
                "sample: 4 is outside 0 to 3");
    EXPECT_FAIL(sp_builder_add_merge(builder, -1, 0, 2), SP_ERR_RANGE,
                "sample: -1 is outside 0 to 3");
    EXPECT_FAIL(sp_builder_add_merge(builder, 0, 2, 2), SP_ERR_RANGE,
                "first_replica: 2 is outside 0 to 1");
    EXPECT_FAIL(sp_builder_add_merge(builder, 0, 0, 1), SP_ERR_RANGE,
                "replicas: 1 is outside 2 to 2");
    EXPECT_FAIL(sp_builder_add_merge(builder, 0, 0, 3), SP_ERR_RANGE,
                "replicas: 3 is outside 2 to 2");
    EXPECT_FAIL(sp_builder_add_merge(builder, 0, 1, 2), SP_ERR_RANGE,
                "replicas: 2 is outside 2 to 1");
}

static void packs_and_shards_are_bounded(void **state)
{
    (void)state;
    EXPECT_FAIL(sp_builder_add_pack(builder, 2, 0, -1, 0, NULL), SP_ERR_RANGE,
                "replica: 2 is outside 0 to 1");
    EXPECT_FAIL(sp_builder_add_pack(builder, 0, 2, -1, 0, NULL), SP_ERR_RANGE,
                "pass: 2 is outside 0 to 1");
    EXPECT_FAIL(sp_builder_add_pack(builder, 0, 0, -1, -1, NULL), SP_ERR_RANGE,
                "count: -1 is outside 0 to 715827882");
    EXPECT_FAIL(sp_builder_add_pack(builder, 0, 0, 0, 0, NULL), SP_ERR_RANGE,
                "merge: 0 is outside -1 to -1");
    EXPECT_FAIL(sp_builder_add_pack(builder, 0, 0, -2, 0, NULL), SP_ERR_RANGE,
                "merge: -2 is outside -1 to -1");
    EXPECT_FAIL(sp_builder_add_shards(builder, -1, 0, 0, 0, NULL), SP_ERR_RANGE,
                "replica: -1 is outside 0 to 1");
    EXPECT_FAIL(sp_builder_add_shards(builder, 0, -1, 0, 0, NULL), SP_ERR_RANGE,
                "pass: -1 is outside 0 to 1");
    EXPECT_FAIL(sp_builder_add_shards(builder, 0, 0, 2, 0, NULL), SP_ERR_RANGE,
                "cp: 2 is outside 0 to 1");
    EXPECT_FAIL(sp_builder_add_shards(builder, 0, 0, 0, -1, NULL), SP_ERR_RANGE,
                "count: -1 is outside 0 to 715827882");
}

static void shards_need_a_pack(void **state)
{
    (void)state;
    assert_int_equal(sp_builder_add_pack(builder, 0, SP_FORWARD, -1, 0, NULL), SP_OK);
    EXPECT_FAIL(sp_builder_add_shards(builder, 0, SP_BACKWARD, 0, 0, NULL), SP_ERR_STATE,
                "replica 0 has no pack to add shards to");
    EXPECT_FAIL(sp_builder_add_shards(builder, 1, SP_FORWARD, 1, 0, NULL), SP_ERR_STATE,
                "replica 1 has no pack to add shards to");
    assert_int_equal(sp_builder_add_shards(builder, 0, SP_FORWARD, 1, 0, NULL), SP_OK);
}

static void chunks_need_a_pipeline(void **state)
{
    static const int64_t length = 5;
    sp_topology *one_stage;
    sp_batch *one;
    sp_builder *flat;

    (void)state;
    assert_int_equal(sp_topology_parse("dp=2", &one_stage), SP_OK);
    assert_int_equal(sp_batch_create(&length, 1, NULL, &one), SP_OK);
    assert_int_equal(sp_builder_create(one_stage, one, NULL, &flat), SP_OK);
    EXPECT_FAIL(sp_builder_set_pipeline(flat, 2, 0), SP_ERR_RANGE, "virtual_stages: 2 chunks a "
                "stage need a pipeline of at least 2 stages, but pp is 1");
    assert_int_equal(sp_builder_set_pipeline(flat, 1, 1), SP_OK);
    sp_builder_destroy(flat);
    sp_batch_destroy(one);
    sp_topology_destroy(one_stage);
}

static void ops_are_bounded(void **state)
{
    (void)state;
    EXPECT_FAIL(sp_builder_add_op(builder, 2, 0, 0, 0, 0, 0, 0), SP_ERR_RANGE,
                "replica: 2 is outside 0 to 1");
    EXPECT_FAIL(sp_builder_add_op(builder, 0, 3, 0, 0, 0, 0, 0), SP_ERR_RANGE,
                "stage: 3 is outside 0 to 2");
    EXPECT_FAIL(sp_builder_add_op(builder, 0, 0, 3, 0, 0, 0, 0), SP_ERR_RANGE,
                "pass: 3 is outside 0 to 2");
    EXPECT_FAIL(sp_builder_add_op(builder, 0, 0, 0, -1, 0, 0, 0), SP_ERR_RANGE,
                "pack: -1 is outside 0 to 4194303");
    EXPECT_FAIL(sp_builder_add_op(builder, 0, 0, 0, 0, 64, 0, 0), SP_ERR_RANGE,
                "chunk: 64 is outside 0 to 63");
    EXPECT_FAIL(sp_builder_set_pipeline(builder, 0, 0), SP_ERR_RANGE,
                "virtual_stages: 0 is outside 1 to 64");
    EXPECT_FAIL(sp_builder_set_pipeline(builder, 1, 2), SP_ERR_RANGE,
                "pipeline: 2 is outside 0 to 1");
    EXPECT_FAIL(sp_builder_set_pipeline(NULL, 1, 0), SP_ERR_INVALID, "builder is NULL");
    EXPECT_FAIL(sp_builder_add_op(builder, 0, 0, 0, 0, 0, -1, 0), SP_ERR_RANGE,
                "start_ps: -1 is outside 0 to 9223372036854775807");
    EXPECT_FAIL(sp_builder_add_op(builder, 0, 0, 0, 0, 0, 5, 4), SP_ERR_RANGE,
                "end_ps: 4 is outside 5 to 9223372036854775807");
}

static void alignment_and_memory_are_bounded(void **state)
{
    (void)state;
    EXPECT_FAIL(sp_builder_set_alignment(builder, 0), SP_ERR_RANGE,
                "alignment: 0 is outside 1 to 2147483647");
    EXPECT_FAIL(sp_builder_set_pad_multiple(builder, 0), SP_ERR_RANGE,
                "pad_multiple: 0 is outside 1 to 1048576");
    EXPECT_FAIL(sp_builder_set_pad_multiple(builder, (1 << 20) + 1), SP_ERR_RANGE,
                "pad_multiple: 1048577 is outside 1 to 1048576");
    EXPECT_FAIL(sp_builder_set_lockstep(builder, 2), SP_ERR_RANGE,
                "lockstep: 2 is outside 0 to 1");
    EXPECT_FAIL(sp_builder_set_memory(builder, -1, 0, 0, 0, 0), SP_ERR_RANGE,
                "replica: -1 is outside 0 to 1");
    EXPECT_FAIL(sp_builder_set_memory(builder, 0, -1, 0, 0, 0), SP_ERR_RANGE,
                "stage: -1 is outside 0 to 2");
    EXPECT_FAIL(sp_builder_set_memory(builder, 0, 0, -1, 0, 0), SP_ERR_RANGE,
                "static_bytes: -1 is outside 0 to 9223372036854775807");
    EXPECT_FAIL(sp_builder_set_memory(builder, 0, 0, 10, 9, 0), SP_ERR_RANGE,
                "peak_bytes: 9 is outside 10 to 9223372036854775807");
    EXPECT_FAIL(sp_builder_set_memory(builder, 0, 0, 0, 0, -1), SP_ERR_RANGE,
                "memory_bytes: -1 is outside 0 to 9223372036854775807");
}

static void an_unfinished_plan_is_refused_for_what_it_lacks_first(void **state)
{
    sp_schedule *s = NULL;

    (void)state;
    EXPECT_FAIL(sp_builder_finish(builder, &s), SP_ERR_INVARIANT,
                "I1: token 0 of sample 0 is in no forward shard");
    assert_int_equal(sp_builder_add_pack(builder, 1, SP_BACKWARD, -1, 0, NULL), SP_OK);
    EXPECT_FAIL(sp_builder_finish(builder, &s), SP_ERR_INVARIANT,
                "I6: replica 1 has 1 backward packs, replica 0 has 0");
    assert_int_equal(sp_builder_add_pack(builder, 0, SP_BACKWARD, -1, 0, NULL), SP_OK);
    EXPECT_FAIL(sp_builder_finish(builder, &s), SP_ERR_INVARIANT,
                "I4: replica 0, stage 0 has 0 ops, but its packs make 1");
    assert_null(s);
}

/* What a planner made, told to the builder part by part. */
static void copy_shards(const planned *p, sp_builder *b, int32_t dp, int32_t cp, sp_pass pass,
                        int32_t k)
{
    sp_pack_view v = pack_of(p, dp, cp, pass, k);

    for (int32_t i = 0; i < v.count; i++) {
        const int32_t shard[3] = { v.sample[i], v.start[i],
                                   v.cu_seqlens_q[i + 1] - v.cu_seqlens_q[i] };

        assert_int_equal(sp_builder_add_shards(b, dp, pass, cp, 1, shard), SP_OK);
    }
}

static void copy_pack(const planned *p, sp_builder *b, int32_t dp, sp_pass pass, int32_t k,
                      int32_t cps)
{
    sp_slice_view v = slices_of(p, dp, pass, k);
    int32_t slices[3 * 512];

    assert_true(v.count <= 512);
    for (int32_t i = 0; i < v.count; i++) {
        slices[3 * i] = v.sample[i];
        slices[3 * i + 1] = v.start[i];
        slices[3 * i + 2] = v.length[i];
    }
    assert_int_equal(sp_builder_add_pack(b, dp, pass, v.merge, v.count, slices), SP_OK);
    for (int32_t cp = 0; cp < cps; cp++)
        copy_shards(p, b, dp, cp, pass, k);
}

/* The builder keeps one peak a stage: that of its fullest CP rank. */
static void copy_memory(const planned *p, sp_builder *b, int32_t dp, int32_t pp, int32_t cps)
{
    sp_coordinates at = SP_COORDINATES_INIT;
    int64_t peak = 0, fixed = 0;

    at.dp = dp;
    at.pp = pp;
    for (at.cp = 0; at.cp < cps; at.cp++) {
        sp_stage_view stage = SP_STAGE_VIEW_INIT;
        int32_t rank;

        assert_int_equal(sp_topology_rank(p->topology, &at, &rank), SP_OK);
        assert_int_equal(sp_schedule_stage(p->schedule, rank, &stage), SP_OK);
        peak = stage.peak_bytes > peak ? stage.peak_bytes : peak;
        fixed = stage.static_bytes;
    }
    assert_int_equal(sp_builder_set_memory(b, dp, pp, fixed, peak, p->stats.memory_bytes), SP_OK);
}

static void copy_stage(const planned *p, sp_builder *b, int32_t dp, int32_t pp)
{
    sp_coordinates at = SP_COORDINATES_INIT;
    int32_t rank;

    at.dp = dp;
    at.pp = pp;
    assert_int_equal(sp_topology_rank(p->topology, &at, &rank), SP_OK);
    for (int32_t i = 0; i < sp_schedule_op_count(p->schedule); i++) {
        sp_op_view op = SP_OP_VIEW_INIT;

        assert_int_equal(sp_schedule_op(p->schedule, rank, i, &op), SP_OK);
        assert_int_equal(sp_builder_add_op(b, dp, pp, op.pass, op.pack, op.chunk, op.start_ps,
                                           op.end_ps),
                         SP_OK);
    }
}

static int32_t value(const planned *p, int32_t key)
{
    int64_t v;

    assert_int_equal(sp_planner_get(p->planner, key, &v), SP_OK);
    return (int32_t)v;
}

static sp_schedule *rebuild(const planned *p)
{
    sp_coordinates degrees = SP_COORDINATES_INIT;
    sp_pipeline_view pipeline = SP_PIPELINE_VIEW_INIT;
    sp_schedule *s;
    sp_builder *b;

    assert_int_equal(sp_topology_degrees(p->topology, &degrees), SP_OK);
    assert_int_equal(sp_builder_create(p->topology, p->batch, NULL, &b), SP_OK);
    assert_int_equal(sp_builder_set_alignment(b, value(p, SP_PLANNER_ALIGNMENT)), SP_OK);
    assert_int_equal(sp_builder_set_pad_multiple(b, value(p, SP_PLANNER_PAD_MULTIPLE)), SP_OK);
    assert_int_equal(sp_builder_set_lockstep(b, value(p, SP_PLANNER_LOCKSTEP)), SP_OK);
    assert_int_equal(sp_schedule_pipeline(p->schedule, &pipeline), SP_OK);
    assert_int_equal(sp_builder_set_pipeline(b, pipeline.virtual_stages, pipeline.pipeline), SP_OK);
    for (int32_t g = 0; g < sp_schedule_merge_count(p->schedule); g++) {
        sp_merge_view m = SP_MERGE_VIEW_INIT;

        assert_int_equal(sp_schedule_merge(p->schedule, g, &m), SP_OK);
        assert_int_equal(sp_builder_add_merge(b, m.sample, m.first_replica, m.replicas), SP_OK);
    }
    for (int32_t dp = 0; dp < degrees.dp; dp++) {
        for (sp_pass pass = 0; pass < 2; pass++)
            for (int32_t k = 0; k < sp_schedule_pack_count(p->schedule, pass); k++)
                copy_pack(p, b, dp, pass, k, degrees.cp);
        for (int32_t pp = 0; pp < degrees.pp; pp++) {
            copy_stage(p, b, dp, pp);
            copy_memory(p, b, dp, pp, degrees.cp);
        }
    }
    if (sp_builder_finish(b, &s) != SP_OK)
        fail_msg("%s", sp_error_message());
    sp_builder_destroy(b);
    return s;
}

/* Simulated where it was planned, a schedule takes the time that it was planned for. */
static void expect_same_time(const planned *p, const sp_schedule *s)
{
    sp_stats stats = SP_STATS_INIT;
    sp_simulation *simulation;

    assert_int_equal(sp_simulate(s, p->model, p->device, &simulation), SP_OK);
    assert_int_equal(sp_simulation_stats(simulation, &stats), SP_OK);
    assert_int_equal(stats.makespan_ps, p->stats.makespan_ps);
    assert_int_equal(stats.peak_bytes, p->stats.peak_bytes);
    sp_simulation_destroy(simulation);
}

static void expect_same_plan(const char *where, const char *device, plan_setting set)
{
    const plan_input in = { .topology = where, .device = device, .set = { set },
                            .set_model = { { SP_MODEL_VIRTUAL_STAGES, 1 + (set.key == 0) } },
                            LENGTHS(70000, 300, 4000, 1200, 700, 5000, 64, 2500, 31, 800, 1, 16) };
    sp_stats stats = SP_STATS_INIT;
    planned p = plan_it(&in);
    sp_schedule *s = rebuild(&p);

    assert_true(sp_schedule_digest(s) == sp_schedule_digest(p.schedule));
    assert_int_equal(sp_schedule_stats(s, &stats), SP_OK);
    assert_int_equal(stats.samples, p.stats.samples);
    assert_int_equal(stats.tokens, p.stats.tokens);
    assert_int_equal(stats.slices, p.stats.slices);
    assert_int_equal(stats.merges, p.stats.merges);
    assert_int_equal(stats.forward_packs, p.stats.forward_packs);
    assert_int_equal(stats.backward_packs, p.stats.backward_packs);
    assert_int_equal(stats.makespan_ps, p.stats.makespan_ps);
    assert_int_equal(stats.peak_bytes, p.stats.peak_bytes);
    assert_int_equal(stats.peak_live_tokens, p.stats.peak_live_tokens);
    assert_int_equal(stats.memory_bytes, p.stats.memory_bytes);
    expect_same_time(&p, s);
    sp_schedule_destroy(s);
    planned_free(&p);
}

static void a_planned_schedule_comes_back_with_the_same_digest(void **state)
{
    (void)state;
    for (int64_t policy = SP_POLICY_SLIMPACK; policy <= SP_POLICY_FIXED_PACK; policy++)
        expect_same_plan("dp=2 pp=2", "ideal", (plan_setting){ SP_PLANNER_POLICY, policy });
    expect_same_plan("dp=4 pp=2 cp=2", "ideal", (plan_setting){ SP_PLANNER_ALIGNMENT, 1 });
    expect_same_plan("dp=2 pp=4 tp=8 cp=4 order=tp-cp-pp-dp", "h200",
                     (plan_setting){ SP_PLANNER_EFFORT, 0 });
}

static void so_does_a_padded_one(void **state)
{
    (void)state;
    expect_same_plan("dp=2 pp=2", "ideal", (plan_setting){ SP_PLANNER_PAD_MULTIPLE, 512 });
    expect_same_plan("dp=2 pp=2 cp=2", "ideal", (plan_setting){ SP_PLANNER_PAD_MULTIPLE, 7 });
}

static void so_does_one_of_any_pipeline(void **state)
{
    (void)state;
    expect_same_plan("dp=2 pp=4", "ideal",
                     (plan_setting){ SP_PLANNER_PIPELINE, SP_PIPELINE_ZERO_BUBBLE });
    expect_same_plan("dp=2 pp=4", "ideal", (plan_setting){ 0, 0 }); /* of two virtual stages */
}

static void so_does_one_in_lockstep(void **state)
{
    (void)state;
    expect_same_plan("dp=4 pp=4", "ideal", (plan_setting){ SP_PLANNER_LOCKSTEP, 1 });
}

/* Two shards of 2^31 - 1 keys in one pack. */
static void offsets_that_pass_int32_are_refused(void **state)
{
    static const int64_t lengths[] = { INT32_MAX, INT32_MAX };
    static const int32_t slices[] = { 0, 0, INT32_MAX, 1, 0, INT32_MAX };
    sp_topology *one;
    sp_batch *two;
    sp_builder *b;
    sp_schedule *s = NULL;

    (void)state;
    assert_int_equal(sp_topology_create(1, 1, 1, 1, NULL, &one), SP_OK);
    assert_int_equal(sp_batch_create(lengths, 2, NULL, &two), SP_OK);
    assert_int_equal(sp_builder_create(one, two, NULL, &b), SP_OK);
    for (sp_pass pass = 0; pass < 2; pass++) {
        assert_int_equal(sp_builder_add_pack(b, 0, pass, -1, 2, slices), SP_OK);
        assert_int_equal(sp_builder_add_shards(b, 0, pass, 0, 2, slices), SP_OK);
        assert_int_equal(sp_builder_add_op(b, 0, 0, pass, 0, 0, pass, pass + 1), SP_OK);
    }
    EXPECT_FAIL(sp_builder_finish(b, &s), SP_ERR_OVERFLOW,
                "cu_seqlens_q: 2147483647 + 2147483647 at sample 1 is above 2147483647; use more "
                "packs or fewer tokens");
    assert_null(s);
    sp_builder_destroy(b);
    sp_batch_destroy(two);
    sp_topology_destroy(one);
}

/* As many ops as the packs make, but two forwards: once the second was taken for a pack
 * behind the last. */
static void a_pack_behind_the_last_is_refused(void **state)
{
    static const int64_t length = 8;
    static const int32_t slice[] = { 0, 0, 8 };
    sp_topology *one;
    sp_batch *tiny;
    sp_builder *b;
    sp_schedule *s = NULL;

    (void)state;
    assert_int_equal(sp_topology_create(1, 1, 1, 1, NULL, &one), SP_OK);
    assert_int_equal(sp_batch_create(&length, 1, NULL, &tiny), SP_OK);
    assert_int_equal(sp_builder_create(one, tiny, NULL, &b), SP_OK);
    for (sp_pass pass = 0; pass < 2; pass++) {
        assert_int_equal(sp_builder_add_pack(b, 0, pass, -1, 1, slice), SP_OK);
        assert_int_equal(sp_builder_add_shards(b, 0, pass, 0, 1, slice), SP_OK);
        assert_int_equal(sp_builder_add_op(b, 0, 0, SP_FORWARD, pass, 0, pass, pass + 1), SP_OK);
    }
    EXPECT_FAIL(sp_builder_finish(b, &s), SP_ERR_INVARIANT,
                "I4: replica 0, stage 0: op 1 is one more forward pack of chunk 0 than the 1 "
                "there are");
    assert_null(s);
    sp_builder_destroy(b);
    sp_batch_destroy(tiny);
    sp_topology_destroy(one);
}

/* A shard that is no range of tokens, before anything is computed from it. */
static void shards_that_are_no_ranges_are_refused(void **state)
{
    static const struct {
        int32_t start, length;
        const char *sentence;
    } bad[] = {
        { -1, 8, "I1: shard [-1, +8) of sample 1 is no range of tokens" },
        { 0, 0, "I1: shard [0, +0) of sample 1 is no range of tokens" },
        { 0, -8, "I1: shard [0, +-8) of sample 1 is no range of tokens" },
        { INT32_MAX, 1, "I1: shard [2147483647, +1) of sample 1 is no range of tokens" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        small_plan p = small_plan_of_two_stages();
        sp_schedule *s = NULL;
        sp_topology *t = NULL;

        p.pack[1][SP_FORWARD][2].shard[0][0] = (plain_piece){ 1, bad[i].start, bad[i].length };
        EXPECT_FAIL(small_plan_build(&p, &s, &t), SP_ERR_INVARIANT, bad[i].sentence);
        assert_null(s);
    }
}

/* Ops that overlap, and together take longer than int64 holds. */
static void ops_whose_times_add_up_past_int64_are_refused(void **state)
{
    small_plan p = small_plan_of_two_stages();
    sp_schedule *s = NULL;
    sp_topology *t = NULL;

    (void)state;
    for (int i = 6; i < 8; i++) { /* the last two of a stage */
        p.op[1][0][i].start = 0;
        p.op[1][0][i].end = INT64_MAX;
    }
    EXPECT_FAIL(small_plan_build(&p, &s, &t), SP_ERR_INVARIANT,
                "I4: replica 1, stage 0: op 6 starts at 0 ps, before 80 ps when it can");
    assert_null(s);
}

#define OPEN(test) cmocka_unit_test_setup_teardown(test, open_builder, close_builder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        OPEN(null_arguments_are_named),
        OPEN(merges_are_bounded),
        OPEN(packs_and_shards_are_bounded),
        OPEN(shards_need_a_pack),
        OPEN(chunks_need_a_pipeline),
        OPEN(ops_are_bounded),
        OPEN(alignment_and_memory_are_bounded),
        OPEN(an_unfinished_plan_is_refused_for_what_it_lacks_first),
        cmocka_unit_test(a_planned_schedule_comes_back_with_the_same_digest),
        cmocka_unit_test(so_does_a_padded_one),
        cmocka_unit_test(so_does_one_in_lockstep),
        cmocka_unit_test(so_does_one_of_any_pipeline),
        cmocka_unit_test(offsets_that_pass_int32_are_refused),
        cmocka_unit_test(a_pack_behind_the_last_is_refused),
        cmocka_unit_test(shards_that_are_no_ranges_are_refused),
        cmocka_unit_test(ops_whose_times_add_up_past_int64_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
