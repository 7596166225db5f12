/*
 * verbs.h - the verbs of the slimpack program: each takes the options and gives
 * the exit code, its errors reported.
 */
#ifndef SLIMPACK_CLI_VERBS_H
#define SLIMPACK_CLI_VERBS_H

#include "options.h"

int cli_plan(const cli_options *options);
int cli_compare(const cli_options *options);
int cli_check(const cli_options *options);
int cli_simulate(const cli_options *options);
int cli_report(const cli_options *options);
int cli_fit(const cli_options *options);
int cli_generate(const cli_options *options);
int cli_lengths_verb(const cli_options *options);
int cli_params(const cli_options *options);

#endif
