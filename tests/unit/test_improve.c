/*
 * test_improve.c - moves and swaps never raise the largest load.
 */
#include "partition/improve.h"

#include <string.h>

#include "../support/expect.h"
#include "../support/random_case.h"

enum { SAMPLES = 48, REPLICAS = 8 };

typedef struct improve_case {
    sp__assign_options options;
    sp__keyed sorted[SAMPLES];
    int32_t replica[SAMPLES], count;
    int64_t load[REPLICAS];
} improve_case;

static void run(improve_case *c)
{
    sp__alloc alloc;
    sp__arena arena;

    assert_int_equal(sp__alloc_init(&alloc, NULL), SP_OK);
    sp__arena_init(&arena, &alloc);
    assert_int_equal(sp__improve(&c->options, c->sorted, c->count, c->replica, c->load, &arena),
                     SP_OK);
    sp__arena_destroy(&arena);
}

/* Weights come by decreasing weight, as the caller's do. */
static void put(improve_case *c, int64_t weight, int32_t replica)
{
    c->sorted[c->count] = (sp__keyed){ weight, c->count };
    c->replica[c->count++] = replica;
    if (replica >= 0)
        c->load[replica] += weight;
}

static int64_t largest(const improve_case *c)
{
    int64_t most = 0;

    for (int32_t r = 0; r < c->options.replicas; r++)
        most = c->load[r] > most ? c->load[r] : most;
    return most;
}

static void a_swap_levels_two_replicas(void **state)
{
    improve_case c = { .options = { .replicas = 2, .rounds = 8 } };

    (void)state;
    put(&c, 6, 0);
    put(&c, 5, 0);
    put(&c, 4, 1);
    put(&c, 3, 1);
    run(&c);
    assert_int_equal(c.load[0], 9);
    assert_int_equal(c.load[1], 9);
}

static void a_move_levels_two_replicas(void **state)
{
    improve_case c = { .options = { .replicas = 2, .rounds = 8 } };

    (void)state;
    put(&c, 8, 1);
    put(&c, 5, 0);
    put(&c, 5, 0);
    put(&c, 2, 0);
    run(&c);
    assert_int_equal(c.load[0], 10);
    assert_int_equal(c.load[1], 10);
}

static void no_rounds_change_nothing(void **state)
{
    improve_case c = { .options = { .replicas = 2, .rounds = 0 } };

    (void)state;
    put(&c, 6, 0);
    put(&c, 5, 0);
    run(&c);
    assert_int_equal(c.load[0], 11);
    assert_int_equal(c.replica[1], 0);
}

/* A random assignment: some samples merged (-1), whose load stays where it is. */
static void fill_randomly(improve_case *c, uint64_t *seed)
{
    int64_t weight = 1000;

    memset(c, 0, sizeof *c);
    c->options.replicas = 1 + (int32_t)random_below(seed, REPLICAS);
    c->options.rounds = (int32_t)random_below(seed, 10);
    for (int32_t i = 0, n = (int32_t)random_below(seed, SAMPLES + 1); i < n; i++) {
        weight -= random_below(seed, 1 + weight / 8);
        put(c, weight, (int32_t)random_below(seed, c->options.replicas + 1) - 1);
    }
    for (int32_t r = 0; r < c->options.replicas; r++)
        c->load[r] += random_below(seed, 2000);
}

static void the_largest_load_never_rises_and_loads_stay_true(void **state)
{
    uint64_t seed = 51;
    int better = 0;

    (void)state;
    for (int i = 0; i < 1000; i++) {
        improve_case before, after;
        int64_t moved[REPLICAS] = { 0 };

        fill_randomly(&before, &seed);
        after = before;
        run(&after);
        assert_true(largest(&after) <= largest(&before));
        better += largest(&after) < largest(&before);
        for (int32_t j = 0; j < after.count; j++) {
            assert_int_equal(after.replica[j] < 0, before.replica[j] < 0);
            if (after.replica[j] < 0)
                continue;
            moved[before.replica[j]] -= after.sorted[j].key;
            moved[after.replica[j]] += after.sorted[j].key;
        }
        for (int32_t r = 0; r < after.options.replicas; r++)
            assert_int_equal(after.load[r], before.load[r] + moved[r]);
    }
    assert_true(better > 500); /* so that the test is about something */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_swap_levels_two_replicas),
        cmocka_unit_test(a_move_levels_two_replicas),
        cmocka_unit_test(no_rounds_change_nothing),
        cmocka_unit_test(the_largest_load_never_rises_and_loads_stay_true),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
