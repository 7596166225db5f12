/*
 * improve.h - moves and swaps that lower the largest load.
 */
#ifndef SP_PARTITION_IMPROVE_H
#define SP_PARTITION_IMPROVE_H

#include "partition/assign.h"

/* Changes replica [count] (-1: not to be touched) and load [replicas] while a
 * move or a swap between the most and the least loaded replica lowers the larger
 * of both, at most options->rounds times the replicas. */
sp_status sp__improve(const sp__assign_options *options, const sp__keyed *sorted, int32_t count,
                      int32_t *replica, int64_t *load, sp__arena *arena);

#endif
