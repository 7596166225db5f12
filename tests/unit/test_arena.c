/*
 * test_arena.c - scratch memory that is given back all at once.
 */
#include "base/arena.h"

#include <string.h>

#include "../support/expect.h"
#include "../support/failing_alloc.h"
#include "base/status.h"

#define LARGE 100000 /* above the arena's first chunk */

static failing_alloc memory;
static sp__alloc hooks;
static sp__arena arena;

static void begin(int64_t fail_at)
{
    failing_alloc_init(&memory, fail_at);
    assert_int_equal(sp__alloc_init(&hooks, &memory.hooks), SP_OK);
    sp__arena_init(&arena, &hooks);
}

static void end(void)
{
    sp__arena_destroy(&arena);
    assert_int_equal(memory.live, 0);
}

static void an_arena_takes_no_memory_before_it_is_asked(void **state)
{
    (void)state;
    begin(NEVER_FAIL);
    sp__arena_reset(&arena);
    assert_int_equal(memory.asked, 0);
    end();
}

static void blocks_are_aligned_and_do_not_overlap(void **state)
{
    unsigned char *block[200];

    (void)state;
    begin(NEVER_FAIL);
    for (int i = 0; i < 200; i++) {
        block[i] = sp__arena_take(&arena, i * 13, 7);
        assert_non_null(block[i]);
        assert_int_equal((uintptr_t)block[i] % 64, 0);
        memset(block[i], i, (size_t)i * 13 * 7);
    }
    for (int i = 0; i < 200; i++)
        for (int j = 0; j < i * 13 * 7; j++)
            assert_int_equal(block[i][j], i);
    end();
}

static void a_second_step_of_the_same_size_allocates_nothing(void **state)
{
    int64_t asked = 0;

    (void)state;
    begin(NEVER_FAIL);
    for (int step = 0; step < 4; step++) {
        for (int i = 0; i < 10; i++)
            assert_non_null(sp__arena_take(&arena, LARGE, 1));
        sp__arena_reset(&arena);
        assert_int_equal(memory.live, 1);
        if (step == 0)
            asked = memory.asked;
    }
    assert_int_equal(memory.asked, asked);
    end();
}

static void a_size_that_would_wrap_is_null(void **state)
{
    (void)state;
    begin(NEVER_FAIL);
    assert_null(sp__arena_take(&arena, INT64_MAX, 16));
    assert_null(sp__arena_take(&arena, INT64_MAX, 1));
    assert_null(sp__arena_take(&arena, -1, 1));
    assert_int_equal(memory.asked, 0);
    end();
}

static void a_failed_take_leaves_the_arena_usable(void **state)
{
    unsigned char *kept;

    (void)state;
    begin(1);
    kept = sp__arena_take(&arena, 64, 1);
    assert_non_null(kept);
    kept[63] = 7;
    assert_null(sp__arena_take(&arena, LARGE, 1));
    assert_int_equal(kept[63], 7);
    assert_ptr_equal(sp__arena_take(&arena, 64, 1), kept + 64);
    end();
}

static void a_reset_without_memory_leaves_an_empty_arena(void **state)
{
    (void)state;
    begin(2);
    assert_non_null(sp__arena_take(&arena, 64, 1));
    assert_non_null(sp__arena_take(&arena, LARGE, 1));
    sp__arena_reset(&arena);
    assert_int_equal(memory.live, 0);
    assert_non_null(sp__arena_take(&arena, LARGE, 1));
    end();
}

static void a_rewind_frees_what_came_after_the_mark(void **state)
{
    unsigned char *before, *after;
    sp__arena_mark mark;

    (void)state;
    begin(NEVER_FAIL);
    before = sp__arena_take(&arena, 100, 1);
    memset(before, 1, 100);
    mark = sp__arena_here(&arena);
    after = sp__arena_take(&arena, 100, 1);
    sp__arena_rewind(&arena, mark);
    assert_ptr_equal(sp__arena_take(&arena, 100, 1), after);
    assert_int_equal(before[99], 1);
    end();
}

static void a_rewind_past_a_newer_chunk_keeps_older_blocks_and_the_chunk(void **state)
{
    unsigned char *before;
    sp__arena_mark mark;
    int64_t asked;

    (void)state;
    begin(NEVER_FAIL);
    before = sp__arena_take(&arena, 100, 1);
    memset(before, 1, 100);
    mark = sp__arena_here(&arena);
    assert_non_null(sp__arena_take(&arena, LARGE, 1));
    asked = memory.asked;
    for (int i = 0; i < 3; i++) {
        sp__arena_rewind(&arena, mark);
        memset(sp__arena_take(&arena, LARGE, 1), 2, LARGE);
    }
    assert_int_equal(memory.asked, asked);
    assert_int_equal(before[99], 1);
    end();
}

static void a_mark_of_an_empty_arena_frees_everything(void **state)
{
    sp__arena_mark mark;
    void *first;

    (void)state;
    begin(NEVER_FAIL);
    mark = sp__arena_here(&arena);
    sp__arena_rewind(&arena, mark);
    first = sp__arena_take(&arena, 10, 1);
    sp__arena_rewind(&arena, mark);
    assert_ptr_equal(sp__arena_take(&arena, 10, 1), first);
    end();
}

static sp_status take_two(int32_t **a, int64_t **b)
{
    SP_TAKE(&arena, *a, 10);
    SP_TAKE(&arena, *b, LARGE);
    return SP_OK;
}

static void taking_without_memory_leaves_the_function_with_its_status(void **state)
{
    int32_t *a = NULL;
    int64_t *b = NULL;

    (void)state;
    begin(1);
    EXPECT_FAIL(take_two(&a, &b), SP_ERR_MEMORY, OUT_OF_MEMORY);
    assert_non_null(a);
    assert_int_equal(take_two(&a, &b), SP_OK);
    assert_non_null(b);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_arena_takes_no_memory_before_it_is_asked),
        cmocka_unit_test(blocks_are_aligned_and_do_not_overlap),
        cmocka_unit_test(a_second_step_of_the_same_size_allocates_nothing),
        cmocka_unit_test(a_size_that_would_wrap_is_null),
        cmocka_unit_test(a_failed_take_leaves_the_arena_usable),
        cmocka_unit_test(a_reset_without_memory_leaves_an_empty_arena),
        cmocka_unit_test(a_rewind_frees_what_came_after_the_mark),
        cmocka_unit_test(a_rewind_past_a_newer_chunk_keeps_older_blocks_and_the_chunk),
        cmocka_unit_test(a_mark_of_an_empty_arena_frees_everything),
        cmocka_unit_test(taking_without_memory_leaves_the_function_with_its_status),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
