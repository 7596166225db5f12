/*
 * bench_2_time.c - how long planning takes, and how that grows.
 *
 * Beside each time stands its ratio to qsort() of the same lengths in the same run.
 * Growth is shown over four decades of samples and of replicas.
 */
#include <sys/resource.h>

#include "bench.h"

static int compare_lengths(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static double sort_time(const int64_t *lengths, int64_t count, int runs)
{
    int64_t *copy = malloc((size_t)count * sizeof *copy);
    double least = 1e9;

    for (int i = 0; i < runs; i++) {
        double start;

        memcpy(copy, lengths, (size_t)count * sizeof *copy);
        start = bench_now();
        qsort(copy, (size_t)count, sizeof *copy, compare_lengths);
        if (bench_now() - start < least)
            least = bench_now() - start;
    }
    free(copy);
    return least;
}

static void row(const char *topology, int64_t count, double target_ms, int64_t threads)
{
    int64_t *lengths = malloc((size_t)count * sizeof *lengths);
    int runs = count > 100000 ? 2 : 9;
    sp_planner *planner = bench_planner(topology, "ideal");
    sp_stats s = SP_STATS_INIT;
    double seconds, sorting;

    bench_generate(lengths, count, 7);
    bench_check(sp_planner_set(planner, SP_PLANNER_THREADS, threads));
    if (!bench_plan(planner, lengths, count, runs, &s, &seconds)) {
        printf("%s: %s\n", topology, sp_error_message());
        exit(1);
    }
    sorting = sort_time(lengths, count, runs);
    printf("%-22s %9" PRId64 " %3" PRId64 " %10.2f %10.1f %9.2f %9.4f", topology, count, threads,
           seconds * 1e3, seconds / sorting, seconds * 1e9 / (double)count / 1e3, bench_ratio(&s));
    if (target_ms > 0)
        printf("   target %.0f ms%s", target_ms, seconds * 1e3 > target_ms ? ": missed" : "");
    printf("\n");
    sp_planner_destroy(planner);
    free(lengths);
}

static void header(const char *title)
{
    printf("\n%s\n%-22s %9s %3s %10s %10s %9s %9s\n", title, "topology", "samples", "thr", "ms",
           "x qsort", "us/sample", "ratio");
}

int main(void)
{
    struct rusage usage;

    header("planning time, device ideal, generated long tail");
    row("dp=8 pp=4", 256, 1, 1);
    row("dp=8 pp=4", 1024, 2, 1);
    row("dp=8 pp=4", 16384, 20, 1);
    row("dp=64 pp=8", 4096, 20, 1);
    row("dp=64 pp=8", 4096, 0, 2);
    header("growth in samples: no worse than N log N");
    for (int64_t n = 100; n <= 1000000; n *= 10)
        row("dp=8 pp=4", n, 0, 1);
    header("growth in replicas, 256 samples each: no worse than linear");
    row("dp=1 pp=4", 256, 0, 1);
    row("dp=10 pp=4", 2560, 0, 1);
    row("dp=100 pp=4", 25600, 0, 1);
    row("dp=1000 pp=4", 256000, 0, 1);
    header("the largest");
    row("dp=4096 pp=16", 1000000, 5000, 1);
    row("dp=4096 pp=16", 1000000, 0, 2);
    getrusage(RUSAGE_SELF, &usage);
    printf("peak memory of all this: %.2f GB (target 2)\n", (double)usage.ru_maxrss / 1e6);
    return 0;
}
