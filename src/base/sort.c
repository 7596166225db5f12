/*
 * sort.c - orders items by cost, the heaviest first: see sort.h.
 *
 * Short lists are sorted by insertion, longer ones by a stable radix sort from
 * the least significant byte (Knuth, TAOCP 5.2.5), skipping the bytes that are
 * the same in all keys: costs of one batch share their high bytes.
 */
#include "base/sort.h"

#include <string.h>

#define SHORT_LIST 32
#define DIGIT_BITS 11
#define DIGITS (1 << DIGIT_BITS)

static void insertion_sort(sp__keyed *items, int64_t count)
{
    for (int64_t i = 1; i < count; i++) {
        sp__keyed item = items[i];
        int64_t j = i;

        for (; j > 0 && items[j - 1].key < item.key; j--)
            items[j] = items[j - 1];
        items[j] = item;
    }
}

static void radix_pass(const sp__keyed *from, sp__keyed *to, int64_t count, int shift)
{
    int64_t place[DIGITS] = { 0 };
    int64_t before = 0;

    for (int64_t i = 0; i < count; i++)
        place[((uint64_t)from[i].key >> shift) & (DIGITS - 1)]++;
    for (int digit = DIGITS - 1; digit >= 0; digit--) {
        int64_t here = place[digit];

        place[digit] = before;
        before += here;
    }
    for (int64_t i = 0; i < count; i++)
        to[place[((uint64_t)from[i].key >> shift) & (DIGITS - 1)]++] = from[i];
}

void sp__sort_descending(sp__keyed *items, sp__keyed *scratch, int64_t count)
{
    sp__keyed *from = items, *to = scratch;
    uint64_t differing = 0;

    if (count <= SHORT_LIST) {
        insertion_sort(items, count);
        return;
    }
    for (int64_t i = 1; i < count; i++)
        differing |= (uint64_t)items[i].key ^ (uint64_t)items[0].key;
    for (int shift = 0; shift < 64; shift += DIGIT_BITS) {
        sp__keyed *swap = from;

        if (((differing >> shift) & (DIGITS - 1)) == 0)
            continue;
        radix_pass(from, to, count, shift);
        from = to;
        to = swap;
    }
    if (from != items)
        memcpy(items, from, (size_t)count * sizeof *items);
}
