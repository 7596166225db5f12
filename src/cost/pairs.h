/*
 * pairs.h - how many (query, key) pairs a slice attends.
 *
 * Causal: query p attends keys [0, p], so the slice [start, start + length) has
 *     length * start + length * (length + 1) / 2
 * pairs; a sliding window of w keys caps each query's share at w; bidirectional
 * attention gives every query the whole sample. Positions are below 2^31, so
 * that a slice's pairs are below 2^62 and fit int64.
 */
#ifndef SP_COST_PAIRS_H
#define SP_COST_PAIRS_H

#include <stdint.h>

typedef struct sp__attention {
    int64_t window; /* keys of a query, INT64_MAX without a window */
    int32_t causal;
} sp__attention;

/* Pairs of the first end tokens of a causal sample. */
static inline int64_t sp__causal_pairs(const sp__attention *a, int64_t end)
{
    if (end <= a->window)
        return end * (end + 1) / 2;
    return a->window * (a->window + 1) / 2 + (end - a->window) * a->window;
}

/* Pairs of the slice [start, start + length) of a sample of sample_length. */
static inline int64_t sp__pairs(const sp__attention *a, int64_t start, int64_t length,
                                int64_t sample_length)
{
    if (!a->causal)
        return length * sample_length;
    return sp__causal_pairs(a, start + length) - sp__causal_pairs(a, start);
}

#endif
