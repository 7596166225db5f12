/*
 * progress.h - a bar that shows how far long work has come.
 *
 * It stands on standard error, only where that is a terminal that can take a line back
 * and --quiet is not given, and is gone when the work ends: what is piped or kept never
 * sees it. There is one bar at a time; work within work leaves the outer one as it is.
 */
#ifndef SLIMPACK_CLI_PROGRESS_H
#define SLIMPACK_CLI_PROGRESS_H

#include <stdint.h>
#include <stdio.h>

/* Whether colour may be written: a terminal, TERM is not "dumb", NO_COLOR is empty. */
int cli_has_colour(FILE *file);

/* Bars from here on: none when `quiet`. */
void cli_progress_allow(int quiet);

/* Work begins; a total below 1 is one that is not known. */
void cli_progress_begin(const char *label, int64_t total);
void cli_progress_at(int64_t done);
void cli_progress_end(void);

/* Takes the bar off the line, so that something else can be written there. */
void cli_progress_clear(void);

#endif
