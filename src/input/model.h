/*
 * model.h - the shape of the transformer, as the floors above read it.
 */
#ifndef SP_INPUT_MODEL_H
#define SP_INPUT_MODEL_H

#include "base/alloc.h"
#include "base/params.h"

#define SP__MODEL_PARAMS 25

extern const sp__param_table sp__model_table;

struct sp_model {
    sp__alloc alloc;
    int64_t values[SP__MODEL_PARAMS]; /* row key - 1 */
    const char *preset;               /* static name of the preset it came from */
    int32_t *stage_layers;            /* [stages] or NULL for the even spread */
    int32_t stages;
};

/* Value of one ::sp_model_key; every key's row is key - 1. */
static inline int64_t sp__model_value(const struct sp_model *m, int key)
{
    return m->values[key - 1];
}

/* Writes the shape of a preset over the table's fallbacks; index is one that
 * sp_model_preset_name() has a name for. */
void sp__model_preset_apply(int32_t index, int64_t values[SP__MODEL_PARAMS]);

/* A copy under other hooks, NULL when memory fails. */
struct sp_model *sp__model_copy(const struct sp_model *from, const sp__alloc *alloc);

#endif
