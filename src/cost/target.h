/*
 * target.h - the machine that a plan is made for: model on device in a topology.
 */
#ifndef SP_COST_TARGET_H
#define SP_COST_TARGET_H

#include "cost/memory.h"
#include "cost/sync.h"

typedef struct sp__target {
    sp__rates rates;
    sp__stage_rates *stage;   /* [pp * chunks] */
    sp__stage_memory *memory; /* [pp * chunks] */
    sp__sync *sync;           /* [pp] */
    int64_t peak;             /* FLOP/s that MFU is counted against */
    sp__int128 token_flops, pair_flops; /* of the whole model, forward */
} sp__target;

/* Computes what packs cost and tokens take, for stages of that many chunks; the
 * arrays come from alloc. Nothing is left allocated when it fails. */
sp_status sp__target_init(sp__target *target, const struct sp_model *model,
                          const struct sp_device *device, const sp__shape *shape, int32_t chunks,
                          const sp__alloc *alloc);

void sp__target_free(sp__target *target, const sp__alloc *alloc);

#endif
