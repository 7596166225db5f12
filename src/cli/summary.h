/*
 * summary.h - a plan's key figures as aligned lines on standard output.
 */
#ifndef SLIMPACK_CLI_SUMMARY_H
#define SLIMPACK_CLI_SUMMARY_H

#include "options.h"
#include "slimpack.h"

/* One line: a label of fixed width and the text behind it. */
void cli_summary_line(const char *label, const char *format, ...);

void cli_summary_topology(int64_t dp, int64_t tp, int64_t pp, int64_t cp);
void cli_summary_packs(const sp_stats *stats);
/* How the pipeline runs, where it is not plain 1F1B. */
void cli_summary_pipeline(const sp_schedule *schedule);

/* The step beyond the makespan: throughput and utilisation. */
void cli_summary_step(const sp_stats *stats);
void cli_summary_imbalance(const sp_stats *stats);

/* Peak memory against the cap, and whether it fits. */
void cli_summary_memory(const sp_stats *stats);

#endif
