/*
 * test_stats.c - the certificate of a plan, by hand and as bounds that always hold.
 */
#include "simulate/stats.h"

#include "../support/expect.h"
#include "../support/hand_plan.h"
#include "../support/planned.h"

static sp_stats fill(hand_plan *h)
{
    sp_stats stats = SP_STATS_INIT;

    assert_int_equal(sp__simulate_greedy(&h->sim, &h->timeline), SP_OK);
    assert_int_equal(sp__stats_fill(&h->sim, &h->timeline, h->lengths, h->samples, 777, &stats),
                     SP_OK);
    return stats;
}

/* Two packs of 10 tokens on two stages: 100 ps of work a stage, 150 ps of time. */
static void a_small_pipeline_by_hand(void **state)
{
    sp_stats s;
    hand_plan h;

    (void)state;
    hand_equal_packs(&h, "pp=2", 2, 10);
    s = fill(&h);
    assert_int_equal(s.samples, 2);
    assert_int_equal(s.tokens, 20);
    assert_int_equal(s.slices, 2);
    assert_int_equal(s.merges, 0);
    assert_int_equal(s.forward_packs, 2);
    assert_int_equal(s.backward_packs, 2);
    assert_int_equal(s.makespan_ps, 150);
    assert_int_equal(s.ideal_ps, 100);
    assert_int_equal(s.bound_ps, 105); /* one token through stage 0 and back: 5 ps */
    assert_int_equal(s.ratio_ppm, 1500000);
    assert_int_equal(s.bubble_ppm, 333334);
    assert_int_equal(s.imbalance_dp_ppm, 0);
    assert_int_equal(s.imbalance_pp_ppm, 0);
    assert_int_equal(s.imbalance_cp_ppm, 0);
    assert_int_equal(s.imbalance_forward_ppm, 0);
    assert_int_equal(s.imbalance_backward_ppm, 0);
    assert_int_equal(s.peak_live_tokens, 20);
    assert_int_equal(s.peak_bytes, 120);
    assert_int_equal(s.memory_bytes, 777);
    hand_free(&h);
}

/* Overheads are in the bound, not in the ideal: 2 passes of 7 on each way. */
static void the_bound_counts_what_no_plan_avoids(void **state)
{
    sp_stats s;
    hand_plan h;

    (void)state;
    hand_equal_packs(&h, "pp=2", 2, 10);
    for (int32_t i = 0; i < 2; i++)
        for (int pass = 0; pass < 2; pass++)
            h.stage[i].pass[pass].fixed = 7;
    s = fill(&h);
    assert_int_equal(s.ideal_ps, 100);
    assert_int_equal(s.bound_ps, 100 + 2 * 7 + 5 + 2 * 7);
    hand_free(&h);
}

static void one_lane_pack(hand_plan *h, int32_t lane, int32_t tokens, int32_t place)
{
    sp__slice slice = { hand_sample(h, tokens), 0, tokens, place };

    hand_pack(h, lane, SP_FORWARD, -1, 1, &slice);
    hand_pack(h, lane, SP_BACKWARD, -1, 1, &slice);
}

/* 10 and 30 tokens: 50 % above the mean of 20. */
static void uneven_replicas_show_as_imbalance(void **state)
{
    sp_stats s;
    hand_plan h;

    (void)state;
    hand_open(&h, "dp=2", 1, 1);
    one_lane_pack(&h, 0, 10, SP__SPLIT);
    one_lane_pack(&h, 1, 30, SP__SPLIT);
    hand_close(&h);
    s = fill(&h);
    assert_int_equal(s.ideal_ps, 100);
    assert_int_equal(s.makespan_ps, 150);
    assert_int_equal(s.imbalance_dp_ppm, 500000);
    assert_int_equal(s.imbalance_forward_ppm, 500000);
    assert_int_equal(s.imbalance_backward_ppm, 500000);
    assert_int_equal(s.bubble_ppm, 333334);
    hand_free(&h);
}

/* The second stage takes three times as long: 50 % above the mean of both. */
static void uneven_stages_show_as_imbalance(void **state)
{
    sp_stats s;
    hand_plan h;

    (void)state;
    hand_equal_packs(&h, "pp=2", 1, 10);
    for (int pass = 0; pass < 2; pass++)
        h.stage[1].pass[pass].token = h.stage[1].pass[pass].compute =
            3 * h.stage[0].pass[pass].token;
    s = fill(&h);
    assert_int_equal(s.imbalance_pp_ppm, 500000);
    assert_int_equal(s.ideal_ps, 150);
    hand_free(&h);
}

/* 20 tokens on one rank and 10 on the other: a third is lost. */
static void uneven_context_ranks_show_as_imbalance(void **state)
{
    sp__slice pack[2];
    sp_stats s;
    hand_plan h;

    (void)state;
    hand_open(&h, "cp=2", 1, 1);
    pack[0] = (sp__slice){ hand_sample(&h, 20), 0, 20, 0 };
    pack[1] = (sp__slice){ hand_sample(&h, 10), 0, 10, 1 };
    hand_pack(&h, 0, SP_FORWARD, -1, 2, pack);
    hand_pack(&h, 0, SP_BACKWARD, -1, 2, pack);
    hand_close(&h);
    s = fill(&h);
    assert_int_equal(s.imbalance_cp_ppm, 333333);
    assert_int_equal(s.ideal_ps, 75);
    assert_int_equal(s.makespan_ps, 100);
    hand_free(&h);
}

static void a_shared_slice_is_counted_once(void **state)
{
    const sp__slice shared = { 0, 0, 20, SP__SPLIT };
    sp_stats s;
    hand_plan h;

    (void)state;
    hand_open(&h, "dp=3", 1, 1);
    hand_sample(&h, 20);
    hand_merge(&h, 0, 1, 2);
    for (int pass = 0; pass < 2; pass++) {
        hand_pack(&h, 0, pass, -1, 0, NULL);
        hand_pack(&h, 1, pass, 0, 1, &shared);
        hand_pack(&h, 2, pass, 0, 1, &shared);
    }
    hand_close(&h);
    s = fill(&h);
    assert_int_equal(s.slices, 1);
    assert_int_equal(s.merges, 1);
    hand_free(&h);
}

static void ideal_and_bound_are_below_every_makespan(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 150; seed++) {
        sp_stats s;
        hand_plan h;

        hand_random(&h, seed);
        if (h.samples > 0) {
            s = fill(&h);
            assert_true(s.ideal_ps <= s.bound_ps);
            assert_true(s.bound_ps <= s.makespan_ps);
            assert_true(s.ratio_ppm >= 1000000);
            assert_in_range(s.bubble_ppm, 0, 1000000);
        }
        hand_free(&h);
    }
}

/* One device on the ideal machine has no bubble, no imbalance, no overhead. */
static void a_single_device_loses_nothing(void **state)
{
    const plan_input one = { .topology = "dp=1", LENGTHS(1) };
    const plan_input many = { .topology = "dp=1",
                              LENGTHS(70000, 300, 4000, 1200, 700, 5000, 64, 2500, 31, 800) };
    const plan_input *const inputs[] = { &one, &many };

    (void)state;
    for (int i = 0; i < 2; i++) {
        planned p = plan_it(inputs[i]);

        assert_int_equal(p.stats.ratio_ppm, 1000000);
        assert_int_equal(p.stats.bubble_ppm, 0);
        assert_int_equal(p.stats.imbalance_dp_ppm, 0);
        assert_int_equal(p.stats.imbalance_pp_ppm, 0);
        planned_free(&p);
    }
}

static void totals_sum_tokens_and_pairs(void **state)
{
    const sp__attention causal = { INT64_MAX, 1 };
    const int64_t lengths[] = { 3, 4 };
    sp__totals totals;

    (void)state;
    assert_int_equal(sp__batch_totals(&causal, lengths, 2, &totals), SP_OK);
    assert_int_equal(totals.tokens, 7);
    assert_int_equal(totals.pairs, 6 + 10);
}

static void totals_that_do_not_fit_name_the_sample(void **state)
{
    const sp__attention causal = { INT64_MAX, 1 };
    const int64_t too_long[] = { 5, INT64_C(2147483648) };
    const int64_t too_much[] = { INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX };
    sp__totals totals = { 1, 2 };

    (void)state;
    EXPECT_FAIL(sp__batch_totals(&causal, too_long, 2, &totals), SP_ERR_OVERFLOW,
                "lengths[1]: 2147483648 tokens are above 2147483647, the most that int32 "
                "cu_seqlens hold");
    EXPECT_FAIL(sp__batch_totals(&causal, too_much, 5, &totals), SP_ERR_OVERFLOW,
                "lengths[4]: attended pairs of the batch pass 2^63");
    assert_int_equal(totals.tokens, 1);
    assert_int_equal(totals.pairs, 2);
}

static void work_that_does_not_fit_names_the_stage(void **state)
{
    const sp__totals totals = { INT64_MAX / 5, 0 };
    int64_t ideal = 42;
    hand_plan h;

    (void)state;
    hand_open(&h, "pp=2", 1, 1);
    assert_int_equal(sp__ideal_stage(&h.rates, 0, &totals, 1), -1);
    EXPECT_FAIL(sp__ideal(&h.rates, &totals, 1, &ideal), SP_ERR_OVERFLOW,
                "lengths: on stage 0 the work of 1844674407370955161 tokens passes 2^61 ps");
    assert_int_equal(ideal, 42);
    hand_free(&h);
}

/* 7 tokens of 5 ps over 2 sharers: 17.5 ps, rounded up. */
static void the_ideal_is_rounded_up(void **state)
{
    const sp__totals totals = { 7, 0 };
    hand_plan h;

    (void)state;
    hand_open(&h, "dp=1", 1, 1);
    assert_int_equal(sp__ideal_stage(&h.rates, 0, &totals, 1), 35);
    assert_int_equal(sp__ideal_stage(&h.rates, 0, &totals, 2), 18);
    hand_free(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_pipeline_by_hand),
        cmocka_unit_test(the_bound_counts_what_no_plan_avoids),
        cmocka_unit_test(uneven_replicas_show_as_imbalance),
        cmocka_unit_test(uneven_stages_show_as_imbalance),
        cmocka_unit_test(uneven_context_ranks_show_as_imbalance),
        cmocka_unit_test(a_shared_slice_is_counted_once),
        cmocka_unit_test(ideal_and_bound_are_below_every_makespan),
        cmocka_unit_test(a_single_device_loses_nothing),
        cmocka_unit_test(totals_sum_tokens_and_pairs),
        cmocka_unit_test(totals_that_do_not_fit_name_the_sample),
        cmocka_unit_test(work_that_does_not_fit_names_the_stage),
        cmocka_unit_test(the_ideal_is_rounded_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
