/*
 * taper.h - weights of a pass's packs: small at the ends of the pipeline.
 *
 * The first forward pack and the last backward pack of a step keep pp - 1 stages
 * waiting, so they should be small; packs in between should not, since each
 * costs its overhead. Weights grow geometrically from the small end.
 */
#ifndef SP_PLAN_TAPER_H
#define SP_PLAN_TAPER_H

#include <stdint.h>

#define SP__FULL_WEIGHT 65536

/* Writes weights [packs]: the first is share thousandths of a full pack and they
 * grow to it over ramp packs, or the mirror image when at_end is set. */
void sp__taper(int32_t *weight, int32_t packs, int32_t ramp, int32_t share, int at_end);

#endif
