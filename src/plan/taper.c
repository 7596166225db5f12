/*
 * taper.c - weights of a pass's packs: see taper.h.
 */
#include "plan/taper.h"

#include "base/arith.h"

#define ONE ((int64_t)1 << 20) /* fixed point of the growth of a ramp */

/* Where ramp steps of a growth lead from start, at most a full weight. */
static int64_t grown(int64_t start, int64_t growth, int32_t ramp)
{
    int64_t weight = start;

    for (int32_t k = 0; k < ramp && weight < SP__FULL_WEIGHT * ONE; k++)
        weight = sp__mul_div(weight, growth, ONE);
    return weight;
}

/* The least growth whose ramp reaches a full weight, by bisection. */
static int64_t growth_of(int64_t start, int32_t ramp)
{
    int64_t low = ONE, high = 1024 * ONE;

    while (low + 1 < high) {
        int64_t middle = low + (high - low) / 2;

        if (grown(start, middle, ramp) < SP__FULL_WEIGHT * ONE)
            low = middle;
        else
            high = middle;
    }
    return high;
}

void sp__taper(int32_t *weight, int32_t packs, int32_t ramp, int32_t share, int at_end)
{
    int64_t now = (int64_t)SP__FULL_WEIGHT * share / 1000 * ONE;
    int64_t growth = ramp > 0 ? growth_of(now, ramp) : ONE;

    for (int32_t i = 0; i < packs; i++) {
        int32_t k = at_end ? packs - 1 - i : i;

        weight[k] = i < ramp ? (int32_t)(now / ONE) : SP__FULL_WEIGHT;
        now = sp__min(sp__mul_div(now, growth, ONE), SP__FULL_WEIGHT * ONE);
    }
}
