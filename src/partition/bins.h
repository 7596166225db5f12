/*
 * bins.h - whole samples into packs: the ways of the policies for comparison.
 *
 * A unit is what is packed as one: a whole sample, or a slice of one. Bins are
 * numbered in the order in which they are opened.
 */
#ifndef SP_PARTITION_BINS_H
#define SP_PARTITION_BINS_H

#include "base/arena.h"
#include "base/sort.h"

/* First fit: each item, in the order given, into the first bin in which its key
 * still fits capacity, else into a new one; at most samples_per_bin each (0: any
 * number). An item above capacity has a bin of its own. bin [count] by place in
 * items; bins receives how many were opened. Time N log N. */
sp_status sp__first_fit(const sp__keyed *items, int32_t count, int64_t capacity,
                        int32_t samples_per_bin, sp__arena *scratch, int32_t *bin, int32_t *bins);

/* Next fit: the same, but into the last bin or a new one, so that the order given
 * is kept from bin to bin. */
void sp__next_fit(const sp__keyed *items, int32_t count, int64_t capacity,
                  int32_t samples_per_bin, int32_t *bin, int32_t *bins);

/* Longest first: each item into the bin with the least sum of keys (the lower of
 * equals) among those with room for its size [count] within capacity and for one
 * more sample; a bin more is opened when none has. bin [count] by place in items;
 * bins holds how many there are, and receives how many it took. */
sp_status sp__least_loaded(const sp__keyed *items, const int64_t *size, int32_t count,
                           int64_t capacity, int32_t samples_per_bin, sp__arena *scratch,
                           int32_t *bin, int32_t *bins);

#endif
