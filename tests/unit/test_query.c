/*
 * test_query.c - reading a finished plan: answers, peers and the bounds of each argument.
 */
#include <string.h>

#include "../support/expect.h"
#include "../support/small_plan.h"

/* dp 2, pp 2, cp 1: ranks are dp + 2 * pp. Four forward and three backward packs. */
static sp_topology *topology;

static int build(void **state)
{
    const small_plan plan = small_plan_of_two_stages();
    sp_schedule *s;

    if (small_plan_build(&plan, &s, &topology) != SP_OK)
        return -1;
    *state = s;
    return 0;
}

static int drop(void **state)
{
    sp_schedule_destroy(*state);
    sp_topology_destroy(topology);
    return 0;
}

static void counts_are_those_of_the_plan(void **state)
{
    const sp_schedule *s = *state;

    assert_int_equal(sp_schedule_pack_count(s, SP_FORWARD), 4);
    assert_int_equal(sp_schedule_pack_count(s, SP_BACKWARD), 3);
    assert_int_equal(sp_schedule_pack_count(s, SP_WEIGHT), 3);
    assert_int_equal(sp_schedule_pack_count(s, 3), -1);
    assert_int_equal(sp_schedule_pack_count(s, -1), -1);
    assert_int_equal(sp_schedule_op_count(s), 7);
    assert_int_equal(sp_schedule_merge_count(s), 1);
    assert_int_equal(sp_schedule_lengths(s)[3], 64);
}

static void a_pack_shows_its_slices_in_each_replica(void **state)
{
    for (int32_t r = 0; r < 2; r++) {
        sp_slice_view v = SP_SLICE_VIEW_INIT;

        assert_int_equal(sp_schedule_pack_slices(*state, r, SP_BACKWARD, 0, &v), SP_OK);
        assert_int_equal(v.count, 2);
        assert_int_equal(v.merge, 0);
        assert_int_equal(v.sample[0], 3);
        assert_int_equal(v.start[0], 32);
        assert_int_equal(v.start[1], 0);
        assert_int_equal(v.length[1], 32);
        assert_int_equal(v.tokens, 64);
    }
}

/* What an op says of its pack is what a query takes, in a zero-bubble pipeline too. */
static void an_op_of_weight_gradients_shows_its_backward_pack(void **state)
{
    sp_pack_view back = SP_PACK_VIEW_INIT, weight = SP_PACK_VIEW_INIT;
    sp_slice_view all = SP_SLICE_VIEW_INIT, of_weight = SP_SLICE_VIEW_INIT;

    for (int32_t k = 0; k < 3; k++) {
        assert_int_equal(sp_schedule_pack(*state, 0, SP_BACKWARD, k, &back), SP_OK);
        assert_int_equal(sp_schedule_pack(*state, 0, SP_WEIGHT, k, &weight), SP_OK);
        assert_memory_equal(&back, &weight, sizeof back);
        assert_int_equal(sp_schedule_pack_slices(*state, 1, SP_BACKWARD, k, &all), SP_OK);
        assert_int_equal(sp_schedule_pack_slices(*state, 1, SP_WEIGHT, k, &of_weight), SP_OK);
        assert_memory_equal(&all, &of_weight, sizeof all);
    }
    EXPECT_FAIL(sp_schedule_pack(*state, 0, SP_WEIGHT, 3, &weight), SP_ERR_RANGE,
                "pack: 3 is outside 0 to 2");
}

static void a_merge_names_its_sample_and_replicas(void **state)
{
    sp_merge_view v = SP_MERGE_VIEW_INIT;

    assert_int_equal(sp_schedule_merge(*state, 0, &v), SP_OK);
    assert_int_equal(v.sample, 3);
    assert_int_equal(v.first_replica, 0);
    assert_int_equal(v.replicas, 2);
}

static sp_op_view op_of(const sp_schedule *s, int32_t rank, int32_t index)
{
    sp_op_view v = SP_OP_VIEW_INIT;

    assert_int_equal(sp_schedule_op(s, rank, index, &v), SP_OK);
    return v;
}

/* Forward flows from rank 1 (stage 0 of replica 1) to rank 3, backward the other way. */
static void an_op_names_its_peers_and_what_they_exchange(void **state)
{
    sp_op_view f = op_of(*state, 1, 0), b = op_of(*state, 1, 4);

    assert_int_equal(f.pass, SP_FORWARD);
    assert_int_equal(f.pack, 0);
    assert_int_equal(f.merge, 0);
    assert_int_equal(f.recv_rank, -1);
    assert_int_equal(f.recv_tokens, 0);
    assert_int_equal(f.send_rank, 3);
    assert_int_equal(f.send_tokens, 16); /* its shards, not the pack's 32 */
    assert_int_equal(f.start_ps, 0);
    assert_int_equal(f.end_ps, 10);
    assert_int_equal(b.pass, SP_BACKWARD);
    assert_int_equal(b.recv_rank, 3);
    assert_int_equal(b.recv_tokens, 32);
    assert_int_equal(b.send_rank, -1);
    assert_int_equal(b.send_tokens, 0);
    assert_int_equal(op_of(*state, 3, 0).recv_rank, 1);
    assert_int_equal(op_of(*state, 3, 0).send_rank, -1);
    assert_int_equal(op_of(*state, 3, 4).send_rank, 1);
}

static void what_one_sends_the_other_receives(void **state)
{
    for (int32_t dp = 0; dp < 2; dp++)
        for (int32_t i = 0; i < 7; i++) {
            sp_op_view up = op_of(*state, dp, i);

            for (int32_t j = 0; j < 7; j++) {
                sp_op_view down = op_of(*state, 2 + dp, j);

                if (up.pass != down.pass || up.pack != down.pack)
                    continue;
                assert_int_equal(up.pass == SP_FORWARD ? up.send_tokens : up.recv_tokens,
                                 up.pass == SP_FORWARD ? down.recv_tokens : down.send_tokens);
            }
        }
}

static void a_stage_tells_memory_and_work(void **state)
{
    sp_stage_view v = SP_STAGE_VIEW_INIT;

    assert_int_equal(sp_schedule_stage(*state, 0, &v), SP_OK);
    assert_int_equal(v.static_bytes, 100);
    assert_int_equal(v.peak_bytes, 200);
    assert_int_equal(v.busy_ps, 70);
    assert_int_equal(v.peak_live_tokens, 64); /* 16 + 16 of the shared, 32 of its own */
}

static void ranks_are_bounded(void **state)
{
    const sp_schedule *s = *state;
    sp_pack_view pack = SP_PACK_VIEW_INIT;
    sp_stage_view stage = SP_STAGE_VIEW_INIT;
    sp_op_view op = SP_OP_VIEW_INIT;
    const void *data = NULL;
    size_t bytes = 7;

    EXPECT_FAIL(sp_schedule_pack(s, 4, 0, 0, &pack), SP_ERR_RANGE, "rank: 4 is outside 0 to 3");
    EXPECT_FAIL(sp_schedule_pack(s, -1, 0, 0, &pack), SP_ERR_RANGE, "rank: -1 is outside 0 to 3");
    EXPECT_FAIL(sp_schedule_op(s, 4, 0, &op), SP_ERR_RANGE, "rank: 4 is outside 0 to 3");
    EXPECT_FAIL(sp_schedule_stage(s, -1, &stage), SP_ERR_RANGE, "rank: -1 is outside 0 to 3");
    EXPECT_FAIL(sp_schedule_block(s, 4, &data, &bytes), SP_ERR_RANGE, "rank: 4 is outside 0 to 3");
    assert_null(data);
    assert_int_equal(bytes, 7);
    assert_int_equal(pack.count, 0);
    assert_null(pack.cu_seqlens_q);
}

static void passes_packs_and_ops_are_bounded(void **state)
{
    const sp_schedule *s = *state;
    sp_pack_view pack = SP_PACK_VIEW_INIT;
    sp_slice_view slices = SP_SLICE_VIEW_INIT;
    sp_op_view op = SP_OP_VIEW_INIT;

    EXPECT_FAIL(sp_schedule_pack(s, 0, 3, 0, &pack), SP_ERR_RANGE, "pass: 3 is outside 0 to 2");
    EXPECT_FAIL(sp_schedule_pack(s, 0, -1, 0, &pack), SP_ERR_RANGE, "pass: -1 is outside 0 to 2");
    EXPECT_FAIL(sp_schedule_pack(s, 0, 0, 4, &pack), SP_ERR_RANGE, "pack: 4 is outside 0 to 3");
    EXPECT_FAIL(sp_schedule_pack(s, 0, 1, 3, &pack), SP_ERR_RANGE, "pack: 3 is outside 0 to 2");
    EXPECT_FAIL(sp_schedule_pack(s, 0, 1, -1, &pack), SP_ERR_RANGE, "pack: -1 is outside 0 to 2");
    EXPECT_FAIL(sp_schedule_pack_slices(s, 2, 0, 0, &slices), SP_ERR_RANGE,
                "replica: 2 is outside 0 to 1");
    EXPECT_FAIL(sp_schedule_pack_slices(s, 0, 3, 0, &slices), SP_ERR_RANGE,
                "pass: 3 is outside 0 to 2");
    EXPECT_FAIL(sp_schedule_pack_slices(s, 0, 1, 3, &slices), SP_ERR_RANGE,
                "pack: 3 is outside 0 to 2");
    EXPECT_FAIL(sp_schedule_op(s, 0, 7, &op), SP_ERR_RANGE, "index: 7 is outside 0 to 6");
    EXPECT_FAIL(sp_schedule_op(s, 0, -1, &op), SP_ERR_RANGE, "index: -1 is outside 0 to 6");
    assert_null(slices.sample);
}

static void merges_are_bounded(void **state)
{
    sp_merge_view v = SP_MERGE_VIEW_INIT;

    EXPECT_FAIL(sp_schedule_merge(*state, 1, &v), SP_ERR_RANGE, "merge: 1 is outside 0 to 0");
    EXPECT_FAIL(sp_schedule_merge(*state, -1, &v), SP_ERR_RANGE, "merge: -1 is outside 0 to 0");
}

static void null_arguments_are_named(void **state)
{
    const sp_schedule *s = *state;
    sp_pack_view pack = SP_PACK_VIEW_INIT;
    sp_stats stats = SP_STATS_INIT;
    const void *data;
    size_t bytes;

    EXPECT_FAIL(sp_schedule_pack(NULL, 0, 0, 0, &pack), SP_ERR_INVALID, "schedule is NULL");
    EXPECT_FAIL(sp_schedule_pack(s, 0, 0, 0, NULL), SP_ERR_INVALID, "view is NULL");
    EXPECT_FAIL(sp_schedule_pack_slices(NULL, 0, 0, 0, NULL), SP_ERR_INVALID, "schedule is NULL");
    EXPECT_FAIL(sp_schedule_pack_slices(s, 0, 0, 0, NULL), SP_ERR_INVALID, "view is NULL");
    EXPECT_FAIL(sp_schedule_op(NULL, 0, 0, NULL), SP_ERR_INVALID, "schedule is NULL");
    EXPECT_FAIL(sp_schedule_op(s, 0, 0, NULL), SP_ERR_INVALID, "view is NULL");
    EXPECT_FAIL(sp_schedule_stage(NULL, 0, NULL), SP_ERR_INVALID, "schedule is NULL");
    EXPECT_FAIL(sp_schedule_stage(s, 0, NULL), SP_ERR_INVALID, "view is NULL");
    EXPECT_FAIL(sp_schedule_merge(NULL, 0, NULL), SP_ERR_INVALID, "schedule is NULL");
    EXPECT_FAIL(sp_schedule_merge(s, 0, NULL), SP_ERR_INVALID, "view is NULL");
    EXPECT_FAIL(sp_schedule_stats(NULL, &stats), SP_ERR_INVALID, "schedule is NULL");
    EXPECT_FAIL(sp_schedule_stats(s, NULL), SP_ERR_INVALID, "stats is NULL");
    EXPECT_FAIL(sp_schedule_block(NULL, 0, &data, &bytes), SP_ERR_INVALID, "schedule is NULL");
    EXPECT_FAIL(sp_schedule_block(s, 0, NULL, &bytes), SP_ERR_INVALID, "data is NULL");
    EXPECT_FAIL(sp_schedule_block(s, 0, &data, NULL), SP_ERR_INVALID, "bytes is NULL");
    EXPECT_FAIL(sp_schedule_check(NULL), SP_ERR_INVALID, "schedule is NULL");
}

/* A caller of a later header has more fields; they stay as they are. */
static void a_longer_view_keeps_the_fields_that_are_unknown_here(void **state)
{
    struct {
        sp_pack_view known;
        int64_t later;
    } v = { SP_PACK_VIEW_INIT, 1234567 };

    v.known.struct_size = sizeof v;
    assert_int_equal(sp_schedule_pack(*state, 0, SP_FORWARD, 0, &v.known), SP_OK);
    assert_int_equal(v.known.count, 2);
    assert_int_equal(v.known.struct_size, sizeof v);
    assert_int_equal(v.later, 1234567);
}

static void a_view_without_its_size_is_refused_and_untouched(void **state)
{
    sp_stage_view v = SP_STAGE_VIEW_INIT;

    v.struct_size = 0;
    EXPECT_FAIL(sp_schedule_stage(*state, 0, &v), SP_ERR_INVALID,
                "view: struct_size 0 is below 40; set it before the call");
    assert_int_equal(v.peak_bytes, 0);
}

#define QUERY_TEST(test) cmocka_unit_test_setup_teardown(test, build, drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        QUERY_TEST(counts_are_those_of_the_plan),
        QUERY_TEST(a_pack_shows_its_slices_in_each_replica),
        QUERY_TEST(an_op_of_weight_gradients_shows_its_backward_pack),
        QUERY_TEST(a_merge_names_its_sample_and_replicas),
        QUERY_TEST(an_op_names_its_peers_and_what_they_exchange),
        QUERY_TEST(what_one_sends_the_other_receives),
        QUERY_TEST(a_stage_tells_memory_and_work),
        QUERY_TEST(ranks_are_bounded),
        QUERY_TEST(passes_packs_and_ops_are_bounded),
        QUERY_TEST(merges_are_bounded),
        QUERY_TEST(null_arguments_are_named),
        QUERY_TEST(a_longer_view_keeps_the_fields_that_are_unknown_here),
        QUERY_TEST(a_view_without_its_size_is_refused_and_untouched),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
