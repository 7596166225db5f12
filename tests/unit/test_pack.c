/*
 * test_pack.c - an assignment becomes packs: equal counts, merges alike and first.
 */
#include "partition/pack.h"

#include <string.h>

#include "../support/expect.h"
#include "../support/hand_plan.h"
#include "../support/random_case.h"
#include "schedule/loads.h"
#include "schedule/writer.h"

enum { SAMPLES = 40, PACKS = 256 };

typedef struct pack_case {
    hand_plan h;
    sp__yardstick yardstick;
    sp__keyed sorted[SAMPLES];
    sp__assignment assignment;
    sp__packing packing;
    int32_t weight[2][PACKS];
} pack_case;

static void sort_samples(pack_case *c)
{
    sp__keyed scratch[SAMPLES];

    for (int32_t i = 0; i < c->h.samples; i++) {
        int64_t n = c->h.lengths[i];

        c->sorted[i] = (sp__keyed){ sp__sample_cost(&c->yardstick, n), i };
        for (int pass = 0; pass < 2; pass++)
            c->packing.pass_cost[pass] += sp__slice_cost(&c->yardstick, pass, 0, n, n);
    }
    sp__sort_descending(c->sorted, scratch, c->h.samples);
}

/* Assigns the samples; packs come later, since fewest may raise their counts. */
static void open_case(pack_case *c, const char *topology, const int64_t *lengths, int32_t count,
                      int32_t merges)
{
    int32_t replicas;

    memset(c, 0, sizeof *c);
    hand_open(&c->h, topology, 1, 1);
    replicas = c->h.draft.lanes;
    c->yardstick = (sp__yardstick){ { HAND_PS(20), HAND_PS(40) }, { HAND_PS(1), HAND_PS(3) },
                                    { INT64_MAX, 1 }, 8, 0, 0 };
    for (int32_t i = 0; i < count; i++)
        hand_sample(&c->h, lengths[i]);
    sort_samples(c);
    assert_int_equal(sp__assign(&(sp__assign_options){ .replicas = replicas, .merges = merges,
                                                       .max_degree = replicas,
                                                       .shortest_part = 16, .node_replicas = 1,
                                                       .rounds = 8, .largest_part = INT64_MAX },
                                c->sorted, count, c->h.lengths, NULL, &c->h.arena[0],
                                &c->assignment), SP_OK);
    c->packing.yardstick = &c->yardstick;
    c->packing.assignment = &c->assignment;
    c->packing.lengths = c->h.lengths;
    c->packing.samples = count;
    c->packing.replicas = replicas;
    c->packing.sliceable = 1;
    c->packing.limit = (sp__limit){ INT64_MAX, INT32_MAX, c->h.draft.cp, 1 };
    c->packing.arena = &c->h.arena[0];
    for (int pass = 0; pass < 2; pass++)
        for (int32_t k = 0; k < PACKS; k++)
            c->weight[pass][k] = 1;
}

static void pack(pack_case *c, int32_t forward, int32_t backward)
{
    sp__draft *d = &c->h.draft;

    c->packing.shares = (sp__shares){ { c->weight[0], c->weight[1] }, { forward, backward } };
    d->packs[0] = forward;
    d->packs[1] = backward;
    d->merge = c->assignment.merge;
    d->merges = c->assignment.merges;
    d->alignment = c->yardstick.alignment;
    assert_int_equal(sp__pack_merges(&c->packing, -1), SP_OK);
    for (int32_t r = 0; r < d->lanes; r++) {
        assert_int_equal(sp__pack_lane(&c->packing, r, d, &c->h.arena[0]), SP_OK);
        assert_int_equal(sp__lane_finish(d, r, c->h.lengths, c->h.samples,
                                         &c->yardstick.attention, &c->h.arena[0]), SP_OK);
    }
}

/* I1 to I8 by the library's own check, on the simulator's order. */
static void expect_valid(pack_case *c)
{
    sp_schedule *s = hand_schedule(&c->h);

    if (sp_schedule_check(s) != SP_OK)
        fail_msg("%s", sp_error_message());
    sp_schedule_destroy(s);
}

static void expect_counts(const pack_case *c)
{
    for (int32_t r = 0; r < c->h.draft.lanes; r++)
        for (int pass = 0; pass < 2; pass++)
            assert_int_equal(c->h.lane[r].pass[pass].count, c->h.draft.packs[pass]);
}

/* Once a replica runs a pack of its own, no merged one follows; and merges come in
 * the assignment's order. */
static void expect_merges_first(const pack_case *c)
{
    for (int32_t r = 0; r < c->h.draft.lanes; r++)
        for (int pass = 0; pass < 2; pass++) {
            const sp__packs *p = &c->h.lane[r].pass[pass];
            int32_t last = -1, own = 0;

            for (int32_t k = 0; k < p->count; k++) {
                if (p->first[k + 1] == p->first[k])
                    continue;
                own |= p->merge[k] < 0;
                if (p->merge[k] < 0)
                    continue;
                assert_false(own);
                assert_true(p->merge[k] >= last);
                last = p->merge[k];
            }
        }
}

static int32_t random_samples(uint64_t *seed, int64_t *lengths)
{
    int32_t count = 1 + (int32_t)random_below(seed, SAMPLES);

    for (int32_t i = 0; i < count; i++)
        lengths[i] = 1 + (random_below(seed, 10) == 0 ? random_below(seed, 8000)
                                                      : random_below(seed, 600));
    return count;
}

static const char *const topologies[] = { "dp=1", "dp=2 pp=2", "dp=3", "dp=4 pp=2 cp=2" };

static void random_batches_become_valid_packs(void **state)
{
    static pack_case c;
    uint64_t seed = 81;
    int merged = 0;

    (void)state;
    for (int i = 0; i < 150; i++) {
        int64_t lengths[SAMPLES];
        int32_t count = random_samples(&seed, lengths), fewest[2];

        open_case(&c, topologies[i % 4], lengths, count, 1);
        assert_int_equal(sp__pack_fewest(&c.packing, fewest), SP_OK);
        pack(&c, fewest[0] + (int32_t)random_below(&seed, 12),
             fewest[1] + (int32_t)random_below(&seed, 12));
        expect_counts(&c);
        expect_merges_first(&c);
        expect_valid(&c);
        merged += c.assignment.merges;
        hand_free(&c.h);
    }
    assert_true(merged > 30);
}

static int64_t most_of_a_rank(const pack_case *c)
{
    int64_t most = 0;

    for (int32_t r = 0; r < c->h.draft.lanes; r++)
        for (int pass = 0; pass < 2; pass++) {
            const sp__packs *p = &c->h.lane[r].pass[pass];

            for (int32_t i = 0; i < p->count * c->h.draft.cp; i++)
                most = sp__max(most, p->load[i].tokens);
        }
    return most;
}

/* With one rank a replica a slice takes its own tokens, whatever cuts it. */
static void the_fewest_packs_keep_the_limit(void **state)
{
    static pack_case c;
    uint64_t seed = 82;

    (void)state;
    for (int i = 0; i < 150; i++) {
        int64_t lengths[SAMPLES], cap = 200 + random_below(&seed, 600);
        int32_t count = random_samples(&seed, lengths), fewest[2];

        open_case(&c, topologies[i % 3], lengths, count, 0);
        c.packing.limit.tokens = cap;
        assert_int_equal(sp__pack_fewest(&c.packing, fewest), SP_OK);
        pack(&c, fewest[0] + (int32_t)random_below(&seed, 3),
             fewest[1] + (int32_t)random_below(&seed, 3));
        assert_true(most_of_a_rank(&c) <= cap);
        expect_valid(&c);
        hand_free(&c.h);
    }
}

/* One sample on four replicas: every member runs every pack, a quarter each. */
static void a_shared_sample_takes_all_packs_when_there_is_nothing_else(void **state)
{
    static const int64_t lengths[] = { 6400 };
    static pack_case c;

    (void)state;
    open_case(&c, "dp=4", lengths, 1, 1);
    assert_int_equal(c.assignment.merges, 1);
    assert_int_equal(c.assignment.merge[0].replicas, 4);
    pack(&c, 5, 8);
    for (int32_t r = 0; r < 4; r++)
        for (int pass = 0; pass < 2; pass++)
            for (int32_t k = 0; k < c.h.draft.packs[pass]; k++) {
                assert_int_equal(c.h.lane[r].pass[pass].merge[k], 0);
                assert_true(c.h.lane[r].pass[pass].load[k].tokens > 0);
            }
    expect_valid(&c);
    hand_free(&c.h);
}

static void whole_samples_stay_whole(void **state)
{
    static pack_case c;
    uint64_t seed = 83;

    (void)state;
    for (int i = 0; i < 50; i++) {
        int64_t lengths[SAMPLES];
        int32_t count = random_samples(&seed, lengths);

        open_case(&c, topologies[i % 4], lengths, count, 0);
        c.packing.sliceable = 0;
        pack(&c, 6, 9);
        for (int32_t r = 0; r < c.h.draft.lanes; r++) {
            const sp__packs *p = &c.h.lane[r].pass[SP_FORWARD];

            for (int32_t j = 0; j < p->first[p->count]; j++)
                assert_int_equal(p->slices[j].length, lengths[p->slices[j].sample]);
        }
        expect_valid(&c);
        hand_free(&c.h);
    }
}

/* Made alone, a replica is the same as made with all others. */
static void one_replica_alone_gets_the_same_packs(void **state)
{
    static const int64_t lengths[] = { 9000, 4000, 800, 700, 600, 500, 400, 300, 200, 100 };
    static pack_case c;

    (void)state;
    open_case(&c, "dp=4", lengths, 10, 1);
    assert_true(c.assignment.merges > 0);
    pack(&c, 12, 16);
    for (int32_t r = 0; r < 4; r++) {
        sp__lane alone[HAND_LANES];
        sp__draft d = c.h.draft;

        d.lane = alone;
        assert_int_equal(sp__pack_merges(&c.packing, r), SP_OK);
        assert_int_equal(sp__pack_lane(&c.packing, r, &d, &c.h.arena[0]), SP_OK);
        for (int pass = 0; pass < 2; pass++) {
            const sp__packs *a = &alone[r].pass[pass], *b = &c.h.lane[r].pass[pass];

            assert_memory_equal(a->first, b->first, ((size_t)b->count + 1) * sizeof *a->first);
            assert_memory_equal(a->merge, b->merge, (size_t)b->count * sizeof *a->merge);
            assert_memory_equal(a->slices, b->slices,
                                (size_t)b->first[b->count] * sizeof *a->slices);
        }
    }
    hand_free(&c.h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_batches_become_valid_packs),
        cmocka_unit_test(the_fewest_packs_keep_the_limit),
        cmocka_unit_test(a_shared_sample_takes_all_packs_when_there_is_nothing_else),
        cmocka_unit_test(whole_samples_stay_whole),
        cmocka_unit_test(one_replica_alone_gets_the_same_packs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
