/*
 * target.c - the machine that a plan is made for: see target.h.
 */
#include "cost/target.h"

#include "base/status.h"

static sp_status fill(sp__target *t, const struct sp_model *m, const struct sp_device *d,
                      const sp__shape *shape, int32_t *layers)
{
    int32_t pp = shape->degree[SP__PP];

    SP_TRY(sp__stage_layers(m, pp, layers));
    for (int32_t s = 0; s < pp; s++)
        t->stage[s].layers = layers[s];
    SP_TRY(sp__rates_init(&t->rates, t->stage, m, d, shape));
    return sp__memory_init(t->memory, m, shape, layers);
}

sp_status sp__target_init(sp__target *t, const struct sp_model *m, const struct sp_device *d,
                          const sp__shape *shape, const sp__alloc *alloc)
{
    int32_t pp = shape->degree[SP__PP];
    int32_t *layers = sp__alloc_array(alloc, pp, sizeof *layers);
    sp_status status;

    t->stage = sp__alloc_array(alloc, pp, sizeof *t->stage);
    t->memory = sp__alloc_array(alloc, pp, sizeof *t->memory);
    if (layers == NULL || t->stage == NULL || t->memory == NULL)
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
    t->stage = NULL;
    t->memory = NULL;
}
