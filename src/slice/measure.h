/*
 * measure.h - where in a sample a given share of its cost ends.
 *
 * Late tokens attend a long prefix, so slices of equal cost are not slices of
 * equal length. Costs are those of one pass on the stage that bounds the step;
 * a cut lies at a multiple of the alignment.
 */
#ifndef SP_SLICE_MEASURE_H
#define SP_SLICE_MEASURE_H

#include "cost/rates.h"

/* What cost means when streams are cut. */
typedef struct sp__yardstick {
    int64_t token[2]; /* by sp_pass, fixed point ps */
    int64_t pair[2];
    sp__attention attention;
    int32_t alignment;
    int64_t exchange;       /* ps of a pack's K and V exchange over its CP ranks, and */
    int64_t exchange_token; /* fixed point ps more for each token that is split */
} sp__yardstick;

/* Cost of the slice [start, start + length) of a sample in one pass. */
static inline int64_t sp__slice_cost(const sp__yardstick *y, int pass, int64_t start,
                                     int64_t length, int64_t sample_length)
{
    sp__int128 cost = (sp__int128)y->token[pass] * length +
                      (sp__int128)y->pair[pass] *
                          sp__pairs(&y->attention, start, length, sample_length);

    return (int64_t)(cost >> SP__COST_BITS);
}

/* Forward and backward cost of a whole sample. */
static inline int64_t sp__sample_cost(const sp__yardstick *y, int64_t length)
{
    return sp__slice_cost(y, SP_FORWARD, 0, length, length) +
           sp__slice_cost(y, SP_BACKWARD, 0, length, length);
}

/* The cut p, a multiple of the alignment or the sample's end, for which the cost
 * of its first p tokens is nearest to target (the smaller of equals). */
int64_t sp__cut_from_start(const sp__yardstick *y, int64_t length, int64_t target);

/* The cut p for which the backward cost of its tokens from p on is nearest. */
int64_t sp__cut_from_end(const sp__yardstick *y, int64_t length, int64_t target);

#endif
