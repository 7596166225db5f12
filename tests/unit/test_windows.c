/*
 * test_windows.c - windows of merges never cross: exhaustively on few replicas.
 */
#include "partition/windows.h"

#include <string.h>

#include "../support/expect.h"
#include "../support/random_case.h"

enum { REPLICAS = 6, DEEPEST = 3 };

typedef struct window {
    int32_t first, end;
} window;

/* Every window of two or more replicas. */
typedef struct family {
    window list[DEEPEST];
    int32_t count;
} family;

static int crosses(window a, window b)
{
    return (a.first < b.first && b.first < a.end && a.end < b.end) ||
           (b.first < a.first && a.first < b.end && b.end < a.end);
}

static int crosses_none(const family *f, window w)
{
    for (int32_t i = 0; i < f->count; i++)
        if (crosses(f->list[i], w))
            return 0;
    return 1;
}

static void expect_same_answers(const sp__windows *w, const family *f)
{
    for (int32_t a = 0; a < REPLICAS; a++)
        for (int32_t b = a + 2; b <= REPLICAS; b++)
            assert_int_equal(!!sp__windows_allow(w, a, b - a),
                             crosses_none(f, (window){ a, b }));
}

static void rebuild(sp__windows *w, const family *f, sp__arena *arena)
{
    sp__arena_reset(arena);
    assert_int_equal(sp__windows_start(w, REPLICAS, arena), SP_OK);
    for (int32_t i = 0; i < f->count; i++)
        sp__windows_add(w, f->list[i].first, f->list[i].end - f->list[i].first);
}

/* Adds every allowed window to a family, and to what comes of it. */
static void extend(family *f, sp__arena *arena)
{
    sp__windows w;

    rebuild(&w, f, arena);
    expect_same_answers(&w, f);
    if (f->count == DEEPEST)
        return;
    for (int32_t a = 0; a < REPLICAS; a++)
        for (int32_t b = a + 2; b <= REPLICAS; b++) {
            if (!crosses_none(f, (window){ a, b }))
                continue;
            f->list[f->count++] = (window){ a, b };
            extend(f, arena);
            f->count--;
        }
}

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

static void exactly_the_windows_that_cross_none_are_allowed(void **state)
{
    family f = { .count = 0 };

    (void)state;
    extend(&f, &arena);
}

/* The allowed window with the least largest load, within a node before across, then
 * the lowest. */
static int32_t naive_place(const family *f, const int64_t *load, int32_t degree, int32_t node,
                           int64_t *most)
{
    int32_t best = -1, best_across = 0;

    for (int32_t a = 0; a + degree <= REPLICAS; a++) {
        int32_t across = a / node != (a + degree - 1) / node;
        int64_t here = 0;

        if (!crosses_none(f, (window){ a, a + degree }))
            continue;
        for (int32_t r = a; r < a + degree; r++)
            here = load[r] > here ? load[r] : here;
        if (best < 0 || here < *most || (here == *most && across < best_across)) {
            best = a;
            best_across = across;
            *most = here;
        }
    }
    return best;
}

static void a_merge_goes_where_the_loads_are_least(void **state)
{
    uint64_t seed = 31;

    (void)state;
    for (int i = 0; i < 2000; i++) {
        int64_t load[REPLICAS], most = -1, expected_most = -1;
        int32_t node = 1 + (int32_t)random_below(&seed, 4);
        int32_t degree = 2 + (int32_t)random_below(&seed, REPLICAS - 1);
        family f = { .count = 0 };
        sp__windows w;

        for (int32_t r = 0; r < REPLICAS; r++)
            load[r] = random_below(&seed, 5);
        for (int tries = 0; tries < 6 && f.count < DEEPEST; tries++) {
            int32_t a = (int32_t)random_below(&seed, REPLICAS - 1);
            window next = { a, a + 2 + (int32_t)random_below(&seed, REPLICAS - a - 1) };

            if (crosses_none(&f, next))
                f.list[f.count++] = next;
        }
        rebuild(&w, &f, &arena);
        assert_int_equal(sp__windows_place(&w, load, degree, node, &most),
                         naive_place(&f, load, degree, node, &expected_most));
        assert_int_equal(most, expected_most);
    }
}

static void a_place_within_a_node_is_taken_before_one_across(void **state)
{
    const int64_t load[REPLICAS] = { 9, 5, 5, 5, 9, 9 };
    sp__windows w;
    int64_t most;

    (void)state;
    assert_int_equal(sp__windows_start(&w, REPLICAS, &arena), SP_OK);
    assert_int_equal(sp__windows_place(&w, load, 2, 2, &most), 2); /* [1, 3) lies across */
    assert_int_equal(most, 5);
    assert_int_equal(sp__windows_place(&w, load, 2, 8, &most), 1);
}

static void without_a_place_there_is_none(void **state)
{
    const int64_t load[REPLICAS] = { 0 };
    int64_t most = 77;
    sp__windows w;

    (void)state;
    assert_int_equal(sp__windows_start(&w, REPLICAS, &arena), SP_OK);
    assert_int_equal(sp__windows_place(&w, load, REPLICAS + 1, 1, &most), -1);
    sp__windows_add(&w, 0, 3);
    sp__windows_add(&w, 3, 3);
    sp__windows_add(&w, 0, 2);
    sp__windows_add(&w, 4, 2);
    assert_int_equal(sp__windows_place(&w, load, 4, 1, &most), -1);
    assert_int_equal(most, 77);
}

#define ARENA_TEST(test) cmocka_unit_test_setup_teardown(test, open_arena, close_arena)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(exactly_the_windows_that_cross_none_are_allowed),
        ARENA_TEST(a_merge_goes_where_the_loads_are_least),
        ARENA_TEST(a_place_within_a_node_is_taken_before_one_across),
        ARENA_TEST(without_a_place_there_is_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
