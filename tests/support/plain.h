/*
 * plain.h - a finished schedule as a plain, mutable struct.
 *
 * plain_read() asks a schedule everything that the public queries answer and
 * copies it. The checker reads only the copy, so that a test can break a copy
 * on purpose and see whether the checker notices.
 *
 * Indices: part of CP rank c of pack k is part[k * cp + c]; op i of CP rank c on
 * stage s is op[(s * cp + c) * ops + i]. TP ranks are compared while reading and
 * the first stands for all.
 */
#ifndef TESTS_SUPPORT_PLAIN_H
#define TESTS_SUPPORT_PLAIN_H

#include <stddef.h>
#include <stdint.h>

#include "slimpack.h"

/* What a check says besides the numbers 1 to 9 of the invariants. */
enum check_code {
    CHECK_VIEWS = 10,  /* a query's answer is inconsistent in itself */
    CHECK_LIMITS = 11, /* a planner parameter is not kept */
    CHECK_PEERS = 12,  /* sender and receiver disagree */
    CHECK_STATS = 13   /* stats differ from what the parts add up to */
};

typedef struct plain_piece {
    int32_t sample, start, length;
} plain_piece;

/* A pack of a replica. */
typedef struct plain_pack {
    int32_t merge, count;
    int32_t unit;         /* the same number in all replicas of a merged pack */
    int64_t tokens;
    plain_piece *slice;   /* [count] */
} plain_pack;

/* What one CP rank computes of a pack. */
typedef struct plain_part {
    int32_t flags, count;
    int64_t tokens, padded_tokens;
    plain_piece *shard;   /* [count] */
} plain_part;

typedef struct plain_replica {
    int32_t packs[2];     /* by sp_pass */
    plain_pack *pack[2];  /* [packs] */
    plain_part *part[2];  /* [packs * cp] */
    int32_t ops;          /* of a stage */
    sp_op_view *op;       /* [pp * cp * ops] */
    sp_stage_view *stage; /* [pp * cp] */
} plain_replica;

typedef struct plain_plan {
    int32_t dp, tp, pp, cp;
    int64_t samples;
    int64_t *lengths;     /* [samples] */
    int32_t merges;
    sp_merge_view *merge; /* [merges] */
    plain_replica *replica; /* [dp] */
    int32_t *rank;        /* [dp * pp * cp] global rank of TP rank 0 */
    int32_t chunks, split; /* virtual stages of a stage; whether weights are ops of their own */
    int32_t units;        /* distinct packs of both passes; plain_number_units() */
    sp_stats stats;
    struct plain_chunk *memory;
} plain_plan;

/* Reads a schedule; 0, or the code of what does not hold with words in why.
 * Where it fails nothing is left to free. */
int plain_read(const sp_schedule *schedule, const sp_topology *topology, int64_t pad_multiple,
               plain_plan *out, char *why, size_t why_size);

void plain_free(plain_plan *plan);

/* Memory that lives as long as the plan; ends the test program where there is none. */
void *plain_take(plain_plan *plan, int64_t count, size_t size);

/* Pass whose packs an op runs. */
static inline int plain_pass(int pass)
{
    return pass == SP_FORWARD ? SP_FORWARD : SP_BACKWARD;
}

/* The parts of a plan. */
static inline plain_part *plain_part_at(const plain_plan *p, int32_t replica, int pass,
                                        int32_t pack, int32_t cp)
{
    return &p->replica[replica].part[plain_pass(pass)][(int64_t)pack * p->cp + cp];
}

static inline sp_op_view *plain_ops_at(const plain_plan *p, int32_t replica, int32_t stage,
                                       int32_t cp)
{
    const plain_replica *r = &p->replica[replica];

    return &r->op[((int64_t)stage * p->cp + cp) * r->ops];
}

static inline int32_t plain_rank_at(const plain_plan *p, int32_t replica, int32_t stage, int32_t cp)
{
    return p->rank[((int64_t)replica * p->pp + stage) * p->cp + cp];
}

#endif
