/*
 * bench_7_wire.c - plans as bytes: bytes a slice, and the time to write and read them,
 * whole and one rank's part, beside the time to plan.
 */
#include "bench.h"

#define MOST 1000000
#define RUNS 3

static int64_t lengths[MOST];

typedef struct row {
    double plan, encode, decode, part;
    size_t bytes, part_bytes;
    sp_stats stats;
} row;

static double since(double *start)
{
    double took = bench_now() - *start;

    *start = bench_now();
    return took;
}

static void least(double *best, double took)
{
    *best = *best == 0 || took < *best ? took : *best;
}

static void run_once(sp_planner *planner, const sp_batch *batch, row *r)
{
    double start = bench_now();
    sp_schedule *schedule, *whole, *part;
    unsigned char *bytes;

    bench_check(sp_plan_batch(planner, batch, &schedule));
    least(&r->plan, since(&start));
    bench_check(sp_schedule_encode(schedule, SP_ALL_RANKS, NULL, 0, &r->bytes));
    bytes = malloc(r->bytes);
    bench_check(sp_schedule_encode(schedule, SP_ALL_RANKS, bytes, r->bytes, &r->bytes));
    least(&r->encode, since(&start));
    bench_check(sp_schedule_decode(bytes, r->bytes, SP_ALL_RANKS, NULL, &whole));
    least(&r->decode, since(&start));
    bench_check(sp_schedule_decode(bytes, r->bytes, 0, NULL, &part));
    least(&r->part, since(&start));
    bench_check(sp_schedule_encode(part, SP_ALL_RANKS, NULL, 0, &r->part_bytes));
    bench_check(sp_schedule_stats(schedule, &r->stats));
    free(bytes);
    sp_schedule_destroy(schedule);
    sp_schedule_destroy(whole);
    sp_schedule_destroy(part);
}

static void measure(const char *topology, int64_t count, int64_t max_packs)
{
    sp_planner *planner = bench_planner(topology, "ideal");
    row r = { .stats = SP_STATS_INIT };
    sp_batch *batch;
    double slices;

    bench_check(sp_planner_set(planner, SP_PLANNER_MAX_PACKS, max_packs));
    bench_check(sp_batch_create(lengths, count, NULL, &batch));
    for (int i = 0; i < RUNS; i++)
        run_once(planner, batch, &r);
    slices = (double)r.stats.slices;
    printf("%-18s %8" PRId64 " %8" PRId64 " %9zu %7.1f %9zu %8.2f %8.2f %8.2f %8.2f\n", topology,
           count, r.stats.slices, r.bytes, (double)r.bytes / slices, r.part_bytes, r.plan * 1e3,
           r.encode * 1e3, r.decode * 1e3, r.part * 1e3);
    sp_batch_destroy(batch);
    sp_planner_destroy(planner);
}

int main(void)
{
    bench_generate(lengths, MOST, 1);
    printf("\nplans as bytes, ops with their times included\n");
    printf("%-18s %8s %8s %9s %7s %9s %8s %8s %8s %8s\n", "topology", "samples", "slices", "bytes",
           "/slice", "rank 0's", "plan ms", "encode", "decode", "rank 0");
    measure("dp=8 pp=4", 256, 256);
    measure("dp=8 pp=4", 1024, 256);
    measure("dp=8 pp=4 cp=4", 1024, 256);
    measure("dp=8 pp=4", 16384, 256);
    measure("dp=64 pp=8", 4096, 256);
    measure("dp=64 pp=8 cp=4", 4096, 256);
    measure("dp=512 pp=8", 100000, 256);
    return 0;
}
