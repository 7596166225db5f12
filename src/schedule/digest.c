/*
 * digest.c - eight bytes that two equal plans share.
 *
 * Everything that a rank acts on goes in, in a fixed order: degrees and the order of
 * ranks, lengths, padding, lockstep, pipeline, merges, packs with their slices, shards, and ops
 * with their times.
 */
#include "base/hash.h"
#include "schedule/schedule.h"

#define SEED 0x736c696d7061636bu /* "slimpack" */

/* An axis of degree 1 moves no rank, wherever it stands. */
static uint64_t hash_topology(const sp__shape *shape)
{
    uint64_t h = sp__hash_int32s(SEED, shape->degree, SP__AXES);

    for (int axis = 0; axis < SP__AXES; axis++)
        if (shape->degree[axis] > 1)
            h = sp__hash_word(h, (uint64_t)shape->stride[axis]);
    return h;
}

static uint64_t hash_packs(const struct sp_schedule *s, int pass, uint64_t h)
{
    int64_t packs = (int64_t)s->shape.degree[SP__DP] * s->packs[pass];
    int64_t slices = s->slice_first[pass][packs];

    h = sp__hash_int64s(h, s->slice_first[pass], packs + 1);
    h = sp__hash_int32s(h, s->pack_merge[pass], packs);
    h = sp__hash_int32s(h, s->sample[pass], slices);
    h = sp__hash_int32s(h, s->start[pass], slices);
    return sp__hash_int32s(h, s->length[pass], slices);
}

static uint64_t hash_shards(const struct sp_schedule *s, int pass, uint64_t h)
{
    int64_t packs = (int64_t)s->shape.degree[SP__DP] * s->shape.degree[SP__CP] * s->packs[pass];

    for (int64_t i = 0; i < packs; i++) {
        const sp__shards *x = &s->shards[pass][i];

        h = sp__hash_int32s(h, sp__shard_samples(s, x), x->count);
        h = sp__hash_int32s(h, sp__shard_starts(s, x), x->count);
        h = sp__hash_int32s(h, sp__shard_cu_q(s, x), (int64_t)x->count + 1);
    }
    return h;
}

uint64_t sp_schedule_digest(const sp_schedule *s)
{
    int64_t ops = (int64_t)s->shape.degree[SP__DP] * s->shape.degree[SP__PP] * s->timeline.ops;
    uint64_t h = hash_topology(&s->shape);

    if (sp__is_part(s))
        return s->whole;
    h = sp__hash_int64s(h, s->lengths, s->count);
    h = sp__hash_word(h, (uint64_t)s->pad_multiple);
    if (s->lockstep)
        h = sp__hash_word(h, 1);
    h = sp__hash_int32s(h, s->packs, 2);
    h = sp__hash_word(h, (uint64_t)s->flow.chunks << 1 | (uint32_t)s->flow.split);
    for (int32_t g = 0; g < s->merges; g++) {
        h = sp__hash_word(h, (uint64_t)s->merge[g].sample);
        h = sp__hash_word(h, (uint64_t)s->merge[g].first << 32 | (uint32_t)s->merge[g].replicas);
    }
    for (int pass = 0; pass < 2; pass++) {
        h = hash_packs(s, pass, h);
        h = hash_shards(s, pass, h);
    }
    h = sp__hash_int32s(h, s->timeline.op, ops);
    h = sp__hash_int64s(h, s->timeline.start, ops);
    return sp__hash_int64s(h, s->timeline.end, ops);
}
