/*
 * writer.h - the one builder of schedules: everything that makes a plan, be it
 * the planner, a plan file or bytes, writes it through these calls.
 *
 * Two passes over the same parts: the first counts them into an sp__plan_size,
 * by which sp__schedule_open() allocates; the second fills in, for each replica,
 * pass and pack its slices, and for each replica, CP rank, pass and pack its
 * shards.
 */
#ifndef SP_SCHEDULE_WRITER_H
#define SP_SCHEDULE_WRITER_H

#include "schedule/schedule.h"
#include "schedule/shelf.h"

typedef struct sp__plan_size {
    sp__shape shape;
    int32_t first_lane, lanes; /* replicas that it holds */
    int32_t samples, merges, packs[2];
    int32_t alignment, pad_multiple;
    sp__flow flow;
    int64_t slices[2];      /* over all replicas held */
    int64_t *block_shards;  /* [lanes * cp] shards of both passes */
} sp__plan_size;

/* int32 numbers of the pool that a rank's shards of packs take. */
static inline int64_t sp__pool_ints(int32_t pad_multiple, int64_t shards, int64_t packs)
{
    int64_t arrays = pad_multiple == 1 ? 4 : 5;

    return arrays * shards + (arrays - 2) * packs;
}

/* Bytes of memory that a schedule of that size takes, 0 when they pass size_t. */
size_t sp__schedule_bytes(const sp__plan_size *size);

/* Makes a schedule of that size, in memory from the shelf (NULL for none) if that has
 * enough. lengths [samples] and merge [merges] are copied; the timeline is there to be
 * filled. */
sp_status sp__schedule_open(const sp__alloc *alloc, sp__shelf *shelf, const sp__plan_size *size,
                            const int64_t *lengths, const sp__merge *merge,
                            struct sp_schedule **out);

/* Opens a pack whose slices begin at place first of its pass. */
void sp__schedule_begin_pack(struct sp_schedule *s, int pass, int64_t pack, int32_t merge,
                             int64_t first);

/* Puts a slice of a pack that was opened at place at of its pass. */
void sp__schedule_put_slice(struct sp_schedule *s, int pass, int64_t pack, int64_t at,
                            int32_t sample, int32_t start, int32_t length);

/* Starts the shards of one pack on one rank at pool position at; returns the
 * position behind it, once count pieces have been put. */
int64_t sp__schedule_begin_shards(struct sp_schedule *s, sp__shards *x, int64_t at, int32_t count);

/* Puts piece i of a pack's shards; fails when an offset passes int32. */
sp_status sp__schedule_put_shard(struct sp_schedule *s, sp__shards *x, int32_t i, int32_t sample,
                                 int32_t start, int32_t length);

/* A whole draft becomes a schedule; its timeline is still empty. */
sp_status sp__schedule_from_draft(const sp__alloc *alloc, sp__shelf *shelf, const sp__shape *shape,
                                  const sp__draft *draft, const int64_t *lengths, int32_t samples,
                                  sp__arena *scratch, struct sp_schedule **out);

/* The other way: a draft of a schedule, so that it can be simulated again. */
sp_status sp__draft_from_schedule(const struct sp_schedule *s, const sp__attention *attention,
                                  sp__arena *arena, sp__draft *out);

#endif
