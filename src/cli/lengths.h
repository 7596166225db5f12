/*
 * lengths.h - reads sample lengths from a file, one a line.
 *
 * `#` starts a comment, blank lines are skipped, blanks around a length and
 * CRLF line ends are tolerated. Nothing is read past what was asked for.
 */
#ifndef SLIMPACK_CLI_LENGTHS_H
#define SLIMPACK_CLI_LENGTHS_H

#include <stdint.h>

typedef struct cli_lengths {
    int64_t *values; /* [count] tokens, each >= 1 */
    int64_t count;   /* >= 1 */
} cli_lengths;

/* Reads `batch` lengths (0: all) after the first `skip`; "-" is standard input.
 * On an error `out` is untouched. Free with cli_lengths_free(). */
int cli_lengths_read(const char *path, int64_t skip, int64_t batch, cli_lengths *out);

void cli_lengths_free(cli_lengths *lengths);

#endif
