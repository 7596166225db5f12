/*
 * loads.c - what each rank holds of each pack: see loads.h.
 */
#include "schedule/loads.h"

#include <string.h>

#include "base/arith.h"
#include "base/status.h"
#include "schedule/shard.h"

static void add_slice(const sp__slice *slice, int64_t sample_length, int32_t group, int32_t index,
                      const sp__attention *attention, sp__load *load)
{
    sp__piece piece[2];
    int32_t count = sp__shard(slice, group, index, piece);

    for (int32_t j = 0; j < count; j++) {
        load->tokens += piece[j].length;
        load->pairs += sp__pairs(attention, piece[j].start, piece[j].length, sample_length);
    }
    if (!sp__is_whole(slice, sample_length, group)) {
        load->context += slice->length;
        load->cached += sp__cached_tokens(slice->length, group);
    }
}

void sp__packs_load(const sp__draft *d, int32_t lane, sp__packs *packs, const int64_t *lengths,
                    const sp__attention *attention)
{
    memset(packs->load, 0, (size_t)packs->count * (size_t)d->cp * sizeof *packs->load);
    for (int32_t k = 0; k < packs->count; k++) {
        int32_t group = sp__group_size(d, packs->merge[k]);

        for (int32_t c = 0; c < d->cp; c++) {
            sp__load *load = &packs->load[(int64_t)k * d->cp + c];
            int32_t index = sp__group_index(d, packs->merge[k], lane, c);

            for (int32_t i = packs->first[k]; i < packs->first[k + 1]; i++)
                add_slice(&packs->slices[i], lengths[packs->slices[i].sample], group, index,
                          attention, load);
        }
    }
}

/* A backward pack waits for the last forward pack that holds one of its slices, an empty
 * one before all others for none. A
 * slice is found again by its sample and start: the forward packs of a sample's
 * slices increase with their start. */
sp_status sp__lane_needs(sp__lane *lane, int32_t samples, sp__arena *arena)
{
    const sp__packs *f = &lane->pass[SP_FORWARD], *b = &lane->pass[SP_BACKWARD];
    sp__arena_mark mark;
    int32_t *last;

    SP_TAKE(arena, lane->needs, b->count);
    mark = sp__arena_here(arena);
    SP_TAKE(arena, last, samples); /* forward pack of a sample's last slice */
    for (int32_t k = 0; k < f->count; k++)
        for (int32_t i = f->first[k]; i < f->first[k + 1]; i++)
            last[f->slices[i].sample] = k;
    /* A sample's first backward slice is its last forward slice, and later ones
     * come behind it in the backward order, so waiting for the sample's last
     * forward pack is what each of them does anyway. */
    for (int32_t k = 0; k < b->count; k++) {
        lane->needs[k] = k > 0 ? lane->needs[k - 1] : -1;
        for (int32_t i = b->first[k]; i < b->first[k + 1]; i++)
            if (last[b->slices[i].sample] > lane->needs[k])
                lane->needs[k] = last[b->slices[i].sample];
    }
    sp__arena_rewind(arena, mark);
    return SP_OK;
}

sp_status sp__lane_finish(sp__draft *d, int32_t lane, const int64_t *lengths, int32_t samples,
                          const sp__attention *attention, sp__arena *arena)
{
    sp__lane *l = &d->lane[lane];

    sp__packs_load(d, lane, &l->pass[SP_FORWARD], lengths, attention);
    sp__packs_load(d, lane, &l->pass[SP_BACKWARD], lengths, attention);
    SP_TRY(sp__lane_needs(l, samples, arena));
    /* What is planned begins with a forward pack, in replicas without tokens, too. */
    for (int32_t k = 0; k < l->pass[SP_BACKWARD].count; k++)
        l->needs[k] = l->needs[k] < 0 ? 0 : l->needs[k];
    return SP_OK;
}

static int64_t padded_tokens(const sp__draft *d, int32_t lane, const sp__packs *packs, int32_t k,
                             int32_t cp)
{
    int32_t group = sp__group_size(d, packs->merge[k]);
    int32_t index = sp__group_index(d, packs->merge[k], lane, cp);
    int64_t tokens = 0;
    sp__piece piece[2];

    for (int32_t i = packs->first[k]; i < packs->first[k + 1]; i++) {
        int32_t count = sp__shard(&packs->slices[i], group, index, piece);

        for (int32_t j = 0; j < count; j++)
            tokens += sp__ceil_div(piece[j].length, d->pad_multiple) * d->pad_multiple;
    }
    return tokens;
}

static int64_t packs_excess(const sp__draft *d, int32_t lane, const sp__packs *packs,
                            const int64_t *lengths)
{
    int64_t excess = 0;

    for (int32_t k = 0; k < packs->count; k++) {
        const sp__slice *slice = &packs->slices[packs->first[k]];

        if (packs->first[k + 1] - packs->first[k] == 1 && slice->length == lengths[slice->sample])
            continue;
        for (int32_t c = 0; c < d->cp; c++)
            excess = sp__max(excess, padded_tokens(d, lane, packs, k, c) - d->pack_tokens);
    }
    return excess;
}

int64_t sp__draft_excess(const sp__draft *d, const int64_t *lengths)
{
    int64_t excess = 0;

    if (d->pack_tokens == 0)
        return 0;
    for (int32_t r = 0; r < d->lanes; r++)
        for (int pass = 0; pass < 2; pass++)
            excess = sp__max(excess, packs_excess(d, r, &d->lane[r].pass[pass], lengths));
    return excess;
}
