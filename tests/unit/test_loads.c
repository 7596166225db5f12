/*
 * test_loads.c - what each rank holds of a pack and what a backward pack waits for.
 */
#include "schedule/loads.h"

#include <string.h>

#include "../support/expect.h"
#include "../support/hand_plan.h"

static const sp__load *load_of(const hand_plan *h, int32_t lane, int pass, int32_t pack, int32_t cp)
{
    return &h->lane[lane].pass[pass].load[(int64_t)pack * h->draft.cp + cp];
}

static void expect_load(const sp__load *load, int64_t tokens, int64_t pairs, int64_t context,
                        int64_t cached)
{
    assert_int_equal(load->tokens, tokens);
    assert_int_equal(load->pairs, pairs);
    assert_int_equal(load->context, context);
    assert_int_equal(load->cached, cached);
}

/* A sample of 32 in two slices, one of 8 whole, on one rank. */
static void a_single_rank_holds_all_and_caches_what_is_sliced(void **state)
{
    const sp__slice f0 = { 0, 0, 16, SP__SPLIT };
    const sp__slice f1[] = { { 0, 16, 16, SP__SPLIT }, { 1, 0, 8, SP__SPLIT } };
    const sp__slice b0[] = { { 0, 16, 16, SP__SPLIT }, { 0, 0, 16, SP__SPLIT },
                             { 1, 0, 8, SP__SPLIT } };
    hand_plan h;

    (void)state;
    hand_open(&h, "dp=1", 2, 1);
    hand_sample(&h, 32);
    hand_sample(&h, 8);
    hand_pack(&h, 0, SP_FORWARD, -1, 1, &f0);
    hand_pack(&h, 0, SP_FORWARD, -1, 2, f1);
    hand_pack(&h, 0, SP_BACKWARD, -1, 3, b0);
    hand_close(&h);
    expect_load(load_of(&h, 0, SP_FORWARD, 0, 0), 16, 136, 16, 16);
    expect_load(load_of(&h, 0, SP_FORWARD, 1, 0), 24, 528 - 136 + 36, 16, 16);
    expect_load(load_of(&h, 0, SP_BACKWARD, 0, 0), 40, 528 + 36, 32, 32);
    hand_free(&h);
}

/* CP 2: 16 tokens in chunks of 4, the first rank with [0, 4) and [12, 16); a whole
 * sample of 8 on the second rank. */
static void context_ranks_hold_their_chunks(void **state)
{
    const sp__slice pack[] = { { 0, 0, 16, SP__SPLIT }, { 1, 0, 8, 1 } };
    hand_plan h;

    (void)state;
    hand_open(&h, "cp=2", 1, 1);
    hand_sample(&h, 16);
    hand_sample(&h, 8);
    for (int pass = 0; pass < 2; pass++)
        hand_pack(&h, 0, pass, -1, 2, pack);
    hand_close(&h);
    for (int pass = 0; pass < 2; pass++) {
        expect_load(load_of(&h, 0, pass, 0, 0), 8, 10 + 58, 16, 32);
        expect_load(load_of(&h, 0, pass, 0, 1), 8 + 8, 78 - 10 + 36, 16, 32);
    }
    hand_free(&h);
}

/* Two replicas of CP 1 are a group of two. */
static void members_of_a_merge_hold_their_chunks(void **state)
{
    const sp__slice shared = { 0, 0, 16, SP__SPLIT };
    hand_plan h;

    (void)state;
    hand_open(&h, "dp=2", 1, 1);
    hand_sample(&h, 16);
    hand_merge(&h, 0, 0, 2);
    for (int32_t r = 0; r < 2; r++)
        for (int pass = 0; pass < 2; pass++)
            hand_pack(&h, r, pass, 0, 1, &shared);
    hand_close(&h);
    expect_load(load_of(&h, 0, SP_FORWARD, 0, 0), 8, 68, 16, 32);
    expect_load(load_of(&h, 1, SP_FORWARD, 0, 0), 8, 68, 16, 32);
    hand_free(&h);
}

/* A backward pack needs the forward packs of its slices and of all before it. */
static void a_backward_pack_waits_for_the_last_forward_of_its_samples(void **state)
{
    const sp__slice a = { 0, 0, 8, SP__SPLIT }, b = { 1, 0, 8, SP__SPLIT };
    const sp__slice c0 = { 2, 0, 8, SP__SPLIT }, c1 = { 2, 8, 8, SP__SPLIT };
    hand_plan h;

    (void)state;
    hand_open(&h, "dp=1", 4, 5);
    hand_sample(&h, 8);
    hand_sample(&h, 8);
    hand_sample(&h, 16);
    hand_pack(&h, 0, SP_FORWARD, -1, 1, &a);
    hand_pack(&h, 0, SP_FORWARD, -1, 1, &b);
    hand_pack(&h, 0, SP_FORWARD, -1, 1, &c0);
    hand_pack(&h, 0, SP_FORWARD, -1, 1, &c1);
    hand_pack(&h, 0, SP_BACKWARD, -1, 1, &b);
    hand_pack(&h, 0, SP_BACKWARD, -1, 1, &a);
    hand_pack(&h, 0, SP_BACKWARD, -1, 0, NULL);
    hand_pack(&h, 0, SP_BACKWARD, -1, 1, &c1);
    hand_pack(&h, 0, SP_BACKWARD, -1, 1, &c0);
    hand_close(&h);
    assert_int_equal(h.lane[0].needs[0], 1);
    assert_int_equal(h.lane[0].needs[1], 1);
    assert_int_equal(h.lane[0].needs[2], 1);
    assert_int_equal(h.lane[0].needs[3], 3);
    assert_int_equal(h.lane[0].needs[4], 3);
    hand_free(&h);
}

static void the_excess_over_a_cap_counts_padded_tokens(void **state)
{
    const sp__slice two[] = { { 0, 0, 5, SP__SPLIT }, { 1, 0, 6, SP__SPLIT } };
    hand_plan h;

    (void)state;
    hand_open(&h, "dp=1", 1, 1);
    hand_sample(&h, 5);
    hand_sample(&h, 6);
    for (int pass = 0; pass < 2; pass++)
        hand_pack(&h, 0, pass, -1, 2, two);
    hand_close(&h);
    assert_int_equal(sp__draft_excess(&h.draft, h.lengths), 0); /* no cap */
    h.draft.pack_tokens = 11;
    assert_int_equal(sp__draft_excess(&h.draft, h.lengths), 0);
    h.draft.pack_tokens = 10;
    assert_int_equal(sp__draft_excess(&h.draft, h.lengths), 1);
    h.draft.pad_multiple = 4; /* 8 + 8 */
    assert_int_equal(sp__draft_excess(&h.draft, h.lengths), 6);
    hand_free(&h);
}

static void a_whole_sample_alone_is_no_excess(void **state)
{
    const sp__slice one = { 0, 0, 50, SP__SPLIT };
    hand_plan h;

    (void)state;
    hand_open(&h, "dp=1", 1, 1);
    hand_sample(&h, 50);
    for (int pass = 0; pass < 2; pass++)
        hand_pack(&h, 0, pass, -1, 1, &one);
    hand_close(&h);
    h.draft.pack_tokens = 10;
    assert_int_equal(sp__draft_excess(&h.draft, h.lengths), 0);
    h.lengths[0] = 60; /* a slice of a longer one could be smaller */
    assert_int_equal(sp__draft_excess(&h.draft, h.lengths), 40);
    hand_free(&h);
}

/* Over all ranks and both passes: tokens and pairs of the batch, no more, no less. */
static void loads_of_random_plans_add_up_to_the_batch(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        hand_plan h;

        hand_random(&h, seed);
        for (int pass = 0; pass < 2; pass++) {
            int64_t tokens = 0, pairs = 0;

            for (int32_t r = 0; r < h.draft.lanes; r++)
                for (int32_t i = 0; i < h.draft.packs[pass] * h.draft.cp; i++) {
                    tokens += h.lane[r].pass[pass].load[i].tokens;
                    pairs += h.lane[r].pass[pass].load[i].pairs;
                }
            for (int32_t i = 0; i < h.samples; i++) {
                tokens -= h.lengths[i];
                pairs -= h.lengths[i] * (h.lengths[i] + 1) / 2;
            }
            assert_int_equal(tokens, 0);
            assert_int_equal(pairs, 0);
        }
        hand_free(&h);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_single_rank_holds_all_and_caches_what_is_sliced),
        cmocka_unit_test(context_ranks_hold_their_chunks),
        cmocka_unit_test(members_of_a_merge_hold_their_chunks),
        cmocka_unit_test(a_backward_pack_waits_for_the_last_forward_of_its_samples),
        cmocka_unit_test(the_excess_over_a_cap_counts_padded_tokens),
        cmocka_unit_test(a_whole_sample_alone_is_no_excess),
        cmocka_unit_test(loads_of_random_plans_add_up_to_the_batch),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
