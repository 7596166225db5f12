/*
 * lengths.h - reads sample lengths from a file of any format that is known.
 *
 * What a file is, its contents say: text with one length a line, a NumPy array, the
 * index of a Megatron-LM dataset or JSON lines (docs/inputs.md). Nothing is read past
 * what was asked for but the rest of a block.
 */
#ifndef SLIMPACK_CLI_LENGTHS_H
#define SLIMPACK_CLI_LENGTHS_H

#include <stdint.h>

typedef struct cli_lengths {
    int64_t *values; /* [count] tokens, each >= 1 */
    int64_t count;
    int64_t capacity;
} cli_lengths;

typedef struct cli_lengths_reader cli_lengths_reader;

/* Opens a file, "-" for standard input. `field` is the option --field, NULL without. */
int cli_lengths_open(const char *path, const char *field, cli_lengths_reader **out);
void cli_lengths_close(cli_lengths_reader *reader);

/* Passes over `count` lengths, fewer only at the end. */
int cli_lengths_skip(cli_lengths_reader *reader, int64_t count);

/* Replaces the list by the next `count` lengths (0: all), fewer only at the end. */
int cli_lengths_take(cli_lengths_reader *reader, int64_t count, cli_lengths *list);

/* Lengths that went by. */
int64_t cli_lengths_seen(const cli_lengths_reader *reader);

/* Whether a list of `count` lengths after the first `skip` is what was asked for;
 * reported when not. */
int cli_lengths_check(const cli_lengths_reader *reader, int64_t skip, int64_t batch,
                      int64_t count);

/* All of it: reads `batch` lengths (0: all) after the first `skip`. On an error `out`
 * is untouched. Free with cli_lengths_free(). */
int cli_lengths_read(const char *path, const char *field, int64_t skip, int64_t batch,
                     cli_lengths *out);

void cli_lengths_free(cli_lengths *lengths);

#endif
