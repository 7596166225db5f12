/*
 * device.h - what an accelerator and its links achieve, as the floors above read it.
 */
#ifndef SP_INPUT_DEVICE_H
#define SP_INPUT_DEVICE_H

#include "base/alloc.h"
#include "base/params.h"

#define SP__DEVICE_PARAMS 21

extern const sp__param_table sp__device_table;

struct sp_device {
    sp__alloc alloc;
    int64_t values[SP__DEVICE_PARAMS]; /* row key - 1 */
    const char *preset;                /* static name of the preset it came from */
};

/* Value of one ::sp_device_key; every key's row is key - 1. */
static inline int64_t sp__device_value(const struct sp_device *d, int key)
{
    return d->values[key - 1];
}

/* The values of a preset, one a row of the table; index is one that
 * sp_device_preset_name() has a name for. */
void sp__device_preset_apply(int32_t index, int64_t values[SP__DEVICE_PARAMS]);

#endif
