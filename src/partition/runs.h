/*
 * runs.h - packs that both passes share: the ways of the policies for comparison.
 *
 * A run is a list of packs that hold consecutive slices of one sample, or a
 * single pack of whole samples. Forward runs every pack in list order; backward
 * takes the runs in the same order, and the packs of a run in reverse, so that
 * slices of a sample run backward last first.
 */
#ifndef SP_PARTITION_RUNS_H
#define SP_PARTITION_RUNS_H

#include "schedule/draft.h"

typedef struct sp__runs {
    sp__slice *slices; /* [slice_capacity] pack by pass order */
    int32_t *first;    /* [pack_capacity] of slices */
    int32_t *run;      /* [pack_capacity] number of each pack's run, increasing */
    int32_t packs, slice_count, run_count;
} sp__runs;

/* Room for packs and slices. */
sp_status sp__runs_open(sp__runs *runs, int64_t packs, int64_t slices, sp__arena *arena);

/* Adds a pack; whether it goes on with the run before it, or starts one. */
void sp__runs_add_pack(sp__runs *runs, int continues);
void sp__runs_add_slice(sp__runs *runs, int32_t sample, int32_t start, int32_t length);

/* Both passes of a lane from its runs, each filled with empty packs up to packs [2]. */
sp_status sp__runs_to_lane(const sp__runs *runs, const int32_t packs[2], int32_t cp,
                           sp__lane *lane, sp__arena *arena);

#endif
