/*
 * pack.h - phase two: an assignment becomes packs of slices, replica by replica.
 *
 * Every replica gets the same number of packs in each pass (I6). Its streams run
 * through its merges first, largest window first, then through its own samples;
 * each merge has packs of its own, the same in all its replicas, and the rest of
 * the packs are cut from the replica's own samples.
 */
#ifndef SP_PARTITION_PACK_H
#define SP_PARTITION_PACK_H

#include "partition/assign.h"
#include "slice/cut.h"

/* What is the same for all replicas. */
typedef struct sp__packing {
    const sp__yardstick *yardstick;
    const sp__assignment *assignment;
    const int64_t *lengths; /* [samples] */
    int32_t samples;
    int32_t replicas;
    int32_t sliceable;
    sp__limit limit;        /* of a pack of one replica: group is CP */
    sp__shares shares;      /* packs of a replica and their weights, merges included */
    int64_t pass_cost[2];   /* of the whole batch */
    sp__arena *arena;
    struct sp__merge_packs *merged; /* [merges], by sp__pack_merges() */
} sp__packing;

/* Fewest packs of both passes that hold every replica's segments, one or more for
 * each, into fewest [2]. */
sp_status sp__pack_fewest(const sp__packing *packing, int32_t fewest[2]);

/* Gives every merge its packs and cuts them. only >= 0: those of that replica alone. */
sp_status sp__pack_merges(sp__packing *packing, int32_t only);

/* Makes the packs of one replica: draft->lane[replica] is filled but for its loads.
 * Memory comes from arena, so that replicas can be made at the same time. */
sp_status sp__pack_lane(const sp__packing *packing, int32_t replica, sp__draft *draft,
                        sp__arena *arena);

#endif
