/*
 * get_lane.c - reads the section of one replica, twice: to measure, then to fill in.
 *
 * Both times every number is checked before it is used: a sample is one of the batch, a
 * slice or shard lies within it, a merge is one of those that hold the replica, an op's
 * pack exists. What the numbers mean together is for the invariants to say.
 */
#include <inttypes.h>

#include "base/arith.h"
#include "base/status.h"
#include "wire/lane.h"

sp_status sp__wire_fail(const sp__source *source, const char *what)
{
    return sp__fail(SP_ERR_FORMAT, "bytes: %s before byte %zu", what, source->at);
}

typedef struct pack {
    int32_t replica, merge, slices;
    int is_explicit, has_oversize;
} pack;

/* The next range of tokens; where says how a slice's start is come by. */
static sp_status get_range(sp__source *src, sp__lane_reader *r, int32_t *before, int pass,
                           int is_slice, sp__slice *out)
{
    uint64_t head = sp__get(src);
    int has_start = !is_slice || (head & 1);
    int64_t sample = *before + sp__unfold(is_slice ? head >> 1 : head), start = 0, length;

    if (src->failed || sample < 0 || sample >= r->size.samples)
        return sp__wire_fail(src, "no sample of the batch");
    if (has_start)
        start = sp__get_within(src, 0, r->lengths[sample] - 1);
    length = sp__get_within(src, 1, r->lengths[sample]);
    if (!has_start)
        start = sp__walk_start(&r->walk, pass, (int32_t)sample, length, r->lengths);
    else if (is_slice) /* marks the sample as seen */
        sp__walk_start(&r->walk, pass, (int32_t)sample, length, r->lengths);
    if (src->failed || start < 0 || length > r->lengths[sample] - start)
        return sp__wire_fail(src, "a range outside its sample");
    if (is_slice)
        sp__walk_reach(&r->walk, pass, (int32_t)sample, start, length);
    *before = (int32_t)sample;
    *out = (sp__slice){ (int32_t)sample, (int32_t)start, (int32_t)length, SP__SPLIT };
    return SP_OK;
}

static sp_status get_slices(sp__source *src, sp__lane_reader *r, int pass, int32_t count,
                            int32_t *before)
{
    SP_TRY(sp__grow(r->alloc, (void **)&r->slice, &r->slice_capacity, count, sizeof *r->slice));
    for (int32_t i = 0; i < count; i++)
        SP_TRY(get_range(src, r, before, pass, 1, &r->slice[i]));
    return SP_OK;
}

static sp_status get_places(sp__source *src, sp__lane_reader *r, const pack *p)
{
    int32_t cp = r->size.shape.degree[SP__CP];

    for (int32_t i = 0; i < p->slices && !p->is_explicit && cp > 1 && p->merge < 0; i++)
        r->slice[i].place = (int32_t)sp__get_within(src, 0, cp) - 1;
    return src->failed ? sp__wire_fail(src, "no CP rank") : SP_OK;
}

static sp_status get_pack(sp__source *src, sp__lane_reader *r, int pass, int32_t replica,
                          int32_t *before, pack *p)
{
    uint64_t head = sp__get(src);
    int64_t merge = r->size.merges > 0 ? sp__get_within(src, 0, r->size.merges) : 0;

    *p = (pack){ .replica = replica, .merge = (int32_t)merge - 1, .is_explicit = head >> 1 & 1,
                 .has_oversize = head & 1 };
    if (src->failed || head >> 2 > sp__left(src) / 2 || head >> 2 > INT32_MAX)
        return sp__wire_fail(src, "a pack that does not end");
    if (p->merge >= 0 && (replica < r->merge[p->merge].first ||
                          replica - r->merge[p->merge].first >= r->merge[p->merge].replicas))
        return sp__wire_fail(src, "a pack of a merge that is not its replica's");
    p->slices = (int32_t)(head >> 2);
    SP_TRY(get_slices(src, r, pass, p->slices, before));
    return get_places(src, r, p);
}

/* A rank's shards as they stand in the bytes. */
static sp_status get_shards(sp__source *src, sp__lane_reader *r, int pass, int32_t *count)
{
    uint64_t shards = sp__get(src);
    int32_t before = 0;

    if (src->failed || shards > sp__left(src) / 3 || shards > INT32_MAX)
        return sp__wire_fail(src, "shards that do not end");
    *count = (int32_t)shards;
    SP_TRY(sp__grow(r->alloc, (void **)&r->shard, &r->shard_capacity, *count, sizeof *r->shard));
    for (int32_t i = 0; i < *count; i++)
        SP_TRY(get_range(src, r, &before, pass, 0, &r->shard[i]));
    return SP_OK;
}

/* A rank's shards as the slices give them. */
static sp_status make_shards(sp__lane_reader *r, int pass, const pack *p, int32_t c,
                             int32_t *count)
{
    int32_t cp = r->size.shape.degree[SP__CP];
    int32_t group = sp__wire_group(r->merge, p->merge, cp);
    int32_t index = sp__wire_index(r->merge, p->merge, p->replica, cp, c);
    int64_t n = 0;

    SP_TRY(sp__grow(r->alloc, (void **)&r->shard, &r->shard_capacity, 2 * (int64_t)p->slices,
                    sizeof *r->shard));
    for (int32_t i = 0; i < p->slices; i++) {
        sp__piece piece[2];
        int32_t pieces = sp__wire_shards(&r->slice[i], pass, group, index, piece);

        for (int32_t j = 0; j < pieces; j++)
            r->shard[n++] = (sp__slice){ r->slice[i].sample, piece[j].start, piece[j].length, 0 };
    }
    if (n > INT32_MAX / 5)
        return sp__fail(SP_ERR_OVERFLOW, "bytes: a rank's shards of one pack do not fit int32");
    *count = (int32_t)n;
    return SP_OK;
}

static sp_status fill_shards(sp__lane_reader *r, int pass, int32_t k, int64_t rank, int32_t count)
{
    sp__shards *x = &r->s->shards[pass][rank * r->size.packs[pass] + k];

    r->pool[rank] = sp__schedule_begin_shards(r->s, x, r->pool[rank], count);
    for (int32_t i = 0; i < count; i++)
        SP_TRY(sp__schedule_put_shard(r->s, x, i, r->shard[i].sample, r->shard[i].start,
                                      r->shard[i].length));
    return SP_OK;
}

static sp_status count_shards(sp__source *src, sp__lane_reader *r, int64_t rank, int32_t slices,
                              int32_t count)
{
    r->size.block_shards[rank] += count;
    r->work_left -= (int64_t)slices + count;
    return r->work_left < 0 ? sp__wire_fail(src, "more shards than the bytes may stand for")
                            : SP_OK;
}

static sp_status read_shards(sp__source *src, sp__lane_reader *r, int pass, int32_t k,
                             const pack *p)
{
    int32_t cp = r->size.shape.degree[SP__CP], count = 0;

    for (int32_t c = 0; c < cp; c++) {
        int64_t rank = (int64_t)(p->replica - r->size.first_lane) * cp + c;

        if (p->is_explicit)
            SP_TRY(get_shards(src, r, pass, &count));
        else
            SP_TRY(make_shards(r, pass, p, c, &count));
        if (r->s != NULL)
            SP_TRY(fill_shards(r, pass, k, rank, count));
        else
            SP_TRY(count_shards(src, r, rank, p->slices, count));
    }
    return SP_OK;
}

static sp_status read_flags(sp__source *src, sp__lane_reader *r, int pass, int32_t k,
                            const pack *p)
{
    int32_t cp = r->size.shape.degree[SP__CP];

    for (int32_t c = 0; c < cp && p->has_oversize; c++) {
        int64_t rank = (int64_t)(p->replica - r->size.first_lane) * cp + c;

        if (sp__get_within(src, 0, 1) && r->s != NULL)
            r->s->shards[pass][rank * r->size.packs[pass] + k].flags |= SP_PACK_OVERSIZE;
    }
    return src->failed ? sp__wire_fail(src, "no flag") : SP_OK;
}

static void fill_pack(sp__lane_reader *r, int pass, int32_t k, const pack *p)
{
    int64_t at = (int64_t)(p->replica - r->size.first_lane) * r->size.packs[pass] + k;

    sp__schedule_begin_pack(r->s, pass, at, p->merge, r->at[pass]);
    for (int32_t i = 0; i < p->slices; i++)
        sp__schedule_put_slice(r->s, pass, at, r->at[pass] + i, r->slice[i].sample,
                               r->slice[i].start, r->slice[i].length);
}

static sp_status read_pass(sp__source *src, sp__lane_reader *r, int32_t replica, int pass)
{
    int32_t before = 0;
    pack p;

    sp__walk_pass(&r->walk);
    for (int32_t k = 0; k < r->size.packs[pass]; k++) {
        SP_TRY(get_pack(src, r, pass, replica, &before, &p));
        if (r->s != NULL)
            fill_pack(r, pass, k, &p);
        SP_TRY(read_shards(src, r, pass, k, &p));
        SP_TRY(read_flags(src, r, pass, k, &p));
        r->at[pass] += p.slices;
    }
    return SP_OK;
}

/* The next op of a stage; its times become those expected on the next. */
static sp_status get_op(sp__source *src, sp__lane_reader *r, int64_t *end, int32_t *op,
                        int64_t *start)
{
    int64_t code = sp__get_within(src, 0, 3 * (int64_t)r->size.flow.chunks - 1);
    int64_t gap = sp__get_signed(src), longer = sp__get_signed(src), *expected;
    int pass = (int)(code % 3);
    int32_t chunk = (int32_t)(code / 3), k = r->walk.next[pass][chunk]++;

    if (src->failed || pass > SP_BACKWARD + r->size.flow.split ||
        k >= r->size.packs[sp__pack_pass(pass)])
        return sp__wire_fail(src, "no op of the plan");
    expected = sp__walk_time(&r->walk, r->size.packs, pass, k);
    if (sp__add_overflows(*expected, longer, expected) ||
        sp__add_overflows(*end, gap, start) || sp__add_overflows(*start, *expected, end) ||
        *start < 0 || *expected < 0)
        return sp__wire_fail(src, "an op outside of time");
    *op = sp__op(k, chunk, pass);
    return SP_OK;
}

static sp_status read_ops(sp__source *src, sp__lane_reader *r, int64_t stage)
{
    int32_t ops = (int32_t)sp__flow_ops(&r->size.flow, r->size.packs), op = 0;
    int64_t end = 0, start = 0;

    for (int64_t i = stage * ops; i < (stage + 1) * ops; i++) {
        SP_TRY(get_op(src, r, &end, &op, &start));
        if (r->s == NULL)
            continue;
        r->s->timeline.op[i] = op;
        r->s->timeline.start[i] = start;
        r->s->timeline.end[i] = end;
    }
    return SP_OK;
}

static int64_t get_next(sp__source *src, int64_t before)
{
    int64_t value;

    if (sp__add_overflows(before, sp__get_signed(src), &value) || value < 0) {
        src->failed = 1;
        return 0;
    }
    return value;
}

static sp_status read_results(sp__source *src, sp__lane_reader *r, int64_t stage)
{
    int32_t cp = r->size.shape.degree[SP__CP];
    sp__stage_result x = { 0, 0, 0, 0 };

    for (int32_t c = 0; c < cp; c++) {
        x.static_bytes = get_next(src, x.static_bytes);
        x.peak_bytes = get_next(src, x.peak_bytes);
        x.peak_live_tokens = get_next(src, x.peak_live_tokens);
        x.busy_ps = get_next(src, x.busy_ps);
        if (src->failed)
            return sp__wire_fail(src, "no memory of a device");
        if (r->s != NULL)
            r->s->timeline.stage[stage * cp + c] = x;
    }
    return SP_OK;
}

sp_status sp__get_lane(sp__source *src, sp__lane_reader *r, int32_t replica)
{
    int32_t pp = r->size.shape.degree[SP__PP];

    for (int pass = 0; pass < 2; pass++)
        SP_TRY(read_pass(src, r, replica, pass));
    for (int32_t stage = 0; stage < pp; stage++) {
        int64_t at = (int64_t)(replica - r->size.first_lane) * pp + stage;

        sp__walk_stage(&r->walk, r->size.packs, r->size.flow.chunks, stage == 0);
        SP_TRY(read_ops(src, r, at));
        SP_TRY(read_results(src, r, at));
    }
    return sp__left(src) > 0 ? sp__wire_fail(src, "a replica that ends") : SP_OK;
}
