/*
 * fuzz_fit.c - sp_model_fit() and sp_device_calibrate() on any doubles: NaN,
 * infinities, subnormals, times that no slice takes.
 *
 * Invariants: an error leaves model, device and outputs as they were; a success leaves
 * parameters within their bounds, finite errors, and a model that plans or says why not.
 */
#include "fuzz.h"

#include <inttypes.h>
#include <math.h>

enum { MOST = 24, KEYS = 6, ROWS = 64 };

/* One in 64 is any double; the others are times near to those that a layer takes. */
static double take_seconds(fuzz_bytes *b, double usual)
{
    int is_usual = fuzz_below(b, 64) != 0;
    uint64_t bits = fuzz_word(b, is_usual ? 1 : 8);
    double x;

    memcpy(&x, &bits, sizeof x);
    return is_usual ? usual * (1 + (double)bits / 100) : x;
}

/* Mostly those of a slice. */
static int64_t take_tokens(fuzz_bytes *b, int64_t least)
{
    return fuzz_below(b, 64) != 0 ? least + (int64_t)fuzz_word(b, 2)
                                  : fuzz_within(b, least - 1, INT64_MAX);
}

/* The values of a model or a device, by key. */
#define GET_ALL(get, handle, table, value)                                     \
    for (int32_t key_ = fuzz_rows(&fuzz_tables[table]); key_ > 0; key_--)      \
        REQUIRE((get)((handle), key_, &(value)[key_]) == SP_OK, "key %d", (int)key_)

static void check_bounds(const fuzz_table *table, const int64_t value[ROWS])
{
    sp_param_info info = SP_PARAM_INFO_INIT;

    for (int32_t row = 0; table->info(row, &info) == SP_OK; row++)
        REQUIRE(value[info.key] >= info.minimum && value[info.key] <= info.maximum,
                "%s is %" PRId64, info.name, value[info.key]);
}

static sp_status plan(const sp_model *model, const sp_device *device, sp_schedule **out)
{
    static const int64_t lengths[] = { 4000, 900, 70, 1, 2500, 33 };
    sp_topology *topology;
    sp_planner *planner = NULL;
    sp_batch *batch;
    sp_status status;

    REQUIRE(sp_topology_parse("dp=2 pp=2 cp=2", &topology) == SP_OK &&
            sp_batch_create(lengths, 6, NULL, &batch) == SP_OK, "%s", sp_error_message());
    status = sp_planner_create(topology, model, device, NULL, &planner);
    if (status == SP_OK) {
        sp_planner_set(planner, SP_PLANNER_MAX_PACKS, 8);
        sp_planner_set(planner, SP_PLANNER_MEMORY_BYTES, INT64_MAX);
        status = sp_plan_batch(planner, batch, out);
    }
    REQUIRE(status == SP_OK || status == SP_ERR_OVERFLOW, "%s", sp_error_message());
    sp_planner_destroy(planner);
    sp_batch_destroy(batch);
    sp_topology_destroy(topology);
    return status;
}

static void fit(fuzz_bytes *b, sp_model *model, const sp_device *device)
{
    int64_t start[MOST], length[MOST], before[ROWS] = { 0 }, after[ROWS] = { 0 };
    double forward[MOST], backward[MOST], error[2 * MOST] = { 0 };
    int32_t outlier[MOST] = { 0 }, count = fuzz_below(b, MOST + 1), layers;
    sp_fit found = SP_FIT_INIT;
    sp_schedule *schedule = NULL;
    sp_status status;

    layers = fuzz_below(b, 8) != 0 ? 1 : (int32_t)fuzz_within(b, 0, INT32_MAX);
    for (int32_t i = 0; i < count; i++) {
        start[i] = take_tokens(b, 0);
        length[i] = take_tokens(b, 1);
        forward[i] = take_seconds(b, 1e-9 * (double)length[i] + 1e-6);
        backward[i] = take_seconds(b, 2e-9 * (double)length[i] + 1e-6);
    }
    GET_ALL(sp_model_get, model, 1, before);
    status = sp_model_fit(model, layers, count, start, length, forward, backward, error, outlier,
                          &found);
    fuzz_message(status);
    GET_ALL(sp_model_get, model, 1, after);
    check_bounds(&fuzz_tables[1], after);
    REQUIRE(status == SP_OK || (memcmp(before, after, sizeof before) == 0 && found.used == 0),
            "changed by %s", sp_error_message());
    for (int32_t i = 0; i < 2 * count; i++)
        REQUIRE(status == SP_OK ? isfinite(error[i]) : error[i] == 0, "error %" PRId32, i);
    if (status == SP_OK)
        REQUIRE(found.used >= 1 && found.used + found.outliers == count, "%" PRId64, found.used);
    plan(model, device, &schedule);
    sp_schedule_destroy(schedule);
}

static void calibrate(fuzz_bytes *b, const sp_model *model, sp_device *device)
{
    const sp_schedule *schedules[KEYS];
    const sp_model *models[KEYS];
    int32_t keys[KEYS], count = fuzz_below(b, KEYS + 1), key_count = fuzz_below(b, KEYS + 1);
    double measured[KEYS], error[KEYS] = { 0 };
    int64_t before[ROWS] = { 0 }, after[ROWS] = { 0 };
    sp_fit found = SP_FIT_INIT;
    sp_schedule *schedule = NULL;
    sp_status status;

    if (plan(model, device, &schedule) != SP_OK)
        return;
    for (int32_t i = 0; i < KEYS; i++) {
        keys[i] = fuzz_below(b, 24);
        schedules[i] = schedule;
        models[i] = model;
        measured[i] = take_seconds(b, 0.1);
    }
    GET_ALL(sp_device_get, device, 2, before);
    status = sp_device_calibrate(device, count, schedules, models, measured, key_count, keys, error,
                                 &found);
    fuzz_message(status);
    GET_ALL(sp_device_get, device, 2, after);
    check_bounds(&fuzz_tables[2], after);
    REQUIRE(status == SP_OK || (memcmp(before, after, sizeof before) == 0 && found.used == 0),
            "changed by %s", sp_error_message());
    for (int32_t i = 0; i < KEYS; i++)
        REQUIRE(status == SP_OK ? isfinite(error[i]) : error[i] == 0, "error %" PRId32, i);
    sp_schedule_destroy(schedule);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_bytes b = { data, size };
    sp_device *device;
    sp_model *model;

    REQUIRE(sp_model_create("llama2-7b", NULL, &model) == SP_OK &&
            sp_device_create("h100", NULL, &device) == SP_OK, "%s", sp_error_message());
    sp_model_set(model, SP_MODEL_CAUSAL, fuzz_below(&b, 4) != 0);
    sp_model_set(model, SP_MODEL_WINDOW, fuzz_within(&b, 0, INT64_C(1) << 40));
    fit(&b, model, device);
    calibrate(&b, model, device);
    sp_device_destroy(device);
    sp_model_destroy(model);
    return 0;
}
