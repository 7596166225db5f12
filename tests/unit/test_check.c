/*
 * test_check.c - the invariants as code: each is broken in a valid schedule, by
 * editing what stands there, and has to be named.
 *
 * The plans of small_plan.h: "stages" has two replicas of two stages with sample 3
 * shared; "context" splits sample 0 over two CP ranks; "merges" shares two samples.
 */
#include "schedule/check.h"

#include <string.h>

#include "../support/expect.h"
#include "../support/failing_alloc.h"
#include "../support/hand_plan.h"
#include "../support/small_plan.h"

static sp_schedule *schedule;
static sp_topology *topology;

static int build(small_plan plan)
{
    return small_plan_build(&plan, &schedule, &topology) == SP_OK ? 0 : -1;
}

static int build_stages(void **state)
{
    (void)state;
    return build(small_plan_of_two_stages());
}

static int build_context(void **state)
{
    (void)state;
    return build(small_plan_of_two_context_ranks());
}

static int build_merges(void **state)
{
    (void)state;
    return build(small_plan_of_two_merges());
}

static int drop(void **state)
{
    (void)state;
    sp_schedule_destroy(schedule);
    sp_topology_destroy(topology);
    return 0;
}

static void refuse(const char *sentence)
{
    EXPECT_FAIL(sp_schedule_check(schedule), SP_ERR_INVARIANT, sentence);
}

/* First slice of a replica's pack. */
static int64_t slice_at(int pass, int32_t replica, int32_t pack)
{
    return schedule->slice_first[pass][(int64_t)replica * schedule->packs[pass] + pack];
}

static sp__shards *shards_at(int pass, int32_t replica, int32_t cp, int32_t pack)
{
    return &schedule->shards[pass][((int64_t)replica * schedule->shape.degree[SP__CP] + cp) *
                                       schedule->packs[pass] + pack];
}

/* The arrays of a pack's shards: sample, start, cu_q. */
static int32_t *shard_ints(int pass, int32_t replica, int32_t cp, int32_t pack, int array)
{
    sp__shards *x = shards_at(pass, replica, cp, pack);

    return schedule->pool + x->at + (int64_t)array * x->count;
}

static int64_t op_at(int32_t replica, int32_t stage, int32_t i)
{
    return ((int64_t)replica * schedule->shape.degree[SP__PP] + stage) * schedule->timeline.ops + i;
}

static void swap(int32_t *a, int32_t *b)
{
    int32_t t = *a;

    *a = *b;
    *b = t;
}

static void the_plans_are_valid_until_they_are_edited(void **state)
{
    (void)state;
    assert_int_equal(sp_schedule_check(schedule), SP_OK);
}

static void i1_a_slice_of_no_sample(void **state)
{
    (void)state;
    schedule->sample[SP_FORWARD][0] = 4;
    refuse("I1: a slice names sample 4 of 4");
    schedule->sample[SP_FORWARD][0] = -1;
    refuse("I1: a slice names sample -1 of 4");
}

static void i1_a_slice_outside_its_sample(void **state)
{
    int64_t i = slice_at(SP_FORWARD, 1, 3);

    (void)state;
    schedule->length[SP_FORWARD][i] = 9;
    refuse("I1: slice [0, +9) lies outside sample 2 of 8 tokens");
    schedule->length[SP_FORWARD][i] = 0;
    refuse("I1: slice [0, +0) lies outside sample 2 of 8 tokens");
    schedule->length[SP_FORWARD][i] = 8;
    schedule->start[SP_FORWARD][i] = 1;
    refuse("I1: slice [1, +8) lies outside sample 2 of 8 tokens");
    schedule->start[SP_FORWARD][i] = -8;
    refuse("I1: slice [-8, +8) lies outside sample 2 of 8 tokens");
}

static void i1_a_shard_outside_the_batch(void **state)
{
    (void)state;
    *shard_ints(SP_FORWARD, 1, 0, 3, 0) = 9;
    refuse("I1: shard [0, +8) of sample 9 lies outside the batch");
    *shard_ints(SP_FORWARD, 1, 0, 3, 0) = 2;
    *shard_ints(SP_FORWARD, 1, 0, 3, 1) = 1;
    refuse("I1: shard [1, +8) of sample 2 lies outside the batch");
    *shard_ints(SP_FORWARD, 1, 0, 3, 1) = 0;
    shard_ints(SP_FORWARD, 1, 0, 3, 2)[1] = 0;
    refuse("I1: shard [0, +0) of sample 2 lies outside the batch");
}

static void i1_a_shard_outside_its_packs_slices(void **state)
{
    (void)state;
    *shard_ints(SP_FORWARD, 1, 0, 3, 0) = 1; /* sample 1 stands in the pack before */
    refuse("I1: forward pack 3 of replica 1: shard [0, 8) of sample 1 lies in none of its slices");
}

/* The second piece of sample 3's first slice begins 4 tokens late. */
static void i1_a_token_in_no_shard(void **state)
{
    (void)state;
    shard_ints(SP_FORWARD, 0, 0, 0, 1)[1] = 28;
    shard_ints(SP_FORWARD, 0, 0, 0, 2)[2] = 12;
    refuse("I1: token 24 of sample 3 is in no forward shard");
}

static void i1_a_last_token_in_no_shard(void **state)
{
    (void)state;
    shard_ints(SP_BACKWARD, 1, 0, 1, 2)[1] = 7;
    refuse("I1: token 7 of sample 2 is in no backward shard");
}

static void i1_a_token_in_two_shards(void **state)
{
    (void)state;
    shard_ints(SP_BACKWARD, 1, 0, 0, 1)[1] = 4; /* [8, 24) becomes [4, 20) */
    refuse("I1: token 4 of sample 3 is in more than one backward shard");
}

/* CP 2: rank 0 runs sample 1 forward, rank 1 runs it backward, and sample 2 the
 * other way. */
static void i1_a_token_on_another_rank_backward(void **state)
{
    (void)state;
    swap(&shard_ints(SP_BACKWARD, 0, 0, 0, 0)[2], &shard_ints(SP_BACKWARD, 0, 1, 0, 0)[1]);
    refuse("I1: token 0 of sample 1 runs forward and backward on different ranks");
}

static void i2_a_later_slice_that_runs_forward_first(void **state)
{
    int64_t i = slice_at(SP_FORWARD, 0, 2), j = slice_at(SP_FORWARD, 0, 3);

    (void)state;
    swap(&schedule->start[SP_FORWARD][i], &schedule->start[SP_FORWARD][j]);
    refuse("I2: replica 0: slice [0, 16) of sample 0 comes too late");
}

static void i2_a_later_shard_that_is_listed_first(void **state)
{
    int32_t *start = shard_ints(SP_FORWARD, 0, 0, 0, 1);

    (void)state;
    swap(&start[0], &start[1]);
    refuse("I2: pack 0: shard of sample 0 at 0 comes too late");
}

static void i3_an_earlier_slice_that_runs_backward_first(void **state)
{
    int64_t i = slice_at(SP_BACKWARD, 0, 1);

    (void)state;
    swap(&schedule->start[SP_BACKWARD][i], &schedule->start[SP_BACKWARD][i + 1]);
    refuse("I3: replica 0: slice [16, 32) of sample 0 comes too late");
}

static void i3_an_earlier_shard_that_is_listed_first(void **state)
{
    int32_t *start = shard_ints(SP_BACKWARD, 0, 0, 0, 1);

    (void)state;
    swap(&start[0], &start[1]);
    refuse("I3: pack 0: shard of sample 0 at 12 comes too late");
}

static void i4_a_pack_out_of_order(void **state)
{
    (void)state;
    schedule->timeline.op[op_at(0, 1, 2)] = sp__op(3, 0, SP_FORWARD);
    refuse("I4: replica 0, stage 1: op 2 is forward pack 3 of chunk 0, expected pack 2");
}

static void i4_a_pack_that_runs_twice(void **state)
{
    (void)state;
    schedule->timeline.op[op_at(1, 0, 6)] = sp__op(1, 0, SP_BACKWARD);
    refuse("I4: replica 1, stage 0: op 6 is backward pack 1 of chunk 0, expected pack 2");
}

/* On the last stage the first backward comes before the forward pack that it needs. */
static void i4_a_backward_before_its_forward(void **state)
{
    (void)state;
    for (int32_t r = 0; r < 2; r++) {
        schedule->timeline.op[op_at(r, 1, 1)] = sp__op(0, 0, SP_BACKWARD);
        schedule->timeline.op[op_at(r, 1, 2)] = sp__op(1, 0, SP_FORWARD);
        schedule->timeline.op[op_at(r, 1, 3)] = sp__op(2, 0, SP_FORWARD);
        schedule->timeline.op[op_at(r, 1, 4)] = sp__op(3, 0, SP_FORWARD);
    }
    refuse("I4: replica 0, stage 0: op 4 can never run, ops wait for each other in a ring");
}

/* Replica 0 runs B of merge 0 before F of merge 1, replica 1 after it. */
static void i4_merges_that_wait_in_a_ring(void **state)
{
    (void)state;
    schedule->timeline.op[op_at(0, 0, 1)] = sp__op(0, 0, SP_BACKWARD);
    schedule->timeline.op[op_at(0, 0, 2)] = sp__op(1, 0, SP_FORWARD);
    refuse("I4: replica 0, stage 0: op 1 can never run, ops wait for each other in a ring");
}

static void i4_a_start_before_the_input_is_there(void **state)
{
    (void)state;
    schedule->timeline.start[op_at(0, 1, 2)] = 29; /* its stage is busy until 30 */
    refuse("I4: replica 0, stage 1: op 2 starts at 29 ps, before 30 ps when it can");
    schedule->timeline.start[op_at(0, 1, 2)] = 30;
    schedule->timeline.end[op_at(0, 0, 3)] = 41; /* stage 1 takes that pack at 40 */
    refuse("I4: replica 0, stage 1: op 3 starts at 40 ps, before 41 ps when it can");
}

static void i4_an_op_that_ends_before_it_starts(void **state)
{
    (void)state;
    schedule->timeline.end[op_at(0, 0, 6)] = 79;
    refuse("I4: replica 0, stage 0: op 6 starts at 80 ps, before 80 ps when it can");
}

static void i4_a_shared_pack_that_starts_apart(void **state)
{
    (void)state;
    schedule->timeline.start[op_at(1, 0, 0)] = 1;
    refuse("I4: merge 0, stage 0: replicas 0 and 1 start a shared pack at different times");
}

static void i4_a_shared_pack_that_ends_apart(void **state)
{
    (void)state;
    schedule->timeline.end[op_at(1, 0, 0)] = 9;
    refuse("I4: merge 0, stage 0: replicas 0 and 1 end a shared pack at different times");
}

/* A last op that comes late in one replica is late for all that run it together. */
static void i4_a_pack_that_starts_apart_in_lockstep(void **state)
{
    int64_t last = op_at(1, 0, schedule->timeline.ops - 1);

    (void)state;
    schedule->lockstep = 1;
    assert_int_equal(sp_schedule_check(schedule), SP_OK);
    schedule->timeline.start[last] += 5;
    schedule->timeline.end[last] += 5;
    refuse("I4: stage 0: replicas 0 and 1 start a pack at different times, but run in lockstep");
    schedule->timeline.start[last] -= 5;
    refuse("I4: stage 0: replicas 0 and 1 end a pack at different times, but run in lockstep");
    schedule->lockstep = 0;
    assert_int_equal(sp_schedule_check(schedule), SP_OK);
}

/* Replica 1 runs B 0 before F 3 on its last stage, which alone it may. */
static void i4_orders_that_wait_in_a_ring_in_lockstep(void **state)
{
    int64_t at = op_at(1, 1, 3);

    (void)state;
    schedule->lockstep = 1;
    swap(&schedule->timeline.op[at], &schedule->timeline.op[at + 1]);
    refuse("I4: replica 0, stage 0: op 4 can never run, ops wait for each other in a ring");
}

static void i5_a_peak_above_the_cap(void **state)
{
    (void)state;
    schedule->timeline.stage[3].peak_bytes = 301;
    refuse("I5: replica 1, stage 1: peak of 301 bytes is above the cap of 300");
}

static void i7_a_start_off_the_alignment(void **state)
{
    (void)state;
    schedule->alignment = 16;
    assert_int_equal(sp_schedule_check(schedule), SP_OK);
    schedule->alignment = 32;
    refuse("I7: a slice of sample 0 starts at 16, no multiple of 32");
}

static void i8_a_merge_outside_the_plan(void **state)
{
    sp__merge *m = &schedule->merge[0];
    const sp__merge valid = *m;

    (void)state;
    m->replicas = 3;
    refuse("I8: merge 0 of sample 3 on replicas 0 to 2 lies outside the plan");
    m->replicas = 1;
    refuse("I8: merge 0 of sample 3 on replicas 0 to 0 lies outside the plan");
    *m = valid;
    m->first = -1;
    refuse("I8: merge 0 of sample 3 on replicas -1 to 0 lies outside the plan");
    *m = valid;
    m->sample = 4;
    refuse("I8: merge 0 of sample 4 on replicas 0 to 1 lies outside the plan");
}

static void i8_a_pack_of_no_merge(void **state)
{
    (void)state;
    schedule->pack_merge[SP_FORWARD][0] = 1;
    refuse("I8: a pack names merge 1 of 1");
    schedule->pack_merge[SP_FORWARD][0] = -2;
    refuse("I8: a pack names merge -2 of 1");
}

static void i8_a_pack_that_holds_another_sample(void **state)
{
    (void)state;
    schedule->merge[0].sample = 1;
    refuse("I8: a pack of merge 0 holds sample 3");
}

static void i8_a_replica_that_lacks_a_shared_pack(void **state)
{
    (void)state;
    schedule->pack_merge[SP_FORWARD][4] = -1; /* the first of replica 1 */
    refuse("I8: replicas 0 and 1 differ in the forward packs of their merges");
}

static void i8_other_slices_on_a_replica(void **state)
{
    int64_t i = slice_at(SP_BACKWARD, 1, 0);

    (void)state;
    schedule->start[SP_BACKWARD][i] = 24;
    EXPECT_FAIL(sp__check_merges(schedule), SP_ERR_INVARIANT,
                "I8: replicas 0 and 1 differ in the backward packs of their merges");
    schedule->start[SP_BACKWARD][i] = 32;
    schedule->length[SP_BACKWARD][i] = 24;
    EXPECT_FAIL(sp__check_merges(schedule), SP_ERR_INVARIANT,
                "I8: replicas 0 and 1 differ in the backward packs of their merges");
}

static void i8_merges_in_another_order(void **state)
{
    (void)state;
    swap(&schedule->pack_merge[SP_BACKWARD][2], &schedule->pack_merge[SP_BACKWARD][3]);
    EXPECT_FAIL(sp__check_merges(schedule), SP_ERR_INVARIANT,
                "I8: a pack of merge 1 holds sample 0");
    swap(&schedule->sample[SP_BACKWARD][2], &schedule->sample[SP_BACKWARD][3]);
    EXPECT_FAIL(sp__check_merges(schedule), SP_ERR_INVARIANT,
                "I8: replicas 0 and 1 differ in the backward packs of their merges");
}

/* Four replicas: every pair of windows of two or more, in both orders. */
static void i8_windows_that_cross(void **state)
{
    sp__merge merge[2] = { { 0, 0, 0 }, { 1, 0, 0 } };
    struct sp_schedule four = { .shape = { .degree = { 1, 1, 4, 1 } }, .merges = 2,
                                .merge = merge };

    (void)state;
    for (int32_t code = 0; code < 4 * 5 * 4 * 5; code++) {
        int32_t a = code % 4, b = code / 4 % 5, c = code / 20 % 4, d = code / 80;
        int crosses = (a < c && c < b && b < d) || (c < a && a < d && d < b);

        if (b - a < 2 || d - c < 2)
            continue;
        merge[0] = (sp__merge){ 0, a, b - a };
        merge[1] = (sp__merge){ 1, c, d - c };
        assert_int_equal(sp__check_merges(&four), crosses ? SP_ERR_INVARIANT : SP_OK);
        if (crosses)
            assert_memory_equal(sp_error_message(), "I8: merges 0 and 1 cross:", 25);
    }
}

static void random_plans_keep_every_invariant(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        sp_schedule *s;
        hand_plan h;

        hand_random(&h, seed);
        s = hand_schedule(&h);
        if (sp_schedule_check(s) != SP_OK)
            fail_msg("seed %d: %s", (int)seed, sp_error_message());
        sp_schedule_destroy(s);
        hand_free(&h);
    }
}

static void every_failed_allocation_of_a_check_is_reported(void **state)
{
    const sp__alloc before = schedule->alloc;
    failing_alloc memory;

    (void)state;
    for (int64_t n = 0;; n++) {
        sp_status status;

        failing_alloc_init(&memory, n);
        schedule->alloc = (sp__alloc){ memory.hooks.alloc, memory.hooks.free, &memory };
        status = sp_schedule_check(schedule);
        schedule->alloc = before;
        assert_int_equal(memory.live, 0);
        if (status == SP_OK) {
            assert_true(n > 0);
            return;
        }
        assert_int_equal(status, SP_ERR_MEMORY);
        assert_string_equal(sp_error_message(), OUT_OF_MEMORY);
    }
}

#define ON(plan, test) cmocka_unit_test_setup_teardown(test, build_##plan, drop)

/* Two replicas that share a sample without a merge could not exchange its keys. */
static void i1_a_sample_in_two_replicas_without_a_merge(void **state)
{
    small_plan plan = small_plan_of_three_replicas();

    (void)state;
    for (int pass = 0; pass < 2; pass++) {
        plan.pack[0][pass][0].shard[0][0] = (plain_piece){ 0, 0, 4 };
        plan.pack[1][pass][0].slices = plan.pack[1][pass][0].shards[0] = 2;
        plan.pack[1][pass][0].slice[1] = (plain_piece){ 0, 0, 8 };
        plan.pack[1][pass][0].shard[0][1] = (plain_piece){ 0, 4, 4 };
    }
    EXPECT_FAIL(small_plan_build(&plan, &schedule, &topology), SP_ERR_INVARIANT,
                "I1: sample 0 is in replicas 0 and 1, which do not share it");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(i1_a_sample_in_two_replicas_without_a_merge),
        ON(stages, the_plans_are_valid_until_they_are_edited),
        ON(context, the_plans_are_valid_until_they_are_edited),
        ON(merges, the_plans_are_valid_until_they_are_edited),
        ON(stages, i1_a_slice_of_no_sample),
        ON(stages, i1_a_slice_outside_its_sample),
        ON(stages, i1_a_shard_outside_the_batch),
        ON(stages, i1_a_shard_outside_its_packs_slices),
        ON(stages, i1_a_token_in_no_shard),
        ON(stages, i1_a_last_token_in_no_shard),
        ON(stages, i1_a_token_in_two_shards),
        ON(context, i1_a_token_on_another_rank_backward),
        ON(stages, i2_a_later_slice_that_runs_forward_first),
        ON(context, i2_a_later_shard_that_is_listed_first),
        ON(stages, i3_an_earlier_slice_that_runs_backward_first),
        ON(context, i3_an_earlier_shard_that_is_listed_first),
        ON(stages, i4_a_pack_out_of_order),
        ON(stages, i4_a_pack_that_runs_twice),
        ON(stages, i4_a_backward_before_its_forward),
        ON(merges, i4_merges_that_wait_in_a_ring),
        ON(stages, i4_a_start_before_the_input_is_there),
        ON(stages, i4_an_op_that_ends_before_it_starts),
        ON(stages, i4_a_shared_pack_that_starts_apart),
        ON(stages, i4_a_shared_pack_that_ends_apart),
        ON(stages, i4_a_pack_that_starts_apart_in_lockstep),
        ON(stages, i4_orders_that_wait_in_a_ring_in_lockstep),
        ON(stages, i5_a_peak_above_the_cap),
        ON(stages, i7_a_start_off_the_alignment),
        ON(stages, i8_a_merge_outside_the_plan),
        ON(stages, i8_a_pack_of_no_merge),
        ON(stages, i8_a_pack_that_holds_another_sample),
        ON(stages, i8_a_replica_that_lacks_a_shared_pack),
        ON(stages, i8_other_slices_on_a_replica),
        ON(merges, i8_merges_in_another_order),
        cmocka_unit_test(i8_windows_that_cross),
        cmocka_unit_test(random_plans_keep_every_invariant),
        ON(stages, every_failed_allocation_of_a_check_is_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
