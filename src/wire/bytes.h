/*
 * bytes.h - numbers as bytes: little-endian, of fixed or of variable length.
 *
 * A variable-length number holds seven bits a byte, lowest first, and the eighth bit
 * says that more follow (LEB128); a signed one is folded first so that small numbers of
 * either sign are short: 0, -1, 1, -2 become 0, 1, 2, 3 (zigzag).
 *
 * A sink without memory counts what it would write. A source that has been asked for
 * more than it holds, or for a number that no sink writes, gives 0 from then on and
 * says so once its reader asks.
 */
#ifndef SP_WIRE_BYTES_H
#define SP_WIRE_BYTES_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

typedef struct sp__sink {
    uint8_t *to; /* NULL: count alone */
    size_t at;
} sp__sink;

typedef struct sp__source {
    const uint8_t *from;
    size_t at, end;
    int failed;
} sp__source;

static inline void sp__put_byte(sp__sink *sink, uint8_t byte)
{
    if (sink->to != NULL)
        sink->to[sink->at] = byte;
    sink->at++;
}

static inline void sp__put_fixed(sp__sink *sink, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        sp__put_byte(sink, (uint8_t)(value >> 8 * i));
}

static inline void sp__put(sp__sink *sink, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        sp__put_byte(sink, (uint8_t)(value | 0x80));
    sp__put_byte(sink, (uint8_t)value);
}

static inline uint64_t sp__fold(int64_t value)
{
    return (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0);
}

static inline int64_t sp__unfold(uint64_t folded)
{
    uint64_t value = folded >> 1 ^ (folded & 1 ? UINT64_MAX : 0);

    return value <= INT64_MAX ? (int64_t)value : -(int64_t)(UINT64_MAX - value) - 1;
}

static inline void sp__put_signed(sp__sink *sink, int64_t value)
{
    sp__put(sink, sp__fold(value));
}

static inline uint64_t sp__get_fixed(const uint8_t *from, int bytes)
{
    uint64_t value = 0;

    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)from[i] << 8 * i;
    return value;
}

static inline size_t sp__left(const sp__source *source)
{
    return source->end - source->at;
}

static inline uint64_t sp__get(sp__source *source)
{
    uint64_t value = 0;

    for (int shift = 0; source->at < source->end && shift < 64; shift += 7) {
        uint8_t byte = source->from[source->at++];

        if (shift == 63 && byte > 1)
            break;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
    source->failed = 1;
    source->at = source->end;
    return 0;
}

static inline int64_t sp__get_signed(sp__source *source)
{
    return sp__unfold(sp__get(source));
}

/* A number from least to most; another is a failure, and gives least. */
static inline int64_t sp__get_within(sp__source *source, int64_t least, int64_t most)
{
    uint64_t value = sp__get(source);

    if (value <= INT64_MAX && (int64_t)value >= least && (int64_t)value <= most)
        return (int64_t)value;
    source->failed = 1;
    return least;
}

/* Sum of bytes that a change of any one of them changes; size is at least that of a
 * word. */
static inline uint64_t sp__checksum(const uint8_t *bytes, size_t size)
{
    uint64_t h = sp__hash_word(0, size);
    size_t at = 0;

    for (; at + 8 <= size; at += 8)
        h = sp__hash_word(h, sp__get_fixed(bytes + at, 8));
    return at == size ? h : sp__hash_word(h, sp__get_fixed(bytes + at, (int)(size - at)));
}

#endif
