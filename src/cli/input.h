/*
 * input.h - opens a file to read, with the messages that all readers share.
 */
#ifndef SLIMPACK_CLI_INPUT_H
#define SLIMPACK_CLI_INPUT_H

#include <stdio.h>

typedef struct cli_input {
    FILE *file;
    const char *name; /* for messages; the path, borrowed, or "standard input" */
} cli_input;

/* "-" is standard input. A directory is refused here: reading it would only say
 * that it is empty. */
int cli_input_open(const char *path, cli_input *out);

void cli_input_close(cli_input *input);

#endif
