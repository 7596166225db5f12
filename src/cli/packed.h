/*
 * packed.h - integers as few bytes, and bytes as text: what a page carries its data in.
 *
 * A varint holds seven bits a byte, the lowest first, the top bit set on all but the
 * last. Signed values are folded first: 0, -1, 1, -2 ... become 0, 1, 2, 3 ...
 * A buffer that ran out of memory stays so and takes no more; ask at the end.
 */
#ifndef SLIMPACK_CLI_PACKED_H
#define SLIMPACK_CLI_PACKED_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct cli_packed {
    unsigned char *bytes; /* [count] */
    size_t count, room;
    int failed;
} cli_packed;

void cli_pack(cli_packed *packed, uint64_t value);
void cli_pack_signed(cli_packed *packed, int64_t value);

/* The other buffer's size, then its bytes. */
void cli_pack_block(cli_packed *packed, const cli_packed *block);

void cli_packed_free(cli_packed *packed);

/* Base64 (RFC 4648), a line every 96 characters. */
void cli_packed_write(FILE *file, const cli_packed *packed);

#endif
