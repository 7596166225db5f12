/*
 * measurements.h - reads measured slices, one a line.
 *
 * A line is `start,length,forward_s,backward_s`; these names may stand in a line of
 * their own above the first. Blank lines and what follows # are passed over.
 */
#ifndef SLIMPACK_CLI_MEASUREMENTS_H
#define SLIMPACK_CLI_MEASUREMENTS_H

#include <stdint.h>

typedef struct cli_measurements {
    const char *name; /* of the input, for messages */
    int64_t count;
    int64_t *start, *length, *line; /* [count]; line is a number within the file */
    double *forward_s, *backward_s; /* [count] any number, the library judges them */
} cli_measurements;

/* Reads all of a file, "-" for standard input. On an error `out` is untouched. */
int cli_measurements_read(const char *path, cli_measurements *out);

void cli_measurements_free(cli_measurements *measurements);

#endif
