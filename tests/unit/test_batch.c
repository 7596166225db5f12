/*
 * test_batch.c - the lengths of one global batch.
 */
#include "input/batch.h"

#include <stdlib.h>

#include "../support/expect.h"
#include "../support/failing_alloc.h"

static sp_batch *const untouched = (sp_batch *)(void *)&untouched;

static void expect_refused(const int64_t *lengths, int64_t count, sp_status status,
                           const char *sentence)
{
    sp_batch *batch = untouched;

    EXPECT_FAIL(sp_batch_create(lengths, count, NULL, &batch), status, sentence);
    assert_ptr_equal(batch, untouched);
}

static void a_batch_knows_its_count_sum_and_longest(void **state)
{
    const int64_t lengths[] = { 5, 1, 1048576, 7 };
    sp_batch *batch;

    (void)state;
    assert_int_equal(sp_batch_create(lengths, 4, NULL, &batch), SP_OK);
    assert_int_equal(sp_batch_count(batch), 4);
    assert_int_equal(sp_batch_tokens(batch), 1048589);
    assert_int_equal(sp_batch_longest(batch), 1048576);
    sp_batch_destroy(batch);
}

static void lengths_are_copied(void **state)
{
    int64_t lengths[] = { 3, 9 };
    sp_batch *batch;

    (void)state;
    assert_int_equal(sp_batch_create(lengths, 2, NULL, &batch), SP_OK);
    lengths[0] = lengths[1] = 0;
    assert_int_equal(batch->lengths[0], 3);
    assert_int_equal(batch->lengths[1], 9);
    sp_batch_destroy(batch);
}

/* Field cases C18, C19 and D6: an empty sample is refused, none is skipped. */
static void a_length_below_one_is_named_by_its_index(void **state)
{
    const int64_t zero[] = { 8, 8, 8, 0, 0 }, negative[] = { -5 };

    (void)state;
    expect_refused(zero, 5, SP_ERR_RANGE, "lengths[3]: 0 is below 1");
    expect_refused(negative, 1, SP_ERR_RANGE, "lengths[0]: -5 is below 1");
}

static void a_count_out_of_bounds_is_refused_unread(void **state)
{
    const int64_t lengths[] = { 1 };

    (void)state;
    expect_refused(lengths, 0, SP_ERR_RANGE, "count: 0 is below 1");
    expect_refused(lengths, -1, SP_ERR_RANGE, "count: -1 is below 1");
    expect_refused(lengths, INT64_C(1) << 31, SP_ERR_RANGE,
                   "count: 2147483648 is above 2147483647");
}

static void a_sum_that_passes_int64_is_an_overflow(void **state)
{
    const int64_t fits[] = { INT64_MAX - 1, 1 }, passes[] = { INT64_MAX - 1, 1, 1 };
    sp_batch *batch;

    (void)state;
    assert_int_equal(sp_batch_create(fits, 2, NULL, &batch), SP_OK);
    assert_true(sp_batch_tokens(batch) == INT64_MAX);
    sp_batch_destroy(batch);
    expect_refused(passes, 3, SP_ERR_OVERFLOW,
                   "lengths: their sum passes 9223372036854775807 at lengths[2]");
}

/* Field case D7: the total of the lengths passes int32. */
static void a_total_beyond_int32_is_counted(void **state)
{
    int64_t *lengths = malloc(3000 * sizeof *lengths);
    sp_batch *batch;

    (void)state;
    assert_non_null(lengths);
    for (int i = 0; i < 3000; i++)
        lengths[i] = 1048576;
    assert_int_equal(sp_batch_create(lengths, 3000, NULL, &batch), SP_OK);
    assert_true(sp_batch_tokens(batch) == INT64_C(3145728000));
    sp_batch_destroy(batch);
    free(lengths);
}

static void null_arguments_are_named(void **state)
{
    const int64_t lengths[] = { 1 };

    (void)state;
    expect_refused(NULL, 1, SP_ERR_INVALID, "lengths is NULL");
    EXPECT_FAIL(sp_batch_create(lengths, 1, NULL, NULL), SP_ERR_INVALID, "out is NULL");
    sp_batch_destroy(NULL);
}

static void hooks_that_are_half_set_are_refused(void **state)
{
    const int64_t lengths[] = { 1 };
    sp_batch *batch = untouched;
    failing_alloc memory;

    (void)state;
    failing_alloc_init(&memory, NEVER_FAIL);
    memory.hooks.free = NULL;
    assert_int_equal(sp_batch_create(lengths, 1, &memory.hooks, &batch), SP_ERR_INVALID);
    assert_ptr_equal(batch, untouched);
}

static void a_batch_is_one_allocation_that_may_fail(void **state)
{
    const int64_t lengths[] = { 4, 2 };
    sp_batch *batch = untouched;
    failing_alloc memory;

    (void)state;
    failing_alloc_init(&memory, 0);
    EXPECT_FAIL(sp_batch_create(lengths, 2, &memory.hooks, &batch), SP_ERR_MEMORY, OUT_OF_MEMORY);
    assert_ptr_equal(batch, untouched);
    failing_alloc_init(&memory, NEVER_FAIL);
    assert_int_equal(sp_batch_create(lengths, 2, &memory.hooks, &batch), SP_OK);
    assert_int_equal(memory.asked, 1);
    sp_batch_destroy(batch);
    assert_int_equal(memory.live, 0);
}

static void a_refused_batch_takes_no_memory(void **state)
{
    const int64_t lengths[] = { 4, 0 };
    sp_batch *batch = untouched;
    failing_alloc memory;

    (void)state;
    failing_alloc_init(&memory, NEVER_FAIL);
    assert_int_equal(sp_batch_create(lengths, 2, &memory.hooks, &batch), SP_ERR_RANGE);
    assert_int_equal(memory.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_knows_its_count_sum_and_longest),
        cmocka_unit_test(lengths_are_copied),
        cmocka_unit_test(a_length_below_one_is_named_by_its_index),
        cmocka_unit_test(a_count_out_of_bounds_is_refused_unread),
        cmocka_unit_test(a_sum_that_passes_int64_is_an_overflow),
        cmocka_unit_test(a_total_beyond_int32_is_counted),
        cmocka_unit_test(null_arguments_are_named),
        cmocka_unit_test(hooks_that_are_half_set_are_refused),
        cmocka_unit_test(a_batch_is_one_allocation_that_may_fail),
        cmocka_unit_test(a_refused_batch_takes_no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
