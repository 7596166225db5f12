/*
 * wire.h - a schedule as bytes: what stands where.
 *
 *     head       "slimpack", version (4 bytes), 0 (4), bytes in all (8), checksum of all
 *                that follows it (8), digest of the whole plan (8)
 *     body       sizes, lengths, merges, stats, bytes of each lane's section
 *     sections   a lane each: its packs of both passes, then its stages
 *     padding    zeros, see below
 *
 * Numbers of the body and the sections are of variable length (bytes.h). Sections stand
 * alone, so that a rank reads those of its own lanes and steps over the others.
 *
 * What follows from other numbers is not written: a slice begins where the one before
 * it in its sample ended, shards follow from slices by the rule of shard.h, the packs of
 * a stage's ops run in their order, and an op starts where the one before ended and
 * takes as long as on the stage before. Where a number is another, a bit says so.
 *
 * A schedule takes at most SP__WIRE_STRETCH bytes of memory, and its ranks together go
 * through at most a quarter as many slices and shards, for each byte of its encoding,
 * which is padded where it would be shorter. So hostile bytes cannot ask for much more
 * memory or time than they are.
 *
 *     lane    = pack... (forward) pack... (backward) stage...
 *     pack    = slices << 2 | is_explicit << 1 | has_oversize, [merge + 1], slice...,
 *               [place + 1 of each slice] or [shards of each CP rank, shard...],
 *               [is_oversize of each CP rank]
 *     slice   = folded (sample - sample before) << 1 | has_start, [start], length
 *     shard   = folded (sample - sample before), start, length
 *     stage   = op..., memory and work of each CP rank
 *     op      = chunk * 3 + pass, folded (start - end before), folded (time - expected)
 *
 * [merge + 1] is there when the plan has merges, [place + 1] when a pack has no merge,
 * CP > 1 and its shards follow the rule.
 */
#ifndef SP_WIRE_WIRE_H
#define SP_WIRE_WIRE_H

#include "base/arena.h"
#include "schedule/shard.h"
#include "schedule/writer.h"
#include "wire/bytes.h"

#define SP__WIRE_MAGIC "slimpack"
#define SP__WIRE_HEAD 40    /* bytes of the head */
#define SP__WIRE_SUMMED 32  /* the checksum is of all from here on */
#define SP__WIRE_STRETCH 1024

/* Numbers of sp_stats behind its struct_size, all of them int64. */
#define SP__WIRE_STATS ((int)((sizeof(sp_stats) - sizeof(size_t)) / sizeof(int64_t)))

/* Slices and shards, of all ranks, that so many bytes may stand for. */
static inline int64_t sp__wire_work(size_t bytes)
{
    return bytes > INT64_MAX / SP__WIRE_STRETCH ? INT64_MAX
                                                : (int64_t)bytes * (SP__WIRE_STRETCH / 4);
}

/* What both directions know while they walk a lane, so that they expect the same. */
typedef struct sp__walk {
    int64_t visit;     /* passes of lanes begun */
    int64_t *seen;     /* [samples] visit in which reached was last set */
    int32_t *reached;  /* [samples] where its next slice is expected to start or end */
    int64_t *expected; /* [forward + 2 * backward packs] time of the last op on each */
    int32_t *next[3];  /* [chunks] pack of the next op, by pass */
} sp__walk;

sp_status sp__walk_open(sp__walk *walk, int32_t samples, const int32_t packs[2], int32_t chunks,
                        sp__arena *arena);

/* Begins a pass of a lane. */
static inline void sp__walk_pass(sp__walk *walk)
{
    walk->visit++;
}

/* Where the next slice of a sample is expected to start, if it is of that length. */
int64_t sp__walk_start(sp__walk *walk, int pass, int32_t sample, int64_t length,
                       const int64_t *lengths);

/* Remembers where it did. */
void sp__walk_reach(sp__walk *walk, int pass, int32_t sample, int64_t start, int64_t length);

/* Begins a stage: its ops run anew from their first packs; times are those of the stage
 * before, and 0 on a lane's first. */
void sp__walk_stage(sp__walk *walk, const int32_t packs[2], int32_t chunks, int is_first);

/* Where the time of an op is expected. */
static inline int64_t *sp__walk_time(const sp__walk *walk, const int32_t packs[2], int pass,
                                     int32_t pack)
{
    return &walk->expected[pass == SP_FORWARD ? pack : packs[0] + (pass - 1) * (int64_t)packs[1] +
                                                           pack];
}

/* Replicas whose work a rank takes part in: its own and those of its merges. */
void sp__wire_window(const sp__merge *merge, int32_t merges, int32_t replica, int32_t *first,
                     int32_t *lanes);

/* Ranks that share a pack's slices, and the index of a CP rank among them. */
static inline int32_t sp__wire_group(const sp__merge *merge, int32_t g, int32_t cp)
{
    return cp * (g >= 0 ? merge[g].replicas : 1);
}

static inline int32_t sp__wire_index(const sp__merge *merge, int32_t g, int32_t replica,
                                     int32_t cp, int32_t c)
{
    return g >= 0 ? (replica - merge[g].first) * cp + c : c;
}

/* The shards of a slice on a rank, in the order to run; returns how many. */
int32_t sp__wire_shards(const sp__slice *slice, int pass, int32_t group, int32_t index,
                        sp__piece piece[2]);

#endif
