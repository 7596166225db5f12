/*
 * quantiles.c - counts values in ranges: see quantiles.h.
 *
 * A value below 4096 has a range of its own. Above, the leading 13 bits of a value are
 * its range among those of its power of two.
 */
#include "quantiles.h"

#include <stdlib.h>

#define BITS 12
#define SPAN (1 << BITS)
#define RANGES ((64 - BITS) * SPAN) /* pages that no value falls into are never touched */

struct cli_quantiles {
    int64_t count[RANGES];
    int64_t largest[RANGES];
    int64_t values;
};

cli_quantiles *cli_quantiles_create(void)
{
    return calloc(1, sizeof(cli_quantiles));
}

void cli_quantiles_destroy(cli_quantiles *quantiles)
{
    free(quantiles);
}

static int range_of(int64_t value)
{
    int shift = 0;

    while ((value >> shift) >= 2 * SPAN)
        shift++;
    return shift * SPAN + (int)(value >> shift);
}

void cli_quantiles_add(cli_quantiles *q, int64_t value)
{
    int64_t at_least = value > 0 ? value : 0;
    int range = range_of(at_least);

    q->count[range]++;
    q->values++;
    if (at_least > q->largest[range])
        q->largest[range] = at_least;
}

int64_t cli_quantiles_get(const cli_quantiles *q, int percent)
{
    /* The rank rounds up, in parts that cannot overflow. */
    int64_t rank = q->values / 100 * percent + (q->values % 100 * percent + 99) / 100;
    int64_t seen = 0;

    for (int i = 0; i < RANGES; i++) {
        seen += q->count[i];
        if (q->count[i] > 0 && seen >= rank)
            return q->largest[i];
    }
    return 0;
}
