/*
 * measure.c - where in a sample a given share of its cost ends: see measure.h.
 *
 * The cost of a prefix grows with its length, so the cut is found by bisection
 * over the multiples of the alignment.
 */
#include "slice/measure.h"

/* Last multiple n of the alignment, 0 <= n <= steps, whose first n * alignment
 * tokens cost at most target. The halving does not depend on what is found, so that
 * processors need not guess it. */
static int64_t last_within(const sp__yardstick *y, int pass, int64_t length, int64_t target)
{
    int64_t low = 0;

    for (int64_t left = length / y->alignment; left > 0; left /= 2) {
        int64_t half = left - left / 2;
        int64_t cost = sp__slice_cost(y, pass, 0, (low + half) * y->alignment, length);

        low += cost <= target ? half : 0;
    }
    return low;
}

static int64_t nearest(const sp__yardstick *y, int pass, int64_t length, int64_t target)
{
    int64_t below = last_within(y, pass, length, target) * y->alignment;
    int64_t above = sp__min(below + y->alignment, length);
    int64_t short_by = target - sp__slice_cost(y, pass, 0, below, length);
    int64_t over_by = sp__slice_cost(y, pass, 0, above, length) - target;

    return over_by < short_by ? above : below;
}

int64_t sp__cut_from_start(const sp__yardstick *y, int64_t length, int64_t target)
{
    return nearest(y, SP_FORWARD, length, target);
}

int64_t sp__cut_from_end(const sp__yardstick *y, int64_t length, int64_t target)
{
    int64_t whole = sp__slice_cost(y, SP_BACKWARD, 0, length, length);

    return nearest(y, SP_BACKWARD, length, sp__max(whole - target, 0));
}
