/*
 * bench_4_exact.c - how far the fast assignment is from the optimum.
 *
 * Small batches are assigned by the fast path and by branch and bound, whole samples
 * only and with merges. Only instances whose optimum is proven within the nodes are
 * counted in the gap to it; the others show the gap to the proven bound.
 */
#include "bench.h"

#define INSTANCES 240
#define NODES 2000000

static void row(int samples, int replicas, int merges)
{
    int64_t lengths[64];
    double sum = 0, worst = 0, bound_sum = 0, nodes = 0;
    int proven = 0, equal = 0;

    for (int i = 0; i < INSTANCES; i++) {
        char topology[32];
        sp_stats fast = SP_STATS_INIT, exact = SP_STATS_INIT;
        sp_planner *planner;
        double seconds, gap;

        snprintf(topology, sizeof topology, "dp=%d", replicas);
        planner = bench_planner(topology, "ideal");
        bench_check(sp_planner_set(planner, SP_PLANNER_MERGES, merges));
        bench_check(sp_planner_set(planner, SP_PLANNER_MAX_PACKS, 64));
        bench_generate(lengths, samples, (uint64_t)(1000 * samples + i));
        bench_plan(planner, lengths, samples, 1, &fast, &seconds);
        bench_check(sp_planner_set(planner, SP_PLANNER_EXACT_NODES, NODES));
        bench_plan(planner, lengths, samples, 1, &exact, &seconds);
        sp_planner_destroy(planner);
        nodes += (double)exact.exact_nodes;
        bound_sum += (double)fast.load_ps / (double)exact.load_bound_ps - 1;
        if (exact.load_ps != exact.load_bound_ps)
            continue;
        proven++;
        gap = (double)fast.load_ps / (double)exact.load_ps - 1;
        equal += fast.load_ps == exact.load_ps;
        sum += gap;
        worst = gap > worst ? gap : worst;
    }
    printf("%7d %8d %6s %9d %7d %9d %10.4f%% %9.4f%% %11.4f%% %10.0f\n", samples, replicas,
           merges ? "yes" : "no", INSTANCES, proven, equal, proven > 0 ? 100 * sum / proven : 0,
           100 * worst, 100 * bound_sum / INSTANCES, nodes / INSTANCES);
}

int main(void)
{
    printf("\nfast assignment against branch and bound, at most %d nodes\n"
           "%7s %8s %6s %9s %7s %9s %11s %10s %12s %10s\n", NODES, "samples", "replicas", "merges",
           "instances", "proven", "optimal", "mean gap", "worst", "gap to bound", "nodes");
    row(8, 3, 0);
    row(12, 3, 0);
    row(16, 4, 0);
    row(24, 4, 0);
    row(8, 3, 1);
    row(10, 4, 1);
    return 0;
}
