/*
 * checker.h - an independent judge of finished schedules.
 *
 * Shares no code with the library and reads it only through public queries. It
 * verifies the invariants I1 to I9 of a plan and, beyond them, that the planner's
 * parameters are kept and that views, peers and stats agree with the parts. Time
 * is linear in the plan's size but for sorting its shards.
 */
#ifndef TESTS_SUPPORT_CHECKER_H
#define TESTS_SUPPORT_CHECKER_H

#include "plain.h"

/* What a plan is held against. 0 stands for no limit, except where said. */
typedef struct check_limits {
    int64_t alignment;        /* >= 1 */
    int64_t pad_multiple;     /* >= 1 */
    int64_t max_pack_tokens;
    int64_t max_packs;
    int64_t max_pack_samples;
    int64_t max_merge_degree;
    int64_t pack_group;
    int64_t memory_bytes;
    int64_t exact_packs[2];   /* by sp_pass */
    int whole_samples;        /* 1: no sample may be sliced */
    int no_merges;            /* 1: no sample may be shared */
    int keep_order;           /* 1: samples of a replica run in input order */
    int planned;              /* 1: by a planner, which owes ideal, bound and live tokens;
                                 0: built of parts, where these may be 0 for unknown */
    int any_split;            /* 1: a rank may hold no part of a slice that others share */
} check_limits;

#define CHECK_LIMITS_INIT { 1, 1, 0, 0, 0, 0, 0, 0, { 0, 0 }, 0, 0, 0, 0, 0 }

/* 0 when all holds, else the number of the invariant that does not, 1 to 9, or an
 * enum check_code, with words in why. lengths [n] are those that were planned. */
int check_schedule(const sp_schedule *schedule, const sp_topology *topology,
                   const int64_t *lengths, int64_t n, const check_limits *limits, char *why,
                   size_t why_size);

/* The same of a plan that was read before. */
int check_plan(plain_plan *plan, const int64_t *lengths, int64_t n, const check_limits *limits,
               char *why, size_t why_size);

#endif
