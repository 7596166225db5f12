/*
 * calls.h - the calls that build a schedule, as bytes: fuzz_builder.c makes them,
 * seeds.c writes them.
 *
 *     head = DP - 1, TP - 1, PP - 1, CP - 1, samples - 1, length of each
 *     call = kind, arguments
 *
 * All numbers are those of wire/bytes.h, signed, so that small ones are one byte. A call
 * with pieces ends with their count, and sample, start and length of each.
 */
#ifndef TESTS_FUZZ_CALLS_H
#define TESTS_FUZZ_CALLS_H

#include "wire/bytes.h"

enum call_kind {
    CALL_ALIGNMENT = 0, /* tokens */
    CALL_PIPELINE = 1,  /* virtual stages, pipeline */
    CALL_MERGE = 2,     /* sample, first replica, replicas */
    CALL_PACK = 3,      /* replica, pass, merge; slices */
    CALL_SHARDS = 4,    /* replica, pass, cp; shards */
    CALL_OP = 5,        /* replica, stage, pass, pack, chunk, start, end */
    CALL_MEMORY = 6,    /* replica, stage, static, peak, cap */
    CALL_PADDING = 7,   /* pad multiple */
    CALL_LOCKSTEP = 8,  /* 0 or 1 */
    CALL_KINDS = 9
};

/* Arguments of each kind, without pieces. */
static const int call_arguments[CALL_KINDS] = { 1, 2, 3, 3, 3, 7, 5, 1, 1 };

#define CALL_MOST_ARGUMENTS 7
#define CALL_MOST_PIECES 64
#define CALL_MOST_SAMPLES 16

/* What is too large for an argument becomes its largest. */
static inline int32_t call_int32(int64_t x)
{
    return x < INT32_MIN ? INT32_MIN : x > INT32_MAX ? INT32_MAX : (int32_t)x;
}

/* 1 to most. */
static inline int64_t call_count(sp__source *src, int64_t most)
{
    return 1 + (int64_t)((uint64_t)sp__get_signed(src) % (uint64_t)most);
}

/* The pieces of a call; the count may be below 0, for the builder to refuse. */
static inline int32_t call_pieces(sp__source *src, int32_t piece[3 * CALL_MOST_PIECES])
{
    int32_t count = call_int32(sp__get_signed(src));

    count = count > CALL_MOST_PIECES ? CALL_MOST_PIECES : count;
    for (int64_t i = 0; i < 3 * (int64_t)count; i++)
        piece[i] = call_int32(sp__get_signed(src));
    return count;
}

#endif
