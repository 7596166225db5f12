/*
 * test_pairs.c - attended (query, key) pairs, held against counting them one by one.
 */
#include "cost/pairs.h"

#include "../support/expect.h"

enum { LONGEST = 24 };

/* Query p attends key k when both lie in the sample and the mask lets it. */
static int64_t count_pairs(const sp__attention *a, int64_t start, int64_t length, int64_t sample)
{
    int64_t pairs = 0;

    for (int64_t p = start; p < start + length; p++)
        for (int64_t k = 0; k < sample; k++)
            pairs += !a->causal || (k <= p && p - k < a->window);
    return pairs;
}

static void expect_all_slices(const sp__attention *a)
{
    for (int64_t sample = 1; sample <= LONGEST; sample++)
        for (int64_t start = 0; start < sample; start++)
            for (int64_t length = 1; length <= sample - start; length++)
                assert_int_equal(sp__pairs(a, start, length, sample),
                                 count_pairs(a, start, length, sample));
}

static void causal_slices_attend_their_prefix(void **state)
{
    const sp__attention a = { INT64_MAX, 1 };

    (void)state;
    expect_all_slices(&a);
    assert_int_equal(sp__pairs(&a, 100, 10, 1000), 10 * 100 + 10 * 11 / 2);
}

static void a_window_caps_the_keys_of_each_query(void **state)
{
    (void)state;
    for (int64_t window = 1; window <= LONGEST + 2; window++) {
        const sp__attention a = { window, 1 };

        expect_all_slices(&a);
    }
}

static void bidirectional_queries_attend_the_whole_sample(void **state)
{
    const sp__attention a = { INT64_MAX, 0 };

    (void)state;
    expect_all_slices(&a);
}

static void pairs_of_adjacent_slices_add_up(void **state)
{
    const sp__attention a[] = { { INT64_MAX, 1 }, { 4096, 1 }, { INT64_MAX, 0 } };
    const int64_t length = 100003;

    (void)state;
    for (size_t i = 0; i < sizeof a / sizeof *a; i++)
        for (int64_t middle = 1; middle < length; middle += 997)
            assert_int_equal(sp__pairs(&a[i], 0, middle, length) +
                                 sp__pairs(&a[i], middle, length - middle, length),
                             sp__pairs(&a[i], 0, length, length));
}

/* n (n + 1) / 2 at n = 2^31 - 1 is 2^61 - 2^30, and the last token alone has n. */
static void the_longest_sample_fits(void **state)
{
    const sp__attention causal = { INT64_MAX, 1 }, both = { INT64_MAX, 0 };
    const int64_t n = INT32_MAX;

    (void)state;
    assert_int_equal(sp__pairs(&causal, 0, n, n), (INT64_C(1) << 61) - (INT64_C(1) << 30));
    assert_int_equal(sp__pairs(&causal, n - 1, 1, n), n);
    assert_int_equal(sp__pairs(&both, 0, n, n), n * n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(causal_slices_attend_their_prefix),
        cmocka_unit_test(a_window_caps_the_keys_of_each_query),
        cmocka_unit_test(bidirectional_queries_attend_the_whole_sample),
        cmocka_unit_test(pairs_of_adjacent_slices_add_up),
        cmocka_unit_test(the_longest_sample_fits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
