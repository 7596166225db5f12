/*
 * test_hash.c - the 64-bit digest of a plan.
 */
#include "base/hash.h"

#include "../support/expect.h"

/* First outputs of splitmix64 seeded with 0: its state after one step is the
 * golden gamma, after two it is twice that. */
static void a_word_is_mixed_as_splitmix64_does(void **state)
{
    (void)state;
    assert_true(sp__hash_word(0, 0) == UINT64_C(0xe220a8397b1dcdaf));
    assert_true(sp__hash_word(0, UINT64_C(0x9e3779b97f4a7c15)) == UINT64_C(0x6e789e6aa1b965f4));
}

static void order_and_length_count(void **state)
{
    const int32_t ab[] = { 1, 2 }, ba[] = { 2, 1 }, zeros[] = { 0, 0, 0 };

    (void)state;
    assert_true(sp__hash_int32s(0, ab, 2) != sp__hash_int32s(0, ba, 2));
    assert_true(sp__hash_int32s(0, zeros, 2) != sp__hash_int32s(0, zeros, 3));
    assert_true(sp__hash_int32s(0, ab, 0) != 0);
    assert_true(sp__hash_int32s(1, ab, 2) != sp__hash_int32s(0, ab, 2));
}

static void high_words_of_int64_count(void **state)
{
    const int64_t low[] = { 5 }, high[] = { 5 + (INT64_C(1) << 32) };

    (void)state;
    assert_true(sp__hash_int64s(0, low, 1) != sp__hash_int64s(0, high, 1));
}

static void two_arrays_are_not_one(void **state)
{
    const int32_t values[] = { 1, 2, 3 };
    uint64_t split = sp__hash_int32s(sp__hash_int32s(0, values, 1), values + 1, 2);

    (void)state;
    assert_true(split != sp__hash_int32s(0, values, 3));
    assert_true(split != sp__hash_int32s(sp__hash_int32s(0, values, 2), values + 2, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_word_is_mixed_as_splitmix64_does),
        cmocka_unit_test(order_and_length_count),
        cmocka_unit_test(high_words_of_int64_count),
        cmocka_unit_test(two_arrays_are_not_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
