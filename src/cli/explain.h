/*
 * explain.h - where the time and the memory of a simulated step go, for people.
 */
#ifndef SLIMPACK_CLI_EXPLAIN_H
#define SLIMPACK_CLI_EXPLAIN_H

#include "json.h"
#include "session.h"

/* Prints time by device, memory at its peak, the critical path, and what a better
 * device would save. */
int cli_explain(const cli_plan_file *plan, const cli_costs *costs, const sp_simulation *simulation,
                const sp_stats *stats);

#endif
