/*
 * context.h - which samples one context-parallel rank runs alone.
 *
 * A slice is split over all CP ranks, which costs an exchange of K and V; a
 * sample of one slice may stay whole on one rank instead. Where it stays is the
 * same in both passes, since its activations do.
 */
#ifndef SP_PARTITION_CONTEXT_H
#define SP_PARTITION_CONTEXT_H

#include "schedule/draft.h"
#include "slice/measure.h"

/* Sets the places of a lane's slices. lengths [samples]. */
sp_status sp__place_context(sp__draft *draft, int32_t lane, const sp__yardstick *yardstick,
                            const int64_t *lengths, int32_t samples, sp__arena *scratch);

#endif
