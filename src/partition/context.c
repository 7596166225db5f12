/*
 * context.c - which samples one context-parallel rank runs alone: see context.h.
 *
 * Packs of both passes are windows of the same order of samples. So whole samples go,
 * in that order, to the rank with the least so far: neighbours cost nearly the same,
 * and any window of them is nearly even. Then, pack by pack in both passes, while the
 * heaviest rank exceeds the mean by more than a tolerated share of the pack and more
 * than the exchange would cost, or passes the token cap, its heaviest sample is split
 * instead; split slices add the same to every rank.
 */
#include "partition/context.h"

#include <string.h>

#include "base/sort.h"
#include "base/status.h"
#include "slice/limit.h"

/* Tolerated excess of a pack's heaviest rank: this part of its fair share. A
 * smaller one splits more samples, a larger one leaves ranks waiting. */
#define TOLERANCE 64

/* Rounds over both passes: a sample split for one pass changes the other's packs. */
#define ROUNDS 4

typedef struct placing {
    const sp__yardstick *yardstick;
    const int64_t *lengths;
    sp__limit limit;    /* group is CP */
    int32_t *place;     /* [samples] rank of a whole sample, or SP__SPLIT */
    sp__keyed *item;    /* whole samples of a pack by cost, the heaviest first */
    sp__keyed *scratch;
    int64_t *load;      /* [cp] */
    int32_t count;
    int32_t exchanges;  /* the pack has split slices */
} placing;

static int64_t length_of(const placing *p, const sp__slice *slice)
{
    return p->lengths[slice->sample];
}

/* Whole samples start anywhere, all others are split. */
static void start_places(placing *p, const sp__packs *forward)
{
    for (int32_t k = 0; k < forward->count; k++)
        for (int32_t i = forward->first[k]; i < forward->first[k + 1]; i++) {
            const sp__slice *slice = &forward->slices[i];
            int is_whole = slice->length == length_of(p, slice) && forward->merge[k] < 0;

            p->place[slice->sample] = is_whole ? 0 : SP__SPLIT;
        }
}

/* Whole samples in stream order, each to the rank with the least so far. */
static void deal(placing *p, const sp__packs *forward)
{
    memset(p->load, 0, (size_t)p->limit.group * sizeof *p->load);
    for (int32_t i = 0; i < forward->first[forward->count]; i++) {
        const sp__slice *slice = &forward->slices[i];
        int32_t least = 0;

        if (p->place[slice->sample] == SP__SPLIT)
            continue;
        for (int32_t c = 1; c < p->limit.group; c++)
            if (p->load[c] < p->load[least])
                least = c;
        p->place[slice->sample] = least;
        p->load[least] += sp__sample_cost(p->yardstick, slice->length);
    }
}

/* The pack's whole samples into item and their loads; returns the pack's cost. */
static int64_t collect(placing *p, const sp__packs *packs, int pass, int32_t k)
{
    int64_t cost = 0;

    p->count = p->exchanges = 0;
    memset(p->load, 0, (size_t)p->limit.group * sizeof *p->load);
    for (int32_t i = packs->first[k]; i < packs->first[k + 1]; i++) {
        const sp__slice *slice = &packs->slices[i];
        int64_t here = sp__slice_cost(p->yardstick, pass, slice->start, slice->length,
                                      length_of(p, slice));

        cost += here;
        if (p->place[slice->sample] == SP__SPLIT) {
            p->exchanges = 1;
            continue;
        }
        p->item[p->count++] = (sp__keyed){ here, slice->sample };
        p->load[p->place[slice->sample]] += here;
    }
    sp__sort_descending(p->item, p->scratch, p->count);
    return cost;
}

/* Place in item of a rank's heaviest sample; it has one. */
static int32_t heaviest_of(const placing *p, int32_t rank)
{
    int32_t i = 0;

    while (p->place[p->item[i].index] != rank)
        i++;
    return i;
}

static void split_item(placing *p, int32_t i)
{
    int32_t sample = p->item[i].index;

    p->load[p->place[sample]] -= p->item[i].key;
    p->place[sample] = SP__SPLIT;
    p->exchanges = 1;
}

/* What splitting one more sample of the pack costs every rank. */
static int64_t exchange_cost(const placing *p, int32_t i)
{
    int64_t tokens = p->lengths[p->item[i].index];

    return (p->exchanges ? 0 : p->yardstick->exchange) +
           sp__mul_div(p->yardstick->exchange_token, tokens, (int64_t)1 << SP__COST_BITS);
}

/* Splits the samples of a pack that alone exceed what a rank should have, before any
 * are dealt: the others are then dealt as if they were not there. */
static void split_giants(placing *p, const sp__packs *packs, int pass, int32_t k)
{
    int64_t tolerated = collect(p, packs, pass, k) / p->limit.group / TOLERANCE, sum = 0;

    for (int32_t i = 0; i < p->count; i++)
        sum += p->item[i].key;
    for (int32_t i = 0; i < p->count; i++) {
        int64_t excess = p->item[i].key - sum / p->limit.group - tolerated;

        if (excess <= 0 || excess <= exchange_cost(p, i))
            return;
        sum -= p->item[i].key;
        split_item(p, i);
    }
}

/* Splits a sample of the heaviest rank if that exceeds the mean too far. */
static int split_for_balance(placing *p, int64_t tolerated)
{
    int32_t most = 0, i;
    int64_t sum = 0, excess;

    for (int32_t c = 0; c < p->limit.group; c++) {
        sum += p->load[c];
        most = p->load[c] > p->load[most] ? c : most;
    }
    excess = p->load[most] - sum / p->limit.group;
    if (excess <= tolerated)
        return 0;
    i = heaviest_of(p, most);
    if (excess <= tolerated + exchange_cost(p, i))
        return 0;
    split_item(p, i);
    return 1;
}

/* Padded tokens of the whole samples of each rank into tokens; returns what every
 * rank gets of the split ones. */
static int64_t count_tokens(const placing *p, const sp__packs *packs, int32_t k, int64_t *tokens)
{
    int64_t split = 0;

    memset(tokens, 0, (size_t)p->limit.group * sizeof *tokens);
    for (int32_t i = packs->first[k]; i < packs->first[k + 1]; i++) {
        const sp__slice *slice = &packs->slices[i];
        int32_t place = p->place[slice->sample];

        if (place == SP__SPLIT)
            split += sp__padded_size(&p->limit, slice->length);
        else
            tokens[place] += sp__round_up(slice->length, p->limit.pad);
    }
    return split;
}

/* The same for a rank whose padded tokens pass the cap. Loads are of no more use
 * then: they hold tokens. */
static int split_for_cap(placing *p, const sp__packs *packs, int32_t k)
{
    int64_t split;

    if (p->limit.tokens == INT64_MAX)
        return 0;
    split = count_tokens(p, packs, k, p->load);
    for (int32_t c = 0; c < p->limit.group; c++)
        if (p->load[c] > 0 && p->load[c] + split > p->limit.tokens) {
            split_item(p, heaviest_of(p, c));
            return 1;
        }
    return 0;
}

/* Splits samples of a pack until its ranks are even and within the cap. */
static int even_out(placing *p, const sp__packs *packs, int pass, int32_t k)
{
    int64_t cost = collect(p, packs, pass, k);
    int changed = 0;

    while (split_for_balance(p, cost / p->limit.group / TOLERANCE))
        changed = 1;
    while (split_for_cap(p, packs, k))
        changed = 1;
    return changed;
}

static void place_all(placing *p, const sp__packs pass[2])
{
    int changed = 1;

    start_places(p, &pass[SP_FORWARD]);
    for (int i = 0; i < 2; i++)
        for (int32_t k = 0; k < pass[i].count; k++)
            split_giants(p, &pass[i], i, k);
    deal(p, &pass[SP_FORWARD]);
    for (int round = 0; round < ROUNDS && changed; round++) {
        changed = 0;
        for (int i = 0; i < 2; i++)
            for (int32_t k = 0; k < pass[i].count; k++)
                if (pass[i].merge[k] < 0)
                    changed |= even_out(p, &pass[i], i, k);
    }
}

static void set_places(const placing *p, sp__packs *packs)
{
    for (int32_t i = 0; i < packs->first[packs->count]; i++) {
        sp__slice *slice = &packs->slices[i];
        int32_t place = p->place[slice->sample];

        /* A single token has one holder however it is counted. */
        slice->place = place == SP__SPLIT && length_of(p, slice) == 1 ? 0 : place;
    }
}

static sp_status start(placing *p, int64_t slices, int32_t samples, sp__arena *scratch)
{
    SP_TAKE(scratch, p->place, samples);
    SP_TAKE(scratch, p->item, slices);
    SP_TAKE(scratch, p->scratch, slices);
    SP_TAKE(scratch, p->load, p->limit.group);
    return SP_OK;
}

sp_status sp__place_context(sp__draft *d, int32_t lane, const sp__yardstick *y,
                            const int64_t *lengths, int32_t samples, sp__arena *scratch)
{
    sp__packs *pass = d->lane[lane].pass;
    sp__arena_mark mark = sp__arena_here(scratch);
    placing p = { .yardstick = y, .lengths = lengths };

    if (d->cp == 1)
        return SP_OK;
    p.limit = (sp__limit){ d->pack_tokens > 0 ? d->pack_tokens : INT64_MAX, INT32_MAX, d->cp,
                           d->pad_multiple };
    SP_TRY(start(&p, pass[SP_FORWARD].first[pass[SP_FORWARD].count], samples, scratch));
    place_all(&p, pass);
    set_places(&p, &pass[SP_FORWARD]);
    set_places(&p, &pass[SP_BACKWARD]);
    sp__arena_rewind(scratch, mark);
    return SP_OK;
}
