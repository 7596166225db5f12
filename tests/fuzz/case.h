/*
 * case.h - a planning problem out of bytes, for fuzz_plan.c.
 *
 * A small topology, up to 24 lengths, and settings of any key of the model, the device
 * and the planner, any value within its bounds. What only makes a plan slow is kept
 * small: packs, nodes of the exact assignment, threads.
 */
#ifndef TESTS_FUZZ_CASE_H
#define TESTS_FUZZ_CASE_H

#include "fuzz.h"

enum { MOST_SAMPLES = 24, MOST_SETTINGS = 16 };

typedef struct fuzz_case {
    sp_topology *topology;
    sp_model *model;
    sp_device *device;
    sp_planner *planner;
    sp_batch *batch;
    int64_t count, length[MOST_SAMPLES];
} fuzz_case;

static inline void case_make_topology(fuzz_bytes *b, fuzz_case *c)
{
    static const char *const orders[] = { "tp-cp-dp-pp", "pp-dp-cp-tp", "cp-tp-dp-pp" };
    char text[80];

    snprintf(text, sizeof text, "dp=%d tp=%d pp=%d cp=%d order=%s", 1 + (int)fuzz_below(b, 4),
             1 << fuzz_below(b, 2), 1 + (int)fuzz_below(b, 4), 1 + (int)fuzz_below(b, 3),
             orders[fuzz_below(b, 3)]);
    REQUIRE(sp_topology_parse(text, &c->topology) == SP_OK, "%s", sp_error_message());
}

/* Mostly short lengths, some of any size that a plan can hold, and one beyond. */
static inline void case_make_batch(fuzz_bytes *b, fuzz_case *c)
{
    c->count = 1 + fuzz_below(b, MOST_SAMPLES);
    for (int64_t i = 0; i < c->count; i++)
        c->length[i] = 1 + (int64_t)(fuzz_word(b, 2) & 0x3fff);
    for (int64_t i = fuzz_below(b, 4); i > 0; i--)
        c->length[fuzz_below(b, (int32_t)c->count)] = fuzz_within(b, 1, INT64_C(1) << 31);
    REQUIRE(sp_batch_create(c->length, c->count, NULL, &c->batch) == SP_OK, "%s",
            sp_error_message());
}

static inline int64_t case_bound(int32_t key, int64_t most)
{
    switch (key) {
    case SP_PLANNER_THREADS: return 3;
    case SP_PLANNER_MAX_PACKS: return 32;
    case SP_PLANNER_PACK_GROUP: return most < 16 ? most : 16;
    case SP_PLANNER_FORWARD_PACKS:
    case SP_PLANNER_BACKWARD_PACKS: return 32;
    case SP_PLANNER_EXACT_NODES: return 1000;
    default: return most;
    }
}

/* Mostly near to what stands there, so that most cases have a plan. */
static inline int64_t case_value(fuzz_bytes *b, const sp_param_info *info, int64_t most,
                                 int64_t old)
{
    uint64_t span = (uint64_t)most - (uint64_t)info->minimum, near;

    if (fuzz_below(b, 4) == 0 || span == UINT64_MAX)
        return fuzz_within(b, info->minimum, most);
    near = ((uint64_t)old - (uint64_t)info->minimum) / (uint64_t)(1 + fuzz_below(b, 4));
    return (int64_t)((uint64_t)info->minimum + (near + fuzz_word(b, 1)) % (span + 1));
}

/* Half of the cases set none. */
static inline int case_settings(fuzz_bytes *b)
{
    int n = fuzz_below(b, 2 * MOST_SETTINGS) - MOST_SETTINGS;

    return n > 0 ? n : 0;
}

static inline void case_set_planner(fuzz_bytes *b, fuzz_case *c)
{
    sp_param_info info = SP_PARAM_INFO_INIT;
    int64_t old = 0;

    sp_planner_set(c->planner, SP_PLANNER_MAX_PACKS, 16);
    if (fuzz_below(b, 8) != 0)
        sp_planner_set(c->planner, SP_PLANNER_MEMORY_BYTES, INT64_MAX);
    for (int n = fuzz_below(b, MOST_SETTINGS); n > 0; n--) {
        sp_planner_param_info(fuzz_below(b, fuzz_rows(&fuzz_tables[0])), &info);
        sp_planner_get(c->planner, info.key, &old);
        REQUIRE(sp_planner_set(c->planner, info.key,
                               case_value(b, &info, case_bound(info.key, info.maximum), old)) ==
                SP_OK, "%s", sp_error_message());
    }
}

/* Model and device of a preset, with some parameters of any value within its bounds. */
static inline void case_make_machine(fuzz_bytes *b, fuzz_case *c)
{
    static const char *const models[] = { "llama2-7b", "mistral-7b", "mixtral-8x7b", "gpt3-5b" };
    sp_param_info info = SP_PARAM_INFO_INIT;
    int64_t old = 0;

    REQUIRE(sp_model_create(models[fuzz_below(b, 4)], NULL, &c->model) == SP_OK &&
            sp_device_create(sp_device_preset_name(fuzz_below(b, 6)), NULL, &c->device) == SP_OK,
            "%s", sp_error_message());
    for (int n = case_settings(b); n > 0; n--) {
        sp_model_param_info(fuzz_below(b, fuzz_rows(&fuzz_tables[1])), &info);
        sp_model_get(c->model, info.key, &old);
        sp_model_set(c->model, info.key, case_value(b, &info, info.maximum, old));
    }
    for (int n = case_settings(b); n > 0; n--) {
        sp_device_param_info(fuzz_below(b, fuzz_rows(&fuzz_tables[2])), &info);
        sp_device_get(c->device, info.key, &old);
        sp_device_set(c->device, info.key, case_value(b, &info, info.maximum, old));
    }
}

/* The status of making the planner; the rest of the bytes are its parameters. */
static inline sp_status case_open(fuzz_bytes *b, fuzz_case *c)
{
    sp_status status;

    memset(c, 0, sizeof *c);
    case_make_topology(b, c);
    case_make_batch(b, c);
    case_make_machine(b, c);
    status = sp_planner_create(c->topology, c->model, c->device, NULL, &c->planner);
    if (status == SP_OK)
        case_set_planner(b, c);
    return status;
}

static inline void case_close(fuzz_case *c)
{
    sp_planner_destroy(c->planner);
    sp_batch_destroy(c->batch);
    sp_device_destroy(c->device);
    sp_model_destroy(c->model);
    sp_topology_destroy(c->topology);
}

#endif
