/*
 * step.h - one planned step as report and trace show it: a schedule and its times.
 *
 * Times are those of a simulation, or the schedule's own where there is none; then
 * nothing is known of memory over time. TP and CP ranks of a stage run the same ops
 * at the same times: the rank with TP and CP index 0 stands for them.
 */
#ifndef SLIMPACK_CLI_STEP_H
#define SLIMPACK_CLI_STEP_H

#include "slimpack.h"

typedef struct cli_step {
    const sp_topology *topology;
    const sp_schedule *schedule;
    const sp_simulation *simulation; /* NULL: the schedule's own times */
    const char *policy, *model, *device;
    sp_coordinates degrees;
    int32_t ops;    /* of each rank */
    int32_t chunks; /* of each stage */
    int32_t pipeline; /* sp_pipeline */
} cli_step;

/* Borrows the handles; the names are set by the caller. */
cli_step cli_step_of(const sp_topology *topology, const sp_schedule *schedule,
                     const sp_simulation *simulation);

/* The rank with TP index 0. */
int32_t cli_step_rank(const cli_step *step, int32_t dp, int32_t pp, int32_t cp);

/* The index-th op of a rank, at the step's times. */
sp_op_view cli_step_op(const cli_step *step, int32_t rank, int32_t index);

/* Tokens that a replica computes of a pack: all of it, or its share of a merge. Pass
 * of weight gradients stands for backward. */
int64_t cli_step_tokens(const cli_step *step, int32_t dp, sp_pass pass, int32_t pack);

/* Packs of a pass, weight gradients standing for backward. */
sp_pass cli_step_pack_pass(sp_pass pass);

#endif
