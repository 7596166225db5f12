/*
 * context.c - which samples one context-parallel rank runs alone: see context.h.
 *
 * In each forward pack, whole samples go longest first to the CP rank with the
 * least; while the heaviest rank exceeds the mean by more than a tolerated share
 * of the pack, its heaviest sample is split instead. Split slices add the same
 * to every rank, so the ranks of the pack end within the tolerance.
 */
#include "partition/context.h"

#include <string.h>

#include "base/sort.h"
#include "base/status.h"
#include "slice/limit.h"

/* Tolerated excess of a pack's heaviest rank: this part of its fair share. A
 * smaller one splits more samples, a larger one leaves ranks waiting. */
#define TOLERANCE 64

typedef struct whole {
    sp__keyed *item;    /* forward cost and slice, heaviest first */
    sp__keyed *scratch;
    int32_t *place;     /* by place in item */
    int64_t *load;      /* [cp] */
    int32_t count;
} whole;

static void spread(whole *w, int32_t cp)
{
    memset(w->load, 0, (size_t)cp * sizeof *w->load);
    for (int32_t i = 0; i < w->count; i++) {
        int32_t least = 0;

        if (w->place[i] == SP__SPLIT)
            continue;
        for (int32_t c = 1; c < cp; c++)
            if (w->load[c] < w->load[least])
                least = c;
        w->place[i] = least;
        w->load[least] += w->item[i].key;
    }
}

/* The heaviest sample of a rank is split instead. */
static void split_heaviest(whole *w, int32_t rank)
{
    for (int32_t i = 0; i < w->count; i++)
        if (w->place[i] == rank) {
            w->place[i] = SP__SPLIT;
            return;
        }
}

/* Splits the heaviest sample of the heaviest rank if that exceeds the mean too
 * far; returns whether it did. */
static int split_one(whole *w, int32_t cp, int64_t tolerated)
{
    int32_t most = 0;
    int64_t sum = 0;

    for (int32_t c = 0; c < cp; c++) {
        sum += w->load[c];
        most = w->load[c] > w->load[most] ? c : most;
    }
    if (w->load[most] - sum / cp <= tolerated)
        return 0;
    split_heaviest(w, most);
    return 1;
}

/* The same for a rank whose padded tokens pass the cap: whole samples and what
 * every rank gets of the split ones. */
static int split_for_cap(whole *w, const sp__packs *packs, int32_t k, const sp__limit *limit)
{
    int64_t split = 0;

    if (limit->tokens == INT64_MAX)
        return 0;
    memset(w->load, 0, (size_t)limit->group * sizeof *w->load);
    for (int32_t i = packs->first[k]; i < packs->first[k + 1]; i++)
        split += sp__padded_size(limit, packs->slices[i].length);
    for (int32_t i = 0; i < w->count; i++) {
        int64_t length = packs->slices[w->item[i].index].length;

        if (w->place[i] == SP__SPLIT)
            continue;
        split -= sp__padded_size(limit, length);
        w->load[w->place[i]] += sp__round_up(length, limit->pad);
    }
    for (int32_t c = 0; c < limit->group; c++)
        if (w->load[c] > 0 && w->load[c] + split > limit->tokens) {
            split_heaviest(w, c);
            return 1;
        }
    return 0;
}

/* Samples that a pack holds whole, and the pack's cost. */
static int64_t collect(const sp__packs *packs, int32_t k, const sp__yardstick *y,
                       const int64_t *lengths, whole *w)
{
    int64_t cost = 0;

    w->count = 0;
    for (int32_t i = packs->first[k]; i < packs->first[k + 1]; i++) {
        const sp__slice *slice = &packs->slices[i];
        int64_t here = sp__slice_cost(y, SP_FORWARD, slice->start, slice->length,
                                      lengths[slice->sample]);

        cost += here;
        if (slice->length == lengths[slice->sample])
            w->item[w->count++] = (sp__keyed){ here, i };
    }
    return cost;
}

static void place_pack(sp__packs *packs, int32_t k, const sp__limit *limit, const sp__yardstick *y,
                       const int64_t *lengths, whole *w)
{
    int32_t cp = limit->group;
    int64_t cost = collect(packs, k, y, lengths, w);

    sp__sort_descending(w->item, w->scratch, w->count);
    for (int32_t i = 0; i < w->count; i++)
        w->place[i] = 0;
    do
        spread(w, cp);
    while (split_one(w, cp, cost / cp / TOLERANCE) || split_for_cap(w, packs, k, limit));
    for (int32_t i = 0; i < w->count; i++) {
        sp__slice *slice = &packs->slices[w->item[i].index];

        /* A single token has one holder however it is counted. */
        slice->place = slice->length == 1 && w->place[i] < 0 ? 0 : w->place[i];
    }
}

static sp_status start(whole *w, int64_t slices, int32_t cp, sp__arena *scratch)
{
    SP_TAKE(scratch, w->item, slices);
    SP_TAKE(scratch, w->scratch, slices);
    SP_TAKE(scratch, w->place, slices);
    SP_TAKE(scratch, w->load, cp);
    return SP_OK;
}

sp_status sp__place_context(sp__draft *d, int32_t lane, const sp__yardstick *y,
                            const int64_t *lengths, int32_t samples, sp__arena *scratch)
{
    sp__packs *f = &d->lane[lane].pass[SP_FORWARD], *b = &d->lane[lane].pass[SP_BACKWARD];
    sp__arena_mark mark = sp__arena_here(scratch);
    sp__limit limit = { d->pack_tokens > 0 ? d->pack_tokens : INT64_MAX, INT32_MAX, d->cp,
                        d->pad_multiple };
    int32_t *place;
    whole w = { 0 };

    if (d->cp == 1)
        return SP_OK;
    SP_TRY(start(&w, f->first[f->count], d->cp, scratch));
    SP_TAKE(scratch, place, samples);
    for (int32_t k = 0; k < f->count; k++)
        if (f->merge[k] < 0)
            place_pack(f, k, &limit, y, lengths, &w);
    for (int32_t i = 0; i < f->first[f->count]; i++)
        place[f->slices[i].sample] = f->slices[i].place;
    for (int32_t i = 0; i < b->first[b->count]; i++)
        b->slices[i].place = place[b->slices[i].sample];
    sp__arena_rewind(scratch, mark);
    return SP_OK;
}
