/*
 * assign.h - phase one: which replica, or which set of replicas, runs a sample.
 *
 * Minimises the largest load, a load being forward plus backward cost on the
 * stage that bounds the step. The heaviest samples can be shared:
 * a merge is a window of consecutive replicas, each of which takes an equal part.
 *
 * Invariant: windows nest or are disjoint (a laminar family). Run largest first,
 * all members of a window meet every merged pack with the same packs behind them,
 * so that no two wait for each other in a ring (I8).
 */
#ifndef SP_PARTITION_ASSIGN_H
#define SP_PARTITION_ASSIGN_H

#include "base/sort.h"
#include "schedule/draft.h"

typedef struct sp__assign_options {
    int32_t replicas;
    int32_t merges;          /* 0: keep every sample on one replica */
    int32_t max_degree;      /* most replicas of a merge */
    int32_t shortest_part;   /* tokens of a merged sample for each replica, at least */
    int32_t node_replicas;   /* replicas that share a node, 1 when none do */
    int32_t rounds;          /* of improving moves and swaps, per replica */
    int64_t largest_part;    /* tokens of a sample that one replica may take */
    int64_t exact_nodes;     /* of branch and bound at the end, 0 for none */
} sp__assign_options;

typedef struct sp__assignment {
    sp__merge *merge;     /* [merges] largest window first, then by place, then weight */
    int32_t merges;
    int64_t *load;        /* [replicas] merged parts included */
    int64_t bound;        /* proven: no assignment has a smaller largest load */
    int64_t nodes;        /* of the exact search */
    int32_t *first;       /* [replicas + 1] of sample */
    int32_t *sample;      /* samples of each replica, the heaviest first */
} sp__assignment;

/* Most samples and replicas of the exact search. */
#define SP__EXACT_SAMPLES 1024
#define SP__EXACT_REPLICAS 64

/* Assigns samples [count], given by decreasing weight, to replicas. offset
 * [replicas] is added to the loads while they are balanced; NULL for none, as
 * exact search needs. */
sp_status sp__assign(const sp__assign_options *options, const sp__keyed *sorted, int32_t count,
                     const int64_t *lengths, const int64_t *offset, sp__arena *arena,
                     sp__assignment *out);

#endif
