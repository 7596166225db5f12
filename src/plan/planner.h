/*
 * planner.h - the planner's handle: target, parameters and scratch memory.
 */
#ifndef SP_PLAN_PLANNER_H
#define SP_PLAN_PLANNER_H

#include "base/arena.h"
#include "base/params.h"
#include "base/workers.h"
#include "cost/target.h"
#include "schedule/shelf.h"

#define SP__PLANNER_PARAMS 23

extern const sp__param_table sp__planner_table;

struct sp_planner {
    sp__alloc alloc;
    sp__shape shape;
    sp__target target;
    int64_t device_memory;
    int64_t values[SP__PLANNER_PARAMS]; /* row key - 1 */
    sp__arena arena[SP__MAX_THREADS]; /* the first is the step's, others a worker's */
    struct sp__async *async; /* NULL until a batch is submitted */
    sp__shelf given_back;
    sp__shelf *shelf; /* the same; of a worker's planner its owner's */
};

/* Value of one ::sp_planner_key; every key's row is key - 1. */
static inline int64_t sp__planner_value(const struct sp_planner *p, int key)
{
    return p->values[key - 1];
}

/* Parameters that give the packs of a pass. */
extern const char *const sp__count_names[2];

/* Packs of a pass that the caller asked for, 0 when the choice is the planner's. */
static inline int64_t sp__planner_packs(const struct sp_planner *p, int pass)
{
    return sp__planner_value(p, pass == SP_FORWARD ? SP_PLANNER_FORWARD_PACKS
                                                   : SP_PLANNER_BACKWARD_PACKS);
}

/* Most packs of a pass: as many as were asked for, else the limit in whole groups. */
static inline int64_t sp__planner_most_packs(const struct sp_planner *p, int pass)
{
    int64_t given = sp__planner_packs(p, pass), most = sp__planner_value(p, SP_PLANNER_MAX_PACKS);

    return given > 0 ? given : most - most % sp__planner_value(p, SP_PLANNER_PACK_GROUP);
}

/* The parameter that says so. */
static inline const char *sp__planner_most_name(const struct sp_planner *p, int pass)
{
    return sp__planner_packs(p, pass) > 0 ? sp__count_names[pass] : "max_packs";
}

/* Memory cap of a device. */
static inline int64_t sp__planner_memory(const struct sp_planner *p)
{
    int64_t cap = sp__planner_value(p, SP_PLANNER_MEMORY_BYTES);

    return cap > 0 ? cap : p->device_memory;
}

#endif
