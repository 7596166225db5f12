/*
 * sync.h - what a stage does once its ops are done: gradients are reduced over the
 * data-parallel group, the optimiser steps, and new parameters are gathered.
 */
#ifndef SP_COST_SYNC_H
#define SP_COST_SYNC_H

#include "cost/rates.h"

typedef struct sp__sync {
    int64_t reduce;   /* ps, of which hidden may run while the stage's last op does */
    int64_t hidden;
    int64_t optimizer;
    int64_t gather;   /* what the next step does not hide */
} sp__sync;

/* Fills sync [PP]. layers as sp__stage_layers() gives them. */
sp_status sp__sync_init(sp__sync *sync, const sp__rates *rates, const struct sp_model *model,
                        const struct sp_device *device, const sp__shape *shape,
                        const int32_t *layers);

#endif
