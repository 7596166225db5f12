/*
 * memory.h - bytes on a device: what is always there and what each live token adds.
 *
 * A token is live on a stage from its forward to its backward there. A live
 * token costs its saved activations on the rank that ran it; a token of a slice
 * whose sample is split over ranks or over several slices also costs the K, V
 * copy and the dK, dV of its sample's cache on every rank of the group.
 */
#ifndef SP_COST_MEMORY_H
#define SP_COST_MEMORY_H

#include "cost/rates.h"

typedef struct sp__stage_memory {
    int64_t fixed;      /* weights, gradients, optimiser state */
    int64_t token;      /* a live token */
    int64_t cached;     /* more for a token whose K and V are cached */
} sp__stage_memory;

/* Fills memory [PP]. layers [PP] as sp__stage_layers() gives them. */
sp_status sp__memory_init(sp__stage_memory *memory, const struct sp_model *model,
                          const sp__shape *shape, const int32_t *layers);

#endif
