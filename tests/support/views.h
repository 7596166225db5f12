/*
 * views.h - whether what the queries show of one pack of one rank is consistent
 * in itself: offset tables, maxima, sums, flags, place within the rank's block.
 */
#ifndef TESTS_SUPPORT_VIEWS_H
#define TESTS_SUPPORT_VIEWS_H

#include <stddef.h>

#include "slimpack.h"

/* The rank's block as sp_schedule_block() gives it. */
typedef struct view_block {
    const void *data;
    size_t bytes;
} view_block;

/* 0, or -1 with words. pad_multiple is the planner's. */
int view_check(const sp_pack_view *view, const view_block *block, int64_t pad_multiple, char *why,
               size_t why_size);

/* Whether two ranks are shown the same; 1 or 0. */
int view_equal(const sp_pack_view *a, const sp_pack_view *b);

#endif
