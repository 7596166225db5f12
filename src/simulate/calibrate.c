/*
 * calibrate.c - scales a device's parameters until simulated steps take as long as
 * measured ones: see sp_device_calibrate().
 *
 * Least squares of relative errors over the logarithms of the parameters, by the
 * method of Levenberg and Marquardt (Marquardt 1963): each step solves the damped
 * normal equations, and the damping grows until the step gains. Logarithms keep
 * parameters positive and of one scale. Floating point is at home here: what comes
 * out are integers that a caller hands to all its ranks.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/abi.h"
#include "base/first.h"
#include "base/status.h"
#include "cost/fit.h"
#include "simulate/simulation.h"

#define ROUNDS 60
#define NUDGE 0.01           /* of a logarithm, for slopes */
#define ENOUGH 1e-7          /* gain of a round below which the search ends */
#define LARGEST_STEP 1.0     /* of a logarithm */
#define MOST_KEYS SP__DEVICE_PARAMS

typedef struct search {
    struct sp_device device; /* under trial */
    const sp_schedule *const *schedules;
    const sp_model *const *models;
    const double *measured;
    int32_t count, keys;
    const int32_t *key;
    double *error; /* [count] at the best parameters */
    double *trial; /* [count] */
    double *slope; /* [keys * count] of the errors by the parameters' logarithms */
} search;

static sp_status check_step(int32_t i, const sp_schedule *schedule, const sp_model *model,
                            double measured)
{
    if (schedule == NULL || model == NULL)
        return sp__fail(SP_ERR_INVALID, "%s[%" PRId32 "]: NULL",
                        schedule == NULL ? "schedules" : "models", i);
    return sp__check_seconds("measured_s", i, measured);
}

static sp_status check_key(const struct sp_device *d, const int32_t *keys, int32_t i)
{
    int32_t row = sp__param_row(&sp__device_table, keys[i]);
    int64_t value;

    if (row < 0)
        return sp__fail(SP_ERR_NAME, "keys[%" PRId32 "]: no device parameter has key %" PRId32
                        "; keys are 1 to %d", i, keys[i], SP__DEVICE_PARAMS);
    value = d->values[row];
    if (value <= 0 || value == INT64_MAX || sp__device_table.rows[row].values[0] != '\0' ||
        keys[i] == SP_DEVICE_MEMORY_BYTES || keys[i] == SP_DEVICE_DEVICES_PER_NODE ||
        keys[i] == SP_DEVICE_PEAK_FLOPS)
        return sp__fail(SP_ERR_INVALID, "keys[%" PRId32 "]: %s of %" PRId64
                        " is no amount that can be scaled", i, sp__device_table.rows[row].name,
                        value);
    for (int32_t j = 0; j < i; j++)
        if (keys[j] == keys[i])
            return sp__fail(SP_ERR_INVALID, "keys[%" PRId32 "]: %s stands there twice", i,
                            sp__device_table.rows[row].name);
    return SP_OK;
}

static sp_status check(const sp_device *device, int32_t count, const sp_schedule *const *schedules,
                       const sp_model *const *models, const double *measured, int32_t key_count,
                       const int32_t *keys)
{
    if (device == NULL || schedules == NULL || models == NULL || measured == NULL || keys == NULL)
        return sp__fail_null(device == NULL      ? "device"
                             : schedules == NULL ? "schedules"
                             : models == NULL    ? "models"
                             : measured == NULL  ? "measured_s"
                                                 : "keys");
    if (key_count < 1 || key_count > MOST_KEYS)
        return sp__fail(SP_ERR_RANGE, "key_count: %" PRId32 " is outside 1 to %d", key_count,
                        MOST_KEYS);
    if (count < key_count)
        return sp__fail(SP_ERR_INVALID, "count: %" PRId32 " measured steps are fewer than %" PRId32
                        " keys", count, key_count);
    for (int32_t i = 0; i < key_count; i++)
        SP_TRY(check_key(device, keys, i));
    for (int32_t i = 0; i < count; i++)
        SP_TRY(check_step(i, schedules[i], models[i], measured[i]));
    return SP_OK;
}

/* Errors of all steps under the device on trial, and their sum of squares. */
static sp_status judge(const search *s, double *error, double *sum)
{
    *sum = 0;
    for (int32_t i = 0; i < s->count; i++) {
        sp_simulation *simulation;

        SP_TRY(sp_simulate(s->schedules[i], s->models[i], &s->device, &simulation));
        error[i] = (double)simulation->stats.step_ps / 1e12 / s->measured[i] - 1;
        *sum += error[i] * error[i];
        sp_simulation_destroy(simulation);
    }
    return SP_OK;
}

/* Scales a parameter by a logarithm, within its bounds. */
static int64_t scaled(int32_t key, int64_t value, double by)
{
    const sp__param *row = &sp__device_table.rows[sp__param_row(&sp__device_table, key)];
    double to = (double)value * exp(by), most = (double)(row->maximum < INT64_MAX
                                                             ? row->maximum : INT64_MAX / 2);

    if (to < 1)
        return sp__max(row->minimum, 1);
    return (int64_t)fmin(fmax(to + 0.5, (double)sp__max(row->minimum, 1)), most);
}

static int64_t *value_of(struct sp_device *d, int32_t key)
{
    return &d->values[key - 1];
}

static sp_status find_slopes(search *s)
{
    for (int32_t j = 0; j < s->keys; j++) {
        int64_t *value = value_of(&s->device, s->key[j]), before = *value;
        double by, sum;

        *value = scaled(s->key[j], before, NUDGE);
        if (*value == before) /* a share of few percent, or the end of the bounds */
            *value = before < sp__device_table.rows[s->key[j] - 1].maximum ? before + 1
                                                                            : before - 1;
        by = log((double)*value / (double)before);
        SP_TRY(judge(s, s->trial, &sum));
        for (int32_t i = 0; i < s->count; i++)
            s->slope[(int64_t)j * s->count + i] = by != 0 ? (s->trial[i] - s->error[i]) / by : 0;
        *value = before;
    }
    return SP_OK;
}

/* The damped normal equations, solved by elimination; a parameter without effect
 * stays. */
static void solve(const search *s, double damping, double *step)
{
    double a[MOST_KEYS][MOST_KEYS + 1];
    int32_t n = s->keys;

    for (int32_t j = 0; j < n; j++) {
        const double *u = s->slope + (int64_t)j * s->count;

        a[j][n] = 0;
        for (int32_t i = 0; i < s->count; i++)
            a[j][n] -= u[i] * s->error[i];
        for (int32_t k = 0; k < n; k++) {
            a[j][k] = 0;
            for (int32_t i = 0; i < s->count; i++)
                a[j][k] += u[i] * s->slope[(int64_t)k * s->count + i];
        }
    }
    for (int32_t j = 0; j < n; j++)
        a[j][j] += damping * a[j][j] + 1e-12;
    for (int32_t j = 0; j < n; j++) /* positive definite: no pivoting */
        for (int32_t k = j + 1; k < n; k++) {
            double by = a[k][j] / a[j][j];

            for (int32_t i = j; i <= n; i++)
                a[k][i] -= by * a[j][i];
        }
    for (int32_t j = n - 1; j >= 0; j--) {
        step[j] = a[j][n];
        for (int32_t k = j + 1; k < n; k++)
            step[j] -= a[j][k] * step[k];
        step[j] = fmin(fmax(step[j] / a[j][j], -LARGEST_STEP), LARGEST_STEP);
    }
}

/* One round: slopes, then steps with more and more damping until one gains. */
static sp_status improve(search *s, double *damping, double *sum, int *gained)
{
    *gained = 0;
    SP_TRY(find_slopes(s));
    for (int tries = 0; tries < 12 && !*gained; tries++) {
        struct sp_device before = s->device;
        double step[MOST_KEYS] = { 0 }, now;

        solve(s, *damping, step);
        for (int32_t j = 0; j < s->keys; j++) {
            int64_t *value = value_of(&s->device, s->key[j]);

            *value = scaled(s->key[j], *value, step[j]);
        }
        SP_TRY(judge(s, s->trial, &now));
        *gained = now < *sum - ENOUGH * ENOUGH;
        *damping = *gained ? *damping / 5 : *damping * 4;
        if (!*gained) {
            s->device = before;
            continue;
        }
        memcpy(s->error, s->trial, (size_t)s->count * sizeof *s->error);
        *gained = *sum - now > ENOUGH * *sum;
        *sum = now;
        return SP_OK;
    }
    return SP_OK;
}

static sp_status run(search *s, const sp__alloc *alloc)
{
    double damping = 0.01, sum;
    int gained = 1;

    s->error = sp__alloc_array(alloc, s->count, sizeof *s->error);
    s->trial = sp__alloc_array(alloc, s->count, sizeof *s->trial);
    s->slope = sp__alloc_array(alloc, (int64_t)s->count * s->keys, sizeof *s->slope);
    if (s->error == NULL || s->trial == NULL || s->slope == NULL)
        return sp__fail_memory();
    SP_TRY(judge(s, s->error, &sum));
    for (int round = 0; round < ROUNDS && gained; round++)
        SP_TRY(improve(s, &damping, &sum, &gained));
    return SP_OK;
}

static sp_fit summary_of(const search *s)
{
    sp_fit fit = SP_FIT_INIT;
    double sum = 0, largest = 0;

    for (int32_t i = 0; i < s->count; i++) {
        sum += fabs(s->error[i]);
        largest = fmax(largest, fabs(s->error[i]));
    }
    fit.used = s->count;
    fit.mean_error_ppm = (int64_t)(fmin(sum / s->count, 1e6) * 1e6 + 0.5);
    fit.largest_error_ppm = (int64_t)(fmin(largest, 1e6) * 1e6 + 0.5);
    return fit;
}

static void set_outputs(const search *s, sp_device *device, double *error, sp_fit *fit)
{
    sp_fit found = summary_of(s);

    memcpy(device->values, s->device.values, sizeof device->values);
    if (error != NULL)
        memcpy(error, s->error, (size_t)s->count * sizeof *error);
    if (fit != NULL)
        sp__struct_out(fit, &found, sizeof found, SP__FIRST_FIT, "fit");
}

sp_status sp_device_calibrate(sp_device *device, int32_t count,
                              const sp_schedule *const *schedules, const sp_model *const *models,
                              const double *measured_s, int32_t key_count, const int32_t *keys,
                              double *error, sp_fit *fit)
{
    search s = { .schedules = schedules, .models = models, .measured = measured_s, .count = count,
                 .keys = key_count, .key = keys };
    sp_status status;

    SP_TRY(check(device, count, schedules, models, measured_s, key_count, keys));
    if (fit != NULL)
        SP_TRY(sp__struct_ready(fit, SP__FIRST_FIT, "fit"));
    s.device = *device;
    status = run(&s, &device->alloc);
    if (status == SP_OK)
        set_outputs(&s, device, error, fit);
    sp__free(&device->alloc, s.error);
    sp__free(&device->alloc, s.trial);
    sp__free(&device->alloc, s.slope);
    return status;
}
