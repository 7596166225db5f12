/*
 * bench_3_policies.c - the policies side by side on the 256K long tail and others.
 */
#include "bench.h"

#define SAMPLES 1024

static int64_t lengths[SAMPLES];

static void table(const char *file, const char *device, int64_t memory)
{
    int64_t count = data_read(file, lengths, SAMPLES), fixed = 0, slimpack = 0;

    printf("\npolicies: %s, dp=8 tp=8 pp=4, device %s%s\n%-16s %10s %9s %9s %10s %10s %9s\n", file,
           device, memory == INT64_MAX ? " without a memory cap" : "", "policy", "ms", "ratio",
           "bubble", "packs", "live", "plan ms");
    for (int32_t p = 0; sp_policy_name(p) != NULL; p++) {
        sp_planner *planner = bench_planner("dp=8 tp=8 pp=4", device);
        sp_stats s = SP_STATS_INIT;
        double seconds;

        bench_check(sp_planner_set(planner, SP_PLANNER_POLICY, p));
        bench_check(sp_planner_set(planner, SP_PLANNER_MEMORY_BYTES, memory));
        if (!bench_plan(planner, lengths, count, 2, &s, &seconds))
            printf("%-16s %s\n", sp_policy_name(p), sp_error_message());
        else
            printf("%-16s %10.1f %9.4f %8.2f%% %6" PRId64 "/%-4" PRId64 "%9" PRId64 " %9.2f\n",
                   sp_policy_name(p), (double)s.makespan_ps / 1e9, bench_ratio(&s),
                   (double)s.bubble_ppm / 1e4, s.forward_packs, s.backward_packs,
                   s.peak_live_tokens, seconds * 1e3);
        slimpack = p == SP_POLICY_SLIMPACK ? s.makespan_ps : slimpack;
        fixed = p == SP_POLICY_FIXED_PACK ? s.makespan_ps : fixed;
        sp_planner_destroy(planner);
    }
    if (slimpack > 0 && fixed > 0)
        printf("slimpack over fixed-pack: %.2f x\n", (double)fixed / (double)slimpack);
}

int main(void)
{
    if (!bench_has_data())
        return 0;
    /* fixed-pack needs more than 80 GB here, so the comparison is made without a cap
     * too, in its favour. */
    table("longtail-256k", "h100", 0);
    table("longtail-256k", "h100", INT64_MAX);
    table("longtail-64k", "h100", 0);
    table("longtail-64k", "ideal", 0);
    return 0;
}
