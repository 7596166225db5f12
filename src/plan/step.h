/*
 * step.h - one step while it is being planned: what every phase reads and adds to.
 */
#ifndef SP_PLAN_STEP_H
#define SP_PLAN_STEP_H

#include "input/batch.h"
#include "partition/pack.h"
#include "plan/planner.h"
#include "simulate/simulate.h"
#include "simulate/stats.h"

/* How many packs a replica gets, and how they taper. */
typedef struct sp__pack_shape {
    int32_t packs[2];
    int32_t ramp[2][2];  /* [pass][at start, at end] packs of the ramp */
    int32_t share[2][2]; /* thousandths of a full pack at the ramp's small end */
} sp__pack_shape;

/* The makespan of a draft, and the most memory that a device needs. */
typedef struct sp__outcome {
    int64_t makespan;
    int64_t peak_bytes;
    int32_t replica, stage; /* of the peak */
} sp__outcome;

typedef struct sp__step {
    struct sp_planner *planner;
    const struct sp_batch *batch;
    sp__arena *arena;        /* the first worker's */
    sp__workers workers;
    sp__totals totals;
    sp__yardstick yardstick;
    sp__limit limit;         /* of a pack of one replica */
    int64_t pass_cost[2];    /* of the whole batch on the yardstick's stage */
    sp__keyed *sorted;       /* [count] samples by decreasing cost */
    sp__assignment assignment;
    int64_t load, load_bound, exact_nodes; /* as in sp_stats */
    const int64_t *offset;   /* [replicas] what the simulator adds to loads, or NULL */
    sp__pack_shape shape;
    sp__draft draft;
    int32_t is_1f1b;         /* op order of whole-sample policies */
    int32_t policy_simulates; /* the policy chooses its packs by simulating all of them */
    int64_t memory;          /* cap of a device */
    int64_t largest_part;    /* as in sp__assign_options */
    sp__outcome least;       /* the one with the least memory of all that were simulated */
    int32_t run_ahead;       /* part of the run-ahead parameter that is used, of the whole */
    int32_t most_packs; /* how far to go towards as many packs as allowed, of SP__PACK_LEVELS - 1 */
} sp__step;

#define SP__RUN_AHEAD_WHOLE 16
#define SP__PACK_LEVELS 4

/* Sums up the batch, picks the stage that bounds the step, and sorts the samples. */
sp_status sp__step_start(sp__step *step, struct sp_planner *planner, const struct sp_batch *batch);

/* Phase one: samples to replicas, and to merges where those are wanted. */
sp_status sp__step_assign(sp__step *step, int merges);

/* Whether samples may be cut: attention is causal and slicing allowed. */
int sp__step_can_slice(const sp__step *step);

/* Fewest packs of each pass that the assignment and the limit allow. */
sp_status sp__step_fewest(const sp__step *step, int32_t fewest[2]);

/* Phase two, policy slimpack: chooses the packs by search, and makes them. */
sp_status sp__step_search(sp__step *step);
sp_status sp__step_pack(sp__step *step);

/* Takes a shape for the draft. */
void sp__step_use(sp__step *step, const sp__pack_shape *shape);

/* The makespan of one replica alone when packed in a shape. The draft is untouched. */
sp_status sp__step_try(sp__step *step, const sp__pack_shape *shape, int32_t replica,
                       int64_t *makespan);

/* The makespan of all replicas when packed in a shape, which the draft then keeps. */
sp_status sp__step_try_all(sp__step *step, const sp__pack_shape *shape, int64_t *makespan);

/* Both phases of the policies for comparison; balanced packs are also what
 * slimpack makes of whole samples. */
sp_status sp__step_fixed_pack(sp__step *step);
sp_status sp__step_balanced_pack(sp__step *step);
sp_status sp__step_uniform_slice(sp__step *step);

/* The simulator's view of the step's draft. */
sp__sim sp__step_sim(const sp__step *step);

/* Simulates the step's draft into a timeline whose arrays are there. */
sp_status sp__step_simulate(const sp__step *step, sp__timeline *timeline);

/* Makes a draft that keeps the memory cap: the planner's first choice when it does,
 * else one with less run ahead, smaller packs or wider merges. Fails with
 * SP_ERR_INFEASIBLE and the smallest cap that would do. */
sp_status sp__step_fit(sp__step *step);

/* Skips the widths of merges with which the longest sample alone passes the cap. */
void sp__step_presume(sp__step *step);

/* The end of each replica of the draft when all are simulated, into end [replicas]. */
sp_status sp__step_ends(const sp__step *step, int64_t *end);

/* Back from phase two to phase one: assigns again with what the simulator showed of
 * each replica beyond its load, and keeps the draft when it gains. */
sp_status sp__step_refine(sp__step *step);

/* The makespan of one replica of the draft, as if its merges were its own. */
sp_status sp__step_evaluate_lane(const sp__step *step, int32_t replica, int64_t *makespan);

/* Simulates the step's whole draft, and notes the outcome if its memory is the least. */
sp_status sp__step_evaluate(sp__step *step, sp__outcome *out);

/* Makes the draft by the planner's policy. */
sp_status sp__step_draft(sp__step *step);

#endif
