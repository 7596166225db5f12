/*
 * test_bins.c - whole samples into bins, held against searches of all bins.
 */
#include "partition/bins.h"

#include <string.h>

#include "../support/expect.h"
#include "../support/random_case.h"

enum { ITEMS = 200, MANY = 100000 };

static sp__keyed item[MANY];
static int32_t bin[MANY], expected[MANY];
static int64_t room[MANY], size[MANY], load[MANY];
static int32_t held[MANY];
static sp__alloc alloc;
static sp__arena arena;

static int open_arena(void **state)
{
    (void)state;
    if (sp__alloc_init(&alloc, NULL) != SP_OK)
        return -1;
    sp__arena_init(&arena, &alloc);
    return 0;
}

static int close_arena(void **state)
{
    (void)state;
    sp__arena_destroy(&arena);
    return 0;
}

static int32_t naive_first_fit(int32_t count, int64_t capacity, int32_t most, int32_t *out)
{
    int32_t bins = 0;

    for (int32_t i = 0; i < count; i++) {
        int64_t need = item[i].key < capacity ? item[i].key : capacity;
        int32_t b = 0;

        while (b < bins && (room[b] < need || (most > 0 && held[b] == most)))
            b++;
        if (b == bins) {
            room[bins] = capacity;
            held[bins++] = 0;
        }
        room[b] -= need;
        held[b]++;
        out[i] = b;
    }
    return bins;
}

static int32_t fill_items(uint64_t *seed, int64_t largest)
{
    int32_t count = (int32_t)random_below(seed, ITEMS);

    for (int32_t i = 0; i < count; i++)
        item[i] = (sp__keyed){ 1 + random_below(seed, largest), i };
    return count;
}

static void first_fit_takes_the_first_bin_with_room(void **state)
{
    uint64_t seed = 61;

    (void)state;
    for (int i = 0; i < 500; i++) {
        int64_t capacity = 1 + random_below(&seed, 100);
        int32_t count = fill_items(&seed, i % 2 == 0 ? 50 : 150), bins = -1;
        int32_t most = i % 3 == 0 ? 0 : 1 + (int32_t)random_below(&seed, 4);

        assert_int_equal(sp__first_fit(item, count, capacity, most, &arena, bin, &bins), SP_OK);
        assert_int_equal(bins, naive_first_fit(count, capacity, most, expected));
        if (count > 0)
            assert_memory_equal(bin, expected, (size_t)count * sizeof *bin);
    }
}

static void an_item_above_capacity_has_a_bin_of_its_own(void **state)
{
    const int64_t keys[] = { 30, 4, 50, 6 };
    int32_t bins;

    (void)state;
    for (int32_t i = 0; i < 4; i++)
        item[i] = (sp__keyed){ keys[i], i };
    assert_int_equal(sp__first_fit(item, 4, 10, 0, &arena, bin, &bins), SP_OK);
    assert_int_equal(bins, 3);
    assert_int_equal(bin[0], 0);
    assert_int_equal(bin[1], 1);
    assert_int_equal(bin[2], 2);
    assert_int_equal(bin[3], 1);
}

/* A list walked for every item would make this 10^9 steps and more. */
static void a_hundred_thousand_items_are_placed(void **state)
{
    uint64_t seed = 62;
    int64_t tokens = 0;
    int32_t bins;

    (void)state;
    for (int32_t i = 0; i < MANY; i++) {
        item[i] = (sp__keyed){ 400 + random_below(&seed, 600), i };
        tokens += item[i].key;
    }
    assert_int_equal(sp__first_fit(item, MANY, 1000, 0, &arena, bin, &bins), SP_OK);
    memset(load, 0, sizeof load);
    for (int32_t i = 0; i < MANY; i++) {
        assert_true(bin[i] >= 0 && bin[i] < bins);
        load[bin[i]] += item[i].key;
    }
    for (int32_t b = 0; b < bins; b++)
        assert_true(load[b] > 0 && load[b] <= 1000);
    assert_true((int64_t)bins * 1000 <= 17 * (tokens / 10 + 1000)); /* 1.7 of the best */
}

/* Into the last bin or a new one. */
static int32_t naive_next_fit(int32_t count, int64_t capacity, int32_t most, int32_t *out)
{
    int64_t sum = 0;
    int32_t bins = 0, in = 0;

    for (int32_t i = 0; i < count; i++) {
        if (bins == 0 || sum + item[i].key > capacity || (most > 0 && in == most)) {
            bins++;
            sum = in = 0;
        }
        sum += item[i].key;
        in++;
        out[i] = bins - 1;
    }
    return bins;
}

static void next_fit_keeps_the_order(void **state)
{
    uint64_t seed = 63;

    (void)state;
    for (int i = 0; i < 500; i++) {
        int64_t capacity = 1 + random_below(&seed, 100);
        int32_t count = fill_items(&seed, i % 2 == 0 ? 50 : 150), bins = -1;
        int32_t most = i % 3 == 0 ? 0 : 1 + (int32_t)random_below(&seed, 4);

        sp__next_fit(item, count, capacity, most, bin, &bins);
        assert_int_equal(bins, naive_next_fit(count, capacity, most, expected));
        if (count > 0)
            assert_memory_equal(bin, expected, (size_t)count * sizeof *bin);
    }
}

static int32_t naive_least_loaded(int32_t count, int64_t capacity, int32_t most, int32_t bins,
                                  int32_t *out)
{
    for (int32_t b = 0; b < bins; b++) {
        load[b] = held[b] = 0;
        room[b] = capacity;
    }
    for (int32_t i = 0; i < count; i++) {
        int64_t need = size[i] < capacity ? size[i] : capacity;
        int32_t best = -1;

        for (int32_t b = 0; b < bins; b++)
            if (room[b] >= need && held[b] < most && (best < 0 || load[b] < load[best]))
                best = b;
        if (best < 0) {
            best = bins++;
            load[best] = held[best] = 0;
            room[best] = capacity;
        }
        load[best] += item[i].key;
        room[best] -= need;
        held[best]++;
        out[i] = best;
    }
    return bins;
}

static void the_least_loaded_bin_with_room_is_taken(void **state)
{
    uint64_t seed = 64;

    (void)state;
    for (int i = 0; i < 500; i++) {
        int64_t capacity = i % 4 == 0 ? INT64_MAX : 1 + random_below(&seed, 300);
        int32_t most = i % 3 == 0 ? INT32_MAX : 1 + (int32_t)random_below(&seed, 6);
        int32_t count = fill_items(&seed, 20);
        int32_t start = (int32_t)random_below(&seed, 9), bins = start;

        for (int32_t j = 0; j < count; j++)
            size[j] = 1 + random_below(&seed, 100);
        assert_int_equal(sp__least_loaded(item, size, count, capacity, most, &arena, bin, &bins),
                         SP_OK);
        assert_int_equal(bins, naive_least_loaded(count, capacity, most, start, expected));
        if (count > 0)
            assert_memory_equal(bin, expected, (size_t)count * sizeof *bin);
    }
}

#define ARENA_TEST(test) cmocka_unit_test_setup_teardown(test, open_arena, close_arena)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(first_fit_takes_the_first_bin_with_room),
        ARENA_TEST(an_item_above_capacity_has_a_bin_of_its_own),
        ARENA_TEST(a_hundred_thousand_items_are_placed),
        ARENA_TEST(next_fit_keeps_the_order),
        ARENA_TEST(the_least_loaded_bin_with_room_is_taken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
