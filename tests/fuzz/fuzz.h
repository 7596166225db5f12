/*
 * fuzz.h - what the fuzz targets share: numbers out of bytes, and a stop on a fault.
 *
 * A target is LLVMFuzzerTestOneInput() in a file of its own. libFuzzer drives it in
 * `make fuzz`, replay.c over the committed seeds in `make check`. Bytes that have run
 * out give 0, so that an input of any size is a whole case.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "slimpack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A condition that no input may break: says so and dies, which both drivers notice. */
#define REQUIRE(condition, ...)                                     \
    do {                                                            \
        if (!(condition)) {                                         \
            fprintf(stderr, "%s:%d: not so: %s: ", __FILE__, __LINE__, #condition); \
            fprintf(stderr, __VA_ARGS__);                           \
            fputc('\n', stderr);                                    \
            abort();                                                \
        }                                                           \
    } while (0)

typedef struct fuzz_bytes {
    const uint8_t *at;
    size_t left;
} fuzz_bytes;

static inline uint64_t fuzz_word(fuzz_bytes *b, size_t bytes)
{
    uint64_t value = 0;

    for (size_t i = 0; i < bytes && b->left > 0; i++, b->left--)
        value |= (uint64_t)*b->at++ << 8 * i;
    return value;
}

/* 0 to bound - 1. */
static inline int32_t fuzz_below(fuzz_bytes *b, int32_t bound)
{
    return (int32_t)(fuzz_word(b, 1) % (uint64_t)bound);
}

/* From least to most: at an end, a power of two or one beside it, a small number, or any. */
static inline int64_t fuzz_within(fuzz_bytes *b, int64_t least, int64_t most)
{
    int kind = fuzz_below(b, 8);
    uint64_t span = (uint64_t)most - (uint64_t)least, step;

    if (kind < 2)
        return kind == 0 ? least : most;
    step = kind < 5   ? fuzz_word(b, 1)
           : kind < 7 ? (UINT64_C(1) << fuzz_below(b, 63)) - 1 + fuzz_word(b, 1) % 3
                      : fuzz_word(b, 8);
    return (int64_t)((uint64_t)least + (span == UINT64_MAX ? step : step % (span + 1)));
}

/* The tables of parameters, so that a target can go through all three alike. */
typedef struct fuzz_table {
    const char *name;
    sp_status (*info)(int32_t index, sp_param_info *info);
    sp_status (*find)(const char *name, int32_t *key);
} fuzz_table;

static const fuzz_table fuzz_tables[3] = {
    { "planner", sp_planner_param_info, sp_planner_param_find },
    { "model", sp_model_param_info, sp_model_param_find },
    { "device", sp_device_param_info, sp_device_param_find },
};

/* Rows of a table. */
static inline int32_t fuzz_rows(const fuzz_table *table)
{
    sp_param_info info = SP_PARAM_INFO_INIT;
    int32_t rows = 0;

    while (table->info(rows, &info) == SP_OK)
        rows++;
    return rows;
}

/* A failed call says why, in one line. */
static inline void fuzz_message(sp_status status)
{
    const char *message = sp_error_message();

    if (status != SP_OK)
        REQUIRE(message[0] != '\0' && strchr(message, '\n') == NULL, "%s: '%s'",
                sp_status_name(status), message);
}

/* A replay on another machine than the plan's, or of none; a part cannot be. */
static inline void fuzz_simulate(const sp_schedule *schedule)
{
    sp_simulation *simulation = NULL;
    sp_device *device;
    sp_model *model;
    sp_status status;

    REQUIRE(sp_model_create("llama2-7b", NULL, &model) == SP_OK &&
            sp_device_create("h100", NULL, &device) == SP_OK, "%s", sp_error_message());
    status = sp_simulate(schedule, model, device, &simulation);
    fuzz_message(status);
    REQUIRE(status == SP_OK || status == SP_ERR_OVERFLOW || status == SP_ERR_INVALID ||
            status == SP_ERR_STATE, "%s: %s", sp_status_name(status), sp_error_message());
    sp_simulation_destroy(simulation);
    sp_device_destroy(device);
    sp_model_destroy(model);
}

#endif
