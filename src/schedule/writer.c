/*
 * writer.c - allocates a schedule and fills its parts in: see writer.h.
 *
 * Pieces are put in the order to run, so offsets are running sums; int32 is what
 * varlen kernels take, and a sum that passes it is an error, never a wrapped
 * number.
 */
#include "schedule/writer.h"

#include <inttypes.h>
#include <string.h>

#include "base/arith.h"
#include "base/status.h"

static int64_t int32s_of_shards(int32_t pad_multiple, int64_t shards, int64_t packs)
{
    int64_t arrays = pad_multiple == 1 ? 4 : 5;

    return arrays * shards + (arrays - 2) * packs;
}

static int64_t aligned(int64_t ints)
{
    return (ints + SP__BLOCK_INTS - 1) / SP__BLOCK_INTS * SP__BLOCK_INTS;
}

static sp_status alloc_pool(struct sp_schedule *s, const sp__plan_size *size)
{
    int64_t ranks = (int64_t)size->shape.degree[SP__DP] * size->shape.degree[SP__CP];
    int64_t packs = (int64_t)size->packs[0] + size->packs[1];
    uintptr_t address;

    s->block_first = sp__alloc_array(&s->alloc, ranks + 1, sizeof *s->block_first);
    if (s->block_first == NULL)
        return sp__fail_memory();
    s->block_first[0] = 0;
    for (int64_t r = 0; r < ranks; r++)
        s->block_first[r + 1] = s->block_first[r] +
            aligned(int32s_of_shards(size->pad_multiple, size->block_shards[r], packs));
    s->pool_memory = sp__alloc_array(&s->alloc, s->block_first[ranks] + SP__BLOCK_INTS,
                                     sizeof *s->pool);
    if (s->pool_memory == NULL)
        return sp__fail_memory();
    address = (uintptr_t)s->pool_memory;
    s->pool = (int32_t *)s->pool_memory + (64 - address % 64) % 64 / sizeof *s->pool;
    return SP_OK;
}

static sp_status alloc_packs(struct sp_schedule *s, const sp__plan_size *size, int pass)
{
    int64_t packs = (int64_t)size->shape.degree[SP__DP] * size->packs[pass];
    int64_t slices = size->slices[pass];

    s->slice_first[pass] = sp__alloc_array(&s->alloc, packs + 1, sizeof *s->slice_first[pass]);
    s->pack_merge[pass] = sp__alloc_array(&s->alloc, packs, sizeof *s->pack_merge[pass]);
    s->pack_tokens[pass] = sp__alloc_array(&s->alloc, packs, sizeof *s->pack_tokens[pass]);
    s->sample[pass] = sp__alloc_array(&s->alloc, slices, sizeof *s->sample[pass]);
    s->start[pass] = sp__alloc_array(&s->alloc, slices, sizeof *s->start[pass]);
    s->length[pass] = sp__alloc_array(&s->alloc, slices, sizeof *s->length[pass]);
    s->shards[pass] = sp__alloc_array(&s->alloc, packs * size->shape.degree[SP__CP],
                                      sizeof *s->shards[pass]);
    if (s->slice_first[pass] == NULL || s->pack_merge[pass] == NULL ||
        s->pack_tokens[pass] == NULL || s->sample[pass] == NULL || s->start[pass] == NULL ||
        s->length[pass] == NULL || s->shards[pass] == NULL)
        return sp__fail_memory();
    s->slice_first[pass][packs] = slices;
    return SP_OK;
}

static sp_status alloc_timeline(struct sp_schedule *s, const sp__plan_size *size)
{
    int64_t stages = (int64_t)size->shape.degree[SP__DP] * size->shape.degree[SP__PP];
    sp__timeline *t = &s->timeline;
    int64_t ops = sp__flow_ops(&size->flow, size->packs);

    if (ops > INT32_MAX)
        return sp__fail(SP_ERR_OVERFLOW, "packs: the ops of a stage pass 2^31 - 1");
    t->ops = (int32_t)ops;
    t->op = sp__alloc_array(&s->alloc, stages * ops, sizeof *t->op);
    t->start = sp__alloc_array(&s->alloc, stages * ops, sizeof *t->start);
    t->end = sp__alloc_array(&s->alloc, stages * ops, sizeof *t->end);
    t->stage = sp__alloc_zeroed(&s->alloc, stages * size->shape.degree[SP__CP], sizeof *t->stage);
    return t->op == NULL || t->start == NULL || t->end == NULL || t->stage == NULL
               ? sp__fail_memory() : SP_OK;
}

static sp_status alloc_parts(struct sp_schedule *s, const sp__plan_size *size,
                             const int64_t *lengths, const sp__merge *merge)
{
    s->lengths = sp__alloc_array(&s->alloc, size->samples, sizeof *s->lengths);
    s->merge = sp__alloc_array(&s->alloc, size->merges, sizeof *s->merge);
    if (s->lengths == NULL || s->merge == NULL)
        return sp__fail_memory();
    memcpy(s->lengths, lengths, (size_t)size->samples * sizeof *lengths);
    if (size->merges > 0)
        memcpy(s->merge, merge, (size_t)size->merges * sizeof *merge);
    SP_TRY(alloc_packs(s, size, SP_FORWARD));
    SP_TRY(alloc_packs(s, size, SP_BACKWARD));
    SP_TRY(alloc_pool(s, size));
    return alloc_timeline(s, size);
}

sp_status sp__schedule_open(const sp__alloc *alloc, const sp__plan_size *size,
                            const int64_t *lengths, const sp__merge *merge,
                            struct sp_schedule **out)
{
    struct sp_schedule *s = sp__alloc_zeroed(alloc, 1, sizeof *s);
    sp_status status;

    if (s == NULL)
        return sp__fail_memory();
    s->alloc = *alloc;
    s->shape = size->shape;
    s->count = size->samples;
    s->packs[0] = size->packs[0];
    s->packs[1] = size->packs[1];
    s->merges = size->merges;
    s->alignment = size->alignment;
    s->pad_multiple = size->pad_multiple;
    s->flow = size->flow;
    s->stats.struct_size = sizeof s->stats;
    status = alloc_parts(s, size, lengths, merge);
    if (status != SP_OK) {
        sp_schedule_destroy(s);
        return status;
    }
    *out = s;
    return SP_OK;
}

void sp_schedule_destroy(sp_schedule *s)
{
    sp__alloc alloc;

    if (s == NULL)
        return;
    alloc = s->alloc;
    for (int pass = 0; pass < 2; pass++) {
        sp__free(&alloc, s->slice_first[pass]);
        sp__free(&alloc, s->sample[pass]);
        sp__free(&alloc, s->start[pass]);
        sp__free(&alloc, s->length[pass]);
        sp__free(&alloc, s->pack_merge[pass]);
        sp__free(&alloc, s->pack_tokens[pass]);
        sp__free(&alloc, s->shards[pass]);
    }
    sp__free(&alloc, s->lengths);
    sp__free(&alloc, s->merge);
    sp__free(&alloc, s->block_first);
    sp__free(&alloc, s->pool_memory);
    sp__free(&alloc, s->timeline.op);
    sp__free(&alloc, s->timeline.start);
    sp__free(&alloc, s->timeline.end);
    sp__free(&alloc, s->timeline.stage);
    sp__free(&alloc, s);
}

void sp__schedule_begin_pack(struct sp_schedule *s, int pass, int64_t pack, int32_t merge,
                             int64_t first)
{
    s->slice_first[pass][pack] = first;
    s->pack_merge[pass][pack] = merge;
    s->pack_tokens[pass][pack] = 0;
}

void sp__schedule_put_slice(struct sp_schedule *s, int pass, int64_t pack, int64_t at,
                            int32_t sample, int32_t start, int32_t length)
{
    s->sample[pass][at] = sample;
    s->start[pass][at] = start;
    s->length[pass][at] = length;
    s->pack_tokens[pass][pack] += length;
}

int64_t sp__schedule_begin_shards(struct sp_schedule *s, sp__shards *x, int64_t at, int32_t count)
{
    int32_t *p = s->pool + at;

    x->at = at;
    x->count = count;
    x->max_q = x->max_k = 0;
    x->flags = count == 0 ? SP_PACK_EMPTY : 0;
    p[2 * (int64_t)count] = 0;
    p[3 * (int64_t)count + 1] = 0;
    if (s->pad_multiple > 1)
        p[4 * (int64_t)count + 2] = 0;
    return at + int32s_of_shards(s->pad_multiple, count, 1);
}

static sp_status put_offset(int32_t *offsets, int32_t i, int64_t length, const char *table,
                            int32_t sample)
{
    if (length > INT32_MAX - offsets[i])
        return sp__fail(SP_ERR_OVERFLOW, "%s: %" PRId32 " + %" PRId64 " at sample %" PRId32
                        " is above 2147483647; use more packs or fewer tokens", table, offsets[i],
                        length, sample);
    offsets[i + 1] = offsets[i] + (int32_t)length;
    return SP_OK;
}

sp_status sp__schedule_put_shard(struct sp_schedule *s, sp__shards *x, int32_t i, int32_t sample,
                                 int32_t start, int32_t length)
{
    int32_t *p = s->pool + x->at;
    int64_t count = x->count;
    int64_t padded = sp__ceil_div(length, s->pad_multiple) * s->pad_multiple;

    p[i] = sample;
    p[count + i] = start;
    SP_TRY(put_offset(p + 2 * count, i, length, "cu_seqlens_q", sample));
    SP_TRY(put_offset(p + 3 * count + 1, i, (int64_t)start + length, "cu_seqlens_k", sample));
    if (s->pad_multiple > 1)
        SP_TRY(put_offset(p + 4 * count + 2, i, padded, "cu_seqlens_q_padded", sample));
    x->max_q = length > x->max_q ? length : x->max_q;
    x->max_k = start + length > x->max_k ? start + length : x->max_k;
    return SP_OK;
}
