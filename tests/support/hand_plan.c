/*
 * hand_plan.c - drafts written by hand: see hand_plan.h.
 */
#include "hand_plan.h"

#include <string.h>

#include "expect.h"
#include "random_case.h"
#include "schedule/loads.h"
#include "schedule/writer.h"

enum { MOST_SLICES = 512 };

static void *take(hand_plan *h, int64_t count, size_t size)
{
    void *p = sp__arena_take(&h->arena[0], count, size);

    assert_non_null(p);
    memset(p, 0xa5, (size_t)count * size);
    return p;
}

static void open_machine(hand_plan *h)
{
    int32_t pp = h->shape.degree[SP__PP];

    for (int32_t s = 0; s < pp; s++) {
        h->stage[s] = (sp__stage_rates){ .layers = 1 };
        h->stage[s].pass[SP_FORWARD] = (sp__rate){ .token = HAND_PS(2), .compute = HAND_PS(2) };
        h->stage[s].pass[SP_BACKWARD] = (sp__rate){ .token = HAND_PS(3), .compute = HAND_PS(3) };
        h->memory[s] = (sp__stage_memory){ .fixed = 100, .token = 1 };
    }
    h->rates = (sp__rates){ .stage = h->stage, .stages = pp, .pp = pp, .chunks = 1,
                            .exchange_percent = 100,
                            .cp = h->shape.degree[SP__CP],
                            .attention = { INT64_MAX, 1 }, .intra = { INT64_MAX, 0 },
                            .inter = { INT64_MAX, 0 }, .devices_per_node = 8 };
    h->workers = (sp__workers){ h->arena, 1 };
    h->sim = (sp__sim){ .rates = &h->rates, .memory = h->memory, .shape = &h->shape,
                        .draft = &h->draft, .run_ahead = 32, .workers = &h->workers };
}

static void open_lane(hand_plan *h, int32_t lane)
{
    for (int pass = 0; pass < 2; pass++) {
        sp__packs *packs = &h->lane[lane].pass[pass];

        packs->count = h->draft.packs[pass];
        packs->first = take(h, (int64_t)packs->count + 1, sizeof *packs->first);
        packs->merge = take(h, packs->count, sizeof *packs->merge);
        packs->load = take(h, (int64_t)packs->count * h->draft.cp, sizeof *packs->load);
        packs->slices = take(h, MOST_SLICES, sizeof *packs->slices);
        packs->first[0] = 0;
    }
}

void hand_open(hand_plan *h, const char *topology, int32_t forward_packs, int32_t backward_packs)
{
    sp_topology *t;

    memset(h, 0, sizeof *h);
    assert_int_equal(sp_topology_parse(topology, &t), SP_OK);
    h->shape = t->shape;
    sp_topology_destroy(t);
    assert_true(h->shape.degree[SP__DP] <= HAND_LANES && h->shape.degree[SP__PP] <= HAND_STAGES);
    assert_int_equal(sp__alloc_init(&h->alloc, NULL), SP_OK);
    for (int i = 0; i < HAND_THREADS; i++)
        sp__arena_init(&h->arena[i], &h->alloc);
    open_machine(h);
    h->draft = (sp__draft){ .flow = { 1, 0 }, .lane = h->lane, .lanes = h->shape.degree[SP__DP],
                            .cp = h->shape.degree[SP__CP],
                            .packs = { forward_packs, backward_packs }, .merge = h->merge,
                            .alignment = 1, .pad_multiple = 1 };
    for (int32_t r = 0; r < h->draft.lanes; r++)
        open_lane(h, r);
}

int32_t hand_sample(hand_plan *h, int64_t length)
{
    assert_true(h->samples < HAND_SAMPLES);
    h->lengths[h->samples] = length;
    return h->samples++;
}

int32_t hand_merge(hand_plan *h, int32_t sample, int32_t first, int32_t replicas)
{
    assert_true(h->draft.merges < HAND_MERGES);
    h->merge[h->draft.merges] = (sp__merge){ sample, first, replicas };
    return h->draft.merges++;
}

void hand_pack(hand_plan *h, int32_t lane, int pass, int32_t merge, int32_t count,
               const sp__slice *slices)
{
    sp__packs *packs = &h->lane[lane].pass[pass];
    int32_t k = h->filled[lane][pass]++, at = packs->first[k];

    assert_true(k < packs->count && at + count <= MOST_SLICES);
    packs->merge[k] = merge;
    for (int32_t i = 0; i < count; i++)
        packs->slices[at + i] = slices[i];
    packs->first[k + 1] = at + count;
}

void hand_close(hand_plan *h)
{
    int64_t stages = (int64_t)h->draft.lanes * h->rates.stages;
    sp__timeline *t = &h->timeline;

    for (int32_t r = 0; r < h->draft.lanes; r++) {
        assert_int_equal(h->filled[r][0], h->draft.packs[0]);
        assert_int_equal(h->filled[r][1], h->draft.packs[1]);
        assert_int_equal(sp__lane_finish(&h->draft, r, h->lengths, h->samples,
                                         &h->rates.attention, &h->arena[0]), SP_OK);
    }
    t->ops = h->draft.packs[0] + h->draft.packs[1];
    t->op = take(h, stages * t->ops, sizeof *t->op);
    t->start = take(h, stages * t->ops, sizeof *t->start);
    t->end = take(h, stages * t->ops, sizeof *t->end);
    t->stage = take(h, stages * h->draft.cp, sizeof *t->stage);
}

struct sp_schedule *hand_schedule(hand_plan *h)
{
    struct sp_schedule *s;

    assert_int_equal(sp__schedule_from_draft(&h->alloc, NULL, &h->shape, &h->draft, h->lengths,
                                             h->samples, &h->arena[0], &s), SP_OK);
    assert_int_equal(sp__simulate_greedy(&h->sim, &s->timeline), SP_OK);
    s->stats.memory_bytes = INT64_MAX;
    return s;
}

void hand_free(hand_plan *h)
{
    for (int i = 0; i < HAND_THREADS; i++)
        sp__arena_destroy(&h->arena[i]);
}

void hand_equal_packs(hand_plan *h, const char *topology, int32_t packs, int64_t tokens)
{
    hand_open(h, topology, packs, packs);
    for (int32_t r = 0; r < h->draft.lanes; r++)
        for (int32_t k = 0; k < packs; k++) {
            sp__slice slice = { hand_sample(h, tokens), 0, (int32_t)tokens, SP__SPLIT };

            hand_pack(h, r, SP_FORWARD, -1, 1, &slice);
            hand_pack(h, r, SP_BACKWARD, -1, 1, &slice);
        }
    hand_close(h);
}

int32_t hand_find(const hand_plan *h, int32_t lane, int32_t stage, int pass, int32_t pack)
{
    for (int32_t i = 0; i < h->timeline.ops; i++)
        if (h->timeline.op[hand_at(h, lane, stage, i)] == sp__op(pack, 0, pass))
            return i;
    fail_msg("%s pack %d does not run on stage %d of replica %d", pass ? "backward" : "forward",
             (int)pack, (int)stage, (int)lane);
    return -1;
}


/* Slices of a sample by increasing start, or by decreasing start. */
static int32_t slice_sample(uint64_t *seed, int32_t sample, int64_t length, sp__slice *out)
{
    int32_t count = 0;

    for (int32_t at = 0; at < length;) {
        int32_t most = (int32_t)length - at;
        int32_t n = random_below(seed, 3) == 0 ? most : (int32_t)random_below(seed, most) + 1;

        out[count++] = (sp__slice){ sample, at, n, SP__SPLIT };
        at += n;
    }
    return count;
}

static void reverse(const sp__slice *from, int32_t count, sp__slice *to)
{
    for (int32_t i = 0; i < count; i++)
        to[i] = from[count - 1 - i];
}

/* Packs of a stream: cut at random places, the last pack takes the rest. */
static void put_packs(hand_plan *h, uint64_t *seed, int32_t lane, int pass, int32_t merge,
                      int32_t packs, const sp__slice *slices, int32_t count)
{
    int32_t at = 0;

    for (int32_t k = 0; k < packs; k++) {
        int32_t n = k + 1 == packs ? count - at : (int32_t)random_below(seed, count - at + 1);

        hand_pack(h, lane, pass, n > 0 ? merge : -1, n, slices + at);
        at += n;
    }
}

/* Each merge has one pack in each pass, or two forward, alike in all its replicas. */
static void put_merge(hand_plan *h, uint64_t *seed, int32_t first, int32_t replicas)
{
    sp__slice forward[64], backward[64];
    int64_t length = 8 * replicas + random_below(seed, 40);
    int32_t sample = hand_sample(h, length), count = 1;
    int32_t merge = hand_merge(h, sample, first, replicas);
    int32_t half = (int32_t)length / 2;

    forward[0] = (sp__slice){ sample, 0, (int32_t)length, SP__SPLIT };
    if (random_below(seed, 2)) {
        forward[0].length = half;
        forward[1] = (sp__slice){ sample, half, (int32_t)length - half, SP__SPLIT };
        count = 2;
    }
    reverse(forward, count, backward);
    for (int32_t r = first; r < first + replicas; r++) {
        hand_pack(h, r, SP_FORWARD, merge, 1, forward);
        hand_pack(h, r, SP_FORWARD, count > 1 ? merge : -1, count - 1, forward + 1);
        hand_pack(h, r, SP_BACKWARD, merge, count, backward);
    }
}

static void put_own(hand_plan *h, uint64_t *seed, int32_t lane)
{
    sp__slice forward[MOST_SLICES], backward[MOST_SLICES];
    int32_t samples = (int32_t)random_below(seed, 5), count = 0;

    for (int32_t i = 0; i < samples; i++) {
        int64_t length = 2 + random_below(seed, 60); /* one token has one holder */
        int32_t n = slice_sample(seed, hand_sample(h, length), length, forward + count);

        reverse(forward + count, n, backward + count);
        count += n;
    }
    put_packs(h, seed, lane, SP_FORWARD, -1, h->draft.packs[0] - h->filled[lane][0], forward,
              count);
    put_packs(h, seed, lane, SP_BACKWARD, -1, h->draft.packs[1] - h->filled[lane][1], backward,
              count);
}

void hand_random(hand_plan *h, uint64_t seed)
{
    static const char *const topologies[] = { "dp=1", "dp=2 pp=2", "dp=3 pp=3", "dp=4 pp=2 cp=2",
                                              "dp=4 pp=4" };
    uint64_t s = seed;
    int32_t lanes;

    hand_open(h, topologies[random_below(&s, 5)], 6 + (int32_t)random_below(&s, 4),
              4 + (int32_t)random_below(&s, 4));
    lanes = h->draft.lanes;
    if (lanes > 1 && random_below(&s, 2))
        put_merge(h, &s, 0, lanes);
    if (lanes > 2 && random_below(&s, 2))
        put_merge(h, &s, 1, 2);
    for (int32_t r = 0; r < lanes; r++)
        put_own(h, &s, r);
    h->sim.run_ahead = random_below(&s, 40);
    if (random_below(&s, 2))
        h->rates.intra.latency = random_below(&s, 30);
    for (int32_t i = 0; i < h->rates.stages; i++)
        h->stage[i].pass[0].fixed = h->stage[i].pass[1].fixed = random_below(&s, 10);
    hand_close(h);
}
