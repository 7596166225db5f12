/*
 * bench_1_quality.c - how good plans are: every data file, two topologies, two devices.
 *
 * Ratio is makespan over ideal; gap is makespan over the proven bound, which also
 * counts collectives and overheads that no plan avoids. Live is the most tokens on
 * a device between forward and backward; beside it the same of fixed-pack, whole
 * samples under 1F1B.
 */
#include "bench.h"

#define SAMPLES 1024

static int64_t lengths[SAMPLES];

static void fixed_pack(const char *topology, const char *device, int64_t count, sp_stats *stats)
{
    sp_planner *planner = bench_planner(topology, device);
    double seconds;

    bench_check(sp_planner_set(planner, SP_PLANNER_POLICY, SP_POLICY_FIXED_PACK));
    bench_check(sp_planner_set(planner, SP_PLANNER_MEMORY_BYTES, INT64_MAX));
    if (!bench_plan(planner, lengths, count, 1, stats, &seconds))
        *stats = (sp_stats)SP_STATS_INIT;
    sp_planner_destroy(planner);
}

/* exposed is the share of tensor-parallel collectives that is not hidden, in percent; -1
 * leaves the device's. */
static void table(const char *topology, const char *device, int64_t exposed, double limit,
                  double short_limit)
{
    sp_planner *planner = bench_planner_with(topology, device, exposed);
    int missed = 0;

    printf("\nquality: %s, device %s%s, %d samples, at most 256 packs; target %.3f\n"
           "%-22s %8s %8s %8s %9s %10s %10s %8s %8s\n", topology, device,
           exposed == 0 ? " with hidden TP collectives" : "", SAMPLES, limit, "file",
           "ratio", "gap", "packs", "merges", "live", "live 1F1B", "faster", "ms");
    for (int f = 0; f < DATA_FILES; f++) {
        int64_t count = data_read(data_files[f], lengths, SAMPLES);
        sp_stats s = SP_STATS_INIT, fixed = SP_STATS_INIT;
        double seconds, bound;

        if (!bench_plan(planner, lengths, count, 3, &s, &seconds)) {
            printf("%-22s %s\n", data_files[f], sp_error_message());
            missed++;
            continue;
        }
        fixed_pack(topology, device, count, &fixed);
        bound = s.tokens / (s.forward_packs > 0 ? 64 : 1) < 5000 ? short_limit : limit;
        missed += bench_ratio(&s) > bound;
        printf("%-22s %7.4f%s %8.4f %4" PRId64 "/%-4" PRId64 "%8" PRId64 " %10" PRId64 " %10" PRId64
               " %7.2fx %8.2f\n", data_files[f], bench_ratio(&s),
               bench_ratio(&s) > bound ? "!" : " ", bench_gap(&s), s.forward_packs,
               s.backward_packs, s.merges, s.peak_live_tokens, fixed.peak_live_tokens,
               (double)fixed.makespan_ps / (double)s.makespan_ps, seconds * 1e3);
    }
    printf("missed: %d of %d\n", missed, DATA_FILES);
    sp_planner_destroy(planner);
}

int main(void)
{
    if (!bench_has_data())
        return 0;
    table("dp=8 tp=8 pp=4", "ideal", -1, 1.008, 1.008);
    table("dp=64 tp=8 pp=8", "ideal", -1, 1.03, 1.06);
    /* The ideal leaves out all communication, so what of it is exposed is no loss of the
     * plan: shown without it, with it, and at DP 64. */
    table("dp=8 tp=8 pp=4", "h100", 0, 1.10, 1.10);
    table("dp=8 tp=8 pp=4", "h100", -1, 1.10, 1.10);
    table("dp=64 tp=8 pp=8", "h100", -1, 1.10, 1.10);
    return 0;
}
