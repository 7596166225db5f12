/*
 * test_shard.c - zigzag: every length over every group, token by token.
 */
#include "schedule/shard.h"

#include <string.h>

#include "../support/expect.h"

enum { LONGEST = 40, GROUPS = 9, START = 100 };

/* Counts in held[] how often each token of the slice is computed; returns the
 * tokens of one rank. */
static int32_t mark(const sp__slice *slice, int32_t group, int32_t index, int32_t *held)
{
    sp__piece piece[2];
    int32_t count = sp__shard(slice, group, index, piece), tokens = 0;

    for (int32_t j = 0; j < count; j++) {
        assert_true(piece[j].length > 0);
        assert_true(piece[j].start >= slice->start);
        assert_true(piece[j].start + piece[j].length <= slice->start + slice->length);
        if (j > 0) /* by increasing start, with a gap: else they were one piece */
            assert_true(piece[j].start > piece[j - 1].start + piece[j - 1].length);
        for (int32_t t = 0; t < piece[j].length; t++)
            held[piece[j].start - slice->start + t]++;
        tokens += piece[j].length;
    }
    return tokens;
}

static void every_length_is_tiled_and_ranks_differ_by_a_token(void **state)
{
    (void)state;
    for (int32_t length = 1; length <= LONGEST; length++)
        for (int32_t group = 1; group <= GROUPS; group++) {
            const sp__slice slice = { 0, START, length, SP__SPLIT };
            int32_t held[LONGEST] = { 0 }, least = INT32_MAX, most = 0;

            for (int32_t i = 0; i < group; i++) {
                int32_t tokens = mark(&slice, group, i, held);

                least = tokens < least ? tokens : least;
                most = tokens > most ? tokens : most;
            }
            for (int32_t t = 0; t < length; t++)
                assert_int_equal(held[t], 1);
            assert_true(most - least <= 1);
        }
}

/* 40 tokens over 2 ranks: chunks of 10; rank 0 has the outer ones, rank 1 one
 * piece of the inner ones. */
static void the_first_rank_takes_both_ends(void **state)
{
    const sp__slice slice = { 7, 100, 40, SP__SPLIT };
    sp__piece piece[2];

    (void)state;
    assert_int_equal(sp__shard(&slice, 2, 0, piece), 2);
    assert_int_equal(piece[0].start, 100);
    assert_int_equal(piece[0].length, 10);
    assert_int_equal(piece[1].start, 130);
    assert_int_equal(piece[1].length, 10);
    assert_int_equal(sp__shard(&slice, 2, 1, piece), 1);
    assert_int_equal(piece[0].start, 110);
    assert_int_equal(piece[0].length, 20);
}

static void chunks_differ_by_a_token_and_the_longer_come_first(void **state)
{
    (void)state;
    for (int32_t length = 0; length <= LONGEST; length++)
        for (int32_t chunks = 2; chunks <= 2 * GROUPS; chunks++) {
            int32_t before = INT32_MAX;

            assert_int_equal(sp__chunk_start(length, chunks, 0), 0);
            assert_int_equal(sp__chunk_start(length, chunks, chunks), length);
            for (int32_t j = 0; j < chunks; j++) {
                int32_t here = sp__chunk_start(length, chunks, j + 1) -
                               sp__chunk_start(length, chunks, j);

                assert_true(here == length / chunks || here == length / chunks + 1);
                assert_true(here <= before);
                before = here;
            }
        }
}

static void a_placed_slice_is_whole_on_its_rank_alone(void **state)
{
    const sp__slice slice = { 3, 0, 17, 2 };
    sp__piece piece[2];

    (void)state;
    for (int32_t i = 0; i < 4; i++)
        assert_int_equal(sp__shard(&slice, 4, i, piece), i == 2);
    assert_int_equal(sp__shard(&slice, 4, 2, piece), 1);
    assert_int_equal(piece[0].start, 0);
    assert_int_equal(piece[0].length, 17);
}

static void the_longest_slice_does_not_wrap(void **state)
{
    const sp__slice slice = { 0, 0, INT32_MAX, SP__SPLIT };
    int64_t tokens = 0;
    sp__piece piece[2];

    (void)state;
    for (int32_t i = 0; i < 1000; i++) {
        int32_t count = sp__shard(&slice, 1000, i, piece);

        for (int32_t j = 0; j < count; j++) {
            assert_true(piece[j].start >= 0 && piece[j].length > 0);
            tokens += piece[j].length;
        }
    }
    assert_int_equal(tokens, INT32_MAX);
}

static void only_a_sample_on_one_rank_is_whole(void **state)
{
    const sp__slice all = { 0, 0, 10, SP__SPLIT }, placed = { 0, 0, 10, 1 }, part = { 0, 0, 5, 0 };

    (void)state;
    assert_true(sp__is_whole(&all, 10, 1));
    assert_false(sp__is_whole(&all, 10, 2));
    assert_true(sp__is_whole(&placed, 10, 2));
    assert_false(sp__is_whole(&part, 10, 1));
    assert_int_equal(sp__cached_tokens(10, 1), 10); /* dK and dV */
    assert_int_equal(sp__cached_tokens(10, 2), 20); /* gathered K and V as well */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_length_is_tiled_and_ranks_differ_by_a_token),
        cmocka_unit_test(the_first_rank_takes_both_ends),
        cmocka_unit_test(chunks_differ_by_a_token_and_the_longer_come_first),
        cmocka_unit_test(a_placed_slice_is_whole_on_its_rank_alone),
        cmocka_unit_test(the_longest_slice_does_not_wrap),
        cmocka_unit_test(only_a_sample_on_one_rank_is_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
