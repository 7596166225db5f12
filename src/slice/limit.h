/*
 * limit.h - how much one pack may hold.
 *
 * The cap is on the padded tokens of one rank. A slice that a group of ranks
 * splits gives each of them two chunks at most (schedule/shard.h), each padded on
 * its own; sp__padded_size() is the most that any rank gets.
 */
#ifndef SP_SLICE_LIMIT_H
#define SP_SLICE_LIMIT_H

#include "base/arith.h"

typedef struct sp__limit {
    int64_t tokens;  /* padded tokens of a rank, INT64_MAX without a cap */
    int32_t samples; /* INT32_MAX without a limit */
    int32_t group;   /* ranks that split a slice */
    int32_t pad;
} sp__limit;

static inline int64_t sp__round_up(int64_t x, int64_t multiple)
{
    return sp__ceil_div(x, multiple) * multiple;
}

static inline int sp__is_limited(const sp__limit *l)
{
    return l->tokens != INT64_MAX || l->samples != INT32_MAX;
}

/* Most padded tokens of a rank for a slice of length tokens. */
static inline int64_t sp__padded_size(const sp__limit *l, int64_t length)
{
    if (l->group == 1)
        return sp__round_up(length, l->pad);
    return 2 * sp__round_up(sp__ceil_div(length, 2 * (int64_t)l->group), l->pad);
}

/* The longest slice whose padded size is within room. */
static inline int64_t sp__longest_within(const sp__limit *l, int64_t room)
{
    if (l->group == 1)
        return room / l->pad * l->pad;
    return sp__mul_div(2 * (int64_t)l->group, room / 2 / l->pad * l->pad, 1);
}

#endif
