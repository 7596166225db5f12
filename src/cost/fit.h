/*
 * fit.h - what measured slices say a token, a pair and a pack cost.
 *
 * A pass takes max(token * tokens + pair * pairs + start, floor) seconds, and no
 * coefficient is below 0. Errors are relative, so that a slice of a millisecond
 * says as much as one of a second. The floating point ends here: what leaves the
 * fit are integers, found once and handed to every rank, so plans stay the same
 * everywhere.
 */
#ifndef SP_COST_FIT_H
#define SP_COST_FIT_H

#include <stdint.h>

#include "base/sort.h"
#include "slimpack.h"

/* Seconds of one pass. */
typedef struct sp__pass_cost {
    double token, pair, start, floor;
} sp__pass_cost;

/* The slices that were measured, and room to order them in. */
typedef struct sp__fit_points {
    int64_t count;         /* <= INT32_MAX */
    const int64_t *tokens; /* [count] >= 1 */
    const double *pairs;   /* [count] >= 1 */
    sp__keyed *order;      /* [count] scratch */
    sp__keyed *scratch;    /* [count] scratch */
} sp__fit_points;

/* Seconds that the coefficients give before the floor. */
static inline double sp__fit_work(const sp__pass_cost *c, const sp__fit_points *p, int64_t i)
{
    return c->token * (double)p->tokens[i] + c->pair * p->pairs[i] + c->start;
}

/* (fitted - measured) / measured */
static inline double sp__fit_error(const sp__pass_cost *c, const sp__fit_points *p, int64_t i,
                                   double seconds)
{
    double work = sp__fit_work(c, p, i);

    return ((work > c->floor ? work : c->floor) - seconds) / seconds;
}

/* The least squares of one pass; weight [count] is from 0, a point left out, to 1.
 * 0 when the points cannot tell tokens, pairs and packs apart; cost is then
 * untouched. */
int sp__fit_pass(const sp__fit_points *p, const double *seconds, const double *weight,
                 sp__pass_cost *cost);

/* Fits both passes without the points that lie far off in either. seconds and cost
 * are those of forward and backward; left_out [count] receives 1 or 0; marks and
 * weight are scratch as long. 0 as above. */
int sp__fit_passes(const sp__fit_points *p, const double *const seconds[2], int32_t *left_out,
                   int32_t *marks, double *weight, sp__pass_cost cost[2]);

/* Refuses element i of a list of measured times that no slice or step takes. */
sp_status sp__check_seconds(const char *name, int64_t i, double seconds);

#endif
