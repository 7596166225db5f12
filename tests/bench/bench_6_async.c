/*
 * bench_6_async.c - what a loader waits for its plan while steps run: planned in the
 * loader's way, and submitted a step ahead. A step is a sleep of 200 ms, as a device
 * that trains leaves its host's cores alone.
 */
#include "bench.h"

#define STEPS 10
#define SAMPLES 100000

static int64_t lengths[SAMPLES];

static void sleep_200_ms(void)
{
    struct timespec t = { 0, 200000000 };

    nanosleep(&t, NULL);
}

static void take(sp_planner *planner, int is_ahead, const sp_batch *batch, double *waited)
{
    double start = bench_now();
    sp_schedule *schedule;

    if (is_ahead) {
        bench_check(sp_planner_collect(planner, &schedule));
        bench_check(sp_planner_submit(planner, batch));
    } else {
        bench_check(sp_plan_batch(planner, batch, &schedule));
    }
    *waited += bench_now() - start;
    sp_schedule_destroy(schedule);
}

static double wait_per_step(int is_ahead)
{
    sp_planner *planner = bench_planner("dp=8 pp=4", "ideal");
    double waited = 0;
    sp_batch *batch;

    bench_check(sp_batch_create(lengths, SAMPLES, NULL, &batch));
    if (is_ahead) {
        bench_check(sp_planner_submit(planner, batch));
        sleep_200_ms(); /* the step before */
    }
    for (int i = 0; i < STEPS; i++) {
        take(planner, is_ahead, batch, &waited);
        sleep_200_ms();
    }
    sp_batch_destroy(batch);
    sp_planner_destroy(planner);
    return waited / STEPS * 1e3;
}

int main(void)
{
    double before, ahead;

    bench_generate(lengths, SAMPLES, 1);
    before = wait_per_step(0);
    ahead = wait_per_step(1);
    printf("\nwait of a loader per step of 200 ms, %d samples, dp=8 pp=4\n", SAMPLES);
    printf("sp_plan_batch() %.2f ms, submitted a step ahead %.3f ms: %.0f x less\n", before, ahead,
           before / ahead);
    return 0;
}
