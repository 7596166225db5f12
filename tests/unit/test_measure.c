/*
 * test_measure.c - cuts at a share of a sample's cost, held against all multiples.
 */
#include "slice/measure.h"

#include "../support/expect.h"
#include "../support/random_case.h"

/* Costs of whole picoseconds, so that prefixes and suffixes add up exactly. */
static sp__yardstick yardstick(int64_t token, int64_t pair, int32_t alignment)
{
    return (sp__yardstick){ .token = { token << SP__COST_BITS, 2 * token << SP__COST_BITS },
                            .pair = { pair << SP__COST_BITS, 3 * pair << SP__COST_BITS },
                            .attention = { INT64_MAX, 1 }, .alignment = alignment };
}

static int64_t distance(int64_t a, int64_t b)
{
    return a < b ? b - a : a - b;
}

/* Least distance to target over all cuts, counted from the start or from the end. */
static int64_t best_distance(const sp__yardstick *y, int pass, int64_t length, int64_t target)
{
    int64_t best = INT64_MAX;

    for (int64_t p = 0; p <= length + y->alignment; p += y->alignment) {
        int64_t at = p < length ? p : length;
        int64_t cost = pass == SP_FORWARD ? sp__slice_cost(y, pass, 0, at, length)
                                          : sp__slice_cost(y, pass, at, length - at, length);

        best = sp__min(best, distance(cost, target));
    }
    return best;
}

static void expect_nearest(const sp__yardstick *y, int64_t length, int64_t target)
{
    int64_t f = sp__cut_from_start(y, length, target), b = sp__cut_from_end(y, length, target);

    assert_true(f >= 0 && f <= length && (f % y->alignment == 0 || f == length));
    assert_true(b >= 0 && b <= length && (b % y->alignment == 0 || b == length));
    assert_int_equal(distance(sp__slice_cost(y, SP_FORWARD, 0, f, length), target),
                     best_distance(y, SP_FORWARD, length, target));
    assert_int_equal(distance(sp__slice_cost(y, SP_BACKWARD, b, length - b, length), target),
                     best_distance(y, SP_BACKWARD, length, target));
}

static void cuts_are_nearest_among_all_multiples(void **state)
{
    uint64_t seed = 11;

    (void)state;
    for (int i = 0; i < 3000; i++) {
        sp__yardstick y = yardstick(random_below(&seed, 50), random_below(&seed, 4) + 1,
                                    1 + (int32_t)random_below(&seed, 40));
        int64_t length = 1 + random_below(&seed, 500);
        int64_t whole = sp__slice_cost(&y, SP_BACKWARD, 0, length, length);

        if (i % 3 == 1)
            y.attention.window = 1 + random_below(&seed, 100);
        if (i % 3 == 2)
            y.attention.causal = 0;
        expect_nearest(&y, length, random_below(&seed, whole + whole / 4 + 2));
    }
}

/* 10 ps a token: 45 lies as near to 4 as to 5 tokens. */
static void the_smaller_of_equals_is_taken(void **state)
{
    const sp__yardstick y = yardstick(10, 0, 1);

    (void)state;
    assert_int_equal(sp__cut_from_start(&y, 100, 45), 4);
    assert_int_equal(sp__cut_from_start(&y, 100, 46), 5);
    assert_int_equal(sp__cut_from_start(&y, 100, 44), 4);
}

static void nothing_and_everything_are_cuts_too(void **state)
{
    const sp__yardstick y = yardstick(10, 1, 16);

    (void)state;
    assert_int_equal(sp__cut_from_start(&y, 100, 0), 0);
    assert_int_equal(sp__cut_from_start(&y, 100, INT64_MAX / 2), 100);
    assert_int_equal(sp__cut_from_end(&y, 100, 0), 100);
    assert_int_equal(sp__cut_from_end(&y, 100, INT64_MAX / 2), 0);
}

/* Of a causal sample without linear cost, half lies in the last 30 percent. */
static void slices_of_equal_cost_are_not_of_equal_length(void **state)
{
    const sp__yardstick y = yardstick(0, 2, 1);
    const int64_t length = 10000;
    int64_t half = sp__slice_cost(&y, SP_FORWARD, 0, length, length) / 2;
    int64_t cut = sp__cut_from_start(&y, length, half);

    (void)state;
    assert_true(cut >= 7070 && cut <= 7072); /* length / sqrt(2) */
}

static void costs_of_slices_add_up_to_the_samples(void **state)
{
    const sp__yardstick y = yardstick(7, 3, 1);

    (void)state;
    for (int64_t p = 0; p <= 300; p++)
        assert_int_equal(sp__slice_cost(&y, SP_FORWARD, 0, p, 300) +
                             sp__slice_cost(&y, SP_FORWARD, p, 300 - p, 300) +
                             sp__slice_cost(&y, SP_BACKWARD, 0, p, 300) +
                             sp__slice_cost(&y, SP_BACKWARD, p, 300 - p, 300),
                         sp__sample_cost(&y, 300));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cuts_are_nearest_among_all_multiples),
        cmocka_unit_test(the_smaller_of_equals_is_taken),
        cmocka_unit_test(nothing_and_everything_are_cuts_too),
        cmocka_unit_test(slices_of_equal_cost_are_not_of_equal_length),
        cmocka_unit_test(costs_of_slices_add_up_to_the_samples),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
