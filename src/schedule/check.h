/*
 * check.h - the invariants of a plan as code. Each function verifies some of
 * them and fails with SP_ERR_INVARIANT and a sentence that starts with the name.
 */
#ifndef SP_SCHEDULE_CHECK_H
#define SP_SCHEDULE_CHECK_H

#include "base/arena.h"
#include "schedule/schedule.h"

/* Values that index others: samples, ranges within samples, merges, packs of ops.
 * All other checks rely on it. */
sp_status sp__check_values(const struct sp_schedule *s);

/* I1: every token in one forward and one backward shard, on the same rank; every
 * shard within a slice of its pack. */
sp_status sp__check_cover(const struct sp_schedule *s, sp__arena *scratch);

/* I1: a sample is in one replica, or in the replicas of one merge. */
sp_status sp__check_homes(const struct sp_schedule *s, sp__arena *scratch);

/* I2, I3, I7: slices of a sample by increasing start forward and by decreasing
 * start backward, at multiples of the alignment. */
sp_status sp__check_slices(const struct sp_schedule *s, sp__arena *scratch);

/* I4: every stage runs every pack once, in pack order, and no ring of waiting;
 * times respect what each op waits for. */
sp_status sp__check_ops(const struct sp_schedule *s, sp__arena *scratch);

/* I5: no device above the cap. */
sp_status sp__check_memory(const struct sp_schedule *s);

/* I8: merges nest or are disjoint; their packs are alike in all their replicas
 * and in the same order. */
sp_status sp__check_merges(const struct sp_schedule *s);

#endif
