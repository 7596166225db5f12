/*
 * bench.h - what the measurements share: data files, planners, the clock.
 *
 * Times are the least of several runs on one thread unless a table says else, and
 * stand beside a ratio taken in the same run: machines differ, ratios less.
 */
#ifndef SP_TESTS_BENCH_H
#define SP_TESTS_BENCH_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../support/data_files.h"
#include "slimpack.h"

static inline double bench_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline void bench_check(sp_status status)
{
    if (status != SP_OK) {
        fprintf(stderr, "bench: %s: %s\n", sp_status_name(status), sp_error_message());
        exit(1);
    }
}

/* Whether the data folder is there; says so when it is not. */
static inline int bench_has_data(void)
{
    if (data_is_there())
        return 1;
    printf("skipped: no data files (set SLIMPACK_DATA)\n");
    return 0;
}

/* A long-tailed batch that is the same everywhere: products of uniform numbers. */
static inline void bench_generate(int64_t *lengths, int64_t count, uint64_t seed)
{
    uint64_t x = seed * 2 + 1;

    for (int64_t i = 0; i < count; i++) {
        int64_t length = 64;

        for (int j = 0; j < 24; j++) {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            length += length * (int64_t)(x >> 40 & 255) / 800;
        }
        lengths[i] = length < 262144 ? length : 262144;
    }
}

/* exposed: percent of tensor-parallel collectives that is not hidden; -1: the device's. */
static inline sp_planner *bench_planner_with(const char *topology, const char *device,
                                             int64_t exposed)
{
    sp_topology *t;
    sp_planner *planner;
    sp_model *m;
    sp_device *d;

    bench_check(sp_topology_parse(topology, &t));
    bench_check(sp_model_create("llama2-7b", NULL, &m));
    bench_check(sp_device_create(device, NULL, &d));
    if (exposed >= 0)
        bench_check(sp_device_set(d, SP_DEVICE_TP_EXPOSED_PERCENT, exposed));
    bench_check(sp_planner_create(t, m, d, NULL, &planner));
    sp_device_destroy(d);
    sp_model_destroy(m);
    sp_topology_destroy(t);
    return planner;
}

static inline sp_planner *bench_planner(const char *topology, const char *device)
{
    return bench_planner_with(topology, device, -1);
}

/* Plans runs times; the stats of the plan, and the least time of a run. 0 when there
 * is no plan, whose message then stands in sp_error_message(). */
static inline int bench_plan(sp_planner *planner, const int64_t *lengths, int64_t count, int runs,
                             sp_stats *stats, double *seconds)
{
    sp_batch *batch;
    int ok = 1;

    bench_check(sp_batch_create(lengths, count, NULL, &batch));
    *seconds = 1e9;
    for (int i = 0; i < runs && ok; i++) {
        double start = bench_now();
        sp_schedule *schedule;

        ok = sp_plan_batch(planner, batch, &schedule) == SP_OK;
        if (bench_now() - start < *seconds)
            *seconds = bench_now() - start;
        if (ok) {
            *stats = (sp_stats)SP_STATS_INIT;
            bench_check(sp_schedule_stats(schedule, stats));
            sp_schedule_destroy(schedule);
        }
    }
    sp_batch_destroy(batch);
    return ok;
}

static inline double bench_ratio(const sp_stats *s)
{
    return (double)s->ratio_ppm / 1e6;
}

/* How far above the proven bound the plan is. */
static inline double bench_gap(const sp_stats *s)
{
    return (double)s->makespan_ps / (double)s->bound_ps;
}

#endif
