/*
 * test_assignment.c - partition/assign: samples to replicas and merges, loads, bounds.
 */
#include "partition/assign.h"

#include <string.h>

#include "../support/expect.h"
#include "../support/failing_alloc.h"
#include "../support/random_case.h"

enum { SAMPLES = 64, REPLICAS = 16 };

/* Samples whose weight is their length. */
typedef struct assign_case {
    sp__assign_options options;
    int64_t lengths[SAMPLES];
    sp__keyed sorted[SAMPLES];
    int32_t count;
    sp__alloc alloc;
    sp__arena arena;
    sp__assignment out;
} assign_case;

static void open_case(assign_case *c, int32_t replicas)
{
    memset(c, 0, sizeof *c);
    c->options = (sp__assign_options){ .replicas = replicas, .merges = 1, .max_degree = replicas,
                                       .shortest_part = 1, .node_replicas = 1, .rounds = 8,
                                       .largest_part = INT64_MAX };
    assert_int_equal(sp__alloc_init(&c->alloc, NULL), SP_OK);
    sp__arena_init(&c->arena, &c->alloc);
}

static void add(assign_case *c, int64_t length)
{
    assert_true(c->count < SAMPLES);
    c->lengths[c->count++] = length;
}

static sp_status run(assign_case *c, const int64_t *offset)
{
    sp__keyed scratch[SAMPLES];

    for (int32_t i = 0; i < c->count; i++)
        c->sorted[i] = (sp__keyed){ c->lengths[i], i };
    sp__sort_descending(c->sorted, scratch, c->count);
    return sp__assign(&c->options, c->sorted, c->count, c->lengths, offset, &c->arena, &c->out);
}

static int64_t largest(const assign_case *c)
{
    int64_t most = 0;

    for (int32_t r = 0; r < c->options.replicas; r++)
        most = sp__max(most, c->out.load[r]);
    return most;
}

static int crosses(const sp__merge *a, const sp__merge *b)
{
    int32_t a_end = a->first + a->replicas, b_end = b->first + b->replicas;

    return (a->first < b->first && b->first < a_end && a_end < b_end) ||
           (b->first < a->first && a->first < b_end && b_end < a_end);
}

static void expect_merges(const assign_case *c)
{
    for (int32_t g = 0; g < c->out.merges; g++) {
        const sp__merge *m = &c->out.merge[g];

        assert_true(m->first >= 0 && m->replicas >= 2);
        assert_true(m->first + m->replicas <= c->options.replicas);
        assert_true(m->replicas <= c->options.max_degree);
        assert_true(c->lengths[m->sample] >= (int64_t)m->replicas * c->options.shortest_part);
        for (int32_t h = 0; h < g; h++) {
            assert_false(crosses(m, &c->out.merge[h]));
            assert_true(c->out.merge[h].replicas >= m->replicas); /* largest window first */
        }
    }
}

/* Every sample once, the heaviest of a replica first, and loads that are their sums. */
static void expect_consistent(const assign_case *c, const int64_t *offset)
{
    int64_t load[REPLICAS] = { 0 };
    int seen[SAMPLES] = { 0 };

    for (int32_t g = 0; g < c->out.merges; g++) {
        const sp__merge *m = &c->out.merge[g];

        seen[m->sample]++;
        for (int32_t r = m->first; r < m->first + m->replicas; r++)
            load[r] += sp__ceil_div(c->lengths[m->sample], m->replicas);
    }
    for (int32_t r = 0; r < c->options.replicas; r++) {
        load[r] += offset != NULL ? offset[r] : 0;
        for (int32_t i = c->out.first[r]; i < c->out.first[r + 1]; i++) {
            seen[c->out.sample[i]]++;
            load[r] += c->lengths[c->out.sample[i]];
            if (i > c->out.first[r])
                assert_true(c->lengths[c->out.sample[i]] <= c->lengths[c->out.sample[i - 1]]);
        }
        assert_int_equal(load[r], c->out.load[r]);
    }
    for (int32_t i = 0; i < c->count; i++)
        assert_int_equal(seen[i], 1);
    assert_int_equal(c->out.first[0], 0);
    expect_merges(c);
}

static void close_case(assign_case *c)
{
    sp__arena_destroy(&c->arena);
}

static void equal_samples_are_dealt_without_merges(void **state)
{
    assign_case c;

    (void)state;
    open_case(&c, 8);
    for (int i = 0; i < 32; i++)
        add(&c, 1000);
    assert_int_equal(run(&c, NULL), SP_OK);
    expect_consistent(&c, NULL);
    assert_int_equal(c.out.merges, 0);
    assert_int_equal(largest(&c), 4000);
    close_case(&c);
}

/* Balanced to the thousandth by whole samples: a merge would be a barrier for nothing. */
static void no_merge_where_whole_samples_balance(void **state)
{
    assign_case c;

    (void)state;
    open_case(&c, 2);
    add(&c, 60000);
    add(&c, 35000);
    add(&c, 25000);
    assert_int_equal(run(&c, NULL), SP_OK);
    expect_consistent(&c, NULL);
    assert_int_equal(c.out.merges, 0);
    assert_int_equal(largest(&c), 60000);
    close_case(&c);
}

static void one_sample_is_shared_by_all_replicas(void **state)
{
    assign_case c;

    (void)state;
    open_case(&c, 8);
    add(&c, 80000);
    assert_int_equal(run(&c, NULL), SP_OK);
    expect_consistent(&c, NULL);
    assert_int_equal(c.out.merges, 1);
    assert_int_equal(c.out.merge[0].replicas, 8);
    for (int32_t r = 0; r < 8; r++)
        assert_int_equal(c.out.load[r], 10000);
    close_case(&c);
}

static void merges_can_be_forbidden_or_narrowed(void **state)
{
    assign_case c;

    (void)state;
    open_case(&c, 8);
    add(&c, 80000);
    c.options.merges = 0;
    assert_int_equal(run(&c, NULL), SP_OK);
    assert_int_equal(c.out.merges, 0);
    assert_int_equal(largest(&c), 80000);
    c.options.merges = 1;
    c.options.max_degree = 3;
    assert_int_equal(run(&c, NULL), SP_OK);
    expect_consistent(&c, NULL);
    assert_int_equal(c.out.merge[0].replicas, 3);
    c.options.max_degree = 8;
    c.options.shortest_part = 16000; /* five parts of it at most */
    assert_int_equal(run(&c, NULL), SP_OK);
    expect_consistent(&c, NULL);
    assert_int_equal(c.out.merge[0].replicas, 5);
    close_case(&c);
}

/* A light sample is merged all the same when it is longer than a replica may take. */
static void a_sample_longer_than_a_part_is_merged(void **state)
{
    assign_case c;

    (void)state;
    open_case(&c, 4);
    add(&c, 1000);
    for (int i = 0; i < 40; i++)
        add(&c, 900);
    c.options.largest_part = 950;
    assert_int_equal(run(&c, NULL), SP_OK);
    expect_consistent(&c, NULL);
    assert_int_equal(c.out.merges, 1);
    assert_int_equal(c.out.merge[0].sample, 0);
    c.options.largest_part = 340; /* 1000 needs three parts; 900 too, every one */
    assert_int_equal(run(&c, NULL), SP_OK);
    expect_consistent(&c, NULL);
    assert_int_equal(c.out.merges, 41);
    for (int32_t g = 0; g < 41; g++)
        assert_true(c.out.merge[g].replicas >= 3);
    close_case(&c);
}

static void fill_randomly(assign_case *c, uint64_t *seed, int32_t samples)
{
    for (int32_t i = 0; i < samples; i++)
        add(c, 1 + (random_below(seed, 10) == 0 ? random_below(seed, 100000)
                                                : random_below(seed, 3000)));
}

static void every_sample_has_one_place_and_windows_nest(void **state)
{
    uint64_t seed = 41;

    (void)state;
    for (int i = 0; i < 400; i++) {
        assign_case c;

        open_case(&c, 1 + (int32_t)random_below(&seed, REPLICAS));
        fill_randomly(&c, &seed, 1 + (int32_t)random_below(&seed, SAMPLES));
        c.options.node_replicas = 1 + (int32_t)random_below(&seed, 4);
        c.options.shortest_part = 1 + (int32_t)random_below(&seed, 300);
        if (random_below(&seed, 4) == 0)
            c.options.largest_part = 500 + random_below(&seed, 5000);
        assert_int_equal(run(&c, NULL), SP_OK);
        expect_consistent(&c, NULL);
        close_case(&c);
    }
}

/* List scheduling: no load above mean + (1 - 1 / m) * longest (Graham, 1966). */
static void loads_are_within_grahams_bound(void **state)
{
    uint64_t seed = 42;

    (void)state;
    for (int i = 0; i < 400; i++) {
        int64_t total = 0, longest = 0;
        assign_case c;
        int32_t m = 1 + (int32_t)random_below(&seed, REPLICAS);

        open_case(&c, m);
        c.options.merges = (int32_t)random_below(&seed, 2);
        fill_randomly(&c, &seed, 1 + (int32_t)random_below(&seed, SAMPLES));
        for (int32_t j = 0; j < c.count; j++) {
            total += c.lengths[j];
            longest = sp__max(longest, c.lengths[j]);
        }
        assert_int_equal(run(&c, NULL), SP_OK);
        assert_true(largest(&c) * m <= total + (m - 1) * longest);
        close_case(&c);
    }
}

/* The least largest load of all ways to deal the samples. */
static int64_t best_of_all(const assign_case *c)
{
    int64_t ways = 1, best = INT64_MAX;

    for (int32_t i = 0; i < c->count; i++)
        ways *= c->options.replicas;
    for (int64_t code = 0; code < ways; code++) {
        int64_t load[REPLICAS] = { 0 }, most = 0, rest = code;

        for (int32_t i = 0; i < c->count; i++, rest /= c->options.replicas) {
            int64_t *l = &load[rest % c->options.replicas];

            *l += c->lengths[i];
            most = sp__max(most, *l);
        }
        best = sp__min(best, most);
    }
    return best;
}

/* Longest first is within 4/3 of the best (Graham, 1969); the exact search finds it
 * and proves it. */
static void tiny_cases_are_near_the_best_and_exact_ones_are_best(void **state)
{
    uint64_t seed = 43;

    (void)state;
    for (int i = 0; i < 60; i++) {
        assign_case c;
        int64_t best;

        open_case(&c, 2 + (int32_t)random_below(&seed, 2));
        c.options.merges = 0;
        fill_randomly(&c, &seed, 1 + (int32_t)random_below(&seed, 8));
        best = best_of_all(&c);
        assert_int_equal(run(&c, NULL), SP_OK);
        assert_true(3 * largest(&c) <= 4 * best);
        assert_true(c.out.bound <= best);
        assert_int_equal(c.out.nodes, 0);
        c.options.exact_nodes = 1000000;
        assert_int_equal(run(&c, NULL), SP_OK);
        expect_consistent(&c, NULL);
        assert_int_equal(largest(&c), best);
        assert_int_equal(c.out.bound, best);
        close_case(&c);
    }
}

static void the_exact_search_never_makes_it_worse(void **state)
{
    uint64_t seed = 44;

    (void)state;
    for (int i = 0; i < 100; i++) {
        assign_case c;
        int64_t before;

        open_case(&c, 2 + (int32_t)random_below(&seed, 5));
        fill_randomly(&c, &seed, 2 + (int32_t)random_below(&seed, 20));
        assert_int_equal(run(&c, NULL), SP_OK);
        before = largest(&c);
        c.options.exact_nodes = 2000;
        assert_int_equal(run(&c, NULL), SP_OK);
        expect_consistent(&c, NULL);
        assert_true(largest(&c) <= before);
        assert_true(c.out.bound <= largest(&c));
        assert_true(c.out.nodes <= 2000);
        close_case(&c);
    }
}

static void what_is_too_large_for_the_exact_search_is_refused(void **state)
{
    assign_case c;

    (void)state;
    open_case(&c, 65);
    add(&c, 10);
    add(&c, 10);
    c.options.exact_nodes = 1;
    EXPECT_FAIL(run(&c, NULL), SP_ERR_INVALID,
                "exact_nodes: 2 samples on 65 replicas are above the 1024 and 64 that are "
                "searched exactly");
    close_case(&c);
}

/* What a replica carries beside its samples counts while loads are balanced. */
static void an_offset_leaves_a_replica_less(void **state)
{
    const int64_t offset[2] = { 3000, 0 };
    assign_case c;

    (void)state;
    open_case(&c, 2);
    for (int i = 0; i < 9; i++)
        add(&c, 1000);
    assert_int_equal(run(&c, offset), SP_OK);
    expect_consistent(&c, offset);
    assert_int_equal(c.out.first[1] - c.out.first[0], 3);
    assert_int_equal(c.out.first[2] - c.out.first[1], 6);
    close_case(&c);
}

static void every_failed_allocation_is_reported(void **state)
{
    failing_alloc memory;

    (void)state;
    for (int64_t n = 0;; n++) {
        assign_case c;
        sp_status status;

        open_case(&c, 4);
        add(&c, 50000);
        for (int i = 0; i < 20; i++)
            add(&c, 700 + 13 * i);
        failing_alloc_init(&memory, n);
        assert_int_equal(sp__alloc_init(&c.alloc, &memory.hooks), SP_OK);
        status = run(&c, NULL);
        close_case(&c);
        assert_int_equal(memory.live, 0);
        if (status == SP_OK) {
            assert_true(n > 0);
            return;
        }
        assert_int_equal(status, SP_ERR_MEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_samples_are_dealt_without_merges),
        cmocka_unit_test(no_merge_where_whole_samples_balance),
        cmocka_unit_test(one_sample_is_shared_by_all_replicas),
        cmocka_unit_test(merges_can_be_forbidden_or_narrowed),
        cmocka_unit_test(a_sample_longer_than_a_part_is_merged),
        cmocka_unit_test(every_sample_has_one_place_and_windows_nest),
        cmocka_unit_test(loads_are_within_grahams_bound),
        cmocka_unit_test(tiny_cases_are_near_the_best_and_exact_ones_are_best),
        cmocka_unit_test(the_exact_search_never_makes_it_worse),
        cmocka_unit_test(what_is_too_large_for_the_exact_search_is_refused),
        cmocka_unit_test(an_offset_leaves_a_replica_less),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
