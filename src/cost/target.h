/*
 * target.h - the machine that a plan is made for: model on device in a topology.
 */
#ifndef SP_COST_TARGET_H
#define SP_COST_TARGET_H

#include "cost/memory.h"

typedef struct sp__target {
    sp__rates rates;
    sp__stage_rates *stage;   /* [pp] */
    sp__stage_memory *memory; /* [pp] */
} sp__target;

/* Computes what packs cost and tokens take; the arrays come from alloc. Nothing
 * is left allocated when it fails. */
sp_status sp__target_init(sp__target *target, const struct sp_model *model,
                          const struct sp_device *device, const sp__shape *shape,
                          const sp__alloc *alloc);

void sp__target_free(sp__target *target, const sp__alloc *alloc);

#endif
