/*
 * topology.h - parallel degrees and rank numbering, as the floors above read them.
 */
#ifndef SP_INPUT_TOPOLOGY_H
#define SP_INPUT_TOPOLOGY_H

#include "base/alloc.h"

/* Dimensions in Megatron-LM's default order, fastest first. */
enum sp__axis { SP__TP, SP__CP, SP__DP, SP__PP, SP__AXES };

typedef struct sp__shape {
    int32_t degree[SP__AXES];
    int32_t stride[SP__AXES]; /* distance in ranks of two neighbours along the axis */
    int32_t size;             /* product of the degrees */
} sp__shape;

struct sp_topology {
    sp__alloc alloc;
    sp__shape shape;
};

/* "tp", "cp", "dp", "pp", by axis. */
extern const char *const sp__axis_names[SP__AXES];

/* Makes a topology from degrees by axis and the axes' order, fastest first: a
 * permutation, which the caller vouches for. */
sp_status sp__topology_make(const int32_t degree[SP__AXES], const int order[SP__AXES],
                            const sp_allocator *allocator, sp_topology **out);

static inline int32_t sp__shape_rank(const sp__shape *s, int32_t dp, int32_t tp, int32_t pp,
                                     int32_t cp)
{
    return dp * s->stride[SP__DP] + tp * s->stride[SP__TP] + pp * s->stride[SP__PP] +
           cp * s->stride[SP__CP];
}

static inline int32_t sp__shape_index(const sp__shape *s, int axis, int32_t rank)
{
    return rank / s->stride[axis] % s->degree[axis];
}

#endif
