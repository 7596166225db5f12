/*
 * packed.c - integers as few bytes, bytes as text: see packed.h.
 */
#include "packed.h"

#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 72 /* 96 characters */

static int reserve(cli_packed *packed, size_t more)
{
    size_t room = packed->room > 0 ? packed->room : 4096;
    unsigned char *bytes;

    if (packed->failed || more > SIZE_MAX / 4 || packed->count > SIZE_MAX / 4)
        packed->failed = 1;
    if (packed->failed || packed->room - packed->count >= more)
        return !packed->failed;
    while (room - packed->count < more)
        room *= 2;
    bytes = realloc(packed->bytes, room);
    packed->failed = bytes == NULL;
    if (bytes == NULL)
        return 0;
    packed->bytes = bytes;
    packed->room = room;
    return 1;
}

void cli_pack(cli_packed *packed, uint64_t value)
{
    if (!reserve(packed, 10))
        return;
    for (; value >= 128; value >>= 7)
        packed->bytes[packed->count++] = (unsigned char)(value & 127) | 128;
    packed->bytes[packed->count++] = (unsigned char)value;
}

void cli_pack_signed(cli_packed *packed, int64_t value)
{
    uint64_t twice = (uint64_t)value << 1;

    cli_pack(packed, value < 0 ? ~twice : twice);
}

void cli_pack_block(cli_packed *packed, const cli_packed *block)
{
    packed->failed |= block->failed;
    cli_pack(packed, block->count);
    if (block->count == 0 || !reserve(packed, block->count))
        return;
    memcpy(packed->bytes + packed->count, block->bytes, block->count);
    packed->count += block->count;
}

void cli_packed_free(cli_packed *packed)
{
    free(packed->bytes);
    memset(packed, 0, sizeof *packed);
}

/* Three bytes, or the one or two that are left, as four characters. */
static void put_group(FILE *file, const unsigned char *bytes, size_t count)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned group = (unsigned)bytes[0] << 16;
    char text[4];

    group |= count > 1 ? (unsigned)bytes[1] << 8 : 0;
    group |= count > 2 ? bytes[2] : 0;
    text[0] = digits[group >> 18];
    text[1] = digits[group >> 12 & 63];
    text[2] = count > 1 ? digits[group >> 6 & 63] : '=';
    text[3] = count > 2 ? digits[group & 63] : '=';
    fwrite(text, 1, sizeof text, file);
}

void cli_packed_write(FILE *file, const cli_packed *packed)
{
    for (size_t i = 0; i < packed->count && !ferror(file); i += 3) {
        size_t left = packed->count - i;

        put_group(file, packed->bytes + i, left < 3 ? left : 3);
        if (i % LINE_BYTES == LINE_BYTES - 3)
            putc('\n', file);
    }
    putc('\n', file);
}
