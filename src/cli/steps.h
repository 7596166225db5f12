/*
 * steps.h - `slimpack plan FILE --batch N --steps K`: one batch after another.
 */
#ifndef SLIMPACK_CLI_STEPS_H
#define SLIMPACK_CLI_STEPS_H

#include "options.h"

int cli_plan_steps(const cli_options *options);

#endif
