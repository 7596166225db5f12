/*
 * test_taper.c - weights grow geometrically from the small end to a full pack.
 */
#include "plan/taper.h"

#include "../support/expect.h"

enum { PACKS = 64 };

/* 5 % over 32 packs, and full from there on. */
static void a_ramp_grows_from_its_share_to_full(void **state)
{
    int32_t w[PACKS];

    (void)state;
    sp__taper(w, PACKS, 32, 50, 0);
    assert_int_equal(w[0], SP__FULL_WEIGHT / 20);
    for (int k = 1; k < PACKS; k++)
        assert_true(w[k] >= w[k - 1]);
    for (int k = 32; k < PACKS; k++)
        assert_int_equal(w[k], SP__FULL_WEIGHT);
    assert_true(w[31] < SP__FULL_WEIGHT);
}

/* Each pack is the one before times the same factor, but for rounding. */
static void growth_is_geometric(void **state)
{
    int32_t w[PACKS];

    (void)state;
    sp__taper(w, PACKS, 16, 100, 0);
    for (int k = 1; k + 1 < 16; k++) {
        int64_t left = (int64_t)w[k] * w[k], right = (int64_t)w[k - 1] * w[k + 1];

        assert_true((left > right ? left - right : right - left) <= 2 * (int64_t)w[k + 1] + 2);
    }
    assert_int_equal(w[16], SP__FULL_WEIGHT);
}

static void the_end_is_the_mirror_image(void **state)
{
    (void)state;
    for (int32_t packs = 1; packs <= PACKS; packs += 7)
        for (int32_t ramp = 0; ramp <= PACKS; ramp += 5) {
            int32_t start[PACKS], end[PACKS];

            sp__taper(start, packs, ramp, 80, 0);
            sp__taper(end, packs, ramp, 80, 1);
            for (int32_t k = 0; k < packs; k++)
                assert_int_equal(start[k], end[packs - 1 - k]);
        }
}

static void without_a_ramp_all_packs_are_full(void **state)
{
    int32_t w[PACKS];

    (void)state;
    sp__taper(w, PACKS, 0, 50, 0);
    for (int k = 0; k < PACKS; k++)
        assert_int_equal(w[k], SP__FULL_WEIGHT);
    sp__taper(w, PACKS, 10, 1000, 0); /* a ramp that starts full */
    for (int k = 0; k < PACKS; k++)
        assert_int_equal(w[k], SP__FULL_WEIGHT);
}

/* A ramp longer than the packs is cut off; no weight is zero. */
static void a_ramp_may_be_longer_than_the_packs(void **state)
{
    int32_t w[PACKS + 1];

    (void)state;
    w[5] = -7;
    sp__taper(w, 5, 1000, 1, 0);
    for (int k = 0; k < 5; k++)
        assert_in_range(w[k], 1, SP__FULL_WEIGHT);
    assert_int_equal(w[5], -7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ramp_grows_from_its_share_to_full),
        cmocka_unit_test(growth_is_geometric),
        cmocka_unit_test(the_end_is_the_mirror_image),
        cmocka_unit_test(without_a_ramp_all_packs_are_full),
        cmocka_unit_test(a_ramp_may_be_longer_than_the_packs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
