/*
 * trace.h - a step as Chrome trace events, which Perfetto and chrome://tracing open.
 */
#ifndef SLIMPACK_CLI_TRACE_H
#define SLIMPACK_CLI_TRACE_H

#include <stdio.h>

#include "step.h"

/* Writes the JSON object. Each stage of each replica is a process: pid is its rank. */
int cli_trace_write(FILE *file, const cli_step *step);

#endif
