/*
 * fit_model.c - sp_model_fit(): measured slices in, the model's coefficients out.
 *
 * Arguments are checked before anything is computed, and model and outputs are
 * written when nothing can fail any more. The errors reported are those of the
 * integers that the model gets, not of the real numbers behind them.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/abi.h"
#include "base/first.h"
#include "base/status.h"
#include "cost/fit.h"
#include "cost/pairs.h"
#include "input/model.h"

/* A slice or a step is over in that time, and the squares of their ratios stay finite. */
#define SHORTEST_SECONDS 1e-18
#define LONGEST_SECONDS 1e15

#define PASS_KEYS 4 /* keys of a pass: token, pair, start, floor */

_Static_assert(SP_MODEL_FORWARD_FLOOR_PS == SP_MODEL_FORWARD_TOKEN_AS + PASS_KEYS - 1 &&
                   SP_MODEL_BACKWARD_TOKEN_AS == SP_MODEL_FORWARD_TOKEN_AS + PASS_KEYS &&
                   SP_MODEL_BACKWARD_FLOOR_PS == SP_MODEL_BACKWARD_TOKEN_AS + PASS_KEYS - 1,
               "the keys of the passes follow one another");

/* Units of a second, in the keys' order. */
static const double units[PASS_KEYS] = { 1e18, 1e18, 1e12, 1e12 };

static const char *const time_names[2] = { "forward_s", "backward_s" };

typedef struct fit_job {
    sp_model *model;
    int32_t layers;
    const int64_t *start;
    const double *seconds[2];
    sp__fit_points points;
    double *pairs, *weight;
    int32_t *left_out, *marks;
    int64_t values[2 * PASS_KEYS];
    sp__pass_cost cost[2];
} fit_job;

sp_status sp__check_seconds(const char *name, int64_t i, double seconds)
{
    if (isnan(seconds)) /* its sign depends on the machine */
        return sp__fail(SP_ERR_INVALID, "%s[%" PRId64 "]: nan is no finite number", name, i);
    if (!isfinite(seconds))
        return sp__fail(SP_ERR_INVALID, "%s[%" PRId64 "]: %g is no finite number", name, i,
                        seconds);
    if (seconds <= 0)
        return sp__fail(SP_ERR_RANGE, "%s[%" PRId64 "]: %g is not above 0", name, i, seconds);
    if (seconds < SHORTEST_SECONDS)
        return sp__fail(SP_ERR_RANGE, "%s[%" PRId64 "]: %g is below %g", name, i, seconds,
                        SHORTEST_SECONDS);
    if (seconds > LONGEST_SECONDS)
        return sp__fail(SP_ERR_RANGE, "%s[%" PRId64 "]: %g is above %g", name, i, seconds,
                        LONGEST_SECONDS);
    return SP_OK;
}

static sp_status check_slice(const fit_job *j, int64_t i)
{
    int64_t start = j->start[i], length = j->points.tokens[i];

    if (start < 0)
        return sp__fail(SP_ERR_RANGE, "start[%" PRId64 "]: %" PRId64 " is below 0", i, start);
    if (length < 1)
        return sp__fail(SP_ERR_RANGE, "length[%" PRId64 "]: %" PRId64 " is below 1", i, length);
    if (start > INT32_MAX || length > INT32_MAX - start)
        return sp__fail(SP_ERR_OVERFLOW,
                        "length[%" PRId64 "]: %" PRId64 " tokens from %" PRId64 " pass %d", i,
                        length, start, INT32_MAX);
    return SP_OK;
}

static sp_status check_pointers(const fit_job *j)
{
    if (j->model == NULL)
        return sp__fail_null("model");
    if (j->start == NULL)
        return sp__fail_null("start");
    if (j->points.tokens == NULL)
        return sp__fail_null("length");
    for (int pass = 0; pass < 2; pass++)
        if (j->seconds[pass] == NULL)
            return sp__fail_null(time_names[pass]);
    return SP_OK;
}

static sp_status check(const fit_job *j, const sp_fit *fit)
{
    int64_t count = j->points.count;

    SP_TRY(check_pointers(j));
    if (fit != NULL)
        SP_TRY(sp__struct_ready(fit, SP__FIRST_FIT, "fit"));
    if (j->layers < 1)
        return sp__fail(SP_ERR_RANGE, "layers: %" PRId32 " is below 1", j->layers);
    if (count < SP_FIT_POINTS)
        return sp__fail(SP_ERR_RANGE,
                        "count: %" PRId64 " measurements are below the %d that a fit needs", count,
                        SP_FIT_POINTS);
    if (count > INT32_MAX)
        return sp__fail(SP_ERR_RANGE, "count: %" PRId64 " is above %" PRId32, count, INT32_MAX);
    for (int64_t i = 0; i < count; i++) {
        SP_TRY(check_slice(j, i));
        for (int pass = 0; pass < 2; pass++)
            SP_TRY(sp__check_seconds(time_names[pass], i, j->seconds[pass][i]));
    }
    return SP_OK;
}

static void close_job(fit_job *j)
{
    const sp__alloc *a = &j->model->alloc;

    sp__free(a, j->weight);
    sp__free(a, j->marks);
    sp__free(a, j->left_out);
    sp__free(a, j->points.scratch);
    sp__free(a, j->points.order);
    sp__free(a, j->pairs);
}

static sp_status open_job(fit_job *j)
{
    const sp__alloc *a = &j->model->alloc;
    int64_t n = j->points.count;

    j->pairs = sp__alloc_array(a, n, sizeof *j->pairs);
    j->points.order = sp__alloc_array(a, n, sizeof *j->points.order);
    j->points.scratch = sp__alloc_array(a, n, sizeof *j->points.scratch);
    j->left_out = sp__alloc_array(a, n, sizeof *j->left_out);
    j->marks = sp__alloc_array(a, n, sizeof *j->marks);
    j->weight = sp__alloc_array(a, n, sizeof *j->weight);
    j->points.pairs = j->pairs;
    if (j->pairs == NULL || j->points.order == NULL || j->points.scratch == NULL ||
        j->left_out == NULL || j->marks == NULL || j->weight == NULL)
        return sp__fail_memory();
    return SP_OK;
}

/* Where attention looks ahead the sample is taken to end with the slice. */
static void count_pairs(const fit_job *j)
{
    int64_t window = sp__model_value(j->model, SP_MODEL_WINDOW);
    sp__attention attention = { window > 0 ? window : INT64_MAX,
                                (int32_t)sp__model_value(j->model, SP_MODEL_CAUSAL) };

    for (int64_t i = 0; i < j->points.count; i++) {
        int64_t length = j->points.tokens[i];

        j->pairs[i] =
            (double)sp__pairs(&attention, j->start[i], length, j->start[i] + length);
    }
}

static sp_status round_value(double seconds, int place, int32_t layers, int64_t *value)
{
    const sp__param *row = &sp__model_table.rows[SP_MODEL_FORWARD_TOKEN_AS - 1 + place];
    double scaled = seconds * units[place % PASS_KEYS] / layers;

    if (!(scaled <= (double)row->maximum))
        return sp__fail(SP_ERR_OVERFLOW, "%s: %g is above %" PRId64, row->name, scaled,
                        row->maximum);
    *value = (int64_t)(scaled + 0.5);
    return SP_OK;
}

/* Rounds a pass to the model's integers and takes back what they stand for. Without
 * a cost of tokens or pairs they would mean FLOPs. */
static sp_status round_pass(fit_job *j, int pass)
{
    sp__pass_cost *c = &j->cost[pass];
    int64_t *v = &j->values[pass * PASS_KEYS];
    double *const parts[PASS_KEYS] = { &c->token, &c->pair, &c->start, &c->floor };

    for (int k = 0; k < PASS_KEYS; k++) {
        SP_TRY(round_value(*parts[k], pass * PASS_KEYS + k, j->layers, &v[k]));
        *parts[k] = (double)v[k] / units[k] * j->layers;
    }
    if (v[0] == 0 && v[1] == 0)
        return sp__fail(SP_ERR_INVALID, "%s: the times grow with neither tokens nor pairs",
                        time_names[pass]);
    return SP_OK;
}

static sp_status run(fit_job *j)
{
    count_pairs(j);
    if (!sp__fit_passes(&j->points, j->seconds, j->left_out, j->marks, j->weight,
                        j->cost))
        return sp__fail(SP_ERR_INVALID, "start, length: the %" PRId64 " slices are too alike to "
                        "tell the costs of tokens, pairs and packs apart; vary both",
                        j->points.count);
    SP_TRY(round_pass(j, 0));
    return round_pass(j, 1);
}

static int64_t ppm(double error)
{
    double scaled = error * 1e6 + 0.5;

    return scaled < 9e18 ? (int64_t)scaled : INT64_MAX;
}

static sp_fit summary(const fit_job *j)
{
    sp_fit found = SP_FIT_INIT;
    double sum = 0, largest = 0;

    for (int64_t i = 0; i < j->points.count; i++) {
        for (int pass = 0; pass < 2 && !j->left_out[i]; pass++) {
            double error =
                fabs(sp__fit_error(&j->cost[pass], &j->points, i, j->seconds[pass][i]));

            sum += error;
            largest = error > largest ? error : largest;
        }
        found.outliers += j->left_out[i];
    }
    found.used = j->points.count - found.outliers;
    found.mean_error_ppm = ppm(sum / (2 * (double)found.used));
    found.largest_error_ppm = ppm(largest);
    return found;
}

static void write_outputs(const fit_job *j, double *error, int32_t *outlier, sp_fit *fit)
{
    sp_fit found = summary(j);

    if (error != NULL)
        for (int64_t i = 0; i < 2 * j->points.count; i++)
            error[i] = sp__fit_error(&j->cost[i % 2], &j->points, i / 2, j->seconds[i % 2][i / 2]);
    if (outlier != NULL)
        memcpy(outlier, j->left_out, (size_t)j->points.count * sizeof *outlier);
    if (fit != NULL)
        sp__struct_out(fit, &found, sizeof found, SP__FIRST_FIT, "fit");
    memcpy(&j->model->values[SP_MODEL_FORWARD_TOKEN_AS - 1], j->values, sizeof j->values);
}

sp_status sp_model_fit(sp_model *model, int32_t layers, int64_t count, const int64_t *start,
                       const int64_t *length, const double *forward_s, const double *backward_s,
                       double *error, int32_t *outlier, sp_fit *fit)
{
    fit_job j = { .model = model, .layers = layers, .start = start,
                  .seconds = { forward_s, backward_s },
                  .points = { .count = count, .tokens = length } };
    sp_status status;

    SP_TRY(check(&j, fit));
    status = open_job(&j);
    if (status == SP_OK)
        status = run(&j);
    if (status == SP_OK)
        write_outputs(&j, error, outlier, fit);
    close_job(&j);
    return status;
}
