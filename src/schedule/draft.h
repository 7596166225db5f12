/*
 * draft.h - a plan while it is being made: packs of slices, replica by replica.
 *
 * The floors above write it (slice, partition), the simulator reads it, and
 * schedule.h turns it into the finished thing. It lives in a planner's arena.
 *
 *     draft -> lane (a replica) -> packs (a pass) -> slices, in the order to run
 *
 * Invariant: both passes of a sample hold the same slices. Saved activations
 * then stay with the rank that made them, whatever packs the slices fall into.
 */
#ifndef SP_SCHEDULE_DRAFT_H
#define SP_SCHEDULE_DRAFT_H

#include "base/arena.h"
#include "cost/rates.h"

#define SP__SPLIT (-1) /* place of a slice that all ranks of its group share */

typedef struct sp__slice {
    int32_t sample, start, length;
    int32_t place; /* CP rank that runs a whole sample alone, or SP__SPLIT */
} sp__slice;

typedef struct sp__merge {
    int32_t sample;
    int32_t first;    /* replica */
    int32_t replicas;
} sp__merge;

/* One pass of one replica. */
typedef struct sp__packs {
    int32_t count;
    int32_t *first;    /* [count + 1] of slices */
    sp__slice *slices; /* [first[count]] */
    int32_t *merge;    /* [count] index of the pack's merge, or -1 */
    sp__load *load;    /* [count * cp] pack-major */
} sp__packs;

typedef struct sp__lane {
    sp__packs pass[2];
    int32_t *needs; /* [backward packs] last forward pack that holds slices of it, or -1 */
} sp__lane;

/* How a stage runs its packs: in how many chunks, and whether weight gradients are
 * ops of their own. */
typedef struct sp__flow {
    int32_t chunks;
    int32_t split;
} sp__flow;

/* Ops of a stage that runs these packs. */
static inline int64_t sp__flow_ops(const sp__flow *flow, const int32_t packs[2])
{
    return flow->chunks *
           ((int64_t)packs[SP_FORWARD] + (int64_t)packs[SP_BACKWARD] * (flow->split ? 2 : 1));
}

typedef struct sp__draft {
    sp__lane *lane; /* [dp] */
    int32_t lanes;
    int32_t cp;
    int32_t packs[2];
    sp__flow flow;
    sp__merge *merge; /* [merges] */
    int32_t merges;
    int32_t alignment;
    int32_t pad_multiple;
    int32_t pack_tokens; /* token cap behind SP_PACK_OVERSIZE, 0 for none */
} sp__draft;

/* Ranks that share the split slices of a pack: its CP group, over its merge's
 * replicas if it has one. */
static inline int32_t sp__group_size(const sp__draft *d, int32_t merge)
{
    return d->cp * (merge >= 0 ? d->merge[merge].replicas : 1);
}

/* Index of a CP rank of a replica within that group. */
static inline int32_t sp__group_index(const sp__draft *d, int32_t merge, int32_t lane, int32_t cp)
{
    return merge >= 0 ? (lane - d->merge[merge].first) * d->cp + cp : cp;
}

#endif
