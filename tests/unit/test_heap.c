/*
 * test_heap.c - the least key of fixed places, held against a look at all of them.
 */
#include "base/heap.h"

#include "../support/expect.h"

#define MOST 100

static int64_t key[MOST];
static int32_t order[MOST], where[MOST];
static uint64_t random_state;

/* Marsaglia's xorshift64. */
static int64_t random_below(uint64_t bound)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (int64_t)(random_state % bound);
}

static int32_t least(int32_t count)
{
    int32_t best = 0;

    for (int32_t i = 1; i < count; i++)
        if (key[i] < key[best])
            best = i;
    return best;
}

/* Few different keys, so that ties are common. */
static sp__heap random_heap(int32_t count, uint64_t keys)
{
    sp__heap heap = { key, order, where, count };

    for (int32_t i = 0; i < count; i++)
        key[i] = random_below(keys);
    sp__heap_build(&heap);
    return heap;
}

static void the_top_is_the_least_and_the_first_of_equals(void **state)
{
    (void)state;
    random_state = 1;
    for (int32_t count = 1; count <= MOST; count++) {
        sp__heap heap = random_heap(count, 20);

        assert_int_equal(sp__heap_top(&heap), least(count));
    }
}

static void a_changed_key_moves_its_place_up_or_down(void **state)
{
    (void)state;
    random_state = 2;
    for (int32_t count = 1; count <= MOST; count += 9) {
        sp__heap heap = random_heap(count, 20);

        for (int i = 0; i < 300; i++) {
            sp__heap_set(&heap, (int32_t)random_below((uint64_t)count), random_below(25));
            assert_int_equal(sp__heap_top(&heap), least(count));
        }
    }
}

static void places_leave_in_order_of_key_then_place(void **state)
{
    sp__heap heap;
    int64_t last_key = -1;
    int32_t last = -1;

    (void)state;
    random_state = 3;
    heap = random_heap(MOST, 30);
    for (int i = 0; i < MOST; i++) {
        int32_t top = sp__heap_top(&heap);

        assert_true(key[top] > last_key || (key[top] == last_key && top > last));
        last_key = key[top];
        last = top;
        sp__heap_set(&heap, top, INT64_MAX);
    }
    assert_true(key[sp__heap_top(&heap)] == INT64_MAX);
}

static void positions_and_order_stay_each_others_inverse(void **state)
{
    sp__heap heap;

    (void)state;
    random_state = 4;
    heap = random_heap(MOST, 1000);
    for (int i = 0; i < 50; i++)
        sp__heap_set(&heap, (int32_t)random_below(MOST), random_below(1000));
    for (int32_t i = 0; i < MOST; i++)
        assert_int_equal(where[order[i]], i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_top_is_the_least_and_the_first_of_equals),
        cmocka_unit_test(a_changed_key_moves_its_place_up_or_down),
        cmocka_unit_test(places_leave_in_order_of_key_then_place),
        cmocka_unit_test(positions_and_order_stay_each_others_inverse),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
