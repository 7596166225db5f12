/*
 * memory.h - bytes on a device: what is always there and what each live token adds.
 *
 * A token is live on a stage from its forward to its backward there. It costs its
 * saved activations, K and V among them, on the rank that ran it. A sample of
 * several slices also keeps dK and dV of its tokens until they are complete; one
 * that is split over a group keeps both, and gathered K and V, of all its tokens on
 * every rank of the group: sp__load::cached counts a token once for each pair.
 */
#ifndef SP_COST_MEMORY_H
#define SP_COST_MEMORY_H

#include "cost/rates.h"

typedef struct sp__stage_memory {
    int64_t fixed;      /* weights, gradients, optimiser state */
    int64_t token;      /* a live token */
    int64_t cached;     /* K and V, or dK and dV, of a token */
} sp__stage_memory;

/* Fills memory [PP]. layers [PP] as sp__stage_layers() gives them. */
sp_status sp__memory_init(sp__stage_memory *memory, const struct sp_model *model,
                          const sp__shape *shape, const int32_t *layers);

#endif
