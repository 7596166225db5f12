/*
 * retime.h - a plan with the times and memory of a simulation in place of its own.
 */
#ifndef SLIMPACK_CLI_RETIME_H
#define SLIMPACK_CLI_RETIME_H

#include "json.h"

/* Rebuilds the plan. It is made without a memory cap: a replay may pass the cap
 * that the simulation's stats name, and says so there. Errors are reported. */
int cli_retime(const cli_plan_file *plan, const sp_simulation *simulation, sp_schedule **out);

#endif
