/*
 * simulation.h - a replayed plan: what its queries read.
 *
 * Indices are those of schedule.h. The draft keeps the loads of all packs, so that
 * memory over time and the shares of an op's time are found when they are asked for.
 */
#ifndef SP_SIMULATE_SIMULATION_H
#define SP_SIMULATE_SIMULATION_H

#include "simulate/simulate.h"
#include "simulate/stats.h"

/* One op of the critical path. */
typedef struct sp__path_op {
    int32_t replica, stage, index;
    int32_t wait; /* sp_wait */
    int64_t transfer;
} sp__path_op;

struct sp_simulation {
    sp__alloc alloc;
    sp__arena arena; /* of the draft and the path */
    sp__shape shape;
    sp__target target;
    sp__draft draft;
    sp__timeline timeline;
    sp_stats stats;
    int32_t lockstep;
    sp__path_op *path; /* [steps] from the start of the step */
    int32_t steps;
};

/* Fills the critical path from what each op waited for, as sp__sim::cause notes it. */
sp_status sp__find_path(struct sp_simulation *simulation, const uint8_t *cause,
                        sp__arena *scratch);

/* Fails for NULL and for a rank that does not exist. */
sp_status sp__check_simulation(const struct sp_simulation *simulation, int32_t rank);

/* Index of op i of a stage of a replica. */
static inline int64_t sp__simulation_op(const struct sp_simulation *s, int32_t replica,
                                        int32_t stage, int32_t i)
{
    return ((int64_t)replica * s->shape.degree[SP__PP] + stage) * s->timeline.ops + i;
}

#endif
