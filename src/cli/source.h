/*
 * source.h - the bytes of a file, in blocks, from its first to its last.
 *
 * Nothing is sought, so that pipes do. Opening fills the first block: what the file
 * is can be seen before any byte is taken.
 */
#ifndef SLIMPACK_CLI_SOURCE_H
#define SLIMPACK_CLI_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "input.h"

#define CLI_SOURCE_BLOCK 65536

typedef struct cli_source {
    cli_input input;
    int64_t size;   /* bytes in all, -1 when the system does not say */
    int64_t before; /* bytes of the blocks before this one */
    int error;      /* errno of a read that failed, else 0 */
    size_t at, filled;
    unsigned char block[CLI_SOURCE_BLOCK];
} cli_source;

int cli_source_open(const char *path, cli_source *out);
void cli_source_close(cli_source *source);

/* The bytes that are at hand, at least one unless the file is over. */
const unsigned char *cli_source_chunk(cli_source *source, size_t *count);

/* Takes bytes that cli_source_chunk() showed. */
void cli_source_advance(cli_source *source, size_t count);

/* Takes up to `count` bytes, fewer only at the end of the file. */
size_t cli_source_read(cli_source *source, void *out, size_t count);

/* Bytes taken so far. */
int64_t cli_source_taken(const cli_source *source);

/* CLI_OK, or what the system said of the read that failed, reported. A file whose
 * read fails ends there. */
int cli_source_check(const cli_source *source);

/* The next byte, EOF at the end. */
static inline int cli_source_byte(cli_source *source)
{
    size_t count;

    if (source->at == source->filled && (cli_source_chunk(source, &count), count == 0))
        return EOF;
    return source->block[source->at++];
}

#endif
