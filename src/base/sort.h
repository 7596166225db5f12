/*
 * sort.h - orders items by cost, the heaviest first and equals by index.
 *
 * The order is total, so that it does not depend on the method: equal costs on
 * two ranks fall the same way.
 */
#ifndef SP_BASE_SORT_H
#define SP_BASE_SORT_H

#include <stdint.h>

typedef struct sp__keyed {
    int64_t key;   /* >= 0 */
    int32_t index;
} sp__keyed;

/* Sorts items [count] by decreasing key, then increasing index, given that they
 * come in increasing index. scratch is as long as items. Linear time. */
void sp__sort_descending(sp__keyed *items, sp__keyed *scratch, int64_t count);

#endif
