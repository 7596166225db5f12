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

void sp__next_fit(const sp__keyed *items, int32_t count, int64_t capacity,
                  int32_t samples_per_bin, int32_t *bin, int32_t *bins)
{
    int64_t room = 0;
    int32_t held = 0;

    *bins = 0;
    for (int32_t i = 0; i < count; i++) {
        if (*bins == 0 || items[i].key > room || held == samples_per_bin) {
            room = capacity;
            held = 0;
            (*bins)++;
        }
        bin[i] = *bins - 1;
        room -= items[i].key < room ? items[i].key : room;
        held++;
    }
}

/* Bins by load, and the room of each. */
typedef struct loads {
    sp__heap heap;
    int64_t *room;
    int32_t *samples; /* still to take */
} loads;

static int has_room(const loads *l, int32_t bin, int64_t size)
{
    return l->room[bin] >= size && l->samples[bin] > 0;
}

/* The least loaded bin with room; the heap's top has it unless limits bind. */
static int32_t least_with_room(const loads *l, int64_t size)
{
    int32_t best = -1;

    if (l->heap.count > 0 && has_room(l, sp__heap_top(&l->heap), size))
        return sp__heap_top(&l->heap);
    for (int32_t b = 0; b < l->heap.count; b++)
        if (has_room(l, b, size) && (best < 0 || l->heap.key[b] < l->heap.key[best]))
            best = b;
    return best;
}

static void open_bin(loads *l, int64_t capacity, int32_t samples)
{
    int32_t b = l->heap.count++;

    l->heap.key[b] = 0;
    l->room[b] = capacity;
    l->samples[b] = samples;
    sp__heap_put(&l->heap, b, b);
    sp__heap_up(&l->heap, b);
}

static sp_status start_loads(loads *l, int64_t most, sp__arena *scratch)
{
    l->heap.count = 0;
    SP_TAKE(scratch, l->heap.key, most);
    SP_TAKE(scratch, l->heap.order, most);
    SP_TAKE(scratch, l->heap.where, most);
    SP_TAKE(scratch, l->room, most);
    SP_TAKE(scratch, l->samples, most);
    return SP_OK;
}

sp_status sp__least_loaded(const sp__keyed *items, const int64_t *size, int32_t count,
                           int64_t capacity, int32_t samples_per_bin, sp__arena *scratch,
                           int32_t *bin, int32_t *bins)
{
    sp__arena_mark mark = sp__arena_here(scratch);
    loads l = { 0 };

    SP_TRY(start_loads(&l, (int64_t)*bins + count, scratch));
    for (int32_t b = 0; b < *bins; b++)
        open_bin(&l, capacity, samples_per_bin);
    for (int32_t i = 0; i < count; i++) {
        /* An item above capacity fills a bin of its own. */
        int64_t needed = size[i] < capacity ? size[i] : capacity;
        int32_t b = least_with_room(&l, needed);

        if (b < 0) {
            b = l.heap.count;
            open_bin(&l, capacity, samples_per_bin);
        }
        bin[i] = b;
        l.room[b] -= needed;
        l.samples[b]--;
        sp__heap_set(&l.heap, b, l.heap.key[b] + items[i].key);
    }
    *bins = l.heap.count;
    sp__arena_rewind(scratch, mark);
    return SP_OK;
}
