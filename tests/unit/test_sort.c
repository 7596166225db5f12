/*
 * test_sort.c - the order by cost, held against qsort.
 */
#include "base/sort.h"

#include <stdlib.h>

#include "../support/expect.h"

#define MOST 5000
#define SEED UINT64_C(20250926)

static sp__keyed items[MOST], expected[MOST], scratch[MOST];
static uint64_t random_state;

/* Marsaglia's xorshift64. */
static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static int heaviest_first(const void *left, const void *right)
{
    const sp__keyed *a = left, *b = right;

    if (a->key != b->key)
        return a->key > b->key ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

/* Keys are random bits under mask, above base. */
static void expect_sorted(int64_t count, uint64_t mask, int64_t base)
{
    for (int64_t i = 0; i < count; i++) {
        items[i].key = base + (int64_t)(next_random() & mask);
        items[i].index = (int32_t)i;
        expected[i] = items[i];
    }
    qsort(expected, (size_t)count, sizeof *expected, heaviest_first);
    sp__sort_descending(items, scratch, count);
    for (int64_t i = 0; i < count; i++) {
        assert_true(items[i].key == expected[i].key);
        assert_int_equal(items[i].index, expected[i].index);
    }
}

static void expect_sorted_at_every_size(uint64_t mask, int64_t base)
{
    static const int64_t sizes[] = { 0, 1, 2, 3, 31, 32, 33, 34, 1000, MOST };

    random_state = SEED;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        expect_sorted(sizes[i], mask, base);
}

static void keys_of_all_sizes_are_sorted(void **state)
{
    (void)state;
    expect_sorted_at_every_size(INT64_MAX, 0);
}

static void equal_keys_stay_in_the_order_of_their_index(void **state)
{
    (void)state;
    expect_sorted_at_every_size(7, 0);
    expect_sorted_at_every_size(0, 0);
    expect_sorted_at_every_size(0, INT64_MAX);
}

static void keys_that_share_their_high_bytes_are_sorted(void **state)
{
    (void)state;
    expect_sorted_at_every_size(0xfffff, INT64_C(1) << 50);
}

static void keys_that_share_their_low_bytes_are_sorted(void **state)
{
    (void)state;
    expect_sorted_at_every_size(UINT64_C(0x7ff) << 52, 12345);
    expect_sorted_at_every_size(UINT64_C(1) << 62, 0);
}

static void a_sorted_list_stays_and_a_reversed_one_turns(void **state)
{
    (void)state;
    for (int64_t i = 0; i < MOST; i++) {
        items[i].key = MOST - i;
        items[i].index = (int32_t)i;
    }
    sp__sort_descending(items, scratch, MOST);
    for (int64_t i = 0; i < MOST; i++)
        assert_int_equal(items[i].index, i);
    for (int64_t i = 0; i < MOST; i++)
        items[i].key = i;
    sp__sort_descending(items, scratch, MOST);
    for (int64_t i = 0; i < MOST; i++)
        assert_int_equal(items[i].index, MOST - 1 - i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_of_all_sizes_are_sorted),
        cmocka_unit_test(equal_keys_stay_in_the_order_of_their_index),
        cmocka_unit_test(keys_that_share_their_high_bytes_are_sorted),
        cmocka_unit_test(keys_that_share_their_low_bytes_are_sorted),
        cmocka_unit_test(a_sorted_list_stays_and_a_reversed_one_turns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
