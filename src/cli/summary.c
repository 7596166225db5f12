/*
 * summary.c - key figures as aligned lines: see summary.h.
 */
#include "summary.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "unit.h"

void cli_summary_line(const char *label, const char *format, ...)
{
    va_list arguments;

    printf("%-14s", label);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
}

void cli_summary_topology(int64_t dp, int64_t tp, int64_t pp, int64_t cp)
{
    cli_summary_line("topology",
                     "dp=%" PRId64 " tp=%" PRId64 " pp=%" PRId64 " cp=%" PRId64 " (%s devices)",
                     dp, tp, pp, cp, cli_count(dp * tp * pp * cp).text);
}

void cli_summary_packs(const sp_stats *stats)
{
    cli_summary_line("packs", "%s forward, %s backward in each replica",
                     cli_count(stats->forward_packs).text, cli_count(stats->backward_packs).text);
    cli_summary_line("slices", "%s", cli_count(stats->slices).text);
    cli_summary_line("merges", "%s", cli_count(stats->merges).text);
}

void cli_summary_pipeline(const sp_schedule *schedule)
{
    sp_pipeline_view p = SP_PIPELINE_VIEW_INIT;

    sp_schedule_pipeline(schedule, &p);
    if (p.virtual_stages == 1 && p.pipeline == SP_PIPELINE_1F1B)
        return;
    cli_summary_line("pipeline", "%s%s, %s virtual stages a stage",
                     p.virtual_stages > 1 ? "interleaved " : "",
                     p.pipeline == SP_PIPELINE_ZERO_BUBBLE ? "zero-bubble" : "1f1b",
                     cli_count(p.virtual_stages).text);
}

void cli_summary_step(const sp_stats *stats)
{
    cli_summary_line("step", "%s with gradient reduction, optimiser and gather",
                     cli_time(stats->step_ps).text);
    cli_summary_line("throughput", "%s tokens/s, %s GFLOP/s a device, MFU %s",
                     cli_count(stats->tokens_per_s).text, cli_count(stats->device_gflops).text,
                     cli_percent(stats->mfu_ppm).text);
}

void cli_summary_imbalance(const sp_stats *stats)
{
    cli_summary_line("imbalance", "dp %s, pp %s, cp %s, forward packs %s, backward packs %s",
                     cli_percent(stats->imbalance_dp_ppm).text,
                     cli_percent(stats->imbalance_pp_ppm).text,
                     cli_percent(stats->imbalance_cp_ppm).text,
                     cli_percent(stats->imbalance_forward_ppm).text,
                     cli_percent(stats->imbalance_backward_ppm).text);
}

void cli_summary_memory(const sp_stats *stats)
{
    if (stats->memory_bytes == INT64_MAX)
        cli_summary_line("memory", "%s at most on a device, no cap",
                         cli_bytes(stats->peak_bytes).text);
    else
        cli_summary_line("memory", "%s at most on a device, cap %s%s",
                         cli_bytes(stats->peak_bytes).text, cli_bytes(stats->memory_bytes).text,
                         stats->peak_bytes > stats->memory_bytes ? ": does not fit" : "");
    cli_summary_line("live tokens", "%s at most on a device",
                     cli_count(stats->peak_live_tokens).text);
}
