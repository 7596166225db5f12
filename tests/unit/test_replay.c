/*
 * test_replay.c - a given op order is timed, by hand and by closed forms.
 */
#include "../support/expect.h"
#include "../support/hand_plan.h"

/* Packs of 10 and 20 tokens, forward 2 ps a token and backward 3. */
static void open_two_packs(hand_plan *h, const char *topology)
{
    sp__slice slice[2];

    hand_open(h, topology, 2, 2);
    for (int32_t i = 0; i < 2; i++) {
        int32_t n = 10 * (i + 1);

        slice[i] = (sp__slice){ hand_sample(h, n), 0, n, SP__SPLIT };
        hand_pack(h, 0, SP_FORWARD, -1, 1, &slice[i]);
        hand_pack(h, 0, SP_BACKWARD, -1, 1, &slice[i]);
    }
    hand_close(h);
}

#define F(k) sp__op(k, 0, SP_FORWARD)
#define B(k) sp__op(k, 0, SP_BACKWARD)

static void set_order(hand_plan *h, int32_t lane, int32_t stage, const int32_t *op)
{
    for (int32_t i = 0; i < h->timeline.ops; i++)
        h->timeline.op[hand_at(h, lane, stage, i)] = op[i];
}

#define ORDER(h, lane, stage, ...) set_order((h), (lane), (stage), (int32_t[]){ __VA_ARGS__ })

static void expect_op(const hand_plan *h, int32_t lane, int32_t stage, int32_t i, int64_t start,
                      int64_t end)
{
    assert_int_equal(h->timeline.start[hand_at(h, lane, stage, i)], start);
    assert_int_equal(h->timeline.end[hand_at(h, lane, stage, i)], end);
}

static void one_stage_runs_its_list_without_a_gap(void **state)
{
    hand_plan h;

    (void)state;
    open_two_packs(&h, "dp=1");
    ORDER(&h, 0, 0, F(0), F(1), B(0), B(1));
    assert_int_equal(sp__simulate_order(&h.sim, &h.timeline), SP_OK);
    expect_op(&h, 0, 0, 0, 0, 20);
    expect_op(&h, 0, 0, 1, 20, 60);
    expect_op(&h, 0, 0, 2, 60, 90);
    expect_op(&h, 0, 0, 3, 90, 150);
    assert_int_equal(sp__makespan(&h.sim, &h.timeline), 150);
    hand_free(&h);
}

/* Stage 1 waits for its forwards, stage 0 for its backwards. */
static void two_stages_wait_for_each_other(void **state)
{
    hand_plan h;

    (void)state;
    open_two_packs(&h, "pp=2");
    ORDER(&h, 0, 0, F(0), F(1), B(0), B(1));
    ORDER(&h, 0, 1, F(0), B(0), F(1), B(1));
    assert_int_equal(sp__simulate_order(&h.sim, &h.timeline), SP_OK);
    expect_op(&h, 0, 0, 0, 0, 20);
    expect_op(&h, 0, 0, 1, 20, 60);
    expect_op(&h, 0, 1, 0, 20, 40);
    expect_op(&h, 0, 1, 1, 40, 70);
    expect_op(&h, 0, 1, 2, 70, 110);
    expect_op(&h, 0, 1, 3, 110, 170);
    expect_op(&h, 0, 0, 2, 70, 100);
    expect_op(&h, 0, 0, 3, 170, 230);
    assert_int_equal(sp__makespan(&h.sim, &h.timeline), 230);
    hand_free(&h);
}

/* 5 ps to the next stage, and 1 ps a token: 15 for the first pack, 25 for the second. */
static void hand_overs_take_their_time(void **state)
{
    hand_plan h;

    (void)state;
    open_two_packs(&h, "pp=2");
    h.rates.hop_bytes = 8;
    h.rates.intra = (sp__link){ INT64_C(8000000000000), 5 };
    ORDER(&h, 0, 0, F(0), F(1), B(0), B(1));
    ORDER(&h, 0, 1, F(0), B(0), F(1), B(1));
    assert_int_equal(sp__simulate_order(&h.sim, &h.timeline), SP_OK);
    expect_op(&h, 0, 1, 0, 35, 55);
    expect_op(&h, 0, 1, 1, 55, 85);
    expect_op(&h, 0, 1, 2, 85, 125); /* its input has been there since 85 */
    expect_op(&h, 0, 0, 2, 100, 130);
    expect_op(&h, 0, 1, 3, 125, 185);
    expect_op(&h, 0, 0, 3, 210, 270);
    hand_free(&h);
}

/* Stages on two nodes take the slower link. */
static void hand_overs_between_nodes_take_the_other_link(void **state)
{
    hand_plan h;

    (void)state;
    open_two_packs(&h, "pp=2");
    h.rates.devices_per_node = 1;
    h.rates.inter.latency = 1000;
    ORDER(&h, 0, 0, F(0), F(1), B(0), B(1));
    ORDER(&h, 0, 1, F(0), F(1), B(0), B(1));
    assert_int_equal(sp__simulate_order(&h.sim, &h.timeline), SP_OK);
    expect_op(&h, 0, 1, 0, 1020, 1040);
    hand_free(&h);
}

static void equal_packs_in_1f1b_take_packs_plus_stages_less_one(void **state)
{
    static const char *const topologies[] = { "pp=1", "pp=2", "pp=3", "pp=4", "pp=5", "pp=6" };

    (void)state;
    for (int32_t pp = 1; pp <= 6; pp++)
        for (int32_t packs = 1; packs <= 12; packs++) {
            hand_plan h;

            hand_equal_packs(&h, topologies[pp - 1], packs, 10);
            sp__order_1f1b(&h.draft, pp, &h.timeline);
            assert_int_equal(sp__simulate_order(&h.sim, &h.timeline), SP_OK);
            assert_int_equal(sp__makespan(&h.sim, &h.timeline),
                             (int64_t)(pp - 1 + packs) * (20 + 30));
            hand_free(&h);
        }
}

/* Stage s holds pp - s packs at most, 10 tokens and 10 bytes each. */
static void stages_in_1f1b_hold_as_many_packs_as_stages_follow(void **state)
{
    hand_plan h;

    (void)state;
    hand_equal_packs(&h, "pp=4", 9, 10);
    sp__order_1f1b(&h.draft, 4, &h.timeline);
    assert_int_equal(sp__simulate_order(&h.sim, &h.timeline), SP_OK);
    for (int32_t s = 0; s < 4; s++) {
        assert_int_equal(h.timeline.stage[s].peak_live_tokens, 10 * (4 - s));
        assert_int_equal(h.timeline.stage[s].static_bytes, 100);
        assert_int_equal(h.timeline.stage[s].peak_bytes, 100 + 10 * (4 - s));
        assert_int_equal(h.timeline.stage[s].busy_ps, 9 * 50);
    }
    hand_free(&h);
}

/* Sample 0 in two slices of 10: forward 7 bytes a live token, 3 a cached one. */
static void memory_follows_tokens_and_caches(void **state)
{
    const sp__slice s0 = { 0, 0, 10, SP__SPLIT }, s1 = { 0, 10, 10, SP__SPLIT };
    hand_plan h;

    (void)state;
    hand_open(&h, "dp=1", 2, 2);
    h.memory[0].token = 7;
    h.memory[0].cached = 3;
    hand_sample(&h, 20);
    hand_pack(&h, 0, SP_FORWARD, -1, 1, &s0);
    hand_pack(&h, 0, SP_FORWARD, -1, 1, &s1);
    hand_pack(&h, 0, SP_BACKWARD, -1, 1, &s1);
    hand_pack(&h, 0, SP_BACKWARD, -1, 1, &s0);
    hand_close(&h);
    ORDER(&h, 0, 0, F(0), F(1), B(0), B(1));
    assert_int_equal(sp__simulate_order(&h.sim, &h.timeline), SP_OK);
    assert_int_equal(h.timeline.stage[0].peak_live_tokens, 20);
    assert_int_equal(h.timeline.stage[0].peak_bytes, 100 + 20 * 7 + 20 * 3);
    hand_free(&h);
}

/* Two replicas share sample 0 after a forward pack of their own. */
static void open_shared(hand_plan *h, int32_t first_tokens, int32_t second_tokens)
{
    const sp__slice shared = { 0, 0, 20, SP__SPLIT };
    sp__slice own[2];

    hand_open(h, "dp=2", 2, 2);
    hand_sample(h, 20);
    hand_merge(h, 0, 0, 2);
    for (int32_t r = 0; r < 2; r++) {
        int32_t n = r == 0 ? first_tokens : second_tokens;

        own[r] = (sp__slice){ hand_sample(h, n), 0, n, SP__SPLIT };
        hand_pack(h, r, SP_FORWARD, -1, 1, &own[r]);
        hand_pack(h, r, SP_FORWARD, 0, 1, &shared);
        hand_pack(h, r, SP_BACKWARD, 0, 1, &shared);
        hand_pack(h, r, SP_BACKWARD, -1, 1, &own[r]);
    }
    hand_close(h);
}

/* One replica is done at 20, the other at 100: both run their 10 tokens from 100 on. */
static void a_shared_pack_starts_at_once_in_all_replicas(void **state)
{
    (void)state;
    for (int32_t late = 0; late < 2; late++) {
        hand_plan h;

        open_shared(&h, late == 0 ? 50 : 10, late == 0 ? 10 : 50);
        for (int32_t r = 0; r < 2; r++)
            ORDER(&h, r, 0, F(0), F(1), B(0), B(1));
        assert_int_equal(sp__simulate_order(&h.sim, &h.timeline), SP_OK);
        for (int32_t r = 0; r < 2; r++) {
            expect_op(&h, r, 0, 1, 100, 120);
            expect_op(&h, r, 0, 2, 120, 150);
            expect_op(&h, r, 0, 3, 150, r == late ? 300 : 180);
        }
        hand_free(&h);
    }
}

/* A group of two gathers half of 20 tokens' 8 bytes at a byte a ps: 80 ps a pack. */
static void a_shared_pack_pays_its_exchange(void **state)
{
    hand_plan h;

    (void)state;
    open_shared(&h, 10, 50);
    h.stage[0].kv_bytes = 8;
    h.rates.intra.bandwidth = INT64_C(1000000000000);
    for (int32_t r = 0; r < 2; r++)
        ORDER(&h, r, 0, F(0), F(1), B(0), B(1));
    assert_int_equal(sp__simulate_order(&h.sim, &h.timeline), SP_OK);
    expect_op(&h, 0, 0, 1, 100, 120 + 80);
    expect_op(&h, 1, 0, 1, 100, 120 + 80);
    hand_free(&h);
}

static void refuse(hand_plan *h, const char *sentence)
{
    EXPECT_FAIL(sp__simulate_order(&h->sim, &h->timeline), SP_ERR_INVARIANT, sentence);
    hand_free(h);
}

/* Replica 0 runs B of merge 0 before F of merge 1, replica 1 after it. */
static void a_ring_of_merges_is_found(void **state)
{
    const sp__slice a = { 0, 0, 16, SP__SPLIT }, b = { 1, 0, 16, SP__SPLIT };
    hand_plan h;

    (void)state;
    hand_open(&h, "dp=2", 2, 2);
    hand_sample(&h, 16);
    hand_sample(&h, 16);
    hand_merge(&h, 0, 0, 2);
    hand_merge(&h, 1, 0, 2);
    for (int32_t r = 0; r < 2; r++)
        for (int pass = 0; pass < 2; pass++) {
            hand_pack(&h, r, pass, 0, 1, &a);
            hand_pack(&h, r, pass, 1, 1, &b);
        }
    hand_close(&h);
    ORDER(&h, 0, 0, F(0), B(0), F(1), B(1));
    ORDER(&h, 1, 0, F(0), F(1), B(0), B(1));
    refuse(&h, "I4: replica 0, stage 0: op 1 can never run, ops wait for each other in a ring");
}

static void a_backward_before_its_forward_is_found(void **state)
{
    hand_plan h;

    (void)state;
    open_two_packs(&h, "dp=1");
    ORDER(&h, 0, 0, F(0), B(0), B(1), F(1));
    refuse(&h, "I4: replica 0, stage 0: op 2 can never run, ops wait for each other in a ring");
}

static void stages_that_wait_for_each_other_are_found(void **state)
{
    hand_plan h;

    (void)state;
    open_two_packs(&h, "pp=2");
    ORDER(&h, 0, 0, F(0), B(0), F(1), B(1));
    ORDER(&h, 0, 1, F(0), F(1), B(0), B(1));
    refuse(&h, "I4: replica 0, stage 0: op 1 can never run, ops wait for each other in a ring");
}

static void packs_out_of_order_are_found(void **state)
{
    hand_plan h;

    (void)state;
    open_two_packs(&h, "dp=1");
    ORDER(&h, 0, 0, F(1), F(0), B(0), B(1));
    refuse(&h, "I4: replica 0, stage 0: op 0 can never run, ops wait for each other in a ring");
}

static void a_time_that_does_not_fit_is_an_overflow(void **state)
{
    hand_plan h;

    (void)state;
    open_two_packs(&h, "dp=1");
    h.stage[0].pass[SP_FORWARD].fixed = INT64_MAX / 4 - 30;
    ORDER(&h, 0, 0, F(0), F(1), B(0), B(1));
    EXPECT_FAIL(sp__simulate_order(&h.sim, &h.timeline), SP_ERR_OVERFLOW,
                "cost: the time of pack 1 passes 2^61 ps");
    hand_free(&h);
}

/* In lockstep replica 0, with 10 tokens, takes the time of replica 1's 50. */
static void in_lockstep_all_take_the_time_of_the_slowest(void **state)
{
    hand_plan h;

    (void)state;
    open_shared(&h, 10, 50);
    h.sim.lockstep = 1;
    for (int32_t r = 0; r < 2; r++)
        ORDER(&h, r, 0, F(0), F(1), B(0), B(1));
    assert_int_equal(sp__simulate_order(&h.sim, &h.timeline), SP_OK);
    for (int32_t r = 0; r < 2; r++) {
        expect_op(&h, r, 0, 0, 0, 100);
        expect_op(&h, r, 0, 1, 100, 120);
        expect_op(&h, r, 0, 2, 120, 150);
        expect_op(&h, r, 0, 3, 150, 300);
    }
    assert_int_equal(h.timeline.stage[0].peak_live_tokens, 20); /* memory stays its own */
    assert_int_equal(h.timeline.stage[1].peak_live_tokens, 60);
    hand_free(&h);
}

/* An empty pack takes no time, but runs in its place. */
static void an_empty_pack_takes_no_time(void **state)
{
    const sp__slice slice = { 0, 0, 10, SP__SPLIT };
    hand_plan h;

    (void)state;
    hand_open(&h, "dp=1", 2, 1);
    h.stage[0].pass[SP_FORWARD].fixed = 1000;
    hand_sample(&h, 10);
    hand_pack(&h, 0, SP_FORWARD, -1, 0, NULL);
    hand_pack(&h, 0, SP_FORWARD, -1, 1, &slice);
    hand_pack(&h, 0, SP_BACKWARD, -1, 1, &slice);
    hand_close(&h);
    ORDER(&h, 0, 0, F(0), F(1), B(0));
    assert_int_equal(sp__simulate_order(&h.sim, &h.timeline), SP_OK);
    expect_op(&h, 0, 0, 0, 0, 0);
    expect_op(&h, 0, 0, 1, 0, 1020);
    hand_free(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_stage_runs_its_list_without_a_gap),
        cmocka_unit_test(two_stages_wait_for_each_other),
        cmocka_unit_test(hand_overs_take_their_time),
        cmocka_unit_test(hand_overs_between_nodes_take_the_other_link),
        cmocka_unit_test(equal_packs_in_1f1b_take_packs_plus_stages_less_one),
        cmocka_unit_test(stages_in_1f1b_hold_as_many_packs_as_stages_follow),
        cmocka_unit_test(memory_follows_tokens_and_caches),
        cmocka_unit_test(a_shared_pack_starts_at_once_in_all_replicas),
        cmocka_unit_test(a_shared_pack_pays_its_exchange),
        cmocka_unit_test(a_ring_of_merges_is_found),
        cmocka_unit_test(a_backward_before_its_forward_is_found),
        cmocka_unit_test(stages_that_wait_for_each_other_are_found),
        cmocka_unit_test(packs_out_of_order_are_found),
        cmocka_unit_test(a_time_that_does_not_fit_is_an_overflow),
        cmocka_unit_test(in_lockstep_all_take_the_time_of_the_slowest),
        cmocka_unit_test(an_empty_pack_takes_no_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
