/*
 * test_alloc.c - memory through the caller's hooks.
 */
#include "base/alloc.h"

#include <string.h>

#include "../support/expect.h"
#include "../support/failing_alloc.h"

/* Stands in for a caller compiled against a later header: one more field. */
struct future_hooks {
    sp_allocator known;
    void *later;
};

static sp__alloc counted(failing_alloc *memory, int64_t fail_at)
{
    sp__alloc a;

    failing_alloc_init(memory, fail_at);
    assert_int_equal(sp__alloc_init(&a, &memory->hooks), SP_OK);
    return a;
}

static void without_hooks_memory_comes_from_malloc(void **state)
{
    const sp_allocator empty = SP_ALLOCATOR_INIT;
    const sp_allocator *hooks[] = { NULL, &empty };

    (void)state;
    for (int i = 0; i < 2; i++) {
        sp__alloc a;
        char *ptr;

        assert_int_equal(sp__alloc_init(&a, hooks[i]), SP_OK);
        ptr = sp__alloc_array(&a, 3, 5);
        assert_non_null(ptr);
        memset(ptr, 1, 15);
        sp__free(&a, ptr);
    }
}

static void hooks_get_every_call_with_their_context(void **state)
{
    failing_alloc memory;
    sp__alloc a = counted(&memory, NEVER_FAIL);
    void *ptr = sp__alloc_array(&a, 1, 8);

    (void)state;
    assert_int_equal(memory.asked, 1);
    assert_int_equal(memory.live, 1);
    sp__free(&a, ptr);
    assert_int_equal(memory.live, 0);
}

static void hooks_are_set_together_or_not_at_all(void **state)
{
    failing_alloc memory;
    sp__alloc a;

    (void)state;
    failing_alloc_init(&memory, NEVER_FAIL);
    memory.hooks.free = NULL;
    EXPECT_FAIL(sp__alloc_init(&a, &memory.hooks), SP_ERR_INVALID,
                "allocator: alloc and free must be set together");
    failing_alloc_init(&memory, NEVER_FAIL);
    memory.hooks.alloc = NULL;
    assert_int_equal(sp__alloc_init(&a, &memory.hooks), SP_ERR_INVALID);
}

static void hooks_without_their_size_are_refused(void **state)
{
    sp_allocator hooks = SP_ALLOCATOR_INIT;
    sp__alloc a;

    (void)state;
    hooks.struct_size = 0;
    EXPECT_FAIL(sp__alloc_init(&a, &hooks), SP_ERR_INVALID,
                "allocator: struct_size 0 is below 32; set it before the call");
}

static void hooks_of_a_later_release_are_taken_while_the_rest_is_zero(void **state)
{
    struct future_hooks hooks = { SP_ALLOCATOR_INIT, NULL };
    sp__alloc a;

    (void)state;
    hooks.known.struct_size = sizeof hooks;
    assert_int_equal(sp__alloc_init(&a, &hooks.known), SP_OK);
    hooks.later = &hooks;
    assert_int_equal(sp__alloc_init(&a, &hooks.known), SP_ERR_ABI);
}

static void a_size_that_would_wrap_never_reaches_the_hooks(void **state)
{
    failing_alloc memory;
    sp__alloc a = counted(&memory, NEVER_FAIL);

    (void)state;
    assert_null(sp__alloc_array(&a, INT64_MAX, 16));
    assert_null(sp__alloc_array(&a, (int64_t)1 << 61, 8)); /* 2^64 */
    assert_null(sp__alloc_array(&a, INT64_MAX, 2));        /* fits size_t, not ptrdiff_t */
    assert_null(sp__alloc_array(&a, -1, 1));
    assert_null(sp__alloc_zeroed(&a, INT64_MAX, 16));
    assert_int_equal(memory.asked, 0);
}

static void zero_objects_still_give_a_pointer(void **state)
{
    failing_alloc memory;
    sp__alloc a = counted(&memory, NEVER_FAIL);
    void *ptr = sp__alloc_zeroed(&a, 0, 8);

    (void)state;
    assert_non_null(ptr);
    sp__free(&a, ptr);
    assert_int_equal(memory.live, 0);
}

static void zeroed_memory_is_zero_and_other_memory_is_left_alone(void **state)
{
    failing_alloc memory;
    sp__alloc a = counted(&memory, NEVER_FAIL);
    unsigned char *zeroed = sp__alloc_zeroed(&a, 10, 4), *raw = sp__alloc_array(&a, 10, 4);

    (void)state;
    for (int i = 0; i < 40; i++) {
        assert_int_equal(zeroed[i], 0);
        assert_int_equal(raw[i], ALLOC_PATTERN);
    }
    sp__free(&a, zeroed);
    sp__free(&a, raw);
}

static void a_failing_hook_gives_null(void **state)
{
    failing_alloc memory;
    sp__alloc a = counted(&memory, 0);

    (void)state;
    assert_null(sp__alloc_zeroed(&a, 1, 1));
    assert_int_equal(memory.asked, 1);
}

static void freeing_null_is_no_call(void **state)
{
    failing_alloc memory;
    sp__alloc a = counted(&memory, NEVER_FAIL);

    (void)state;
    sp__free(&a, NULL);
    assert_int_equal(memory.live, 0);
}

static void a_growing_array_keeps_its_objects(void **state)
{
    failing_alloc memory;
    sp__alloc a = counted(&memory, NEVER_FAIL);
    int64_t capacity = 0, *array = NULL;

    (void)state;
    for (int64_t i = 0; i < 100; i++) {
        void *moved = array;

        assert_int_equal(sp__grow(&a, &moved, &capacity, i + 1, sizeof *array), SP_OK);
        array = moved;
        assert_true(capacity > i);
        array[i] = i;
    }
    for (int64_t i = 0; i < 100; i++)
        assert_int_equal(array[i], i);
    assert_int_equal(memory.asked, 5); /* 8, 16, 32, 64, 128 */
    sp__free(&a, array);
    assert_int_equal(memory.live, 0);
}

static void an_array_that_cannot_grow_is_untouched(void **state)
{
    failing_alloc memory;
    sp__alloc a = counted(&memory, 1);
    int64_t capacity = 0;
    void *array = NULL, *before;

    (void)state;
    assert_int_equal(sp__grow(&a, &array, &capacity, 1, 8), SP_OK);
    before = array;
    EXPECT_FAIL(sp__grow(&a, &array, &capacity, 9, 8), SP_ERR_MEMORY, OUT_OF_MEMORY);
    assert_ptr_equal(array, before);
    assert_int_equal(capacity, 8);
    assert_int_equal(sp__grow(&a, &array, &capacity, INT64_MAX, 8), SP_ERR_MEMORY);
    assert_int_equal(capacity, 8);
    sp__free(&a, array);
    assert_int_equal(memory.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_hooks_memory_comes_from_malloc),
        cmocka_unit_test(hooks_get_every_call_with_their_context),
        cmocka_unit_test(hooks_are_set_together_or_not_at_all),
        cmocka_unit_test(hooks_without_their_size_are_refused),
        cmocka_unit_test(hooks_of_a_later_release_are_taken_while_the_rest_is_zero),
        cmocka_unit_test(a_size_that_would_wrap_never_reaches_the_hooks),
        cmocka_unit_test(zero_objects_still_give_a_pointer),
        cmocka_unit_test(zeroed_memory_is_zero_and_other_memory_is_left_alone),
        cmocka_unit_test(a_failing_hook_gives_null),
        cmocka_unit_test(freeing_null_is_no_call),
        cmocka_unit_test(a_growing_array_keeps_its_objects),
        cmocka_unit_test(an_array_that_cannot_grow_is_untouched),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
