/*
 * bins.c - whole samples into packs: see bins.h.
 *
 * First fit searches a tournament tree whose nodes hold the largest room of the
 * bins below them (Johnson, 1974), so the first bin with enough room is found in
 * log N steps.
 */
#include "partition/bins.h"

#include <string.h>

#include "base/heap.h"
#include "base/status.h"

typedef struct rooms {
    int64_t *room; /* [2 * leaves] node n over 2 n and 2 n + 1; bins are leaves */
    int32_t leaves;
} rooms;

static void set_room(rooms *t, int32_t bin, int64_t room)
{
    int32_t node = bin + t->leaves;

    t->room[node] = room;
    for (node /= 2; node >= 1; node /= 2) {
        int64_t left = t->room[2 * node], right = t->room[2 * node + 1];

        t->room[node] = left > right ? left : right;
    }
}

/* The first bin with at least that room; every unopened bin has all of it. */
static int32_t first_with(const rooms *t, int64_t needed)
{
    int32_t node = 1;

    while (node < t->leaves)
        node = t->room[2 * node] >= needed ? 2 * node : 2 * node + 1;
    return node - t->leaves;
}

static sp_status start_rooms(rooms *t, int32_t count, int64_t capacity, sp__arena *scratch)
{
    for (t->leaves = 1; t->leaves < count;)
        t->leaves *= 2;
    SP_TAKE(scratch, t->room, 2 * (int64_t)t->leaves);
    for (int64_t i = 0; i < 2 * (int64_t)t->leaves; i++)
        t->room[i] = capacity;
    return SP_OK;
}

sp_status sp__first_fit(const sp__keyed *items, int32_t count, int64_t capacity,
                        int32_t samples_per_bin, sp__arena *scratch, int32_t *bin, int32_t *bins)
{
    sp__arena_mark mark = sp__arena_here(scratch);
    int32_t opened = 0, *held;
    rooms t;

    SP_TRY(start_rooms(&t, count, capacity, scratch));
    SP_TAKE(scratch, held, t.leaves);
    memset(held, 0, (size_t)t.leaves * sizeof *held);
    for (int32_t i = 0; i < count; i++) {
        int64_t size = items[i].key < capacity ? items[i].key : capacity;
        int32_t b = first_with(&t, size);

        bin[i] = b;
        held[b]++;
        opened = b >= opened ? b + 1 : opened;
        /* A full bin has less room than the smallest item needs. */
        set_room(&t, b, held[b] == samples_per_bin ? -1 : t.room[b + t.leaves] - size);
    }
    *bins = opened;
    sp__arena_rewind(scratch, mark);
    return SP_OK;
}

sp_status sp__least_loaded(const sp__keyed *items, int32_t count, int32_t bins, sp__arena *scratch,
                           int32_t *bin)
{
    sp__arena_mark mark = sp__arena_here(scratch);
    sp__heap heap;

    heap.count = bins;
    SP_TAKE(scratch, heap.key, bins);
    SP_TAKE(scratch, heap.order, bins);
    SP_TAKE(scratch, heap.where, bins);
    memset(heap.key, 0, (size_t)bins * sizeof *heap.key);
    sp__heap_build(&heap);
    for (int32_t i = 0; i < count; i++) {
        bin[i] = sp__heap_top(&heap);
        sp__heap_set(&heap, bin[i], heap.key[bin[i]] + items[i].key);
    }
    sp__arena_rewind(scratch, mark);
    return SP_OK;
}
