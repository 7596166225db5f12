/*
 * loads.h - what each rank holds of each pack, and what each backward pack waits for.
 *
 * Both follow from a lane's slices; they are what the simulator reads.
 */
#ifndef SP_SCHEDULE_LOADS_H
#define SP_SCHEDULE_LOADS_H

#include "schedule/draft.h"

/* Fills load of both passes and needs of a lane whose packs hold their slices.
 * lengths [samples] are all samples' tokens. */
sp_status sp__lane_finish(sp__draft *draft, int32_t lane, const int64_t *lengths, int32_t samples,
                          const sp__attention *attention, sp__arena *arena);

/* Fills needs alone. */
sp_status sp__lane_needs(sp__lane *lane, int32_t samples, sp__arena *arena);

/* Most padded tokens by which a rank's part of a pack passes the draft's token cap;
 * 0 when none does. A pack of one whole sample is no excess: it could not be made
 * smaller. */
int64_t sp__draft_excess(const sp__draft *draft, const int64_t *lengths);

/* Fills load alone, into the memory that stands there. */
void sp__packs_load(const sp__draft *draft, int32_t lane, sp__packs *packs, const int64_t *lengths,
                    const sp__attention *attention);

#endif
