/*
 * put_lane.c - writes the section of one replica.
 *
 * Shards are written only where they do not follow from the slices: it makes those
 * that the rule of shard.h gives and compares.
 */
#include "base/status.h"
#include "wire/lane.h"

sp_status sp__lane_writer_open(sp__lane_writer *w, const struct sp_schedule *s, sp__arena *arena)
{
    int64_t most = 0;

    for (int pass = 0; pass < 2; pass++)
        for (int64_t k = 0; k < (int64_t)s->lanes * s->packs[pass]; k++)
            if (s->slice_first[pass][k + 1] - s->slice_first[pass][k] > most)
                most = s->slice_first[pass][k + 1] - s->slice_first[pass][k];
    w->s = s;
    SP_TAKE(arena, w->place, most);
    SP_TAKE(arena, w->cursor, s->shape.degree[SP__CP]);
    return sp__walk_open(&w->walk, s->count, s->packs, s->flow.chunks, arena);
}

/* A pack of a lane that is being written. */
typedef struct pack {
    int32_t replica, lane;
    int pass;
    int32_t k, merge, slices;
    int64_t first; /* slice */
} pack;

static pack pack_of(const struct sp_schedule *s, int32_t replica, int pass, int32_t k)
{
    int32_t lane = replica - s->first_lane;
    int64_t at = (int64_t)lane * s->packs[pass] + k;
    int64_t first = s->slice_first[pass][at];

    return (pack){ replica, lane, pass, k, s->pack_merge[pass][at],
                   (int32_t)(s->slice_first[pass][at + 1] - first), first };
}

static sp__slice slice_of(const struct sp_schedule *s, const pack *p, int32_t i)
{
    return (sp__slice){ s->sample[p->pass][p->first + i], s->start[p->pass][p->first + i],
                        s->length[p->pass][p->first + i], SP__SPLIT };
}

/* Whether the next shards of a rank are those that a slice's place gives it. */
static int explains(const sp__lane_writer *w, const pack *p, const sp__slice *slice, int32_t c,
                    int32_t *count)
{
    const struct sp_schedule *s = w->s;
    int32_t cp = s->shape.degree[SP__CP], at = w->cursor[c];
    const sp__shards *x = sp__rank_shards(s, p->lane, c, p->pass, p->k);
    const int32_t *cu = sp__shard_cu_q(s, x);
    sp__piece piece[2];

    *count = sp__wire_shards(slice, p->pass, sp__wire_group(s->merge, p->merge, cp),
                             sp__wire_index(s->merge, p->merge, p->replica, cp, c), piece);
    if (*count > x->count - at)
        return 0;
    for (int32_t j = 0; j < *count; j++)
        if (sp__shard_samples(s, x)[at + j] != slice->sample ||
            sp__shard_starts(s, x)[at + j] != piece[j].start ||
            cu[at + j + 1] - cu[at + j] != piece[j].length)
            return 0;
    return 1;
}

/* Tries one place of a slice on all ranks, and steps over its shards. */
static int try_place(sp__lane_writer *w, const pack *p, sp__slice slice, int32_t place)
{
    int32_t cp = w->s->shape.degree[SP__CP], count;

    slice.place = place;
    for (int32_t c = 0; c < cp; c++)
        if (!explains(w, p, &slice, c, &count))
            return 0;
    for (int32_t c = 0; c < cp; c++) {
        explains(w, p, &slice, c, &count);
        w->cursor[c] += count;
    }
    return 1;
}

/* The only rank that may hold a slice whole is one whose next shard is that. */
static int find_place(sp__lane_writer *w, const pack *p, int32_t i)
{
    int32_t cp = w->s->shape.degree[SP__CP], count;
    sp__slice slice = slice_of(w->s, p, i);

    w->place[i] = 0;
    if (try_place(w, p, slice, SP__SPLIT))
        return 1;
    for (int32_t c = 0; c < cp && p->merge < 0; c++) {
        slice.place = c;
        if (!explains(w, p, &slice, c, &count))
            continue;
        w->place[i] = c + 1;
        return try_place(w, p, slice, c);
    }
    return 0;
}

/* Whether a pack's shards follow from its slices, whose places it then sets. */
static int follows_rule(sp__lane_writer *w, const pack *p)
{
    int32_t cp = w->s->shape.degree[SP__CP];

    for (int32_t c = 0; c < cp; c++)
        w->cursor[c] = 0;
    for (int32_t i = 0; i < p->slices; i++)
        if (!find_place(w, p, i))
            return 0;
    for (int32_t c = 0; c < cp; c++)
        if (w->cursor[c] < sp__rank_shards(w->s, p->lane, c, p->pass, p->k)->count)
            return 0;
    return 1;
}

static int has_oversize(const struct sp_schedule *s, const pack *p)
{
    for (int32_t c = 0; c < s->shape.degree[SP__CP]; c++)
        if (sp__rank_shards(s, p->lane, c, p->pass, p->k)->flags & SP_PACK_OVERSIZE)
            return 1;
    return 0;
}

static void put_slices(sp__sink *k, sp__lane_writer *w, const pack *p, int32_t *before)
{
    for (int32_t i = 0; i < p->slices; i++) {
        sp__slice slice = slice_of(w->s, p, i);
        int64_t start = sp__walk_start(&w->walk, p->pass, slice.sample, slice.length,
                                       w->s->lengths);

        sp__put(k, sp__fold((int64_t)slice.sample - *before) << 1 | (slice.start != start));
        if (slice.start != start)
            sp__put(k, (uint64_t)slice.start);
        sp__put(k, (uint64_t)slice.length);
        sp__walk_reach(&w->walk, p->pass, slice.sample, slice.start, slice.length);
        *before = slice.sample;
    }
}

static void put_shards(sp__sink *k, const struct sp_schedule *s, const pack *p)
{
    for (int32_t c = 0; c < s->shape.degree[SP__CP]; c++) {
        const sp__shards *x = sp__rank_shards(s, p->lane, c, p->pass, p->k);
        const int32_t *sample = sp__shard_samples(s, x), *start = sp__shard_starts(s, x);
        const int32_t *cu = sp__shard_cu_q(s, x);

        sp__put(k, (uint64_t)x->count);
        for (int32_t i = 0; i < x->count; i++) {
            sp__put_signed(k, (int64_t)sample[i] - (i > 0 ? sample[i - 1] : 0));
            sp__put(k, (uint64_t)start[i]);
            sp__put(k, (uint64_t)(cu[i + 1] - cu[i]));
        }
    }
}

static void put_pack(sp__sink *k, sp__lane_writer *w, const pack *p, int32_t *before)
{
    const struct sp_schedule *s = w->s;
    int is_explicit = !follows_rule(w, p), oversize = has_oversize(s, p);
    int32_t cp = s->shape.degree[SP__CP];

    sp__put(k, (uint64_t)p->slices << 2 | (uint64_t)is_explicit << 1 | (uint64_t)oversize);
    if (s->merges > 0)
        sp__put(k, (uint64_t)p->merge + 1);
    put_slices(k, w, p, before);
    if (is_explicit)
        put_shards(k, s, p);
    for (int32_t i = 0; i < p->slices && !is_explicit && cp > 1 && p->merge < 0; i++)
        sp__put(k, (uint64_t)w->place[i]);
    for (int32_t c = 0; c < cp && oversize; c++)
        sp__put_byte(k, (sp__rank_shards(s, p->lane, c, p->pass, p->k)->flags &
                         SP_PACK_OVERSIZE) != 0);
}

static void put_ops(sp__sink *k, sp__lane_writer *w, int64_t stage)
{
    const sp__timeline *t = &w->s->timeline;
    int64_t before = 0;

    for (int64_t i = stage * t->ops; i < (stage + 1) * t->ops; i++) {
        int pass = sp__op_pass(t->op[i]);
        int64_t *expected = sp__walk_time(&w->walk, w->s->packs, pass, sp__op_pack(t->op[i]));
        int64_t time = t->end[i] - t->start[i];

        sp__put(k, (uint64_t)sp__op_chunk(t->op[i]) * 3 + (uint64_t)pass);
        sp__put_signed(k, t->start[i] - before);
        sp__put_signed(k, time - *expected);
        *expected = time;
        before = t->end[i];
    }
}

static void put_results(sp__sink *k, const struct sp_schedule *s, int64_t stage)
{
    int32_t cp = s->shape.degree[SP__CP];
    sp__stage_result before = { 0, 0, 0, 0 };

    for (int32_t c = 0; c < cp; c++) {
        const sp__stage_result *x = &s->timeline.stage[stage * cp + c];

        sp__put_signed(k, x->static_bytes - before.static_bytes);
        sp__put_signed(k, x->peak_bytes - before.peak_bytes);
        sp__put_signed(k, x->peak_live_tokens - before.peak_live_tokens);
        sp__put_signed(k, x->busy_ps - before.busy_ps);
        before = *x;
    }
}

void sp__put_lane(sp__sink *k, sp__lane_writer *w, int32_t replica)
{
    const struct sp_schedule *s = w->s;
    int32_t pp = s->shape.degree[SP__PP], before;

    for (int pass = 0; pass < 2; pass++) {
        before = 0;
        sp__walk_pass(&w->walk);
        for (int32_t i = 0; i < s->packs[pass]; i++) {
            pack p = pack_of(s, replica, pass, i);

            put_pack(k, w, &p, &before);
        }
    }
    for (int32_t stage = 0; stage < pp; stage++) {
        sp__walk_stage(&w->walk, s->packs, s->flow.chunks, stage == 0);
        put_ops(k, w, (int64_t)(replica - s->first_lane) * pp + stage);
        put_results(k, s, (int64_t)(replica - s->first_lane) * pp + stage);
    }
}
