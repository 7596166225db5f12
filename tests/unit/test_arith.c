/*
 * test_arith.c - integers that never wrap.
 */
#include "base/arith.h"

#include "../support/expect.h"

static void sums_and_products_report_what_does_not_fit(void **state)
{
    int64_t result;

    (void)state;
    assert_false(sp__add_overflows(INT64_MAX - 1, 1, &result));
    assert_true(result == INT64_MAX);
    assert_true(sp__add_overflows(INT64_MAX, 1, &result));
    assert_true(sp__add_overflows(INT64_MIN, -1, &result));
    assert_false(sp__mul_overflows(INT64_C(1) << 31, INT64_C(1) << 31, &result));
    assert_true(result == INT64_C(1) << 62);
    assert_true(sp__mul_overflows(INT64_C(1) << 32, INT64_C(1) << 31, &result));
}

static void a_product_passes_through_128_bits_before_it_is_divided(void **state)
{
    (void)state;
    assert_int_equal(sp__mul_div(7, 10, 4), 17);
    assert_true(sp__mul_div(INT64_MAX, INT64_MAX, INT64_MAX) == INT64_MAX);
    assert_true(sp__mul_div(INT64_MAX, 1000000, 1000001) == INT64_C(9223362813491962315));
    assert_int_equal(sp__mul_div(0, INT64_MAX, 3), 0);
}

static void a_quotient_that_does_not_fit_saturates(void **state)
{
    (void)state;
    assert_true(sp__mul_div(INT64_MAX, 2, 1) == INT64_MAX);
    assert_true(sp__mul_div_round(INT64_MAX, INT64_MAX, 2) == INT64_MAX);
}

static void the_rounded_quotient_is_the_nearest(void **state)
{
    (void)state;
    assert_int_equal(sp__mul_div_round(1, 7, 5), 1);  /* 1.4 */
    assert_int_equal(sp__mul_div_round(1, 8, 5), 2);  /* 1.6 */
    assert_int_equal(sp__mul_div_round(1, 7, 2), 4);  /* 3.5 */
    assert_int_equal(sp__mul_div_round(3, 4, 6), 2);  /* exact */
    assert_int_equal(sp__mul_div(1, 8, 5), 1);
}

static void a_quotient_is_rounded_up_without_overflow(void **state)
{
    (void)state;
    assert_int_equal(sp__ceil_div(0, 8), 0);
    assert_int_equal(sp__ceil_div(1, 8), 1);
    assert_int_equal(sp__ceil_div(8, 8), 1);
    assert_int_equal(sp__ceil_div(9, 8), 2);
    assert_true(sp__ceil_div(INT64_MAX, 2) == INT64_C(1) << 62);
    assert_true(sp__ceil_div(INT64_MAX, INT64_MAX - 1) == 2);
}

static void the_smaller_and_the_larger_are_told_apart(void **state)
{
    (void)state;
    assert_true(sp__min(INT64_MIN, INT64_MAX) == INT64_MIN);
    assert_true(sp__max(INT64_MIN, INT64_MAX) == INT64_MAX);
    assert_int_equal(sp__min(3, 3), 3);
    assert_int_equal(sp__max(3, 3), 3);
}

static void an_excess_is_counted_in_millionths(void **state)
{
    (void)state;
    assert_int_equal(sp__excess_ppm(110, 100), 100000);
    assert_int_equal(sp__excess_ppm(100, 100), 0);
    assert_int_equal(sp__excess_ppm(50, 100), -500000);
    assert_int_equal(sp__excess_ppm(5, 0), 0);
    assert_true(sp__excess_ppm(INT64_MAX, 1) == INT64_MAX - 1000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_and_products_report_what_does_not_fit),
        cmocka_unit_test(a_product_passes_through_128_bits_before_it_is_divided),
        cmocka_unit_test(a_quotient_that_does_not_fit_saturates),
        cmocka_unit_test(the_rounded_quotient_is_the_nearest),
        cmocka_unit_test(a_quotient_is_rounded_up_without_overflow),
        cmocka_unit_test(the_smaller_and_the_larger_are_told_apart),
        cmocka_unit_test(an_excess_is_counted_in_millionths),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
