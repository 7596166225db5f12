/*
 * hand_plan.h - drafts of a few packs and a machine of round numbers, written by
 * hand, for tests of the floors that read drafts.
 *
 *     hand_open(&h, "dp=2 pp=2", 2, 2);       packs of each pass
 *     hand_sample(&h, 32);                    sample 0
 *     hand_pack(&h, 0, SP_FORWARD, -1, 1, (sp__slice[]){ { 0, 0, 32, SP__SPLIT } });
 *     ...                                     each replica's packs in order
 *     hand_close(&h);                         loads, needs, a timeline to fill
 *
 * Until changed the machine takes 2 ps a token forward and 3 ps backward on every
 * stage, nothing for pairs or links, and 1 byte a live token besides 100 fixed.
 */
#ifndef TESTS_SUPPORT_HAND_PLAN_H
#define TESTS_SUPPORT_HAND_PLAN_H

#include "simulate/simulate.h"

enum { HAND_LANES = 4, HAND_STAGES = 6, HAND_SAMPLES = 256, HAND_MERGES = 8, HAND_THREADS = 4 };

#define HAND_PS(x) ((int64_t)(x) << SP__COST_BITS)

typedef struct hand_plan {
    sp__alloc alloc;
    sp__arena arena[HAND_THREADS]; /* the first holds the plan, too */
    sp__workers workers;
    sp__shape shape;
    sp__stage_rates stage[HAND_STAGES];
    sp__stage_memory memory[HAND_STAGES];
    sp__rates rates;
    sp__merge merge[HAND_MERGES];
    sp__lane lane[HAND_LANES];
    int32_t filled[HAND_LANES][2]; /* packs put so far */
    sp__draft draft;
    sp__sim sim;
    sp__timeline timeline;
    int64_t lengths[HAND_SAMPLES];
    int32_t samples;
} hand_plan;

/* h must not move until hand_free(). */
void hand_open(hand_plan *h, const char *topology, int32_t forward_packs, int32_t backward_packs);
int32_t hand_sample(hand_plan *h, int64_t length);
int32_t hand_merge(hand_plan *h, int32_t sample, int32_t first, int32_t replicas);
void hand_pack(hand_plan *h, int32_t lane, int pass, int32_t merge, int32_t count,
               const sp__slice *slices);
void hand_close(hand_plan *h);
void hand_free(hand_plan *h);

/* The closed plan as a schedule with the simulator's order, without stats. */
struct sp_schedule *hand_schedule(hand_plan *h);

/* Forward and backward packs of one whole sample of its own each, on every lane. */
void hand_equal_packs(hand_plan *h, const char *topology, int32_t packs, int64_t tokens);

/* A random plan with merges on nested windows, sliced samples and empty packs. */
void hand_random(hand_plan *h, uint64_t seed);

/* Op i of a stage: as sp__op() makes it, start and end. */
static inline int64_t hand_at(const hand_plan *h, int32_t lane, int32_t stage, int32_t i)
{
    return ((int64_t)lane * h->rates.stages + stage) * h->timeline.ops + i;
}

/* The place of a pass's pack in a stage's order. */
int32_t hand_find(const hand_plan *h, int32_t lane, int32_t stage, int pass, int32_t pack);

#endif
