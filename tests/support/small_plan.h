/*
 * small_plan.h - plans of a few packs, written out by hand, for tests to break.
 *
 * A small plan is data: a test changes what it likes, then has the builder finish
 * it. What small_plan_*() give is valid.
 */
#ifndef TESTS_SUPPORT_SMALL_PLAN_H
#define TESTS_SUPPORT_SMALL_PLAN_H

#include "plain.h"

enum { SMALL_DP = 3, SMALL_PP = 2, SMALL_CP = 2, SMALL_PACKS = 4, SMALL_PIECES = 4, SMALL_OPS = 8,
       SMALL_SAMPLES = 4, SMALL_MERGES = 2 };

typedef struct small_pack {
    int32_t merge;
    int32_t slices;
    plain_piece slice[SMALL_PIECES];
    int32_t shards[SMALL_CP];
    plain_piece shard[SMALL_CP][SMALL_PIECES];
} small_pack;

typedef struct small_op {
    int32_t pass, pack;
    int64_t start, end;
} small_op;

typedef struct small_plan {
    const char *topology;
    int32_t dp, pp, cp;
    int32_t alignment;
    int64_t samples, length[SMALL_SAMPLES];
    int32_t merges;
    int32_t merge[SMALL_MERGES][3]; /* sample, first replica, replicas */
    int32_t packs[SMALL_DP][2];
    small_pack pack[SMALL_DP][2][SMALL_PACKS];
    int32_t ops[SMALL_DP][SMALL_PP];
    small_op op[SMALL_DP][SMALL_PP][SMALL_OPS];
    int64_t peak_bytes, memory_bytes;
} small_plan;

/* Two replicas, two stages: a shared sample of two slices, then a sample of two
 * slices on replica 0 and two whole ones on replica 1, with asymmetric packs. */
small_plan small_plan_of_two_stages(void);

/* Two replicas, one stage, two shared samples. */
small_plan small_plan_of_two_merges(void);

/* Three replicas, one stage, one whole sample each. */
small_plan small_plan_of_three_replicas(void);

/* One replica, two CP ranks: one sample split over both, one whole on each. */
small_plan small_plan_of_two_context_ranks(void);

/* Has the builder make it: SP_OK with a schedule and topology to destroy, else
 * the status of what failed and nothing. */
sp_status small_plan_build(const small_plan *plan, sp_schedule **schedule, sp_topology **topology);

#endif
