/*
 * planned.h - plans small batches for tests that state what must come out.
 *
 * A plan that is made is also judged by the independent checker and by
 * sp_schedule_check(); a test then asserts what its own case is about.
 */
#ifndef TESTS_SUPPORT_PLANNED_H
#define TESTS_SUPPORT_PLANNED_H

#include "checker.h"
#include "expect.h"

enum { PLANNED_SETTINGS = 6 };

typedef struct plan_setting {
    int32_t key;
    int64_t value;
} plan_setting;

/* What to plan. device NULL is "ideal", model NULL "llama2-7b". Settings end with the
 * first key 0. */
typedef struct plan_input {
    const char *topology;
    const char *device;
    const char *model;
    plan_setting set[PLANNED_SETTINGS];
    plan_setting set_model[PLANNED_SETTINGS];
    plan_setting set_device[PLANNED_SETTINGS];
    int64_t count;
    const int64_t *lengths;
} plan_input;

/* What came out. */
typedef struct planned {
    sp_topology *topology;
    sp_model *model;
    sp_device *device;
    sp_planner *planner; /* NULL where making it failed */
    sp_batch *batch;
    sp_schedule *schedule;
    sp_stats stats;
    sp_status status; /* of sp_planner_create(), then of sp_plan_batch() */
} planned;

#define LENGTHS(...)                                                             \
    .count = (int64_t)(sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)),    \
    .lengths = (const int64_t[]){ __VA_ARGS__ }

/* Plans and judges; fails the test unless there is a plan that keeps all. */
planned plan_it(const plan_input *input);

/* Plans; the status may be an error, the output is then untouched. */
planned try_to_plan(const plan_input *input);

void planned_free(planned *p);

/* A pack of the rank at (dp, cp), tp 0 and pp 0. */
sp_pack_view pack_of(const planned *p, int32_t dp, int32_t cp, sp_pass pass, int32_t pack);

/* A replica's pack before it is split over CP. */
sp_slice_view slices_of(const planned *p, int32_t dp, sp_pass pass, int32_t pack);

/* Packs of a replica's pass that hold tokens. */
int32_t filled_packs(const planned *p, int32_t dp, sp_pass pass);

/* Most real tokens of any rank's pack. */
int64_t most_tokens(const planned *p);

#endif
