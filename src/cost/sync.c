/*
 * sync.c - gradient reduction, optimiser step and parameter gather: see sync.h.
 *
 * The group of a stage are its DP x CP ranks. A ring moves (g - 1) / g of the data
 * over each rank's link for a reduce-scatter or an all-gather, twice that for an
 * all-reduce (Rajbhandari et al., arXiv 1910.02054, 7), after log2 g latencies.
 * A distributed optimiser scatters fp32 gradients, steps on its share and gathers
 * weights; otherwise all gradients go to all and each rank steps on everything.
 * Adam reads gradient, weight and two moments in fp32, writes the latter three, and
 * the weight once more in its own type.
 */
#include "cost/sync.h"

#include <inttypes.h>

#include "base/status.h"
#include "cost/memory.h"

#define ADAM_BYTES (SP__GRADIENT_BYTES + 2 * SP__OPTIMIZER_BYTES)
#define PS_PER_SECOND 1000000000000

/* A group of ranks and the link that its ring runs over. */
typedef struct ring {
    sp__link link;
    int64_t ranks;
} ring;

static ring ring_of(const sp__rates *rates, const sp__shape *shape)
{
    int32_t last =
        sp__shape_rank(shape, shape->degree[SP__DP] - 1, 0, 0, shape->degree[SP__CP] - 1);

    return (ring){ sp__crosses_nodes(rates, 0, last) ? rates->inter : rates->intra,
                   (int64_t)shape->degree[SP__DP] * shape->degree[SP__CP] };
}

static int64_t saturated(sp__int128 time)
{
    return time > SP__LONGEST ? SP__LONGEST : (int64_t)time;
}

static int64_t move(const ring *r, sp__int128 bytes)
{
    sp__int128 time = 0;

    if (r->ranks == 1)
        return 0;
    for (int64_t reach = 1; reach < r->ranks; reach *= 2)
        time += r->link.latency;
    if (r->link.bandwidth != INT64_MAX)
        time += bytes * (r->ranks - 1) / r->ranks * PS_PER_SECOND / r->link.bandwidth;
    return saturated(time);
}

static int64_t step_time(const struct sp_model *m, const struct sp_device *d, int64_t parameters)
{
    int64_t bandwidth = sp__device_value(d, SP_DEVICE_MEMORY_BANDWIDTH);
    sp__int128 bytes = (sp__int128)parameters *
                       (ADAM_BYTES + sp__model_value(m, SP_MODEL_ELEMENT_BYTES));

    return bandwidth == INT64_MAX ? 0 : saturated(bytes * PS_PER_SECOND / bandwidth);
}

sp_status sp__sync_init(sp__sync *sync, const sp__rates *rates, const struct sp_model *m,
                        const struct sp_device *d, const sp__shape *shape, const int32_t *layers)
{
    int64_t overlap = sp__device_value(d, SP_DEVICE_DP_OVERLAP_PERCENT);
    int is_distributed = sp__model_value(m, SP_MODEL_DISTRIBUTED_OPTIMIZER) != 0;
    ring group = ring_of(rates, shape);

    for (int32_t s = 0; s < rates->pp; s++) {
        int64_t own = sp__own_parameters(m, shape, rates->chunks, layers, s);
        sp__int128 gradients = (sp__int128)own * SP__GRADIENT_BYTES;
        int64_t gather = is_distributed
            ? move(&group, (sp__int128)own * sp__model_value(m, SP_MODEL_ELEMENT_BYTES)) : 0;

        if (own < 0)
            return sp__fail(SP_ERR_OVERFLOW, "model: bytes of stage %" PRId32 " pass int64", s);
        sync[s].reduce = move(&group, gradients * (is_distributed ? 1 : 2));
        sync[s].hidden = sp__mul_div(sync[s].reduce, overlap, 100);
        sync[s].optimizer =
            step_time(m, d, sp__ceil_div(own, sp__optimizer_sharers(m, shape)));
        sync[s].gather = gather - sp__mul_div(gather, overlap, 100);
    }
    return SP_OK;
}
