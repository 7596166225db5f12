/*
 * fit.c - least squares for the time of one pass: see fit.h.
 *
 * With three unknowns the non-negative problem is solved exactly: of the eight sets
 * of coefficients that may be above 0 the solution is the feasible one with the
 * least residual (Lawson and Hanson, Solving Least Squares Problems, chapter 23).
 * A floor splits the points in those that lie on it, the ones with the least work,
 * and the rest. Splits are tried in steps, and the best is ordered and split anew
 * by its own coefficients until that gains nothing. Everything is tried in a fixed
 * order and the first of equals is kept.
 */
#include "cost/fit.h"

#include <math.h>
#include <string.h>

#define UNKNOWNS 3
#define ALIKE 1e-10      /* determinant of unit columns below which they are not told apart */
#define FLOOR_LEAST 2    /* a single point shows no floor */
#define FLOOR_ROUNDS 10
#define FLOOR_GAIN 0.99  /* of the squared error for each degree of freedom */
#define RESOLUTION 1e-12 /* squared error of a point, 1 ppm, that is nothing to gain from */

/* Normal equations of points [coefficients / seconds] x = 1. */
typedef struct equations {
    double gram[UNKNOWNS][UNKNOWNS];
    double right[UNKNOWNS];
    double norm[UNKNOWNS];
} equations;

/* What a split of the ordered points gives. */
typedef struct trial {
    sp__pass_cost cost;
    double error; /* weighted sum of squared relative errors */
} trial;

typedef struct pass {
    const sp__fit_points *p;
    const double *seconds;
    const double *weight;
    int64_t kept; /* points in p->order */
} pass;

/* Orders the kept points by decreasing work. */
static void order_by_work(pass *f, const sp__pass_cost *cost)
{
    int64_t kept = 0;

    for (int64_t i = 0; i < f->p->count; i++) {
        double work = sp__fit_work(cost, f->p, i);
        sp__keyed *item = &f->p->order[kept];

        if (f->weight[i] == 0)
            continue;
        /* Doubles that are not negative have the order of their bits. */
        memcpy(&item->key, &work, sizeof item->key);
        item->index = (int32_t)i;
        kept++;
    }
    sp__sort_descending(f->p->order, f->p->scratch, kept);
    f->kept = kept;
}

static void add_point(equations *e, const double row[UNKNOWNS], double weight)
{
    for (int i = 0; i < UNKNOWNS; i++) {
        for (int j = 0; j < UNKNOWNS; j++)
            e->gram[i][j] += weight * row[i] * row[j];
        e->right[i] += weight * row[i];
    }
}

/* Of the points with the most work. */
static void gather(const pass *f, int64_t points, equations *e)
{
    memset(e, 0, sizeof *e);
    for (int64_t n = 0; n < points; n++) {
        int32_t i = f->p->order[n].index;
        double rate = 1 / f->seconds[i];
        const double row[UNKNOWNS] = { (double)f->p->tokens[i] * rate, f->p->pairs[i] * rate,
                                       rate };

        add_point(e, row, f->weight[i]);
    }
}

/* Tokens, pairs and packs differ by many orders of magnitude: columns of unit norm
 * make the determinant say how far apart their directions are. */
static int scale(equations *e)
{
    double g01, g02, g12;

    for (int i = 0; i < UNKNOWNS; i++)
        e->norm[i] = sqrt(e->gram[i][i]);
    for (int i = 0; i < UNKNOWNS; i++) {
        for (int j = 0; j < UNKNOWNS; j++)
            e->gram[i][j] /= e->norm[i] * e->norm[j];
        e->right[i] /= e->norm[i];
    }
    g01 = e->gram[0][1];
    g02 = e->gram[0][2];
    g12 = e->gram[1][2];
    return 1 + 2 * g01 * g02 * g12 - g01 * g01 - g02 * g02 - g12 * g12 > ALIKE;
}

/* Solves for the coefficients in the set, by elimination; the others are 0. */
static void solve_set(const equations *e, int set, double x[UNKNOWNS])
{
    double a[UNKNOWNS][UNKNOWNS];

    for (int i = 0; i < UNKNOWNS; i++) {
        for (int j = 0; j < UNKNOWNS; j++)
            a[i][j] = set >> i & set >> j & 1 ? e->gram[i][j] : i == j;
        x[i] = set >> i & 1 ? e->right[i] : 0;
    }
    for (int k = 0; k < UNKNOWNS; k++)
        for (int i = k + 1; i < UNKNOWNS; i++) {
            double factor = a[i][k] / a[k][k];

            for (int j = k; j < UNKNOWNS; j++)
                a[i][j] -= factor * a[k][j];
            x[i] -= factor * x[k];
        }
    for (int i = UNKNOWNS - 1; i >= 0; i--) {
        for (int j = i + 1; j < UNKNOWNS; j++)
            x[i] -= a[i][j] * x[j];
        x[i] /= a[i][i];
    }
}

/* The set whose solution explains the most; the empty one explains nothing. */
static void solve(const equations *e, sp__pass_cost *cost)
{
    double best[UNKNOWNS] = { 0 }, most = 0;

    for (int set = 1; set < 1 << UNKNOWNS; set++) {
        double x[UNKNOWNS], explained = 0;

        solve_set(e, set, x);
        for (int i = 0; i < UNKNOWNS; i++)
            explained += e->right[i] * x[i];
        if (x[0] < 0 || x[1] < 0 || x[2] < 0 || explained <= most)
            continue;
        memcpy(best, x, sizeof best);
        most = explained;
    }
    cost->token = best[0] / e->norm[0];
    cost->pair = best[1] / e->norm[1];
    cost->start = best[2] / e->norm[2];
}

/* The time that the last `low` points share, 0 for none. */
static double floor_of(const pass *f, int64_t low)
{
    double sum = 0, squares = 0;

    for (int64_t n = f->kept - low; n < f->kept; n++) {
        int32_t i = f->p->order[n].index;
        double rate = 1 / f->seconds[i];

        sum += f->weight[i] * rate;
        squares += f->weight[i] * rate * rate;
    }
    return low > 0 ? sum / squares : 0;
}

static double squared_error(const pass *f, const sp__pass_cost *cost)
{
    double sum = 0;

    for (int64_t n = 0; n < f->kept; n++) {
        int32_t i = f->p->order[n].index;
        double error = sp__fit_error(cost, f->p, i, f->seconds[i]);

        sum += f->weight[i] * error * error;
    }
    return sum;
}

/* Fits with the `low` points of the least work on the floor; 0 when the others are
 * too alike. */
static int try_split(const pass *f, int64_t low, trial *out)
{
    equations e;

    if (f->kept - low < UNKNOWNS)
        return 0;
    gather(f, f->kept - low, &e);
    if (!scale(&e))
        return 0;
    solve(&e, &out->cost);
    out->cost.floor = floor_of(f, low);
    out->error = squared_error(f, &out->cost);
    return 1;
}

static void consider(const pass *f, int64_t low, trial *best)
{
    trial t;

    if (low >= FLOOR_LEAST && try_split(f, low, &t) && t.error < best->error)
        *best = t;
}

/* Ordered points that lie on the floor of these coefficients. */
static int64_t on_floor(const pass *f, const sp__pass_cost *cost)
{
    int64_t low = 0;

    while (low < f->kept &&
           sp__fit_work(cost, f->p, f->p->order[f->kept - 1 - low].index) < cost->floor)
        low++;
    return low;
}

/* The best that a floor does, from the fit without one. */
static trial search_floor(pass *f, const trial *plain)
{
    trial best = *plain;

    for (int round = 0; round < FLOOR_ROUNDS; round++) {
        double before = best.error;

        order_by_work(f, &best.cost);
        consider(f, on_floor(f, &best.cost), &best);
        for (int64_t low = FLOOR_LEAST; low <= f->kept / 2; low += 1 + low / 4)
            consider(f, low, &best);
        if (best.error >= before)
            break;
    }
    return best;
}

/* Whether a floor explains more than one more coefficient does of noise. */
static int clearly_better(const pass *f, const trial *floored, const trial *plain)
{
    double freedom = (double)(f->kept - UNKNOWNS);

    return freedom > 1 && floored->error / (freedom - 1) < FLOOR_GAIN * plain->error / freedom &&
           plain->error - floored->error > RESOLUTION * (double)f->kept;
}

int sp__fit_pass(const sp__fit_points *p, const double *seconds, const double *weight,
                 sp__pass_cost *cost)
{
    const sp__pass_cost nothing = { 0 };
    pass f = { p, seconds, weight, 0 };
    trial plain, floored;

    order_by_work(&f, &nothing);
    if (!try_split(&f, 0, &plain))
        return 0;
    floored = search_floor(&f, &plain);
    *cost = clearly_better(&f, &floored, &plain) ? floored.cost : plain.cost;
    return 1;
}
