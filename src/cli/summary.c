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
