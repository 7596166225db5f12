/*
 * windows.h - places merges on windows of consecutive replicas that never cross.
 */
#ifndef SP_PARTITION_WINDOWS_H
#define SP_PARTITION_WINDOWS_H

#include "partition/assign.h"

/* The family of windows placed so far, by the boundaries between replicas:
 * boundary x lies before replica x, and a window [a, b) covers the boundaries
 * strictly between a and b. */
typedef struct sp__windows {
    int32_t replicas;
    int32_t *inner_start; /* [replicas + 1] start of the smallest window that covers it */
    int32_t *inner_end;   /* [replicas + 1] its end; 0 to replicas when there is none */
} sp__windows;

sp_status sp__windows_start(sp__windows *w, int32_t replicas, sp__arena *arena);

/* Whether the window [first, first + degree) crosses none that was placed. */
static inline int sp__windows_allow(const sp__windows *w, int32_t first, int32_t degree)
{
    int32_t end = first + degree;

    return w->inner_end[first] >= end && w->inner_start[end] <= first;
}

void sp__windows_add(sp__windows *w, int32_t first, int32_t degree);

/* Place of a merge of degree replicas: the allowed window whose largest load is
 * least, one within a node before one across, then the lowest. Returns its first
 * replica, or -1; most receives that largest load. */
int32_t sp__windows_place(const sp__windows *w, const int64_t *load, int32_t degree,
                          int32_t node_replicas, int64_t *most);

#endif
