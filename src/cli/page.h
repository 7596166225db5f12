/*
 * page.h - a step as one page for a browser, with all that it needs in the one file.
 */
#ifndef SLIMPACK_CLI_PAGE_H
#define SLIMPACK_CLI_PAGE_H

#include <stdio.h>

#include "json.h"
#include "packed.h"
#include "step.h"

/* What the page shows beside the step. */
typedef struct cli_page {
    const cli_step *step;
    const cli_plan_note *note;   /* of the plan file */
    const sp_stats *stats;       /* NULL without a simulation */
    int sends_block;             /* whether a stage waits while it sends */
    const cli_comparison_row *rows; /* [count], every policy on this batch */
    int count;
    const char *no_rows;         /* why there is none, where there is none */
} cli_page;

/* The page with the step's data in it. */
int cli_page_write(FILE *file, const cli_page *page);

/* The data: lengths, merges, packs, ops, and of a simulation memory and devices. */
void cli_page_data(const cli_step *step, cli_packed *out);

/* The page's text, line by line, NULL behind the last: report.html and what it
 * includes, made into an array by the Makefile. */
extern const char *const cli_page_lines[];

#endif
