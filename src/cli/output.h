/*
 * output.h - a file that appears whole under its name or not at all.
 *
 * A regular file is written under another name in the same folder and renamed
 * when all of it is on its way to the disk. "-", devices, pipes and what /dev and /proc
 * name are written directly: there is nothing to rename.
 */
#ifndef SLIMPACK_CLI_OUTPUT_H
#define SLIMPACK_CLI_OUTPUT_H

#include <stdio.h>

typedef struct cli_output {
    FILE *file;
    const char *name; /* for messages, borrowed */
    char *target;     /* what to rename to, NULL when written directly */
    char *temporary;
} cli_output;

/* Has signals that end the program remove what is half written first. */
void cli_output_guard(void);

/* Opens an output to write. On success end with commit or discard. */
int cli_output_open(const char *path, cli_output *out);

/* Closes and renames; on an error the target is as it was and the error reported. */
int cli_output_commit(cli_output *output);

/* Closes and forgets what was written. */
void cli_output_discard(cli_output *output);

/* Whether a path is standard output, by "-" or another name. */
int cli_output_is_standard(const char *path);

/* Whether two paths (NULL: none) name one output, by another way too. */
int cli_output_same(const char *a, const char *b);

/* Flushes standard output and reports what could not be written. */
int cli_flush_standard_output(void);

#endif
