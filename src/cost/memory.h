/*
 * memory.h - bytes on a device: what is always there and what each live token adds.
 *
 * A token is live on a stage from its forward to its backward there. It costs its
 * saved activations, K and V among them, on the rank that ran it. A sample of
 * several slices also keeps dK and dV of its tokens until they are complete; one
 * that is split over a group keeps both, and gathered K and V, of all its tokens on
 * every rank of the group: sp__load::cached counts a token once for each pair.
 * Between an op's backward and its weight gradients the activations stay: what the
 * first frees makes room for the output gradients that the second needs.
 */
#ifndef SP_COST_MEMORY_H
#define SP_COST_MEMORY_H

#include "cost/rates.h"

/* Of a virtual stage; what is always there stands with the stage's first chunk. */
typedef struct sp__stage_memory {
    int64_t weights, gradients, optimizer;
    int64_t fixed;      /* their sum */
    int64_t token;      /* a live token */
    int64_t own_kv;     /* of it, K and V */
    int64_t logits;     /* of it, on the last stage */
    int64_t cached;     /* K and V, or dK and dV, of a token */
} sp__stage_memory;

/* Fills memory [PP * chunks]. layers as sp__stage_layers() gives them. */
sp_status sp__memory_init(sp__stage_memory *memory, const struct sp_model *model,
                          const sp__shape *shape, int32_t chunks, const int32_t *layers);

/* Fails unless a device that kept all these tokens, gathered K and V and message buffers
 * included, would stay within what the simulation's sums hold. */
sp_status sp__memory_check(const sp__stage_memory *memory, const sp__rates *rates,
                           int64_t tokens);

/* Parameters of stage s on one of its TP ranks, embeddings included, rounded up; -1
 * when they pass what int64 counts in bytes. */
int64_t sp__own_parameters(const struct sp_model *model, const sp__shape *shape, int32_t chunks,
                           const int32_t *layers, int32_t s);

#define SP__GRADIENT_BYTES 4   /* accumulated in fp32 */
#define SP__OPTIMIZER_BYTES 12 /* fp32 weight and two moments */

/* Ranks that share the optimiser state of a parameter. */
int64_t sp__optimizer_sharers(const struct sp_model *model, const sp__shape *shape);

#endif
