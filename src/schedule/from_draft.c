/*
 * from_draft.c - a draft becomes a schedule, and a schedule a draft again.
 *
 * On the way out slices become shards, the arrays that kernels take; on the way
 * back a slice's place is read off its shards, so that a plan from a file can be
 * simulated like one just made.
 */
#include <inttypes.h>

#include "base/status.h"
#include "schedule/loads.h"
#include "schedule/shard.h"
#include "schedule/writer.h"

static int32_t shards_of_pack(const sp__draft *d, int32_t lane, const sp__packs *packs, int32_t k,
                              int32_t cp)
{
    int32_t group = sp__group_size(d, packs->merge[k]);
    int32_t index = sp__group_index(d, packs->merge[k], lane, cp);
    int32_t count = 0;
    sp__piece piece[2];

    if (group == 1)
        return packs->first[k + 1] - packs->first[k];
    for (int32_t i = packs->first[k]; i < packs->first[k + 1]; i++)
        count += sp__shard(&packs->slices[i], group, index, piece);
    return count;
}

static int64_t shards_of_rank(const sp__draft *d, int32_t lane, int32_t cp)
{
    int64_t count = 0;

    for (int pass = 0; pass < 2; pass++)
        for (int32_t k = 0; k < d->packs[pass]; k++)
            count += shards_of_pack(d, lane, &d->lane[lane].pass[pass], k, cp);
    return count;
}

static sp_status measure(const sp__draft *d, const sp__shape *shape, int32_t samples,
                         sp__arena *scratch, sp__plan_size *size)
{
    size->shape = *shape;
    size->first_lane = 0;
    size->lanes = d->lanes;
    size->samples = samples;
    size->merges = d->merges;
    size->alignment = d->alignment;
    size->pad_multiple = d->pad_multiple;
    size->flow = d->flow;
    SP_TAKE(scratch, size->block_shards, (int64_t)d->lanes * d->cp);
    for (int pass = 0; pass < 2; pass++) {
        size->packs[pass] = d->packs[pass];
        size->slices[pass] = 0;
        for (int32_t r = 0; r < d->lanes; r++)
            size->slices[pass] += d->lane[r].pass[pass].first[d->packs[pass]];
    }
    for (int32_t r = 0; r < d->lanes; r++)
        for (int32_t c = 0; c < d->cp; c++)
            size->block_shards[(int64_t)r * d->cp + c] = shards_of_rank(d, r, c);
    return SP_OK;
}

static int64_t write_slices(struct sp_schedule *s, const sp__packs *packs, int pass, int32_t lane,
                            int64_t at)
{
    for (int32_t k = 0; k < packs->count; k++) {
        int64_t pack = (int64_t)lane * s->packs[pass] + k;

        sp__schedule_begin_pack(s, pass, pack, packs->merge[k], at);
        for (int32_t i = packs->first[k]; i < packs->first[k + 1]; i++)
            sp__schedule_put_slice(s, pass, pack, at++, packs->slices[i].sample,
                                   packs->slices[i].start, packs->slices[i].length);
    }
    return at;
}

/* Backward runs a sample's shards by decreasing start. */
static sp_status put_slice(struct sp_schedule *s, sp__shards *x, int32_t *i, const sp__slice *slice,
                           int32_t group, int32_t index, int pass)
{
    sp__piece piece[2];
    int32_t count = sp__shard(slice, group, index, piece);

    for (int32_t j = 0; j < count; j++) {
        const sp__piece *p = &piece[pass == SP_FORWARD ? j : count - 1 - j];

        SP_TRY(sp__schedule_put_shard(s, x, (*i)++, slice->sample, p->start, p->length));
    }
    return SP_OK;
}

static sp_status write_pack_shards(struct sp_schedule *s, const sp__draft *d, int pass,
                                   int32_t lane, int32_t cp, int32_t k, int64_t *at)
{
    const sp__packs *packs = &d->lane[lane].pass[pass];
    int32_t group = sp__group_size(d, packs->merge[k]);
    int32_t index = sp__group_index(d, packs->merge[k], lane, cp);
    int64_t place = ((int64_t)lane * d->cp + cp) * d->packs[pass] + k;
    sp__shards *x = &s->shards[pass][place];
    int32_t done = 0;

    *at = sp__schedule_begin_shards(s, x, *at, shards_of_pack(d, lane, packs, k, cp));
    for (int32_t i = packs->first[k]; i < packs->first[k + 1]; i++)
        SP_TRY(put_slice(s, x, &done, &packs->slices[i], group, index, pass));
    if (d->pack_tokens > 0 && sp__shard_cu_padded(s, x)[x->count] > d->pack_tokens)
        x->flags |= SP_PACK_OVERSIZE;
    return SP_OK;
}

static sp_status write_rank(struct sp_schedule *s, const sp__draft *d, int32_t lane, int32_t cp)
{
    int64_t at = s->block_first[(int64_t)lane * d->cp + cp];

    for (int pass = 0; pass < 2; pass++)
        for (int32_t k = 0; k < d->packs[pass]; k++)
            SP_TRY(write_pack_shards(s, d, pass, lane, cp, k, &at));
    return SP_OK;
}

static sp_status write_all(struct sp_schedule *s, const sp__draft *d)
{
    for (int pass = 0; pass < 2; pass++) {
        int64_t at = 0;

        for (int32_t r = 0; r < d->lanes; r++)
            at = write_slices(s, &d->lane[r].pass[pass], pass, r, at);
    }
    for (int32_t r = 0; r < d->lanes; r++)
        for (int32_t c = 0; c < d->cp; c++)
            SP_TRY(write_rank(s, d, r, c));
    return SP_OK;
}

sp_status sp__schedule_from_draft(const sp__alloc *alloc, sp__shelf *shelf,
                                  const sp__shape *shape, const sp__draft *d,
                                  const int64_t *lengths, int32_t samples, sp__arena *scratch,
                                  struct sp_schedule **out)
{
    struct sp_schedule *s;
    sp__plan_size size;
    sp_status status;

    SP_TRY(measure(d, shape, samples, scratch, &size));
    SP_TRY(sp__schedule_open(alloc, shelf, &size, lengths, d->merge, &s));
    status = write_all(s, d);
    if (status != SP_OK) {
        sp_schedule_destroy(s);
        return status;
    }
    *out = s;
    return SP_OK;
}

/* Whether one CP rank holds all of a slice. Ranks list their shards in the order
 * of the pack's slices, so that a cursor a rank finds it. */
static int on_one_rank(const struct sp_schedule *s, int32_t lane, int pass, int32_t k,
                       const sp__slice *slice, int32_t *cursor)
{
    int found = 0;

    for (int32_t c = 0; c < s->shape.degree[SP__CP]; c++) {
        const sp__shards *x = sp__rank_shards(s, lane, c, pass, k);
        const int32_t *sample = sp__shard_samples(s, x), *start = sp__shard_starts(s, x);
        const int32_t *cu = sp__shard_cu_q(s, x);

        while (cursor[c] < x->count && sample[cursor[c]] == slice->sample &&
               start[cursor[c]] >= slice->start &&
               start[cursor[c]] < slice->start + slice->length) {
            found |= cu[cursor[c] + 1] - cu[cursor[c]] == slice->length;
            cursor[c]++;
        }
    }
    return found;
}

/* Tokens of a pack whose K and V are cached: all but samples that one rank runs whole. */
static int64_t context_of(const struct sp_schedule *s, int32_t lane, int pass, int32_t k,
                          const sp__packs *packs, int32_t *cursor)
{
    int64_t context = 0;

    for (int32_t c = 0; c < s->shape.degree[SP__CP]; c++)
        cursor[c] = 0;
    for (int32_t i = packs->first[k]; i < packs->first[k + 1]; i++) {
        const sp__slice *slice = &packs->slices[i];
        int alone = on_one_rank(s, lane, pass, k, slice, cursor) && packs->merge[k] < 0;

        if (!alone || slice->length != s->lengths[slice->sample])
            context += slice->length;
    }
    return context;
}

static void read_load(const struct sp_schedule *s, const sp__shards *x,
                      const sp__attention *attention, sp__load *load)
{
    const int32_t *sample = sp__shard_samples(s, x), *start = sp__shard_starts(s, x);
    const int32_t *cu = sp__shard_cu_q(s, x);

    load->tokens = cu[x->count];
    load->pairs = 0;
    for (int32_t i = 0; i < x->count; i++)
        load->pairs += sp__pairs(attention, start[i], cu[i + 1] - cu[i], s->lengths[sample[i]]);
}

static void read_slices(const struct sp_schedule *s, int pass, int64_t from, sp__packs *out)
{
    for (int32_t i = 0; i < out->first[out->count]; i++) {
        out->slices[i].sample = s->sample[pass][from + i];
        out->slices[i].start = s->start[pass][from + i];
        out->slices[i].length = s->length[pass][from + i];
        out->slices[i].place = SP__SPLIT;
    }
}

static sp_status read_packs(const struct sp_schedule *s, int32_t lane, int pass,
                            const sp__attention *attention, sp__arena *arena, sp__packs *out)
{
    int64_t base = (int64_t)lane * s->packs[pass];
    int64_t from = s->slice_first[pass][base];
    int64_t slices = s->slice_first[pass][base + s->packs[pass]] - from;
    int32_t cp = s->shape.degree[SP__CP];
    int32_t *cursor;

    out->count = s->packs[pass];
    out->merge = s->pack_merge[pass] + base;
    SP_TAKE(arena, out->first, (int64_t)out->count + 1);
    SP_TAKE(arena, out->slices, slices);
    SP_TAKE(arena, out->load, (int64_t)out->count * cp);
    SP_TAKE(arena, cursor, cp);
    for (int32_t k = 0; k <= out->count; k++)
        out->first[k] = (int32_t)(s->slice_first[pass][base + k] - from);
    read_slices(s, pass, from, out);
    for (int32_t k = 0; k < out->count; k++) {
        int64_t context = context_of(s, lane, pass, k, out, cursor);

        for (int32_t c = 0; c < cp; c++) {
            sp__load *load = &out->load[(int64_t)k * cp + c];

            read_load(s, sp__rank_shards(s, lane, c, pass, k), attention, load);
            load->context = context;
            load->cached = sp__cached_tokens(context, cp * (out->merge[k] < 0 ? 1 :
                                                  s->merge[out->merge[k]].replicas));
        }
    }
    return SP_OK;
}

sp_status sp__draft_from_schedule(const struct sp_schedule *s, const sp__attention *attention,
                                  sp__arena *arena, sp__draft *out)
{
    out->lanes = s->shape.degree[SP__DP];
    out->cp = s->shape.degree[SP__CP];
    out->packs[0] = s->packs[0];
    out->packs[1] = s->packs[1];
    out->merge = s->merge;
    out->merges = s->merges;
    out->alignment = s->alignment;
    out->pad_multiple = s->pad_multiple;
    out->pack_tokens = 0;
    out->flow = s->flow;
    SP_TAKE(arena, out->lane, out->lanes);
    for (int32_t r = 0; r < out->lanes; r++) {
        sp__lane *lane = &out->lane[r];

        SP_TRY(read_packs(s, r, SP_FORWARD, attention, arena, &lane->pass[SP_FORWARD]));
        SP_TRY(read_packs(s, r, SP_BACKWARD, attention, arena, &lane->pass[SP_BACKWARD]));
        SP_TRY(sp__lane_needs(lane, s->count, arena));
    }
    return SP_OK;
}
