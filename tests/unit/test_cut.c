/*
 * test_cut.c - streams of samples cut into packs: tiling, quantiles, weights, limits.
 */
#include "slice/cut.h"

#include <string.h>

#include "../support/expect.h"
#include "../support/failing_alloc.h"
#include "../support/random_case.h"

enum { SAMPLES = 12, PACKS = 2048, SLICES = SAMPLES + 2 * PACKS + 2 };

/* A segment, how it is to be cut, and what came out. */
typedef struct cut_case {
    sp__yardstick yardstick;
    sp__segment segment;
    sp__shares shares;
    int64_t lengths[SAMPLES];
    int32_t sample[SAMPLES], weight[2][PACKS];
    sp__slice slice[2][SLICES];
    int32_t first[2][PACKS + 1];
    int32_t count;
} cut_case;

static const sp__limit no_limit = { INT64_MAX, INT32_MAX, 1, 1 };

/* Whole picoseconds a token and a pair, so that sums are exact. */
static void start(cut_case *c, int32_t samples, int32_t forward, int32_t backward)
{
    memset(c, 0, sizeof *c);
    c->yardstick = (sp__yardstick){ .token = { INT64_C(20) << SP__COST_BITS,
                                               INT64_C(40) << SP__COST_BITS },
                                    .pair = { INT64_C(1) << SP__COST_BITS,
                                              INT64_C(3) << SP__COST_BITS },
                                    .attention = { INT64_MAX, 1 }, .alignment = 16 };
    c->segment = (sp__segment){ c->sample, samples, 1, no_limit };
    c->shares = (sp__shares){ { c->weight[0], c->weight[1] }, { forward, backward } };
    for (int32_t i = 0; i < samples; i++)
        c->sample[i] = samples - 1 - i; /* the stream's order is not the batch's */
    for (int pass = 0; pass < 2; pass++)
        for (int32_t k = 0; k < c->shares.packs[pass]; k++)
            c->weight[pass][k] = 1;
}

static sp_status cut(cut_case *c, sp__arena *scratch)
{
    sp__slice *slices[2] = { c->slice[0], c->slice[1] };
    int32_t *first[2] = { c->first[0], c->first[1] };
    sp_status status = sp__cut_segment(&c->yardstick, &c->segment, &c->shares, c->lengths, scratch,
                                       slices, first, &c->count);

    for (int pass = 0; pass < 2; pass++)
        c->first[pass][c->shares.packs[pass]] = c->count;
    return status;
}

static void run(cut_case *c)
{
    sp__alloc alloc;
    sp__arena scratch;

    assert_int_equal(sp__alloc_init(&alloc, NULL), SP_OK);
    sp__arena_init(&scratch, &alloc);
    assert_int_equal(cut(c, &scratch), SP_OK);
    sp__arena_destroy(&scratch);
}

/* Forward slices of each sample in stream order tile it at the alignment; backward
 * they are the same, each sample's reversed. */
static void expect_tiling(const cut_case *c)
{
    int32_t at = 0;

    assert_true(c->count <= sp__cut_most_slices(&c->segment, &c->shares));
    for (int32_t i = 0; i < c->segment.count; i++) {
        int32_t sample = c->sample[i], end = 0, begin = at;

        for (; at < c->count && c->slice[0][at].sample == sample; at++) {
            assert_int_equal(c->slice[0][at].start, end);
            assert_int_equal(end % c->yardstick.alignment, 0);
            assert_true(c->slice[0][at].length > 0);
            assert_int_equal(c->slice[0][at].place, SP__SPLIT);
            end += c->slice[0][at].length;
        }
        assert_int_equal(end, c->lengths[sample]);
        for (int32_t j = begin; j < at; j++)
            assert_memory_equal(&c->slice[1][begin + at - 1 - j], &c->slice[0][j],
                                sizeof(sp__slice));
    }
    assert_int_equal(at, c->count);
}

static void expect_packs_in_order(const cut_case *c)
{
    for (int pass = 0; pass < 2; pass++) {
        assert_int_equal(c->first[pass][0], 0);
        for (int32_t k = 0; k < c->shares.packs[pass]; k++)
            assert_true(c->first[pass][k] <= c->first[pass][k + 1]);
    }
}

static int64_t cost_of(const cut_case *c, int pass, int32_t from, int32_t to)
{
    int64_t cost = 0;

    for (int32_t i = from; i < to; i++) {
        const sp__slice *s = &c->slice[pass][i];

        cost += sp__slice_cost(&c->yardstick, pass, s->start, s->length, c->lengths[s->sample]);
    }
    return cost;
}

/* The dearest piece that cannot be cut: a step of the alignment or a whole sample. */
static int64_t dearest_step(const cut_case *c, int pass)
{
    int64_t most = 0;

    for (int32_t i = 0; i < c->segment.count; i++) {
        int64_t n = c->lengths[i], step = c->segment.sliceable ? c->yardstick.alignment : n;

        for (int64_t at = 0; at < n; at += step)
            most = sp__max(most, sp__slice_cost(&c->yardstick, pass, at, sp__min(step, n - at), n));
    }
    return most;
}

/* Every cut lies within half a step of the quantile that weights ask for. */
static void expect_quantiles(const cut_case *c)
{
    for (int pass = 0; pass < 2; pass++) {
        int64_t total = cost_of(c, pass, 0, c->count), weights = 0, before = 0;
        int64_t bound = dearest_step(c, pass) / 2 + 1;

        for (int32_t k = 0; k < c->shares.packs[pass]; k++)
            weights += c->weight[pass][k];
        for (int32_t k = 0; k < c->shares.packs[pass]; before += c->weight[pass][k++]) {
            int64_t target = sp__mul_div_round(total, before, weights);
            int64_t cost = cost_of(c, pass, 0, c->first[pass][k]);

            assert_true(cost - target <= bound && target - cost <= bound);
        }
    }
}

static void fill_randomly(cut_case *c, uint64_t *seed, int64_t longest)
{
    int32_t samples = 1 + (int32_t)random_below(seed, SAMPLES);

    start(c, samples, 1 + (int32_t)random_below(seed, 20), 1 + (int32_t)random_below(seed, 20));
    c->yardstick.alignment = 1 << random_below(seed, 6);
    for (int32_t i = 0; i < samples; i++)
        c->lengths[i] = 1 + random_below(seed, longest);
}

static void slices_tile_and_packs_are_quantiles(void **state)
{
    uint64_t seed = 21;
    cut_case c;

    (void)state;
    for (int i = 0; i < 500; i++) {
        fill_randomly(&c, &seed, i % 2 == 0 ? 2000 : 60);
        run(&c);
        expect_tiling(&c);
        expect_packs_in_order(&c);
        expect_quantiles(&c);
    }
}

static void weights_are_respected(void **state)
{
    uint64_t seed = 22;
    cut_case c;

    (void)state;
    for (int i = 0; i < 300; i++) {
        fill_randomly(&c, &seed, 2000);
        for (int pass = 0; pass < 2; pass++) {
            for (int32_t k = 0; k < c.shares.packs[pass]; k++)
                c.weight[pass][k] = (int32_t)random_below(&seed, 100);
            c.weight[pass][0] += 1; /* not all zero */
        }
        run(&c);
        expect_tiling(&c);
        expect_packs_in_order(&c);
        expect_quantiles(&c);
    }
}

/* A quarter, a half and a quarter of 4 equal samples. */
static void a_pack_of_double_weight_takes_twice_as_much(void **state)
{
    cut_case c;

    (void)state;
    start(&c, 4, 3, 1);
    for (int32_t i = 0; i < 4; i++)
        c.lengths[i] = 160;
    c.weight[0][1] = 2;
    run(&c);
    assert_int_equal(c.count, 4);
    assert_int_equal(c.first[0][1], 1);
    assert_int_equal(c.first[0][2], 3);
    assert_int_equal(c.slice[0][0].sample, 3);
}

/* Forward and backward cuts differ: 2 forward packs of one sample, 3 backward ones. */
static void each_pass_is_cut_at_its_own_cost(void **state)
{
    cut_case c;

    (void)state;
    start(&c, 1, 2, 3);
    c.lengths[0] = 4096;
    run(&c);
    expect_tiling(&c);
    assert_int_equal(c.count, 4); /* one cut forward, two backward, none alike */
    for (int pass = 0; pass < 2; pass++)
        for (int32_t k = 0; k < c.shares.packs[pass]; k++)
            assert_true(c.first[pass][k + 1] > c.first[pass][k]);
}

static void samples_that_are_not_sliceable_stay_whole(void **state)
{
    uint64_t seed = 23;
    cut_case c;

    (void)state;
    for (int i = 0; i < 300; i++) {
        fill_randomly(&c, &seed, 2000);
        c.segment.sliceable = 0;
        run(&c);
        assert_int_equal(c.count, c.segment.count);
        for (int32_t j = 0; j < c.count; j++)
            assert_int_equal(c.slice[0][j].length, c.lengths[c.slice[0][j].sample]);
        expect_packs_in_order(&c);
        expect_quantiles(&c);
    }
}

static void more_packs_than_tokens_leave_some_empty(void **state)
{
    cut_case c;
    int32_t filled[2] = { 0, 0 };

    (void)state;
    start(&c, 2, PACKS, PACKS);
    c.yardstick.alignment = 1;
    c.lengths[0] = 1;
    c.lengths[1] = 2;
    run(&c);
    expect_tiling(&c);
    expect_packs_in_order(&c);
    for (int pass = 0; pass < 2; pass++)
        for (int32_t k = 0; k < PACKS; k++)
            filled[pass] += c.first[pass][k + 1] > c.first[pass][k];
    assert_int_equal(c.count, 3);
    assert_int_equal(filled[0], 3);
    assert_int_equal(filled[1], 3);
}

static void a_segment_without_samples_has_empty_packs(void **state)
{
    cut_case c;

    (void)state;
    start(&c, 0, 5, 3);
    run(&c);
    assert_int_equal(c.count, 0);
    expect_packs_in_order(&c);
    assert_int_equal(sp__cut_fewest(&c.yardstick, &c.segment, c.lengths, SP_FORWARD), 0);
}

static int64_t tokens_of(const cut_case *c, int pass, int32_t k)
{
    int64_t tokens = 0;

    for (int32_t i = c->first[pass][k]; i < c->first[pass][k + 1]; i++)
        tokens += c->slice[pass][i].length;
    return tokens;
}

static int32_t samples_of(const cut_case *c, int pass, int32_t k)
{
    int32_t samples = 0;

    for (int32_t i = c->first[pass][k]; i < c->first[pass][k + 1]; i++)
        samples +=
            i == c->first[pass][k] || c->slice[pass][i].sample != c->slice[pass][i - 1].sample;
    return samples;
}

/* Given the fewest packs or a few more, no pack passes the limit. */
static void packs_keep_their_limit(void **state)
{
    uint64_t seed = 24;
    cut_case c;

    (void)state;
    for (int i = 0; i < 400; i++) {
        fill_randomly(&c, &seed, i % 3 == 0 ? 2000 : 300);
        c.segment.limit.tokens = i % 4 == 3 ? INT64_MAX : 32 + random_below(&seed, 400);
        c.segment.limit.samples = i % 2 == 0 ? INT32_MAX : 1 + (int32_t)random_below(&seed, 3);
        for (int pass = 0; pass < 2; pass++) {
            int32_t fewest = sp__cut_fewest(&c.yardstick, &c.segment, c.lengths, pass);

            c.shares.packs[pass] = fewest + (int32_t)random_below(&seed, 3);
            assert_true(c.shares.packs[pass] <= PACKS);
            for (int32_t k = 0; k < c.shares.packs[pass]; k++)
                c.weight[pass][k] = 1 + (int32_t)random_below(&seed, 5);
        }
        run(&c);
        expect_tiling(&c);
        expect_packs_in_order(&c);
        for (int pass = 0; pass < 2; pass++)
            for (int32_t k = 0; k < c.shares.packs[pass]; k++) {
                assert_true(tokens_of(&c, pass, k) <= c.segment.limit.tokens);
                assert_true(samples_of(&c, pass, k) <= c.segment.limit.samples);
            }
    }
}

/* At alignment 1 packs can be filled to the last token. */
static void the_fewest_packs_are_those_of_full_ones(void **state)
{
    uint64_t seed = 25;
    cut_case c;

    (void)state;
    for (int i = 0; i < 300; i++) {
        int64_t tokens = 0, cap = 1 + random_below(&seed, 200);

        fill_randomly(&c, &seed, 300);
        c.yardstick.alignment = 1;
        c.segment.limit.tokens = cap;
        for (int32_t j = 0; j < c.segment.count; j++)
            tokens += c.lengths[j];
        for (int pass = 0; pass < 2; pass++)
            assert_int_equal(sp__cut_fewest(&c.yardstick, &c.segment, c.lengths, pass),
                             sp__ceil_div(tokens, cap));
    }
}

/* Whole samples in order: the next one opens a pack when it does not fit. */
static void the_fewest_packs_of_whole_samples_are_next_fit(void **state)
{
    uint64_t seed = 26;
    cut_case c;

    (void)state;
    for (int i = 0; i < 300; i++) {
        int64_t cap = 1 + random_below(&seed, 400), room = 0;
        int32_t packs = 0;

        fill_randomly(&c, &seed, 300);
        c.segment.sliceable = 0;
        c.segment.limit.tokens = cap;
        for (int32_t j = 0; j < c.segment.count; j++) {
            int64_t length = c.lengths[c.sample[j]];

            if (packs == 0 || length > room) {
                room = cap;
                packs++;
            }
            room = length > room ? 0 : room - length;
        }
        assert_int_equal(sp__cut_fewest(&c.yardstick, &c.segment, c.lengths, SP_FORWARD), packs);
    }
}

static void without_a_limit_one_pack_is_enough(void **state)
{
    cut_case c;

    (void)state;
    start(&c, 3, 1, 1);
    c.lengths[0] = c.lengths[1] = c.lengths[2] = 1000000;
    assert_int_equal(sp__cut_fewest(&c.yardstick, &c.segment, c.lengths, SP_FORWARD), 1);
    run(&c);
    assert_int_equal(c.count, 3);
}

/* A group of 4 ranks has chunks of 1/8: at most 2 * ceil(length / 8) on a rank. */
static void sizes_are_those_of_the_fullest_rank(void **state)
{
    const sp__limit alone = { 0, 0, 1, 16 }, group = { 0, 0, 4, 1 }, padded = { 0, 0, 4, 16 };

    (void)state;
    assert_int_equal(sp__padded_size(&alone, 17), 32);
    assert_int_equal(sp__padded_size(&group, 17), 6);
    assert_int_equal(sp__padded_size(&padded, 17), 32);
    for (int64_t room = 0; room < 200; room++) {
        const sp__limit *limit[] = { &alone, &group, &padded };

        for (int i = 0; i < 3; i++) {
            int64_t longest = sp__longest_within(limit[i], room);

            assert_true(longest == 0 || sp__padded_size(limit[i], longest) <= room);
            assert_true(sp__padded_size(limit[i], longest + 1) > room);
        }
    }
}

static void every_failed_allocation_is_reported(void **state)
{
    failing_alloc memory;
    cut_case c;

    (void)state;
    start(&c, 2, 3, 3);
    c.lengths[0] = c.lengths[1] = 100;
    for (int64_t n = 0;; n++) {
        sp__arena scratch;
        sp__alloc alloc;
        sp_status status;

        failing_alloc_init(&memory, n);
        assert_int_equal(sp__alloc_init(&alloc, &memory.hooks), SP_OK);
        sp__arena_init(&scratch, &alloc);
        status = cut(&c, &scratch);
        sp__arena_destroy(&scratch);
        assert_int_equal(memory.live, 0);
        if (status == SP_OK) {
            assert_true(n > 0);
            return;
        }
        assert_int_equal(status, SP_ERR_MEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_tile_and_packs_are_quantiles),
        cmocka_unit_test(weights_are_respected),
        cmocka_unit_test(a_pack_of_double_weight_takes_twice_as_much),
        cmocka_unit_test(each_pass_is_cut_at_its_own_cost),
        cmocka_unit_test(samples_that_are_not_sliceable_stay_whole),
        cmocka_unit_test(more_packs_than_tokens_leave_some_empty),
        cmocka_unit_test(a_segment_without_samples_has_empty_packs),
        cmocka_unit_test(packs_keep_their_limit),
        cmocka_unit_test(the_fewest_packs_are_those_of_full_ones),
        cmocka_unit_test(the_fewest_packs_of_whole_samples_are_next_fit),
        cmocka_unit_test(without_a_limit_one_pack_is_enough),
        cmocka_unit_test(sizes_are_those_of_the_fullest_rank),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
