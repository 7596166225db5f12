/*
 * test_cut.c - where streams are cut.
 */
#include "slice/cut.h"

#include <stdlib.h>

#include "../support/expect.h"

static sp__arena arena;
static sp__alloc alloc;

static int start(void **state)
{
    (void)state;
    sp__alloc_init(&alloc, NULL);
    sp__arena_init(&arena, &alloc);
    return 0;
}

static int end(void **state)
{
    (void)state;
    sp__arena_destroy(&arena);
    return 0;
}

/* Token and pair cost differ by pass, as in a real model. */
static sp__yardstick yardstick(int32_t alignment)
{
    return (sp__yardstick){ { 1000 << SP__COST_BITS, 2000 << SP__COST_BITS },
                            { 3 << SP__COST_BITS, 8 << SP__COST_BITS },
                            { INT64_MAX, 1 }, alignment };
}

static const sp__limit no_limit = { INT64_MAX, INT32_MAX, 1, 1 };

/* Distance of a cut's cost from its target. */
static int64_t miss(const sp__yardstick *y, int pass, int64_t length, int64_t cut, int64_t target)
{
    int64_t cost = pass == SP_FORWARD ? sp__slice_cost(y, pass, 0, cut, length)
                                      : sp__slice_cost(y, pass, cut, length - cut, length);

    return cost > target ? cost - target : target - cost;
}

static void a_cut_is_the_nearest_of_all(void **state)
{
    sp__yardstick y = yardstick(16);

    (void)state;
    for (int64_t length = 1; length < 400; length += 13)
        for (int pass = 0; pass < 2; pass++)
            for (int part = 0; part <= 10; part++) {
                int64_t target = sp__slice_cost(&y, pass, 0, length, length) * part / 10;
                int64_t cut = pass == SP_FORWARD ? sp__cut_from_start(&y, length, target)
                                                 : sp__cut_from_end(&y, length, target);

                assert_true(cut % 16 == 0 || cut == length);
                for (int64_t other = 0; other < length; other += 16)
                    assert_true(miss(&y, pass, length, cut, target) <=
                                miss(&y, pass, length, other, target));
            }
}

typedef struct pieces {
    sp__slice *slices[2];
    int32_t *first[2];
    int32_t count;
    int32_t packs[2];
} pieces;

static pieces cut(const sp__yardstick *y, const sp__segment *segment, const int64_t *lengths,
                  int32_t forward, int32_t backward, const int32_t *weights)
{
    pieces p = { .packs = { forward, backward } };
    sp__shares shares = { { weights, weights }, { forward, backward } };

    for (int pass = 0; pass < 2; pass++) {
        p.slices[pass] = sp__arena_take(&arena, sp__cut_most_slices(segment, &shares),
                                        sizeof(sp__slice));
        p.first[pass] = sp__arena_take(&arena, shares.packs[pass], sizeof(int32_t));
    }
    assert_int_equal(sp__cut_segment(y, segment, &shares, lengths, &arena, p.slices, p.first,
                                     &p.count), SP_OK);
    return p;
}

static int64_t pack_cost(const sp__yardstick *y, const pieces *p, int pass, int32_t k,
                         const int64_t *lengths)
{
    int32_t last = k + 1 < p->packs[pass] ? p->first[pass][k + 1] : p->count;
    int64_t cost = 0;

    for (int32_t i = p->first[pass][k]; i < last; i++)
        cost += sp__slice_cost(y, pass, p->slices[pass][i].start, p->slices[pass][i].length,
                               lengths[p->slices[pass][i].sample]);
    return cost;
}

static int32_t *equal_weights(void)
{
    static int32_t weights[64];

    for (int i = 0; i < 64; i++)
        weights[i] = 1;
    return weights;
}

static void both_passes_hold_the_same_slices_in_their_own_order(void **state)
{
    static const int32_t samples[] = { 2, 0, 1 };
    static const int64_t lengths[] = { 333, 70, 4000 };
    const sp__segment segment = { samples, 3, 1, no_limit };
    sp__yardstick y = yardstick(16);
    pieces p = cut(&y, &segment, lengths, 7, 11, equal_weights());

    (void)state;
    for (int32_t i = 0; i < p.count; i++) {
        const sp__slice *f = &p.slices[SP_FORWARD][i];
        int found = 0;

        assert_int_equal(f->start % 16, 0);
        if (i > 0 && f->sample == f[-1].sample)
            assert_int_equal(f->start, f[-1].start + f[-1].length);
        for (int32_t j = 0; j < p.count; j++)
            found += p.slices[SP_BACKWARD][j].sample == f->sample &&
                     p.slices[SP_BACKWARD][j].start == f->start &&
                     p.slices[SP_BACKWARD][j].length == f->length;
        assert_int_equal(found, 1);
        if (i > 0 && p.slices[SP_BACKWARD][i].sample == p.slices[SP_BACKWARD][i - 1].sample)
            assert_true(p.slices[SP_BACKWARD][i].start < p.slices[SP_BACKWARD][i - 1].start);
    }
}

/* A cut misses its quantile by half a step at most, a pack by a step. */
static void packs_have_equal_cost_within_a_step_of_the_alignment(void **state)
{
    static const int32_t samples[] = { 0, 1, 2 };
    static const int64_t lengths[] = { 20000, 900, 5000 };
    const sp__segment segment = { samples, 3, 1, no_limit };
    sp__yardstick y = yardstick(16);
    pieces p = cut(&y, &segment, lengths, 20, 30, equal_weights());

    (void)state;
    for (int pass = 0; pass < 2; pass++) {
        int64_t all = 0, step = sp__slice_cost(&y, pass, 20000 - 16, 16, 20000);

        for (int i = 0; i < 3; i++)
            all += sp__slice_cost(&y, pass, 0, lengths[i], lengths[i]);
        for (int32_t k = 0; k < p.packs[pass]; k++) {
            int64_t off = pack_cost(&y, &p, pass, k, lengths) - all / p.packs[pass];

            assert_true((off < 0 ? -off : off) <= step + 2);
        }
    }
}

static void weights_set_the_shares(void **state)
{
    static const int32_t weights[] = { 1, 3, 6 };
    static const int32_t sample = 0;
    static const int64_t lengths[] = { 50000 };
    const sp__segment segment = { &sample, 1, 1, no_limit };
    sp__yardstick y = yardstick(1);
    pieces p = cut(&y, &segment, lengths, 3, 3, weights);
    int64_t all = sp__slice_cost(&y, SP_FORWARD, 0, 50000, 50000);

    (void)state;
    for (int32_t k = 0; k < 3; k++)
        assert_in_range(pack_cost(&y, &p, SP_FORWARD, k, lengths) * 1000 / all,
                        100 * weights[k] - 1, 100 * weights[k] + 1);
}

static void samples_that_may_not_be_cut_stay_whole(void **state)
{
    static const int32_t samples[] = { 0, 1, 2, 3 };
    static const int64_t lengths[] = { 5000, 100, 200, 300 };
    const sp__segment segment = { samples, 4, 0, no_limit };
    sp__yardstick y = yardstick(16);
    pieces p = cut(&y, &segment, lengths, 9, 9, equal_weights());

    (void)state;
    assert_int_equal(p.count, 4);
}

static void more_packs_than_tokens_leave_some_empty(void **state)
{
    static const int32_t sample = 0;
    static const int64_t lengths[] = { 5 };
    const sp__segment segment = { &sample, 1, 1, no_limit };
    sp__yardstick y = yardstick(1);
    pieces p = cut(&y, &segment, lengths, 40, 40, equal_weights());
    int32_t filled = 0;

    (void)state;
    assert_int_equal(p.count, 5);
    for (int32_t k = 0; k < 40; k++)
        filled += pack_cost(&y, &p, SP_FORWARD, k, lengths) > 0;
    assert_int_equal(filled, 5);
}

/* Random segments: the fewest packs are enough, and no pack passes the limit. */
static void the_limit_holds_with_the_fewest_packs(void **state)
{
    (void)state;
    srand(5);
    for (int round = 0; round < 300; round++) {
        int32_t samples[12], packs[2];
        int64_t lengths[12], cap = 16 + rand() % 300;
        sp__segment segment = { samples, 1 + rand() % 12, 1, { cap, INT32_MAX, 1, 1 } };
        sp__yardstick y = yardstick(16);
        int32_t *weights = sp__arena_take(&arena, 4096, sizeof *weights);
        pieces p;

        for (int i = 0; i < segment.count; i++) {
            samples[i] = i;
            lengths[i] = 1 + rand() % (rand() % 4 == 0 ? 2000 : (int)cap);
        }
        for (int i = 0; i < 4096; i++)
            weights[i] = 1 + i % 7;
        for (int pass = 0; pass < 2; pass++)
            packs[pass] = sp__cut_fewest(&y, &segment, lengths, pass);
        p = cut(&y, &segment, lengths, packs[0], packs[1] + rand() % 5, weights);
        for (int pass = 0; pass < 2; pass++)
            for (int32_t k = 0; k < p.packs[pass]; k++) {
                int32_t last = k + 1 < p.packs[pass] ? p.first[pass][k + 1] : p.count;
                int64_t tokens = 0;

                for (int32_t i = p.first[pass][k]; i < last; i++)
                    tokens += p.slices[pass][i].length;
                if (tokens > cap)
                    fail_msg("round %d pass %d pack %d of %d: %ld above %ld", round, pass, k,
                             p.packs[pass], (long)tokens, (long)cap);
            }
        sp__arena_reset(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cut_is_the_nearest_of_all),
        cmocka_unit_test(both_passes_hold_the_same_slices_in_their_own_order),
        cmocka_unit_test(packs_have_equal_cost_within_a_step_of_the_alignment),
        cmocka_unit_test(weights_set_the_shares),
        cmocka_unit_test(samples_that_may_not_be_cut_stay_whole),
        cmocka_unit_test(more_packs_than_tokens_leave_some_empty),
        cmocka_unit_test(the_limit_holds_with_the_fewest_packs),
    };

    return cmocka_run_group_tests(tests, start, end);
}
