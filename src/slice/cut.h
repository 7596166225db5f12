/*
 * cut.h - cuts a stream of samples into packs of given shares of its cost.
 *
 * A stream runs forward through its samples by increasing token, backward
 * through the same samples, each by decreasing token. Both are cut
 * independently, at the quantiles of their own cumulative cost: that is
 * asymmetric partitioning. The cuts of both together are the ends of slices, so
 * that both passes hold the same slices.
 *
 *     forward   | A A A | A B C | C C ... |      cuts at (A, 300), (C, 128)
 *     backward  | A A A A | A A B | C C C |      cuts at (A, 176), (C, end)
 *     slices      A[0,176) A[176,300) A[300,end) B C[0,128) C[128,end)
 */
#ifndef SP_SLICE_CUT_H
#define SP_SLICE_CUT_H

#include "schedule/draft.h"
#include "slice/limit.h"
#include "slice/measure.h"

/* One run of samples whose packs are theirs alone: a merge, or a replica's own. */
typedef struct sp__segment {
    const int32_t *sample; /* [count] in stream order */
    int32_t count;
    int32_t sliceable;     /* 0: cuts fall between samples only */
    sp__limit limit;       /* of each pack; a single sample that cannot be cut may pass it */
} sp__segment;

/* Packs that a segment is cut into, with the share of each. */
typedef struct sp__shares {
    const int32_t *weight[2]; /* [packs] by pass, >= 0, not all zero */
    int32_t packs[2];
} sp__shares;

/* Fewest packs of a pass that keep the segment's limit, its samples in order. */
int32_t sp__cut_fewest(const sp__yardstick *yardstick, const sp__segment *segment,
                       const int64_t *lengths, int pass);

/* Most slices that a segment can give. */
static inline int64_t sp__cut_most_slices(const sp__segment *s, const sp__shares *shares)
{
    return (int64_t)s->count + shares->packs[0] + shares->packs[1];
}

/* Cuts a segment, given at least its fewest packs. For each pass, slices [sp__cut_most_slices()]
 * receive the segment's slices in the order to run and first [packs] the place of each pack's
 * first; count receives the number of slices. Places are SP__SPLIT. */
sp_status sp__cut_segment(const sp__yardstick *yardstick, const sp__segment *segment,
                          const sp__shares *shares, const int64_t *lengths, sp__arena *scratch,
                          sp__slice *slices[2], int32_t *first[2], int32_t *count);

#endif
