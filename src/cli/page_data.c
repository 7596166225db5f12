/*
 * page_data.c - the data of a page, as few bytes as differences make it: see page.h.
 *
 * What follows from what came before costs a byte: the next pack of a pass, a slice
 * that goes on where the last one ended, an op that starts when the one before ends
 * and takes as long as it took on the stage before. data.js reads it in this order.
 */
#include "page.h"

#include <stdlib.h>
#include <string.h>

typedef struct encoder {
    const cli_step *step;
    cli_packed *out;
    int32_t packs[2];   /* of each pass */
    int64_t *durations; /* [3 * chunks * most packs] on the stage before, -1 for none */
    int32_t *next;      /* [3 * chunks] the pack that is expected */
    int64_t *last;      /* [3 * chunks] duration of the op before */
    int64_t *bytes;     /* [ops * SP_MEMORY_KINDS] */
} encoder;

static void put_batch(encoder *e)
{
    const int64_t *lengths = sp_schedule_lengths(e->step->schedule);
    int32_t merges = sp_schedule_merge_count(e->step->schedule);
    sp_stats stats = SP_STATS_INIT;

    sp_schedule_stats(e->step->schedule, &stats);
    cli_pack(e->out, (uint64_t)stats.samples);
    for (int64_t i = 0; i < stats.samples; i++)
        cli_pack(e->out, (uint64_t)lengths[i]);
    cli_pack(e->out, (uint64_t)merges);
    for (int32_t i = 0; i < merges; i++) {
        sp_merge_view merge = SP_MERGE_VIEW_INIT;

        sp_schedule_merge(e->step->schedule, i, &merge);
        cli_pack(e->out, (uint64_t)merge.sample);
        cli_pack(e->out, (uint64_t)merge.first_replica);
        cli_pack(e->out, (uint64_t)merge.replicas);
    }
}

/* Where a pass goes on in its sample, forward by the start, backward by the end. */
typedef struct cursor {
    int32_t sample;
    int64_t at;
} cursor;

static void put_slice(encoder *e, sp_pass pass, const sp_slice_view *v, int32_t i, cursor *c)
{
    int64_t start = v->start[i], end = start + v->length[i];
    int64_t from = pass == SP_FORWARD ? start : end;

    cli_pack_signed(e->out, (int64_t)v->sample[i] - c->sample);
    if (v->sample[i] != c->sample) {
        c->sample = v->sample[i];
        c->at = pass == SP_FORWARD ? 0 : sp_schedule_lengths(e->step->schedule)[c->sample];
    }
    cli_pack_signed(e->out, from - c->at);
    cli_pack(e->out, (uint64_t)v->length[i]);
    c->at = pass == SP_FORWARD ? end : start;
}

static void put_packs(encoder *e, int32_t dp, sp_pass pass)
{
    cursor c = { -1, 0 };

    for (int32_t pack = 0; pack < e->packs[pass]; pack++) {
        sp_slice_view v = SP_SLICE_VIEW_INIT;

        sp_schedule_pack_slices(e->step->schedule, dp, pass, pack, &v);
        cli_pack(e->out, (uint64_t)v.count);
        cli_pack(e->out, (uint64_t)((int64_t)v.merge + 1));
        if (v.merge >= 0)
            cli_pack(e->out, (uint64_t)cli_step_tokens(e->step, dp, pass, pack));
        for (int32_t i = 0; i < v.count; i++)
            put_slice(e, pass, &v, i, &c);
    }
}

static size_t most_packs(const encoder *e)
{
    return (size_t)(e->packs[0] > e->packs[1] ? e->packs[0] : e->packs[1]);
}

static void put_op(encoder *e, const sp_op_view *op, int64_t *end)
{
    size_t kind = (size_t)op->chunk * 3 + (size_t)op->pass;
    int64_t *before = &e->durations[kind * most_packs(e) + (size_t)op->pack];
    int64_t duration = op->end_ps - op->start_ps;
    int64_t step = (int64_t)op->pack - e->next[kind];
    uint64_t folded = step < 0 ? ~((uint64_t)step << 1) : (uint64_t)step << 1;

    cli_pack(e->out, folded * 3 * (uint64_t)e->step->chunks + kind);
    cli_pack_signed(e->out, op->start_ps - *end);
    cli_pack_signed(e->out, duration - (*before >= 0 ? *before : e->last[kind]));
    e->next[kind] = op->pack + 1;
    e->last[kind] = *before = duration;
    *end = op->end_ps;
}

static void put_ops(encoder *e, int32_t dp, int32_t pp)
{
    size_t kinds = 3 * (size_t)e->step->chunks;
    int32_t rank = cli_step_rank(e->step, dp, pp, 0);
    int64_t end = 0;

    memset(e->next, 0, kinds * sizeof *e->next);
    memset(e->last, 0, kinds * sizeof *e->last);
    for (size_t i = 0; pp == 0 && i < kinds * most_packs(e); i++)
        e->durations[i] = -1;
    cli_pack(e->out, (uint64_t)rank);
    for (int32_t i = 0; i < e->step->ops; i++) {
        sp_op_view op = cli_step_op(e->step, rank, i);

        put_op(e, &op, &end);
    }
}

/* The CP rank of a stage whose memory is fullest speaks for it. */
static int32_t fullest(const encoder *e, int32_t dp, int32_t pp)
{
    int64_t most = -1;
    int32_t found = 0;

    for (int32_t cp = 0; cp < e->step->degrees.cp; cp++) {
        sp_stage_view stage = SP_STAGE_VIEW_INIT;
        int32_t rank = cli_step_rank(e->step, dp, pp, cp);

        sp_simulation_stage(e->step->simulation, rank, &stage);
        if (stage.peak_bytes > most) {
            most = stage.peak_bytes;
            found = rank;
        }
    }
    return found;
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

/* The first value, the unit of all differences (0: none) and these in that unit. */
static void put_kind(const encoder *e, int kind, cli_packed *out)
{
    const int64_t *bytes = e->bytes + kind;
    int64_t unit = 0;

    for (int32_t i = 1; i < e->step->ops; i++)
        unit = common_divisor(unit, bytes[(int64_t)i * SP_MEMORY_KINDS] -
                                        bytes[(int64_t)(i - 1) * SP_MEMORY_KINDS]);
    cli_pack(out, (uint64_t)bytes[0]);
    cli_pack(out, (uint64_t)unit);
    for (int32_t i = 1; i < e->step->ops && unit > 0; i++)
        cli_pack_signed(out, (bytes[(int64_t)i * SP_MEMORY_KINDS] -
                              bytes[(int64_t)(i - 1) * SP_MEMORY_KINDS]) / unit);
}

/* A block of its own, so that a page need not read what nobody looks at. */
static void put_memory(encoder *e, int32_t rank)
{
    cli_packed block = { NULL, 0, 0, 0 };

    sp_simulation_memory(e->step->simulation, rank, e->bytes);
    for (int kind = 0; kind < SP_MEMORY_KINDS; kind++)
        put_kind(e, kind, &block);
    cli_pack_block(e->out, &block);
    cli_packed_free(&block);
}

static void put_device(encoder *e, int32_t dp, int32_t pp)
{
    int32_t rank = fullest(e, dp, pp);
    sp_device_view d = SP_DEVICE_VIEW_INIT;
    sp_stage_view s = SP_STAGE_VIEW_INIT;

    sp_simulation_device(e->step->simulation, rank, &d);
    sp_simulation_stage(e->step->simulation, rank, &s);
    cli_pack(e->out, (uint64_t)rank);
    cli_pack(e->out, (uint64_t)d.forward_ps);
    cli_pack(e->out, (uint64_t)d.backward_ps);
    cli_pack(e->out, (uint64_t)d.weight_ps);
    cli_pack(e->out, (uint64_t)d.communication_ps);
    cli_pack(e->out, (uint64_t)d.bubble_ps);
    cli_pack(e->out, (uint64_t)s.peak_bytes);
    cli_pack(e->out, (uint64_t)s.peak_live_tokens);
    put_memory(e, rank);
}

static int reserve(encoder *e)
{
    size_t kinds = 3 * (size_t)e->step->chunks;

    e->durations = malloc(kinds * (most_packs(e) + 1) * sizeof *e->durations);
    e->next = malloc(kinds * sizeof *e->next);
    e->last = malloc(kinds * sizeof *e->last);
    e->bytes = malloc((size_t)e->step->ops * SP_MEMORY_KINDS * sizeof *e->bytes);
    return e->durations != NULL && e->next != NULL && e->last != NULL && e->bytes != NULL;
}

static void put_all(encoder *e)
{
    const sp_coordinates *d = &e->step->degrees;

    put_batch(e);
    for (int32_t dp = 0; dp < d->dp; dp++) {
        put_packs(e, dp, SP_FORWARD);
        put_packs(e, dp, SP_BACKWARD);
    }
    for (int32_t dp = 0; dp < d->dp; dp++)
        for (int32_t pp = 0; pp < d->pp; pp++)
            put_ops(e, dp, pp);
    for (int32_t dp = 0; dp < d->dp && e->step->simulation != NULL; dp++)
        for (int32_t pp = 0; pp < d->pp; pp++)
            put_device(e, dp, pp);
}

void cli_page_data(const cli_step *step, cli_packed *out)
{
    encoder e = { step, out, { 0, 0 }, NULL, NULL, NULL, NULL };

    e.packs[0] = sp_schedule_pack_count(step->schedule, SP_FORWARD);
    e.packs[1] = sp_schedule_pack_count(step->schedule, SP_BACKWARD);
    if (reserve(&e))
        put_all(&e);
    else
        out->failed = 1;
    free(e.durations);
    free(e.next);
    free(e.last);
    free(e.bytes);
}
