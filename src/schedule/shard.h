/*
 * shard.h - the part of a slice that each rank of a group computes.
 *
 * A slice that is split over G ranks is cut into 2 G chunks, and rank i takes
 * chunks i and 2 G - 1 - i ("zigzag", as Megatron-LM and TransformerEngine load
 * balance causal context parallelism). Chunk lengths differ by at most a token
 * and the longer ones come first, so that two ranks' tokens differ by at most
 * one: any length works and none is padded.
 */
#ifndef SP_SCHEDULE_SHARD_H
#define SP_SCHEDULE_SHARD_H

#include "schedule/draft.h"

typedef struct sp__piece {
    int32_t start, length;
} sp__piece;

/* Start of chunk j within a slice of length tokens cut into chunks. */
static inline int32_t sp__chunk_start(int32_t length, int32_t chunks, int32_t j)
{
    int32_t longer = length % chunks;

    return length / chunks * j + (j < longer ? j : longer);
}

/* The pieces of a slice that rank index of a group computes, by increasing
 * start; returns how many, 0 to 2. */
static inline int32_t sp__shard(const sp__slice *slice, int32_t group, int32_t index,
                                sp__piece piece[2])
{
    int32_t count = 0;

    if (slice->place >= 0 || group == 1) {
        piece[0].start = slice->start;
        piece[0].length = slice->length;
        return slice->place < 0 || slice->place == index;
    }
    for (int32_t side = 0; side < 2; side++) {
        int32_t chunk = side == 0 ? index : 2 * group - 1 - index;
        int32_t start = sp__chunk_start(slice->length, 2 * group, chunk);
        int32_t end = sp__chunk_start(slice->length, 2 * group, chunk + 1);

        if (end == start)
            continue;
        if (count == 1 && piece[0].start + piece[0].length == slice->start + start) {
            piece[0].length += end - start;
            continue;
        }
        piece[count].start = slice->start + start;
        piece[count++].length = end - start;
    }
    return count;
}

/* Whether the sample is computed whole, in one piece, on one rank. */
static inline int sp__is_whole(const sp__slice *slice, int64_t sample_length, int32_t group)
{
    return slice->length == sample_length && (slice->place >= 0 || group == 1);
}

/* Tokens that count as cached for a slice that is not whole: dK and dV, and in a
 * group the gathered K and V too. */
static inline int64_t sp__cached_tokens(int64_t length, int32_t group)
{
    return group > 1 ? 2 * length : length;
}

#endif
