/*
 * costs.h - the cost of a pack on the ideal device, computed anew from the model's
 * and the device's parameters, in floating point and without rounding.
 */
#ifndef TESTS_SUPPORT_COSTS_H
#define TESTS_SUPPORT_COSTS_H

#include "plain.h"

/* What one token and one (query, key) pair take, picoseconds on one rank. */
#define COST_INPUT 3

typedef struct stage_cost {
    long double token[4], pair[4]; /* by sp_pass; COST_INPUT is a backward without its weights */
} stage_cost;

typedef struct cost_model {
    int64_t window;   /* keys of a query, INT64_MAX for no limit */
    int causal;
    stage_cost *stage; /* [pp * chunks] */
} cost_model;

/* stage [pp * chunks] is the caller's. */
void cost_model_init(cost_model *m, stage_cost *stage, const sp_model *model,
                     const sp_device *device, int32_t pp, int32_t chunks,
                     int32_t tp);

/* (query, key) pairs of a piece of a sample. */
int64_t cost_pairs(const cost_model *m, const plain_piece *piece, int64_t sample_length);

/* Work of one rank's part of a pack. */
typedef struct part_work {
    int64_t tokens, pairs;
} part_work;

part_work cost_part(const cost_model *m, const plain_part *part, const int64_t *lengths);

/* Its time on a virtual stage. */
long double cost_time(const cost_model *m, int32_t stage, int pass, part_work work);

#endif
