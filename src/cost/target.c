/*
 * target.c - the machine that a plan is made for: see target.h.
 */
#include "cost/target.h"

#include "base/status.h"

static sp_status fill(sp__target *t, const struct sp_model *m, const struct sp_device *d,
                      const sp__shape *shape, int32_t *layers)
{
    int32_t chunks = t->rates.chunks;
    int64_t peak = sp__device_value(d, SP_DEVICE_PEAK_FLOPS);

    SP_TRY(sp__stage_layers(m, shape->degree[SP__PP], chunks, layers));
    for (int32_t u = 0; u < shape->degree[SP__PP] * chunks; u++)
        t->stage[u].layers = layers[u];
    SP_TRY(sp__rates_init(&t->rates, t->stage, m, d, shape));
    SP_TRY(sp__memory_init(t->memory, m, shape, chunks, layers));
    t->peak = peak > 0 ? peak : sp__device_value(d, SP_DEVICE_LINEAR_FLOPS);
    sp__model_flops(m, &t->token_flops, &t->pair_flops);
    return sp__sync_init(t->sync, &t->rates, m, d, shape, layers);
}

sp_status sp__target_init(sp__target *t, const struct sp_model *m, const struct sp_device *d,
                          const sp__shape *shape, int32_t chunks, const sp__alloc *alloc)
{
    int32_t pp = shape->degree[SP__PP];
    int64_t stages = (int64_t)pp * chunks;
    int32_t *layers = sp__alloc_array(alloc, stages, sizeof *layers);
    sp_status status;

    t->rates.chunks = chunks;
    t->stage = sp__alloc_array(alloc, stages, sizeof *t->stage);
    t->memory = sp__alloc_array(alloc, stages, sizeof *t->memory);
    t->sync = sp__alloc_array(alloc, pp, sizeof *t->sync);
    if (layers == NULL || t->stage == NULL || t->memory == NULL || t->sync == NULL)
        status = sp__fail_memory();
    else
        status = fill(t, m, d, shape, layers);
    sp__free(alloc, layers);
    if (status != SP_OK)
        sp__target_free(t, alloc);
    return status;
}

void sp__target_free(sp__target *t, const sp__alloc *alloc)
{
    sp__free(alloc, t->stage);
    sp__free(alloc, t->memory);
    sp__free(alloc, t->sync);
    t->stage = NULL;
    t->memory = NULL;
    t->sync = NULL;
}
