/*
 * open.c - the memory of a schedule: one block, laid out by the sizes of its parts.
 *
 * The same function lays a schedule out twice, first without memory, to learn how many
 * bytes it takes. Arrays begin at multiples of 64 bytes of the address, so that the
 * blocks which are copied to an accelerator do.
 */
#include <string.h>

#include "base/status.h"
#include "schedule/writer.h"

#define LINE 64

typedef struct layout {
    char *base; /* aligned to a line, NULL to measure */
    size_t at;  /* bytes so far, SIZE_MAX once they pass it */
} layout;

static void *place(layout *l, int64_t count, size_t size)
{
    void *here = l->base == NULL ? NULL : l->base + l->at;
    size_t left = SIZE_MAX - LINE - l->at;

    if (l->at >= SIZE_MAX - LINE || (uint64_t)count > left / size) {
        l->at = SIZE_MAX;
        return NULL;
    }
    l->at += ((size_t)count * size + LINE - 1) / LINE * LINE;
    return here;
}

static int64_t block_ints(const sp__plan_size *size, int64_t block)
{
    int64_t packs = (int64_t)size->packs[0] + size->packs[1];
    int64_t ints = sp__pool_ints(size->pad_multiple, size->block_shards[block], packs);

    return (ints + SP__BLOCK_INTS - 1) / SP__BLOCK_INTS * SP__BLOCK_INTS;
}

static void lay_out_packs(struct sp_schedule *s, const sp__plan_size *size, int pass, layout *l)
{
    int64_t packs = (int64_t)size->lanes * size->packs[pass];
    int64_t slices = size->slices[pass];

    s->slice_first[pass] = place(l, packs + 1, sizeof *s->slice_first[pass]);
    s->sample[pass] = place(l, slices, sizeof *s->sample[pass]);
    s->start[pass] = place(l, slices, sizeof *s->start[pass]);
    s->length[pass] = place(l, slices, sizeof *s->length[pass]);
    s->pack_merge[pass] = place(l, packs, sizeof *s->pack_merge[pass]);
    s->pack_tokens[pass] = place(l, packs, sizeof *s->pack_tokens[pass]);
    s->shards[pass] = place(l, packs * size->shape.degree[SP__CP], sizeof *s->shards[pass]);
}

static void lay_out(struct sp_schedule *s, const sp__plan_size *size, int64_t ops, layout *l)
{
    int64_t stages = (int64_t)size->lanes * size->shape.degree[SP__PP];
    int64_t ranks = (int64_t)size->lanes * size->shape.degree[SP__CP];
    int64_t pool = 0;

    for (int64_t r = 0; r < ranks; r++)
        pool += block_ints(size, r);
    s->lengths = place(l, size->samples, sizeof *s->lengths);
    s->merge = place(l, size->merges, sizeof *s->merge);
    lay_out_packs(s, size, SP_FORWARD, l);
    lay_out_packs(s, size, SP_BACKWARD, l);
    s->block_first = place(l, ranks + 1, sizeof *s->block_first);
    s->pool = place(l, pool, sizeof *s->pool);
    s->timeline.op = place(l, stages * ops, sizeof *s->timeline.op);
    s->timeline.start = place(l, stages * ops, sizeof *s->timeline.start);
    s->timeline.end = place(l, stages * ops, sizeof *s->timeline.end);
    s->timeline.stage = place(l, stages * size->shape.degree[SP__CP], sizeof *s->timeline.stage);
}

size_t sp__schedule_bytes(const sp__plan_size *size)
{
    struct sp_schedule measured;
    layout l = { NULL, 0 };
    size_t head = (sizeof measured + LINE - 1) / LINE * LINE + LINE;

    lay_out(&measured, size, sp__flow_ops(&size->flow, size->packs), &l);
    return l.at > SIZE_MAX - head ? 0 : head + l.at;
}

/* What is written once for all: sizes, and the bounds of the arrays. */
static void fill_head(struct sp_schedule *s, const sp__plan_size *size)
{
    int64_t ranks = (int64_t)size->lanes * size->shape.degree[SP__CP];

    s->shape = size->shape;
    s->first_lane = size->first_lane;
    s->lanes = size->lanes;
    s->count = size->samples;
    s->merges = size->merges;
    s->alignment = size->alignment;
    s->pad_multiple = size->pad_multiple;
    s->flow = size->flow;
    s->stats.struct_size = sizeof s->stats;
    s->block_first[0] = 0;
    for (int64_t r = 0; r < ranks; r++)
        s->block_first[r + 1] = s->block_first[r] + block_ints(size, r);
    for (int pass = 0; pass < 2; pass++) {
        s->packs[pass] = size->packs[pass];
        s->slice_first[pass][(int64_t)size->lanes * size->packs[pass]] = size->slices[pass];
    }
}

/* Where schedules come back, some room to spare, so that one serves another a little
 * larger. */
static struct sp_schedule *take_block(const sp__alloc *alloc, sp__shelf *shelf, size_t bytes,
                                      size_t *taken)
{
    struct sp_schedule *s = shelf == NULL ? NULL : sp__shelf_take(shelf, bytes);
    int comes_back = shelf != NULL && atomic_load(&shelf->is_used);
    size_t spare = comes_back && bytes < SIZE_MAX / 2 ? bytes / 8 : 0;

    *taken = s == NULL ? bytes + spare : s->bytes;
    if (s == NULL && *taken <= INT64_MAX)
        s = sp__alloc_array(alloc, (int64_t)*taken, 1);
    return s;
}

sp_status sp__schedule_open(const sp__alloc *alloc, sp__shelf *shelf, const sp__plan_size *size,
                            const int64_t *lengths, const sp__merge *merge,
                            struct sp_schedule **out)
{
    int64_t ops = sp__flow_ops(&size->flow, size->packs);
    size_t bytes = sp__schedule_bytes(size), taken;
    struct sp_schedule *s;
    layout l = { NULL, 0 };

    if (ops > INT32_MAX)
        return sp__fail(SP_ERR_OVERFLOW, "packs: the ops of a stage pass 2^31 - 1");
    s = bytes == 0 ? NULL : take_block(alloc, shelf, bytes, &taken);
    if (s == NULL)
        return sp__fail_memory();
    memset(s, 0, sizeof *s);
    s->alloc = *alloc;
    s->bytes = taken;
    l.base = (char *)(s + 1) + (LINE - (uintptr_t)(s + 1) % LINE) % LINE;
    lay_out(s, size, ops, &l);
    fill_head(s, size);
    s->timeline.ops = (int32_t)ops;
    memcpy(s->lengths, lengths, (size_t)size->samples * sizeof *lengths);
    if (size->merges > 0)
        memcpy(s->merge, merge, (size_t)size->merges * sizeof *merge);
    memset(s->timeline.stage, 0, (size_t)size->lanes * (size_t)size->shape.degree[SP__PP] *
           (size_t)size->shape.degree[SP__CP] * sizeof *s->timeline.stage);
    *out = s;
    return SP_OK;
}

void sp_schedule_destroy(sp_schedule *s)
{
    sp__alloc alloc;

    if (s == NULL)
        return;
    alloc = s->alloc;
    sp__free(&alloc, s);
}
