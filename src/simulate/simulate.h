/*
 * simulate.h - runs a draft on the machine that rates and memory describe.
 *
 * Two questions, one answer: in which order does each stage run its packs, and
 * when? Greedy order finds both (events.c), a given order is only timed
 * (replay.c). Either way an op starts when its stage is free and its input is
 * there, and the merged packs of a stage run in all their replicas at once.
 */
#ifndef SP_SIMULATE_SIMULATE_H
#define SP_SIMULATE_SIMULATE_H

#include "base/workers.h"
#include "cost/target.h"
#include "schedule/schedule.h"

/* The machine and the plan to run on it. */
typedef struct sp__sim {
    const sp__rates *rates;
    const sp__stage_memory *memory; /* [pp * chunks] */
    const sp__shape *shape;
    const sp__draft *draft;
    int32_t first_lane;  /* replica that the draft's lane 0 is */
    int64_t run_ahead;   /* greedy: forward packs a stage may run ahead, in sixteenths, for each
                            stage from it to the last */
    const sp__workers *workers; /* their arenas are scratch */
    uint8_t *cause;      /* [dp * pp * ops] what each op waited for, or NULL: bits of SP__CAUSE */
    int32_t lockstep;    /* 1: pack k of a pass runs on a stage in all replicas at once */
} sp__sim;

/* What let an op start when it did: both, or in a merge neither of one replica's. */
#define SP__CAUSE_STAGE 1 /* the stage was free no sooner */
#define SP__CAUSE_INPUT 2 /* its input was there no sooner */

/* Finds the order of every stage and times it; the timeline's arrays are there. */
sp_status sp__simulate_greedy(const sp__sim *sim, sp__timeline *out);

/* Times the order that stands in the timeline. SP_ERR_INVARIANT when it cannot
 * be run: the ops wait for each other in a ring. */
sp_status sp__simulate_order(const sp__sim *sim, sp__timeline *out);

/* Writes the order of the literature for every stage: 1F1B, interleaved or zero
 * bubble, as the draft's flow says (orders.c). Both passes have the same packs, with
 * several chunks in multiples of pp. */
void sp__order_1f1b(const sp__draft *draft, int32_t pp, sp__timeline *out);

/* Largest end of a timeline. */
int64_t sp__makespan(const sp__sim *sim, const sp__timeline *timeline);

/* When a stage has reduced its gradients (into reduced), stepped and gathered, in ps;
 * sync is the stage's. All replicas reduce together. */
int64_t sp__finish(const sp__sim *sim, const sp__timeline *timeline, const sp__sync *sync,
                   int32_t stage, int64_t *reduced);

#endif
