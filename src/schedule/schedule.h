/*
 * schedule.h - the finished plan as data: what the queries read.
 *
 * A schedule holds the replicas first_lane to first_lane + lanes - 1: all of them,
 * unless it was decoded for one rank. Indices, where lane l is replica first_lane + l:
 * pack k of pass p is l * packs[p] + k; the shards of CP rank c are
 * (l * cp + c) * packs[p] + k; op i of stage s is (l * pp + s) * ops + i. TP ranks
 * share everything.
 *
 * It is one block of memory: the struct, then its arrays in the order below.
 *
 *     pool, in int32, one block a (replica, CP rank), each aligned to 64 bytes:
 *     [ F0: sample start cu_q cu_k (cu_q_padded) | F1 ... | B0 ... ]
 */
#ifndef SP_SCHEDULE_SCHEDULE_H
#define SP_SCHEDULE_SCHEDULE_H

#include "base/alloc.h"
#include "input/topology.h"
#include "schedule/draft.h"

/* One rank's part of one pack. */
typedef struct sp__shards {
    int64_t at; /* in the pool */
    int32_t count;
    int32_t max_q, max_k;
    int32_t flags;
} sp__shards;

typedef struct sp__stage_result {
    int64_t static_bytes, peak_bytes, peak_live_tokens, busy_ps;
} sp__stage_result;

/* An op in one number: its pack, chunk of the stage, and sp_pass. */
#define SP__OP_PACKS (1 << 22) /* packs that an op can name */

static inline int32_t sp__op(int32_t pack, int32_t chunk, int pass)
{
    return pack << 8 | chunk << 2 | pass;
}

static inline int32_t sp__op_pack(int32_t op)
{
    return op >> 8;
}

static inline int32_t sp__op_chunk(int32_t op)
{
    return op >> 2 & 63;
}

static inline int sp__op_pass(int32_t op)
{
    return op & 3;
}

/* Pass whose packs an op of a pass runs. */
static inline int sp__pack_pass(int pass)
{
    return pass == SP_FORWARD ? SP_FORWARD : SP_BACKWARD;
}

/* Op order and times; the simulator writes it. */
typedef struct sp__timeline {
    int32_t ops;    /* of a stage */
    int32_t *op;    /* [lanes * pp * ops] as sp__op() makes them */
    int64_t *start; /* [lanes * pp * ops] ps */
    int64_t *end;
    sp__stage_result *stage; /* [lanes * pp * cp] */
} sp__timeline;

struct sp_schedule {
    sp__alloc alloc;
    size_t bytes; /* of the block */
    sp__shape shape;
    int32_t first_lane, lanes; /* replicas held */
    int32_t count;             /* samples */
    int32_t packs[2];
    int32_t merges;
    int32_t alignment;
    int32_t pad_multiple;
    int32_t lockstep; /* replicas run pack k together when simulated */
    sp__flow flow;
    uint64_t whole;           /* digest of the plan that this is a part of */
    int64_t *lengths;         /* [count] */
    sp__merge *merge;         /* [merges] */
    int64_t *slice_first[2];  /* [lanes * packs + 1] */
    int32_t *sample[2];       /* [slices] */
    int32_t *start[2];
    int32_t *length[2];
    int32_t *pack_merge[2];   /* [lanes * packs] */
    int64_t *pack_tokens[2];  /* [lanes * packs] of all its slices */
    sp__shards *shards[2];    /* [lanes * cp * packs] */
    int64_t *block_first;     /* [lanes * cp + 1] of pool */
    int32_t *pool;            /* aligned to 64 bytes */
    sp__timeline timeline;
    sp_stats stats;
};

static inline int sp__is_part(const struct sp_schedule *s)
{
    return s->lanes < s->shape.degree[SP__DP];
}

#define SP__BLOCK_INTS 16 /* of int32: 64 bytes */

static inline const int32_t *sp__shard_samples(const struct sp_schedule *s, const sp__shards *x)
{
    return s->pool + x->at;
}

static inline const int32_t *sp__shard_starts(const struct sp_schedule *s, const sp__shards *x)
{
    return s->pool + x->at + x->count;
}

static inline const int32_t *sp__shard_cu_q(const struct sp_schedule *s, const sp__shards *x)
{
    return s->pool + x->at + 2 * (int64_t)x->count;
}

static inline const int32_t *sp__shard_cu_k(const struct sp_schedule *s, const sp__shards *x)
{
    return s->pool + x->at + 3 * (int64_t)x->count + 1;
}

/* The plain offsets when nothing is padded. */
static inline const int32_t *sp__shard_cu_padded(const struct sp_schedule *s, const sp__shards *x)
{
    return s->pad_multiple == 1 ? sp__shard_cu_q(s, x)
                                : s->pool + x->at + 4 * (int64_t)x->count + 2;
}

static inline const sp__shards *sp__rank_shards(const struct sp_schedule *s, int32_t lane,
                                                int32_t cp, int pass, int32_t pack)
{
    return &s->shards[pass][((int64_t)lane * s->shape.degree[SP__CP] + cp) * s->packs[pass] + pack];
}

/* A stage of a lane, out of a timeline, as the rank that is there sees it. */
sp_status sp__timeline_stage(const sp__timeline *timeline, const sp__shape *shape, int32_t lane,
                             int32_t rank, sp_stage_view *view);

/* Fails unless the schedule holds all replicas, as what looks at the whole plan needs. */
sp_status sp__need_whole(const struct sp_schedule *s);

#endif
