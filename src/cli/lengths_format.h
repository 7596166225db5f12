/*
 * lengths_format.h - what a format of lengths is to lengths.c.
 *
 * A reader holds the source; a format finds the lengths in it, one at a time, and
 * keeps what it has to know in a state of its own. Neither grows with the file.
 */
#ifndef SLIMPACK_CLI_LENGTHS_FORMAT_H
#define SLIMPACK_CLI_LENGTHS_FORMAT_H

#include "lengths.h"
#include "source.h"

typedef struct cli_format {
    const char *name;  /* for messages */
    const char *empty; /* why a file of this format may hold no lengths */
    /* Takes what stands before the lengths; sets the state. */
    int (*open)(cli_lengths_reader *reader);
    /* Gives a length that cli_length_wrong() passes, or 0 after the last. */
    int (*next)(cli_lengths_reader *reader, int64_t *value);
    void (*close)(cli_lengths_reader *reader); /* frees the state, which may be NULL */
} cli_format;

struct cli_lengths_reader {
    cli_source source;
    const cli_format *format;
    void *state;
    const char *field; /* NULL: not given */
    int64_t seen;
    int watched; /* the bar of progress shows how much of the file was taken */
};

extern const cli_format cli_format_text;
extern const cli_format cli_format_npy;
extern const cli_format cli_format_idx;
extern const cli_format cli_format_jsonl;

/* The format of what stands in the source's first block; NULL, reported, when it is
 * none of these. A byte order mark is taken. */
const cli_format *cli_format_find(cli_source *source);

/* What is wrong with a length, NULL when nothing is. Longer samples than int32 holds
 * are refused where their place is known: no plan could hold them. */
const char *cli_length_wrong(int64_t value);

/* Little-endian numbers of any address. */
uint32_t cli_le32(const unsigned char *bytes);
uint64_t cli_le64(const unsigned char *bytes);

#endif
