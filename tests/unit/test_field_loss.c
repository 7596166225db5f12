/*
 * test_field_loss.c - small inputs that broke other planners, kind E: what a token,
 * a pack and a sample weigh in the loss.
 *
 * The denominator is that of the global batch, sp_stats::tokens, for every pack, rank
 * and degree; a pack's weight is its tokens over that. The library knows no labels:
 * frameworks that mask tokens find every token's sample and place in the views.
 */
#include "../support/planned.h"
#include "../support/random_case.h"

/* Tokens of all packs of a pass; a shared pack counts once, with its first replica. */
static int64_t weight_of_packs(const planned *p, int32_t dp, sp_pass pass)
{
    int64_t sum = 0;

    for (int32_t r = 0; r < dp; r++)
        for (int32_t k = 0; k < sp_schedule_pack_count(p->schedule, pass); k++) {
            sp_pack_view v = pack_of(p, r, 0, pass, k);
            sp_merge_view merge = SP_MERGE_VIEW_INIT;

            if (v.merge >= 0)
                assert_int_equal(sp_schedule_merge(p->schedule, v.merge, &merge), SP_OK);
            if (v.merge < 0 || merge.first_replica == r)
                sum += v.pack_tokens;
        }
    return sum;
}

/* The weights are 10/12 and 2/12, not a half each. */
static void e1_packs_weigh_their_tokens(void **state)
{
    const plan_input in = { .topology = "dp=1",
                            .set = { { SP_PLANNER_MAX_PACK_TOKENS, 10 },
                                     { SP_PLANNER_FORWARD_PACKS, 2 },
                                     { SP_PLANNER_BACKWARD_PACKS, 2 },
                                     { SP_PLANNER_KEEP_ORDER, 1 } },
                            LENGTHS(10, 2) };
    planned p = plan_it(&in);

    (void)state;
    assert_int_equal(pack_of(&p, 0, 0, SP_FORWARD, 0).pack_tokens, 10);
    assert_int_equal(pack_of(&p, 0, 0, SP_FORWARD, 1).pack_tokens, 2);
    assert_int_equal(p.stats.tokens, 12);
    planned_free(&p);
}

static void e2_one_denominator_serves_all_packs_and_passes(void **state)
{
    const plan_input in = { .topology = "dp=1", .set = { { SP_PLANNER_MAX_PACK_TOKENS, 6 } },
                            LENGTHS(3, 3, 6) };
    planned p = plan_it(&in);

    (void)state;
    assert_int_equal(p.stats.tokens, 12);
    assert_int_equal(weight_of_packs(&p, 1, SP_FORWARD), 12);
    assert_int_equal(weight_of_packs(&p, 1, SP_BACKWARD), 12);
    planned_free(&p);
}

/* A replica without work has packs of weight 0, flagged; the denominator is no 0. */
static void e4_a_replica_without_tokens_weighs_nothing(void **state)
{
    const plan_input in = { .topology = "dp=2", LENGTHS(8) };
    planned p = plan_it(&in);
    int32_t empty = 0;

    (void)state;
    for (int32_t r = 0; r < 2; r++) {
        if (filled_packs(&p, r, SP_FORWARD) > 0)
            continue;
        empty++;
        for (int32_t k = 0; k < p.stats.forward_packs; k++) {
            assert_int_equal(pack_of(&p, r, 0, SP_FORWARD, k).pack_tokens, 0);
            assert_true(pack_of(&p, r, 0, SP_FORWARD, k).flags & SP_PACK_EMPTY);
        }
    }
    assert_int_equal(empty, 1);
    assert_int_equal(p.stats.tokens, 8);
    planned_free(&p);
}

/* A half for each sample: 1/4 a token of the first, 1/16 a token of the second. */
static void e5_a_mean_over_samples_is_read_off_the_views(void **state)
{
    const plan_input in = { .topology = "dp=1",
                            .set = { { SP_PLANNER_FORWARD_PACKS, 1 },
                                     { SP_PLANNER_BACKWARD_PACKS, 1 },
                                     { SP_PLANNER_KEEP_ORDER, 1 } },
                            LENGTHS(2, 8) };
    planned p = plan_it(&in);
    sp_pack_view v = pack_of(&p, 0, 0, SP_FORWARD, 0);
    const int64_t *lengths = sp_schedule_lengths(p.schedule);
    int64_t sixteenths = 0;

    (void)state;
    assert_int_equal(v.count, 2);
    assert_int_equal(p.stats.samples * lengths[v.sample[0]], 4);
    assert_int_equal(p.stats.samples * lengths[v.sample[1]], 16);
    for (int32_t i = 0; i < v.count; i++)
        sixteenths += 16 / (p.stats.samples * lengths[v.sample[i]]) *
                      (v.cu_seqlens_q[i + 1] - v.cu_seqlens_q[i]);
    assert_int_equal(sixteenths, 16);
    planned_free(&p);
}

/* Five samples in steps of two: each step is a batch, the last one has a sample. */
static void e7_the_last_step_has_the_weight_of_its_own_tokens(void **state)
{
    const int64_t lengths[] = { 5, 6, 7, 8, 9 };
    int64_t samples = 0;

    (void)state;
    for (int64_t at = 0; at < 5; at += 2) {
        const plan_input in = { .topology = "dp=2", .count = at + 2 <= 5 ? 2 : 5 - at,
                                .lengths = lengths + at };
        planned p = plan_it(&in);

        samples += p.stats.samples;
        assert_int_equal(weight_of_packs(&p, 2, SP_FORWARD), p.stats.tokens);
        if (at == 4)
            assert_int_equal(p.stats.tokens, 9);
        planned_free(&p);
    }
    assert_int_equal(samples, 5);
}

enum { SWEEP_SAMPLES = 9 };

static const char *const topologies[] = { "dp=1", "dp=3", "dp=2 cp=2", "dp=4 pp=2", "cp=3 pp=3" };
static const int32_t replicas[] = { 1, 3, 2, 4, 1 };

static planned plan_some(int i, uint64_t *seed, int64_t *lengths)
{
    const plan_input in = { .topology = topologies[i % 5],
                            .set = { { SP_PLANNER_MAX_PACKS, 1 + i % 7 },
                                     { SP_PLANNER_ALIGNMENT, 1 + i % 3 } },
                            .count = 1 + i % SWEEP_SAMPLES, .lengths = lengths };

    for (int64_t j = 0; j < in.count; j++)
        lengths[j] = 1 + random_below(seed, j == 0 ? 400 : 40);
    return plan_it(&in);
}

/* Whatever the degrees, slices and merges, the packs' weights add up to one. */
static void e_weights_of_packs_add_up_to_one(void **state)
{
    uint64_t seed = 3;
    int merged = 0;

    (void)state;
    for (int i = 0; i < 300; i++) {
        int64_t lengths[SWEEP_SAMPLES];
        planned p = plan_some(i, &seed, lengths);

        for (sp_pass pass = 0; pass < 2; pass++)
            assert_int_equal(weight_of_packs(&p, replicas[i % 5], pass), p.stats.tokens);
        merged += p.stats.merges > 0;
        planned_free(&p);
    }
    assert_true(merged > 0);
}

/* So do those of ranks, and each sample's tokens over all shards are its length: a
 * mean over samples is as exact, however often a sample is cut. */
static void e_weights_of_ranks_and_samples_add_up_to_one(void **state)
{
    uint64_t seed = 5;
    int cut = 0;

    (void)state;
    for (int i = 0; i < 300; i++) {
        int64_t lengths[SWEEP_SAMPLES], seen[SWEEP_SAMPLES] = { 0 }, sum = 0;
        planned p = plan_some(i, &seed, lengths);

        for (int32_t rank = 0; rank < sp_topology_size(p.topology); rank++) {
            sp_coordinates at = SP_COORDINATES_INIT;

            assert_int_equal(sp_topology_coordinates(p.topology, rank, &at), SP_OK);
            for (int32_t k = 0; at.pp == 0 && k < p.stats.backward_packs; k++) {
                sp_pack_view v = SP_PACK_VIEW_INIT;

                assert_int_equal(sp_schedule_pack(p.schedule, rank, SP_BACKWARD, k, &v), SP_OK);
                sum += v.tokens;
                for (int32_t j = 0; j < v.count; j++)
                    seen[v.sample[j]] += v.cu_seqlens_q[j + 1] - v.cu_seqlens_q[j];
            }
        }
        assert_int_equal(sum, p.stats.tokens);
        for (int64_t j = 0; j < p.stats.samples; j++)
            assert_int_equal(seen[j], lengths[j]);
        cut += p.stats.slices > p.stats.samples;
        planned_free(&p);
    }
    assert_true(cut > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(e1_packs_weigh_their_tokens),
        cmocka_unit_test(e2_one_denominator_serves_all_packs_and_passes),
        cmocka_unit_test(e4_a_replica_without_tokens_weighs_nothing),
        cmocka_unit_test(e5_a_mean_over_samples_is_read_off_the_views),
        cmocka_unit_test(e7_the_last_step_has_the_weight_of_its_own_tokens),
        cmocka_unit_test(e_weights_of_packs_add_up_to_one),
        cmocka_unit_test(e_weights_of_ranks_and_samples_add_up_to_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
