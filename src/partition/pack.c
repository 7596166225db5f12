/*
 * pack.c - phase two: an assignment becomes packs of slices: see pack.h.
 */
#include "partition/pack.h"

#include <string.h>

#include "base/status.h"

/* The packs of one merge, the same for all its replicas. */
struct sp__merge_packs {
    int32_t from[2];       /* first pack of the replica's */
    int32_t packs[2];
    sp__slice *slices[2];
    int32_t *first[2];     /* [packs] of slices */
    int32_t count;         /* slices */
};

/* A merge as a segment of each of its replicas. */
static sp__segment merge_segment(const sp__packing *p, const sp__merge *m)
{
    sp__segment segment = { &m->sample, 1, 1, p->limit };

    segment.limit.group *= m->replicas;
    return segment;
}

/* A replica's own samples as its last segment. */
static sp__segment own_segment(const sp__packing *p, int32_t replica)
{
    const sp__assignment *a = p->assignment;

    return (sp__segment){ a->sample + a->first[replica],
                          a->first[replica + 1] - a->first[replica], p->sliceable, p->limit };
}

/* Packs that each replica's segments need at least, into left [replicas]. */
static void count_needed(const sp__packing *p, int pass, int32_t *left)
{
    const sp__assignment *a = p->assignment;

    for (int32_t r = 0; r < p->replicas; r++) {
        sp__segment own = own_segment(p, r);

        left[r] = sp__cut_fewest(p->yardstick, &own, p->lengths, pass);
    }
    for (int32_t g = 0; g < a->merges; g++) {
        sp__segment shared = merge_segment(p, &a->merge[g]);
        int32_t needed = sp__cut_fewest(p->yardstick, &shared, p->lengths, pass);

        for (int32_t i = 0; i < a->merge[g].replicas; i++)
            left[a->merge[g].first + i] += needed;
    }
}

sp_status sp__pack_fewest(const sp__packing *p, int32_t fewest[2])
{
    sp__arena_mark mark = sp__arena_here(p->arena);
    int32_t *left;

    SP_TAKE(p->arena, left, p->replicas);
    for (int pass = 0; pass < 2; pass++) {
        count_needed(p, pass, left);
        fewest[pass] = 1;
        for (int32_t r = 0; r < p->replicas; r++)
            fewest[pass] = left[r] > fewest[pass] ? left[r] : fewest[pass];
    }
    sp__arena_rewind(p->arena, mark);
    return SP_OK;
}

/* Packs that a merge should take from place from on, so that their weights are
 * its share of a replica's work: half a pack too few at most. */
static int32_t wanted_packs(const sp__packing *p, const sp__merge *m, int pass, int32_t from)
{
    int64_t length = p->lengths[m->sample];
    int64_t cost = sp__slice_cost(p->yardstick, pass, 0, length, length) / m->replicas;
    int64_t fair = sp__max(p->pass_cost[pass] / p->replicas, 1);
    const int32_t *weight = p->shares.weight[pass];
    int64_t all = 0, wanted, sum = 0;
    int32_t packs = 0;

    for (int32_t k = 0; k < p->shares.packs[pass]; k++)
        all += weight[k];
    wanted = sp__mul_div(all, cost, fair);
    while (from + packs < p->shares.packs[pass] && sum + weight[from + packs] / 2 < wanted)
        sum += weight[from + packs++];
    return packs > 0 ? packs : 1;
}

static sp_status cut_merge(const sp__packing *p, const sp__merge *m, struct sp__merge_packs *out)
{
    sp__segment segment = merge_segment(p, m);
    sp__shares shares;

    for (int pass = 0; pass < 2; pass++) {
        shares.packs[pass] = out->packs[pass];
        shares.weight[pass] = p->shares.weight[pass] + out->from[pass];
    }
    for (int pass = 0; pass < 2; pass++) {
        SP_TAKE(p->arena, out->slices[pass], sp__cut_most_slices(&segment, &shares));
        SP_TAKE(p->arena, out->first[pass], out->packs[pass]);
    }
    return sp__cut_segment(p->yardstick, &segment, &shares, p->lengths, p->arena, out->slices,
                           out->first, &out->count);
}

/* The packs of merge g; used and left are by replica, and alike for its members
 * since the windows that came before contain it. */
static void give_packs(const sp__packing *p, const sp__merge *m, int pass, int32_t *used,
                       int32_t *left, struct sp__merge_packs *out)
{
    sp__segment segment = merge_segment(p, m);
    int32_t needed = sp__cut_fewest(p->yardstick, &segment, p->lengths, pass);
    int32_t from = used[m->first], after = 0, most, packs;

    for (int32_t r = m->first; r < m->first + m->replicas; r++) {
        left[r] -= needed;
        after = left[r] > after ? left[r] : after;
    }
    most = p->shares.packs[pass] - from - after;
    packs = after == 0 ? most : wanted_packs(p, m, pass, from);
    out->from[pass] = from;
    out->packs[pass] = (int32_t)sp__min(sp__max(packs, needed), most);
    for (int32_t r = m->first; r < m->first + m->replicas; r++)
        used[r] += out->packs[pass];
}

sp_status sp__pack_merges(sp__packing *p, int32_t only)
{
    const sp__assignment *a = p->assignment;
    int32_t *used, *left;

    SP_TAKE(p->arena, p->merged, a->merges);
    SP_TAKE(p->arena, used, p->replicas);
    SP_TAKE(p->arena, left, p->replicas);
    for (int pass = 0; pass < 2; pass++) {
        memset(used, 0, (size_t)p->replicas * sizeof *used);
        count_needed(p, pass, left);
        for (int32_t g = 0; g < a->merges; g++)
            give_packs(p, &a->merge[g], pass, used, left, &p->merged[g]);
    }
    for (int32_t g = 0; g < a->merges; g++) {
        const sp__merge *m = &a->merge[g];

        if (only < 0 || (only >= m->first && only < m->first + m->replicas))
            SP_TRY(cut_merge(p, m, &p->merged[g]));
    }
    return SP_OK;
}

/* A lane under construction: one pass. */
typedef struct pass_cursor {
    sp__packs *packs;
    int32_t pack, slice; /* filled so far */
} pass_cursor;

static void append(pass_cursor *c, const sp__slice *slices, int32_t count, const int32_t *first,
                   int32_t packs, int32_t merge)
{
    for (int32_t k = 0; k < packs; k++) {
        int32_t end = k + 1 < packs ? first[k + 1] : count;

        c->packs->first[c->pack] = c->slice + first[k];
        /* A merge's empty pack binds nobody. */
        c->packs->merge[c->pack++] = end > first[k] ? merge : -1;
    }
    if (count > 0)
        memcpy(c->packs->slices + c->slice, slices, (size_t)count * sizeof *slices);
    c->slice += count;
}

static sp_status open_lane(const sp__packing *p, sp__lane *lane, int64_t slices, int32_t cp,
                           pass_cursor cursor[2], sp__arena *arena)
{
    for (int pass = 0; pass < 2; pass++) {
        sp__packs *packs = &lane->pass[pass];

        packs->count = p->shares.packs[pass];
        SP_TAKE(arena, packs->first, (int64_t)packs->count + 1);
        SP_TAKE(arena, packs->merge, packs->count);
        SP_TAKE(arena, packs->slices, slices);
        SP_TAKE(arena, packs->load, (int64_t)packs->count * cp);
        cursor[pass] = (pass_cursor){ packs, 0, 0 };
    }
    return SP_OK;
}

static sp_status append_own(const sp__packing *p, int32_t replica, pass_cursor cursor[2],
                            sp__arena *arena)
{
    sp__segment segment = own_segment(p, replica);
    sp__arena_mark mark = sp__arena_here(arena);
    sp__slice *slices[2];
    int32_t *first[2], count;
    sp__shares shares;

    for (int pass = 0; pass < 2; pass++) {
        shares.packs[pass] = p->shares.packs[pass] - cursor[pass].pack;
        shares.weight[pass] = p->shares.weight[pass] + cursor[pass].pack;
    }
    for (int pass = 0; pass < 2; pass++) {
        SP_TAKE(arena, slices[pass], sp__cut_most_slices(&segment, &shares));
        SP_TAKE(arena, first[pass], shares.packs[pass]);
    }
    SP_TRY(sp__cut_segment(p->yardstick, &segment, &shares, p->lengths, arena, slices, first,
                           &count));
    for (int pass = 0; pass < 2; pass++)
        append(&cursor[pass], slices[pass], count, first[pass], shares.packs[pass], -1);
    sp__arena_rewind(arena, mark);
    return SP_OK;
}

sp_status sp__pack_lane(const sp__packing *p, int32_t replica, sp__draft *draft,
                        sp__arena *arena)
{
    const sp__assignment *a = p->assignment;
    int64_t most = (int64_t)a->first[replica + 1] - a->first[replica] + p->shares.packs[0] +
                   p->shares.packs[1];
    pass_cursor cursor[2] = { { 0 }, { 0 } };

    for (int32_t g = 0; g < a->merges; g++)
        if (replica >= a->merge[g].first && replica < a->merge[g].first + a->merge[g].replicas)
            most += p->merged[g].count;
    SP_TRY(open_lane(p, &draft->lane[replica], most, draft->cp, cursor, arena));
    for (int32_t g = 0; g < a->merges; g++) {
        const struct sp__merge_packs *m = &p->merged[g];

        if (replica < a->merge[g].first || replica >= a->merge[g].first + a->merge[g].replicas)
            continue;
        for (int pass = 0; pass < 2; pass++)
            append(&cursor[pass], m->slices[pass], m->count, m->first[pass], m->packs[pass], g);
    }
    if (cursor[0].pack < p->shares.packs[0] || cursor[1].pack < p->shares.packs[1])
        SP_TRY(append_own(p, replica, cursor, arena));
    for (int pass = 0; pass < 2; pass++)
        cursor[pass].packs->first[cursor[pass].pack] = cursor[pass].slice;
    return SP_OK;
}
