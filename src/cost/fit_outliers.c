/*
 * fit_outliers.c - fits both passes without the measurements that lie far off.
 *
 * A point lies far off where its error is many times the median one: an interrupted
 * run, a first launch. It is left out of both passes, as whatever disturbed one may
 * have disturbed the other. Least squares bend to outliers and so hide them, above
 * all those that seem too fast: the first to judge are coefficients of least absolute
 * errors, by least squares of changing weight (Holland and Welsch, Robust regression
 * using iteratively reweighted least-squares, 1977). Each round then judges all
 * points anew by the least squares of those kept, so that one wrongly left out comes
 * back. What leaves here are the least squares of the points not left out.
 */
#include <math.h>
#include <string.h>

#include "cost/fit.h"
#include "slimpack.h"

#define ROUNDS 5
#define WEIGHINGS 10
#define FULL_WEIGHT 0.01 /* a closer point has all its weight */
#define LEAST_LIMIT 0.05 /* no closer point is an outlier, however good the fit is */
#define MEDIANS (6 * 1.4826) /* six standard deviations of normal errors */

/* Errors above this are far off. At least half of all are not. */
static double limit_of(const sp__fit_points *p, const double *seconds, const sp__pass_cost *cost)
{
    double median;

    for (int64_t i = 0; i < p->count; i++) {
        double error = fabs(sp__fit_error(cost, p, i, seconds[i]));

        memcpy(&p->order[i].key, &error, sizeof p->order[i].key);
        p->order[i].index = (int32_t)i;
    }
    sp__sort_descending(p->order, p->scratch, p->count);
    memcpy(&median, &p->order[p->count / 2].key, sizeof median);
    return median * MEDIANS > LEAST_LIMIT ? median * MEDIANS : LEAST_LIMIT;
}

/* Marks the points far off in either pass and counts the others. */
static int64_t mark(const sp__fit_points *p, const double *const seconds[2],
                    const sp__pass_cost cost[2], int32_t *marks)
{
    int64_t kept = p->count;

    memset(marks, 0, (size_t)p->count * sizeof *marks);
    for (int pass = 0; pass < 2; pass++) {
        double limit = limit_of(p, seconds[pass], &cost[pass]);

        for (int64_t i = 0; i < p->count; i++)
            if (!marks[i] && fabs(sp__fit_error(&cost[pass], p, i, seconds[pass][i])) > limit) {
                marks[i] = 1;
                kept--;
            }
    }
    return kept;
}

/* Weights under which squares of errors count as absolute errors, relative to the
 * larger of both times: a time that is half as long then counts like one twice as
 * long. */
static void weigh(const sp__fit_points *p, const double *seconds, const sp__pass_cost *cost,
                  double *weight)
{
    for (int64_t i = 0; i < p->count; i++) {
        double error = sp__fit_error(cost, p, i, seconds[i]);

        weight[i] = fabs(error) > FULL_WEIGHT ? FULL_WEIGHT / fabs(error) : 1;
        weight[i] /= error > 0 ? 1 + error : 1;
    }
}

/* Coefficients that few points far off do not bend. */
static int fit_steady(const sp__fit_points *p, const double *seconds, double *weight,
                      sp__pass_cost *cost)
{
    for (int64_t i = 0; i < p->count; i++)
        weight[i] = 1;
    if (!sp__fit_pass(p, seconds, weight, cost))
        return 0;
    for (int n = 0; n < WEIGHINGS; n++) {
        weigh(p, seconds, cost, weight);
        if (!sp__fit_pass(p, seconds, weight, cost))
            break;
    }
    return 1;
}

static int fit_kept(const sp__fit_points *p, const double *const seconds[2],
                    const int32_t *left_out, double *weight, sp__pass_cost cost[2])
{
    for (int64_t i = 0; i < p->count; i++)
        weight[i] = !left_out[i];
    return sp__fit_pass(p, seconds[0], weight, &cost[0]) &&
           sp__fit_pass(p, seconds[1], weight, &cost[1]);
}

int sp__fit_passes(const sp__fit_points *p, const double *const seconds[2], int32_t *left_out,
                   int32_t *marks, double *weight, sp__pass_cost cost[2])
{
    size_t bytes = (size_t)p->count * sizeof *marks;
    sp__pass_cost judge[2];

    memset(left_out, 0, bytes);
    if (!fit_kept(p, seconds, left_out, weight, cost) ||
        !fit_steady(p, seconds[0], weight, &judge[0]) ||
        !fit_steady(p, seconds[1], weight, &judge[1]))
        return 0;
    for (int round = 0; round < ROUNDS; round++) {
        int64_t kept = mark(p, seconds, judge, marks);

        /* What would leave too little to fit is no outlier. */
        if (kept < SP_FIT_POINTS || kept < p->count - kept ||
            memcmp(marks, left_out, bytes) == 0 || !fit_kept(p, seconds, marks, weight, judge))
            break;
        memcpy(left_out, marks, bytes);
        memcpy(cost, judge, sizeof judge);
    }
    return 1;
}
