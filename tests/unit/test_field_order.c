/*
 * test_field_order.c - small inputs that broke other planners, kind F: which sample a
 * result belongs to, in which order samples run, and whether checks look.
 *
 * Every shard carries its sample and its place in it, so results map back to input
 * order by a permutation; empty packs have nothing to map.
 */
#include <string.h>

#include "../support/planned.h"
#include "../support/random_case.h"

/* Walks a pass rank by rank in the order to run: how often each token turns up.
 * hits [tokens of the batch]. */
static void count_tokens(const planned *p, sp_pass pass, const int64_t *first, int32_t *hits)
{
    for (int32_t rank = 0; rank < sp_topology_size(p->topology); rank++) {
        sp_coordinates at = SP_COORDINATES_INIT;

        assert_int_equal(sp_topology_coordinates(p->topology, rank, &at), SP_OK);
        for (int32_t k = 0; at.pp == 0 && k < sp_schedule_pack_count(p->schedule, pass); k++) {
            sp_pack_view v = SP_PACK_VIEW_INIT;

            assert_int_equal(sp_schedule_pack(p->schedule, rank, pass, k, &v), SP_OK);
            for (int32_t i = 0; i < v.count; i++)
                for (int32_t t = 0; t < v.cu_seqlens_q[i + 1] - v.cu_seqlens_q[i]; t++)
                    hits[first[v.sample[i]] + v.start[i] + t]++;
        }
    }
}

/* Three packs for what fits two: the third is filler, and leaks into nothing. */
static void f1_results_map_back_by_a_permutation(void **state)
{
    const plan_input in = { .topology = "dp=1",
                            .set = { { SP_PLANNER_MAX_PACK_TOKENS, 10 }, { SP_PLANNER_SLICING, 0 },
                                     { SP_PLANNER_MAX_PACK_SAMPLES, 2 },
                                     { SP_PLANNER_FORWARD_PACKS, 5 },
                                     { SP_PLANNER_BACKWARD_PACKS, 5 } },
                            LENGTHS(1, 9, 2, 8) };
    planned p = plan_it(&in);
    int32_t seen[4] = { 0 }, results = 0, filler = 0;

    (void)state;
    for (int32_t k = 0; k < p.stats.forward_packs; k++) {
        sp_pack_view v = pack_of(&p, 0, 0, SP_FORWARD, k);

        filler += v.count == 0;
        for (int32_t i = 0; i < v.count; i++, results++)
            seen[v.sample[i]]++;
    }
    assert_int_equal(results, 4);
    assert_true(filler > 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(seen[i], 1);
    planned_free(&p);
}

static void f4_samples_keep_their_order_when_asked_to(void **state)
{
    const plan_input in = {.topology = "dp=1",
                           .set = {{SP_PLANNER_MAX_PACK_TOKENS, 6},
                                   {SP_PLANNER_KEEP_ORDER, 1},
                                   {SP_PLANNER_FORWARD_PACKS, 2},
                                   {SP_PLANNER_BACKWARD_PACKS, 2}},
                           LENGTHS(5, 1, 5, 1)};
    planned p = plan_it(&in);

    (void)state;
    for (int32_t k = 0; k < 2; k++) {
        sp_slice_view v = slices_of(&p, 0, SP_FORWARD, k);

        assert_int_equal(v.count, 2);
        assert_int_equal(v.sample[0], 2 * k);
        assert_int_equal(v.sample[1], 2 * k + 1);
    }
    planned_free(&p);
}

/* A pack of one whole sample, or an empty one, with its op. */
static void add_pack(sp_builder *b, int32_t replica, sp_pass pass, int32_t pack, int32_t count)
{
    const int32_t slice[] = { replica, 0, 8 };
    const int64_t start = 10 * (pass == SP_FORWARD ? pack : 10 + pack);

    assert_int_equal(sp_builder_add_pack(b, replica, pass, -1, count, slice), SP_OK);
    assert_int_equal(sp_builder_add_shards(b, replica, pass, 0, count, slice), SP_OK);
    assert_int_equal(sp_builder_add_op(b, replica, 0, pass, pack, 0, start, start + 10), SP_OK);
}

/* Finishes a plan of four replicas of which one may have a pack more; the schedule is
 * destroyed again. */
static sp_status finish(int32_t uneven, sp_pass uneven_pass)
{
    const int64_t lengths[] = { 8, 8, 8, 8 };
    sp_schedule *schedule = NULL;
    sp_topology *topology;
    sp_builder *b;
    sp_batch *batch;
    sp_status status;

    assert_int_equal(sp_topology_parse("dp=4", &topology), SP_OK);
    assert_int_equal(sp_batch_create(lengths, 4, NULL, &batch), SP_OK);
    assert_int_equal(sp_builder_create(topology, batch, NULL, &b), SP_OK);
    for (int32_t r = 0; r < 4; r++)
        for (sp_pass pass = 0; pass < 2; pass++) {
            add_pack(b, r, pass, 0, 1);
            if (r == uneven && pass == uneven_pass)
                add_pack(b, r, pass, 1, 0);
        }
    status = sp_builder_finish(b, &schedule);
    sp_schedule_destroy(schedule);
    sp_builder_destroy(b);
    sp_batch_destroy(batch);
    sp_topology_destroy(topology);
    return status;
}

/* I6 counts the packs of each replica, wherever the odd one stands. */
static void f6_uneven_packs_of_a_replica_are_noticed(void **state)
{
    (void)state;
    assert_int_equal(finish(-1, SP_FORWARD), SP_OK);
    for (int32_t r = 0; r < 4; r++)
        for (sp_pass pass = 0; pass < 2; pass++) {
            assert_int_equal(finish(r, pass), SP_ERR_INVARIANT);
            assert_int_equal(strncmp(sp_error_message(), "I6", 2), 0);
        }
}

enum { SWEEP_SAMPLES = 12, SWEEP_TOKENS = 300 + SWEEP_SAMPLES * 30 };

static const char *const topologies[] = { "dp=1", "dp=2", "dp=3 cp=2", "dp=2 pp=3", "cp=4 tp=1" };

/* Lengths of case i, and where each sample's tokens start among all. */
static int64_t draw(int i, uint64_t *seed, int64_t *lengths, int64_t *first)
{
    int64_t count = 1 + i % SWEEP_SAMPLES;

    for (int64_t j = 0, at = 0; j < count; at += lengths[j++]) {
        first[j] = at;
        lengths[j] = 1 + random_below(seed, j == 0 ? 300 : 30);
    }
    return count;
}

/* Every token once in each pass: packed results are a permutation of the input. */
static void f_each_pass_is_a_permutation_of_the_tokens(void **state)
{
    uint64_t seed = 13;

    (void)state;
    for (int i = 0; i < 300; i++) {
        int64_t lengths[SWEEP_SAMPLES], first[SWEEP_SAMPLES];
        const plan_input in = { .topology = topologies[i % 5],
                                .set = { { SP_PLANNER_MAX_PACKS, 1 + i % 9 },
                                         { SP_PLANNER_ALIGNMENT, 1 + i % 4 } },
                                .count = draw(i, &seed, lengths, first), .lengths = lengths };
        planned p = plan_it(&in);

        for (sp_pass pass = 0; pass < 2; pass++) {
            int32_t hits[SWEEP_TOKENS] = { 0 };

            count_tokens(&p, pass, first, hits);
            for (int64_t t = 0; t < p.stats.tokens; t++)
                assert_int_equal(hits[t], 1);
        }
        planned_free(&p);
    }
}

/* With keep_order the samples that a replica has to itself run by increasing index. */
static void f_order_is_kept_on_every_replica(void **state)
{
    uint64_t seed = 17;

    (void)state;
    for (int i = 0; i < 300; i++) {
        int64_t lengths[SWEEP_SAMPLES], first[SWEEP_SAMPLES];
        const plan_input in = { .topology = i % 2 == 0 ? "dp=1" : "dp=3",
                                .set = { { SP_PLANNER_KEEP_ORDER, 1 }, { SP_PLANNER_MERGES, 0 },
                                         { SP_PLANNER_SLICING, i / 2 % 2 },
                                         { SP_PLANNER_MAX_PACK_TOKENS, 300 + i % 5 } },
                                .count = draw(i, &seed, lengths, first), .lengths = lengths };
        planned p = plan_it(&in);

        for (int32_t r = 0; r < sp_topology_size(p.topology); r++) {
            int32_t last = -1;

            for (int32_t k = 0; k < p.stats.forward_packs; k++) {
                sp_slice_view v = slices_of(&p, r, SP_FORWARD, k);

                for (int32_t j = 0; j < v.count; last = v.sample[j++])
                    assert_true(v.sample[j] >= last);
            }
        }
        planned_free(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(f1_results_map_back_by_a_permutation),
        cmocka_unit_test(f4_samples_keep_their_order_when_asked_to),
        cmocka_unit_test(f6_uneven_packs_of_a_replica_are_noticed),
        cmocka_unit_test(f_each_pass_is_a_permutation_of_the_tokens),
        cmocka_unit_test(f_order_is_kept_on_every_replica),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
