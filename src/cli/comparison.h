/*
 * comparison.h - one batch planned by every policy, for a table of them.
 */
#ifndef SLIMPACK_CLI_COMPARISON_H
#define SLIMPACK_CLI_COMPARISON_H

#include "json.h"
#include "session.h"

/* Plans the session's batch under each policy, in the order of their numbers. A
 * policy without a plan keeps the reason in its row. Free `*rows` with free(). */
int cli_comparison_run(cli_session *session, cli_comparison_row **rows, int *count);

#endif
