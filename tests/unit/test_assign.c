/*
 * test_assign.c - samples to replicas: windows, merges, moves, bins and exact search.
 */
#include "partition/assign.h"

#include <stdlib.h>

#include "../support/expect.h"
#include "base/arith.h"
#include "exact/search.h"
#include "partition/bins.h"
#include "partition/windows.h"

static sp__arena arena;
static sp__alloc alloc;

static int start(void **state)
{
    (void)state;
    sp__alloc_init(&alloc, NULL);
    sp__arena_init(&arena, &alloc);
    srand(11);
    return 0;
}

static int end(void **state)
{
    (void)state;
    sp__arena_destroy(&arena);
    return 0;
}

static int cross(const sp__merge *a, const sp__merge *b)
{
    int32_t a_end = a->first + a->replicas, b_end = b->first + b->replicas;

    return (a->first < b->first && b->first < a_end && a_end < b_end) ||
           (b->first < a->first && a->first < b_end && b_end < a_end);
}

static void windows_allow_exactly_what_crosses_nothing(void **state)
{
    (void)state;
    for (int round = 0; round < 200; round++) {
        sp__merge placed[8];
        int32_t count = 0;
        sp__windows w;

        assert_int_equal(sp__windows_start(&w, 9, &arena), SP_OK);
        for (int i = 0; i < 8; i++) {
            int32_t degree = 2 + rand() % 8;
            sp__merge m = { 0, rand() % (10 - degree), degree };
            int free_of_crossing = 1;

            for (int32_t j = 0; j < count; j++)
                free_of_crossing &= !cross(&m, &placed[j]);
            assert_int_equal(sp__windows_allow(&w, m.first, degree), free_of_crossing);
            if (free_of_crossing) {
                sp__windows_add(&w, m.first, degree);
                placed[count++] = m;
            }
        }
        sp__arena_reset(&arena);
    }
}

static sp__assign_options options_for(int32_t replicas, int32_t merges)
{
    return (sp__assign_options){ .replicas = replicas, .merges = merges, .max_degree = replicas,
                                 .shortest_part = 1, .node_replicas = 1, .rounds = 8,
                                 .largest_part = INT64_MAX };
}

/* Weights are the lengths themselves. */
static sp__assignment assign(const sp__assign_options *o, int64_t *lengths, int32_t count)
{
    sp__keyed *items = sp__arena_take(&arena, count, sizeof *items);
    sp__keyed *scratch = sp__arena_take(&arena, count, sizeof *items);
    sp__assignment a;

    for (int32_t i = 0; i < count; i++)
        items[i] = (sp__keyed){ lengths[i], i };
    sp__sort_descending(items, scratch, count);
    assert_int_equal(sp__assign(o, items, count, lengths, NULL, &arena, &a), SP_OK);
    return a;
}

static int64_t largest(const sp__assignment *a, int32_t replicas)
{
    int64_t most = 0;

    for (int32_t r = 0; r < replicas; r++)
        most = sp__max(most, a->load[r]);
    return most;
}

/* Each sample is on one replica or in one merge, and loads are the sums of that. */
static void check_assignment(const sp__assignment *a, const int64_t *lengths, int32_t count,
                             int32_t replicas)
{
    int64_t load[16] = { 0 };
    int32_t seen[256] = { 0 };

    for (int32_t r = 0; r < replicas; r++)
        for (int32_t i = a->first[r]; i < a->first[r + 1]; i++) {
            seen[a->sample[i]]++;
            load[r] += lengths[a->sample[i]];
        }
    for (int32_t g = 0; g < a->merges; g++) {
        seen[a->merge[g].sample]++;
        for (int32_t r = 0; r < a->merge[g].replicas; r++)
            load[a->merge[g].first + r] +=
                sp__ceil_div(lengths[a->merge[g].sample], a->merge[g].replicas);
        for (int32_t h = 0; h < g; h++) {
            assert_false(cross(&a->merge[g], &a->merge[h]));
            assert_true(a->merge[h].replicas >= a->merge[g].replicas);
        }
    }
    for (int32_t i = 0; i < count; i++)
        assert_int_equal(seen[i], 1);
    for (int32_t r = 0; r < replicas; r++)
        assert_int_equal(load[r], a->load[r]);
}

static void random_batches_are_assigned_whole_and_within_grahams_bound(void **state)
{
    (void)state;
    for (int round = 0; round < 300; round++) {
        int32_t replicas = 1 + rand() % 12, count = 1 + rand() % 100;
        sp__assign_options o = options_for(replicas, round % 2);
        int64_t lengths[100], sum = 0, longest = 0;
        sp__assignment a;

        for (int32_t i = 0; i < count; i++) {
            lengths[i] = 1 + rand() % (i % 20 == 0 ? 30000 : 1000);
            sum += lengths[i];
            longest = sp__max(longest, lengths[i]);
        }
        a = assign(&o, lengths, count);
        check_assignment(&a, lengths, count, replicas);
        assert_true(largest(&a, replicas) <= sum / replicas + longest);
        if (!o.merges)
            assert_int_equal(a.merges, 0);
        sp__arena_reset(&arena);
    }
}

static void merges_come_only_where_they_are_needed(void **state)
{
    sp__assign_options o = options_for(8, 1);
    int64_t equal[64], one[1] = { 800 };
    sp__assignment a;

    (void)state;
    for (int i = 0; i < 64; i++)
        equal[i] = 100;
    a = assign(&o, equal, 64);
    assert_int_equal(a.merges, 0);
    assert_int_equal(largest(&a, 8), 800);
    a = assign(&o, one, 1);
    assert_int_equal(a.merges, 1);
    assert_int_equal(a.merge[0].replicas, 8);
    assert_int_equal(largest(&a, 8), 100);
    sp__arena_reset(&arena);
}

static void a_sample_too_large_for_a_replica_is_shared(void **state)
{
    sp__assign_options o = options_for(4, 1);
    int64_t lengths[] = { 100, 100, 100, 100 };
    sp__assignment a;

    (void)state;
    o.largest_part = 50;
    a = assign(&o, lengths, 4);
    assert_int_equal(a.merges, 4);
    check_assignment(&a, lengths, 4, 4);
    sp__arena_reset(&arena);
}

/* All ways to place n items on the bins, by recursion. */
static int64_t brute_force(const int64_t *weight, int32_t n, int64_t *load, int32_t bins)
{
    int64_t best = INT64_MAX, most = 0;

    if (n == 0) {
        for (int32_t b = 0; b < bins; b++)
            most = sp__max(most, load[b]);
        return most;
    }
    for (int32_t b = 0; b < bins; b++) {
        load[b] += weight[n - 1];
        best = sp__min(best, brute_force(weight, n - 1, load, bins));
        load[b] -= weight[n - 1];
    }
    return best;
}

static void exact_search_finds_and_proves_the_optimum(void **state)
{
    (void)state;
    for (int round = 0; round < 60; round++) {
        int32_t bins = 2 + rand() % 3, count = 1 + rand() % 7, degree[7];
        int64_t weight[7], load[4] = { 0 };
        sp__exact_place place[7];
        sp__exact_problem problem = { weight, degree, count, bins, 1000000 };
        sp__exact_result result;

        for (int32_t i = 0; i < count; i++) {
            weight[i] = i == 0 ? 1000 : 1 + rand() % weight[i - 1];
            weight[i] = i > 0 && weight[i] > weight[i - 1] ? weight[i - 1] : weight[i];
            degree[i] = 1;
            place[i] = (sp__exact_place){ 0, 1 };
        }
        assert_int_equal(sp__exact_search(&problem, place, &arena, &result), SP_OK);
        assert_int_equal(result.load, brute_force(weight, count, load, bins));
        assert_int_equal(result.bound, result.load);
        for (int32_t i = 0; i < count; i++)
            load[place[i].first] += weight[i];
        for (int32_t b = 0; b < bins; b++)
            assert_true(load[b] <= result.load);
        sp__arena_reset(&arena);
    }
}

static void exact_search_shares_where_that_is_best(void **state)
{
    static const int64_t weight[] = { 80, 20, 20 };
    static const int32_t degree[] = { 4, 4, 4 };
    sp__exact_place place[3] = { { 0, 1 }, { 1, 1 }, { 2, 1 } };
    const sp__exact_problem problem = { weight, degree, 3, 4, 1000000 };
    sp__exact_result result;

    (void)state;
    assert_int_equal(sp__exact_search(&problem, place, &arena, &result), SP_OK);
    assert_int_equal(result.load, 30);
    assert_int_equal(result.bound, 30);
}

/* Cut short, its bound is still one, and the solution no worse than the first. */
static void exact_search_is_limited_by_nodes(void **state)
{
    int64_t weight[30];
    int32_t degree[30];
    sp__exact_place place[30];
    sp__exact_problem problem = { weight, degree, 30, 6, 0 };
    sp__exact_result few, many;

    (void)state;
    for (int i = 0; i < 30; i++) {
        weight[i] = 1000 - 31 * i;
        degree[i] = 1;
        place[i] = (sp__exact_place){ i % 6, 1 };
    }
    problem.max_nodes = 50;
    assert_int_equal(sp__exact_search(&problem, place, &arena, &few), SP_OK);
    assert_true(few.nodes <= 50);
    assert_true(few.bound <= few.load);
    problem.max_nodes = 20000;
    assert_int_equal(sp__exact_search(&problem, place, &arena, &many), SP_OK);
    assert_true(many.load <= few.load);
    assert_true(many.load >= few.bound);
}

static void first_fit_equals_the_naive_way(void **state)
{
    (void)state;
    for (int round = 0; round < 100; round++) {
        int32_t count = 1 + rand() % 200, bins, bin[200], opened = 0;
        int64_t capacity = 50 + rand() % 100, room[200];
        sp__keyed items[200];

        for (int32_t i = 0; i < count; i++)
            items[i] = (sp__keyed){ 1 + rand() % 80, i };
        assert_int_equal(sp__first_fit(items, count, capacity, INT32_MAX, &arena, bin, &bins),
                         SP_OK);
        for (int32_t i = 0; i < count; i++) {
            int64_t size = sp__min(items[i].key, capacity);
            int32_t b = 0;

            while (b < opened && room[b] < size)
                b++;
            if (b == opened)
                room[opened++] = capacity;
            room[b] -= size;
            assert_int_equal(bin[i], b);
        }
        assert_int_equal(bins, opened);
        sp__arena_reset(&arena);
    }
}

static void least_loaded_bins_keep_room_and_samples(void **state)
{
    const sp__keyed items[] = { { 9, 0 }, { 8, 1 }, { 7, 2 }, { 6, 3 }, { 5, 4 } };
    const int64_t size[] = { 9, 8, 7, 6, 5 };
    int32_t bin[5], bins = 1;

    (void)state;
    assert_int_equal(sp__least_loaded(items, size, 5, 15, 2, &arena, bin, &bins), SP_OK);
    for (int32_t b = 0; b < bins; b++) {
        int64_t held = 0;
        int32_t samples = 0;

        for (int i = 0; i < 5; i++)
            if (bin[i] == b) {
                held += size[i];
                samples++;
            }
        assert_true(held <= 15);
        assert_true(samples <= 2);
    }
    assert_int_equal(bins, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_allow_exactly_what_crosses_nothing),
        cmocka_unit_test(random_batches_are_assigned_whole_and_within_grahams_bound),
        cmocka_unit_test(merges_come_only_where_they_are_needed),
        cmocka_unit_test(a_sample_too_large_for_a_replica_is_shared),
        cmocka_unit_test(exact_search_finds_and_proves_the_optimum),
        cmocka_unit_test(exact_search_shares_where_that_is_best),
        cmocka_unit_test(exact_search_is_limited_by_nodes),
        cmocka_unit_test(first_fit_equals_the_naive_way),
        cmocka_unit_test(least_loaded_bins_keep_room_and_samples),
    };

    return cmocka_run_group_tests(tests, start, end);
}
