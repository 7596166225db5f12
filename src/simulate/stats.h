/*
 * stats.h - how good a simulated plan is: its certificate and its losses.
 */
#ifndef SP_SIMULATE_STATS_H
#define SP_SIMULATE_STATS_H

#include "simulate/simulate.h"

/* Tokens and pairs of a whole batch: what its ideal time follows from. */
typedef struct sp__totals {
    int64_t tokens;
    int64_t pairs;
} sp__totals;

/* Sums the pairs of all samples; SP_ERR_OVERFLOW names the sample at which a sum
 * passes int64 or a length 2^31 - 1. */
sp_status sp__batch_totals(const sp__attention *attention, const int64_t *lengths, int32_t samples,
                           sp__totals *out);

/* Compute of a stage's share at full rate: all of the batch over DP x CP, rounded
 * up. -1 when it does not fit. */
int64_t sp__ideal_stage(const sp__rates *rates, int32_t stage, const sp__totals *totals,
                        int32_t sharers);

/* The largest of all stages. SP_ERR_OVERFLOW when one does not fit. */
sp_status sp__ideal(const sp__rates *rates, const sp__totals *totals, int32_t sharers,
                    int64_t *out);

/* Fills what follows from the step as a whole: its end, throughput and utilisation on
 * that many devices. The rest of stats is there. */
void sp__stats_step(const sp__sim *sim, const sp__timeline *timeline, const sp__target *target,
                    const sp__totals *totals, int32_t devices, sp_stats *stats);

/* Fills stats of a draft whose timeline is done; memory is the cap. */
sp_status sp__stats_fill(const sp__sim *sim, const sp__timeline *timeline,
                         const int64_t *lengths, int32_t samples, int64_t memory, sp_stats *out);

#endif
