/*
 * lengths_format.c - tells a format by the first bytes: see lengths_format.h.
 *
 * What other programs write and none of ours reads is refused by its name, so that
 * nobody has to guess from a complaint about its first line.
 */
#include "lengths_format.h"

#include <string.h>

#include "message.h"

#define LINE_LOOKED_AT 512

typedef struct magic {
    const char *bytes;
    size_t length;
    const cli_format *format; /* NULL: refused */
    const char *what;         /* what is refused, and what to do instead */
} magic;

#define UNPACK "decompress it first and hand it over as -"

static const magic magics[] = {
    { "\x93NUMPY", 6, &cli_format_npy, NULL },
    { "MMIDIDX\0\0", 9, &cli_format_idx, NULL },
    { "TNTIDX\0\0", 8, NULL,
      "an index of the older TNTIDX format; convert the dataset to Megatron-LM's MMIDIDX" },
    { "\x1f\x8b", 2, NULL, "gzip data; " UNPACK },
    { "\x28\xb5\x2f\xfd", 4, NULL, "zstd data; " UNPACK },
    { "\xfd" "7zXZ\0", 6, NULL, "xz data; " UNPACK },
    { "BZh", 3, NULL, "bzip2 data; " UNPACK },
    { "\x04\x22\x4d\x18", 4, NULL, "lz4 data; " UNPACK },
    { "PK\3\4", 4, NULL, "zip data, such as .npz; take the .npy file out first" },
    { "PAR1", 4, NULL, "Parquet data; write the lengths as .npy or text first" },
    { "ARROW1", 6, NULL, "Arrow data; write the lengths as .npy or text first" },
    { "\x89HDF\r\n\x1a\n", 8, NULL, "HDF5 data; write the lengths as .npy or text first" },
    { "\xff\xfe", 2, NULL, "UTF-16 text; write it as UTF-8" },
    { "\xfe\xff", 2, NULL, "UTF-16 text; write it as UTF-8" },
};

#define MAGICS (sizeof magics / sizeof magics[0])

static const magic *find_magic(const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < MAGICS; i++)
        if (count >= magics[i].length && memcmp(bytes, magics[i].bytes, magics[i].length) == 0)
            return &magics[i];
    return NULL;
}

static int is_blank(unsigned char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Whether the bytes cannot be meant as text: a NUL in the first line, or something
 * else than a printable byte, or an escape, before all others. Later lines have a
 * number to report them by. */
static int is_binary(const unsigned char *bytes, size_t count, size_t first)
{
    const unsigned char *end = memchr(bytes, '\n', count);
    size_t line = end != NULL ? (size_t)(end - bytes) : count;
    unsigned char c = first < count ? bytes[first] : ' ';

    if (memchr(bytes, '\0', line < LINE_LOOKED_AT ? line : LINE_LOOKED_AT) != NULL)
        return 1;
    return c != 0x1b && (c < ' ' || c > '~') && !is_blank(c);
}

static const cli_format *find_text(const cli_source *source, const unsigned char *bytes,
                                   size_t count)
{
    const char *name = source->input.name;
    size_t first = 0;

    while (first < count && is_blank(bytes[first]))
        first++;
    if (first < count && bytes[first] == '{')
        return &cli_format_jsonl;
    if (first < count && bytes[first] == '[') {
        cli_fail(CLI_DATA, "%s: a JSON array, not JSON lines with an object each", name);
        return NULL;
    }
    if (!is_binary(bytes, count, first))
        return &cli_format_text;
    cli_fail(CLI_DATA, "%s: unknown binary data; lengths are read from text, .npy, Megatron-LM "
             ".idx and JSON lines", name);
    return NULL;
}

const cli_format *cli_format_find(cli_source *source)
{
    size_t count;
    const unsigned char *bytes = cli_source_chunk(source, &count);
    const magic *found = find_magic(bytes, count);

    if (found != NULL && found->format == NULL)
        cli_fail(CLI_DATA, "%s: %s", source->input.name, found->what);
    if (found != NULL)
        return found->format;
    if (count >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) {
        cli_source_advance(source, 3);
        return find_text(source, bytes + 3, count - 3);
    }
    return find_text(source, bytes, count);
}
