/*
 * improve.c - moves and swaps that lower the largest load: see improve.h.
 *
 * Between the most loaded replica a and another b, exchanging x of a for y of b
 * (or for nothing) moves x - y of load; best is what comes nearest to half their
 * difference. Both lists are kept by decreasing weight, so two pointers find it in
 * linear time. The least loaded replica is tried first, then a few of the others.
 */
#include "partition/improve.h"

#include <string.h>

#include "base/arith.h"
#include "base/heap.h"
#include "base/status.h"

/* Samples of a replica as a list through next[], by decreasing weight (that is
 * by place in sorted); -1 ends it. */
typedef struct lists {
    const sp__keyed *sorted;
    int32_t *head; /* [replicas] */
    int32_t *next; /* [count] */
} lists;

/* Replicas tried as partners of the most loaded one after the least loaded. More
 * helps small batches on few replicas, where the least loaded alone is stuck soon. */
#define PARTNERS 16

typedef struct exchange {
    int32_t give, take; /* places in sorted; take -1 for a move */
    int64_t moved;
} exchange;

static int64_t weight_of(const lists *l, int32_t place)
{
    return place < 0 ? 0 : l->sorted[place].key;
}

/* Considers giving x for y when the load it moves lowers the larger of both. */
static void consider(const lists *l, int32_t x, int32_t y, int64_t difference, exchange *best)
{
    int64_t moved = weight_of(l, x) - weight_of(l, y);
    int64_t now = difference - 2 * best->moved, then = difference - 2 * moved;

    if (moved <= 0 || moved >= difference)
        return;
    if (best->give < 0 || (then < 0 ? -then : then) < (now < 0 ? -now : now))
        *best = (exchange){ x, y, moved };
}

/* y runs down b's list as x runs down a's: for a lighter x the best partner is
 * lighter too. The one before and the one after the mark are both looked at. */
static exchange find_exchange(const lists *l, int32_t a, int32_t b, int64_t difference)
{
    exchange best = { -1, -1, 0 };
    int32_t y = l->head[b], before = -1;

    for (int32_t x = l->head[a]; x >= 0; x = l->next[x]) {
        int64_t mark = weight_of(l, x) - difference / 2;

        while (y >= 0 && weight_of(l, y) > mark) {
            before = y;
            y = l->next[y];
        }
        consider(l, x, y, difference, &best);
        if (before >= 0)
            consider(l, x, before, difference, &best);
    }
    return best;
}

static void unlink_place(lists *l, int32_t r, int32_t place)
{
    int32_t *at = &l->head[r];

    while (*at != place)
        at = &l->next[*at];
    *at = l->next[place];
}

static void link_place(lists *l, int32_t r, int32_t place)
{
    int32_t *at = &l->head[r];

    while (*at >= 0 && *at < place)
        at = &l->next[*at];
    l->next[place] = *at;
    *at = place;
}

static void move_place(lists *l, int32_t place, int32_t from, int32_t to, int32_t *replica)
{
    if (place < 0)
        return;
    unlink_place(l, from, place);
    link_place(l, to, place);
    replica[place] = to;
}

static sp_status start(lists *l, const sp__keyed *sorted, int32_t count, int32_t replicas,
                       const int32_t *replica, sp__arena *arena)
{
    l->sorted = sorted;
    SP_TAKE(arena, l->head, replicas);
    SP_TAKE(arena, l->next, count);
    for (int32_t r = 0; r < replicas; r++)
        l->head[r] = -1;
    for (int32_t i = count - 1; i >= 0; i--)
        if (replica[i] >= 0) {
            l->next[i] = l->head[replica[i]];
            l->head[replica[i]] = i;
        }
    return SP_OK;
}

/* Two heaps over the same loads: the least, and through negated keys the most. */
static sp_status start_heap(sp__heap *h, const int64_t *load, int32_t count, int sign,
                            sp__arena *arena)
{
    h->count = count;
    SP_TAKE(arena, h->key, count);
    SP_TAKE(arena, h->order, count);
    SP_TAKE(arena, h->where, count);
    for (int32_t r = 0; r < count; r++)
        h->key[r] = sign * load[r];
    sp__heap_build(h);
    return SP_OK;
}

static void apply(lists *l, const exchange *e, int32_t a, int32_t b, int32_t *replica,
                  int64_t *load)
{
    move_place(l, e->give, a, b, replica);
    move_place(l, e->take, b, a, replica);
    load[a] -= e->moved;
    load[b] += e->moved;
}

/* A partner b for the most loaded a, and their exchange; give is -1 without any. */
static exchange find_partner(const lists *l, const int64_t *load, int32_t replicas, int32_t a,
                             int32_t *b)
{
    exchange e = find_exchange(l, a, *b, load[a] - load[*b]);

    for (int32_t i = 1; i < replicas && i <= PARTNERS && e.give < 0; i++) {
        *b = (a + i) % replicas;
        e = find_exchange(l, a, *b, load[a] - load[*b]);
    }
    return e;
}

sp_status sp__improve(const sp__assign_options *options, const sp__keyed *sorted, int32_t count,
                      int32_t *replica, int64_t *load, sp__arena *arena)
{
    sp__arena_mark mark = sp__arena_here(arena);
    int64_t rounds = (int64_t)options->rounds * options->replicas;
    sp__heap least, most;
    lists l;

    SP_TRY(start(&l, sorted, count, options->replicas, replica, arena));
    SP_TRY(start_heap(&least, load, options->replicas, 1, arena));
    SP_TRY(start_heap(&most, load, options->replicas, -1, arena));
    for (; rounds > 0; rounds--) {
        int32_t a = sp__heap_top(&most), b = sp__heap_top(&least);
        exchange e = find_partner(&l, load, options->replicas, a, &b);

        if (e.give < 0)
            break;
        apply(&l, &e, a, b, replica, load);
        sp__heap_set(&least, a, load[a]);
        sp__heap_set(&least, b, load[b]);
        sp__heap_set(&most, a, -load[a]);
        sp__heap_set(&most, b, -load[b]);
    }
    sp__arena_rewind(arena, mark);
    return SP_OK;
}
