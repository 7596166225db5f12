/*
 * search.h - numbers to bins, shared by windows of bins where allowed, to proven
 * optimality: branch and bound over numbers alone.
 *
 * An item goes to a window of consecutive bins, 1 to its largest degree, and adds
 * an equal part, rounded up, to each. Windows of two bins or more nest or are
 * disjoint. The largest load is minimised. With all degrees 1 this is multiway
 * number partitioning.
 *
 * The search is limited by nodes, never by the clock, and keeps no state outside
 * its arguments: all ranks and threads get the same answer.
 */
#ifndef SP_EXACT_SEARCH_H
#define SP_EXACT_SEARCH_H

#include "base/arena.h"

typedef struct sp__exact_problem {
    const int64_t *weight;  /* [count] decreasing, >= 0; their sum fits int64 */
    const int32_t *degree;  /* [count] largest degree of each item, >= 1 */
    int32_t count;
    int32_t bins;
    int64_t max_nodes;
} sp__exact_problem;

typedef struct sp__exact_place {
    int32_t first, degree; /* the item's window */
} sp__exact_place;

typedef struct sp__exact_result {
    int64_t load;  /* largest load of the places */
    int64_t bound; /* proven: no plan has less; load when that is optimal */
    int64_t nodes; /* looked at */
} sp__exact_result;

/* Improves place [count], which holds a valid solution to start from, to the best
 * found within the node limit. */
sp_status sp__exact_search(const sp__exact_problem *problem, sp__exact_place *place,
                           sp__arena *scratch, sp__exact_result *out);

#endif
