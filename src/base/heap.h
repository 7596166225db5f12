/*
 * heap.h - a binary heap over fixed places, least key first and equals by place.
 *
 * Each place 0 <= id < count holds one key that may change at any time; the
 * heap answers which place has the least. Used for replicas by load and
 * for lanes by time, so it is small, hot, and inline.
 */
#ifndef SP_BASE_HEAP_H
#define SP_BASE_HEAP_H

#include <stdint.h>

typedef struct sp__heap {
    int64_t *key;   /* [count] by place */
    int32_t *order; /* [count] places in heap order */
    int32_t *where; /* [count] position of each place in order */
    int32_t count;
} sp__heap;

static inline int sp__heap_less(const sp__heap *h, int32_t a, int32_t b)
{
    /* cppcheck-suppress arrayIndexThenCheck; a < b breaks ties, it is no bound */
    return h->key[a] < h->key[b] || (h->key[a] == h->key[b] && a < b);
}

static inline void sp__heap_put(sp__heap *h, int32_t at, int32_t id)
{
    h->order[at] = id;
    h->where[id] = at;
}

static inline void sp__heap_down(sp__heap *h, int32_t at)
{
    int32_t id = h->order[at];

    for (;;) {
        int32_t child = 2 * at + 1;

        if (child >= h->count)
            break;
        if (child + 1 < h->count && sp__heap_less(h, h->order[child + 1], h->order[child]))
            child++;
        if (!sp__heap_less(h, h->order[child], id))
            break;
        sp__heap_put(h, at, h->order[child]);
        at = child;
    }
    sp__heap_put(h, at, id);
}

static inline void sp__heap_up(sp__heap *h, int32_t at)
{
    int32_t id = h->order[at];

    while (at > 0 && sp__heap_less(h, id, h->order[(at - 1) / 2])) {
        sp__heap_put(h, at, h->order[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    sp__heap_put(h, at, id);
}

/* Orders the places by the keys that stand in key[]. */
static inline void sp__heap_build(sp__heap *h)
{
    for (int32_t i = 0; i < h->count; i++)
        sp__heap_put(h, i, i);
    for (int32_t i = h->count / 2 - 1; i >= 0; i--)
        sp__heap_down(h, i);
}

/* The place with the least key. */
static inline int32_t sp__heap_top(const sp__heap *h)
{
    return h->order[0];
}

/* Gives a place another key. */
static inline void sp__heap_set(sp__heap *h, int32_t id, int64_t key)
{
    int64_t old = h->key[id];

    h->key[id] = key;
    if (key < old)
        sp__heap_up(h, h->where[id]);
    else if (key > old)
        sp__heap_down(h, h->where[id]);
}

#endif
