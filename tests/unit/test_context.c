/*
 * test_context.c - which samples one context rank runs alone: same place in both
 * passes, ranks within the tolerance, caps kept.
 */
#include "partition/context.h"

#include "../support/expect.h"
#include "../support/hand_plan.h"
#include "../support/random_case.h"
#include "schedule/loads.h"

enum { TOLERATED = 64 }; /* a rank may exceed the mean by this part of its share */

static const sp__yardstick yardstick = {
    { HAND_PS(20), HAND_PS(40) }, { HAND_PS(1), HAND_PS(3) }, { INT64_MAX, 1 }, 1, 0, 0
};

static void place(hand_plan *h)
{
    for (int32_t r = 0; r < h->draft.lanes; r++)
        assert_int_equal(sp__place_context(&h->draft, r, &yardstick, h->lengths, h->samples,
                                           &h->arena[0]), SP_OK);
}

/* One forward and one backward pack of whole samples. */
static void open_whole(hand_plan *h, const char *topology, const int64_t *lengths, int32_t count)
{
    sp__slice f[64], b[64];

    assert_true(count <= 64);
    hand_open(h, topology, 1, 1);
    for (int32_t i = 0; i < count; i++) {
        f[i] = (sp__slice){ hand_sample(h, lengths[i]), 0, (int32_t)lengths[i], SP__SPLIT };
        b[count - 1 - i] = f[i];
    }
    hand_pack(h, 0, SP_FORWARD, -1, count, f);
    hand_pack(h, 0, SP_BACKWARD, -1, count, b);
    hand_close(h);
}

static int32_t place_of(const hand_plan *h, int pass, int32_t sample)
{
    const sp__packs *p = &h->lane[0].pass[pass];

    for (int32_t i = 0; i < p->first[p->count]; i++)
        if (p->slices[i].sample == sample)
            return p->slices[i].place;
    return -2;
}

static void equal_samples_are_dealt_whole_in_both_passes(void **state)
{
    static const int64_t lengths[] = { 512, 512, 512, 512 };
    int32_t held[2] = { 0, 0 };
    hand_plan h;

    (void)state;
    open_whole(&h, "cp=2", lengths, 4);
    place(&h);
    for (int32_t i = 0; i < 4; i++) {
        int32_t rank = place_of(&h, SP_FORWARD, i);

        assert_in_range(rank, 0, 1);
        assert_int_equal(place_of(&h, SP_BACKWARD, i), rank);
        held[rank]++;
    }
    assert_int_equal(held[0], 2);
    hand_free(&h);
}

static void a_sample_that_outweighs_the_others_is_split(void **state)
{
    static const int64_t lengths[] = { 4000, 100, 100 };
    hand_plan h;

    (void)state;
    open_whole(&h, "cp=2", lengths, 3);
    place(&h);
    assert_int_equal(place_of(&h, SP_FORWARD, 0), SP__SPLIT);
    assert_int_equal(place_of(&h, SP_BACKWARD, 0), SP__SPLIT);
    assert_true(place_of(&h, SP_FORWARD, 1) >= 0);
    assert_int_equal(place_of(&h, SP_FORWARD, 1) + place_of(&h, SP_FORWARD, 2), 1);
    hand_free(&h);
}

/* The exchange would cost more than the ranks wait for each other. */
static void a_sample_stays_whole_where_its_exchange_costs_more(void **state)
{
    static const int64_t lengths[] = { 4000, 100, 100 };
    sp__yardstick dear = yardstick;
    hand_plan h;

    (void)state;
    dear.exchange = INT64_C(1000000000000);
    open_whole(&h, "cp=2", lengths, 3);
    assert_int_equal(sp__place_context(&h.draft, 0, &dear, h.lengths, h.samples, &h.arena[0]),
                     SP_OK);
    assert_in_range(place_of(&h, SP_FORWARD, 0), 0, 1);
    hand_free(&h);
}

static void a_single_token_has_one_holder(void **state)
{
    static const int64_t lengths[] = { 1 };
    hand_plan h;

    (void)state;
    open_whole(&h, "cp=4", lengths, 1);
    place(&h);
    assert_int_equal(place_of(&h, SP_FORWARD, 0), 0);
    assert_int_equal(place_of(&h, SP_BACKWARD, 0), 0);
    hand_free(&h);
}

static void slices_and_merged_samples_are_split_over_all(void **state)
{
    const sp__slice shared = { 0, 0, 64, SP__SPLIT };
    const sp__slice part[2] = { { 1, 0, 32, SP__SPLIT }, { 1, 32, 32, SP__SPLIT } };
    hand_plan h;

    (void)state;
    hand_open(&h, "dp=2 cp=2", 3, 2);
    hand_sample(&h, 64);
    hand_sample(&h, 64);
    hand_merge(&h, 0, 0, 2);
    for (int32_t r = 0; r < 2; r++) {
        hand_pack(&h, r, SP_FORWARD, 0, 1, &shared);
        hand_pack(&h, r, SP_BACKWARD, 0, 1, &shared);
        hand_pack(&h, r, SP_FORWARD, -1, r == 0, &part[0]);
        hand_pack(&h, r, SP_FORWARD, -1, r == 0, &part[1]);
        hand_pack(&h, r, SP_BACKWARD, -1, r == 0 ? 2 : 0,
                  (sp__slice[]){ part[1], part[0] });
    }
    hand_close(&h);
    place(&h);
    for (int32_t r = 0; r < 2; r++)
        for (int pass = 0; pass < 2; pass++) {
            const sp__packs *p = &h.lane[r].pass[pass];

            for (int32_t i = 0; i < p->first[p->count]; i++)
                assert_int_equal(p->slices[i].place, SP__SPLIT);
        }
    hand_free(&h);
}

static void without_context_ranks_nothing_is_placed(void **state)
{
    static const int64_t lengths[] = { 512, 512 };
    hand_plan h;

    (void)state;
    open_whole(&h, "cp=1", lengths, 2);
    place(&h);
    assert_int_equal(place_of(&h, SP_FORWARD, 0), SP__SPLIT);
    hand_free(&h);
}

/* Whole samples of each rank against the mean of all ranks, in forward cost. */
static void expect_tolerance(const hand_plan *h, int32_t cp)
{
    const sp__packs *p = &h->lane[0].pass[SP_FORWARD];
    int64_t load[8] = { 0 }, all = 0, placed = 0, most = 0;

    for (int32_t i = 0; i < p->first[1]; i++) {
        const sp__slice *s = &p->slices[i];
        int64_t cost = sp__slice_cost(&yardstick, SP_FORWARD, 0, s->length, s->length);

        all += cost;
        if (s->place < 0)
            continue;
        assert_true(s->place < cp);
        load[s->place] += cost;
        placed += cost;
    }
    for (int32_t c = 0; c < cp; c++)
        most = sp__max(most, load[c]);
    assert_true(most - placed / cp <= all / cp / TOLERATED);
}

static int32_t random_lengths(uint64_t *seed, int64_t *lengths)
{
    int32_t count = 1 + (int32_t)random_below(seed, 40);

    for (int32_t i = 0; i < count; i++)
        lengths[i] = 2 + (random_below(seed, 8) == 0 ? random_below(seed, 20000)
                                                     : random_below(seed, 800));
    return count;
}

static void ranks_end_within_the_tolerance(void **state)
{
    static const char *const topologies[] = { "cp=2", "cp=3", "cp=4", "cp=8" };
    static const int32_t cps[] = { 2, 3, 4, 8 };
    uint64_t seed = 71;
    int whole = 0;

    (void)state;
    for (int i = 0; i < 200; i++) {
        int64_t lengths[64];
        int32_t count = random_lengths(&seed, lengths);
        hand_plan h;

        open_whole(&h, topologies[i % 4], lengths, count);
        place(&h);
        expect_tolerance(&h, cps[i % 4]);
        for (int32_t s = 0; s < count; s++) {
            assert_int_equal(place_of(&h, SP_FORWARD, s), place_of(&h, SP_BACKWARD, s));
            whole += place_of(&h, SP_FORWARD, s) >= 0;
        }
        hand_free(&h);
    }
    assert_true(whole > 1000); /* splitting everything would be no answer */
}

/* A cap with room for the pack when all is split: placing must not pass it. */
static void placing_keeps_the_token_cap(void **state)
{
    uint64_t seed = 72;

    (void)state;
    for (int i = 0; i < 200; i++) {
        int64_t lengths[64], cap = 0;
        int32_t count = random_lengths(&seed, lengths);
        hand_plan h;

        open_whole(&h, "cp=4", lengths, count);
        for (int32_t s = 0; s < count; s++)
            cap += 2 * sp__ceil_div(lengths[s], 8);
        h.draft.pack_tokens = (int32_t)cap;
        place(&h);
        sp__packs_load(&h.draft, 0, &h.lane[0].pass[SP_FORWARD], h.lengths,
                       &yardstick.attention);
        for (int32_t c = 0; c < 4; c++)
            assert_true(h.lane[0].pass[SP_FORWARD].load[c].tokens <= cap);
        hand_free(&h);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_samples_are_dealt_whole_in_both_passes),
        cmocka_unit_test(a_sample_that_outweighs_the_others_is_split),
        cmocka_unit_test(a_sample_stays_whole_where_its_exchange_costs_more),
        cmocka_unit_test(a_single_token_has_one_holder),
        cmocka_unit_test(slices_and_merged_samples_are_split_over_all),
        cmocka_unit_test(without_context_ranks_nothing_is_placed),
        cmocka_unit_test(ranks_end_within_the_tolerance),
        cmocka_unit_test(placing_keeps_the_token_cap),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
