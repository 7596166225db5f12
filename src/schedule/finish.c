/*
 * finish.c - makes a schedule of the parts that a builder holds.
 *
 * Parts may be anything; what comes out has passed sp_schedule_check(). The builder
 * stays as it is, so that a caller may add what was missing and finish again.
 */
#include <inttypes.h>

#include "base/arith.h"
#include "base/status.h"
#include "schedule/builder.h"
#include "schedule/check.h"
#include "schedule/writer.h"

/* I6 and the part of I4 that says each stage runs as many ops as there are packs. */
static sp_status check_counts(const sp_builder *b)
{
    int32_t dp = b->shape.degree[SP__DP], pp = b->shape.degree[SP__PP];
    int64_t ops = b->flow.chunks * (b->slices[0][0].packs +
                                    b->slices[1][0].packs * (b->flow.split ? 2 : 1));

    for (int32_t r = 0; r < dp; r++)
        for (int pass = 0; pass < 2; pass++)
            if (b->slices[pass][r].packs != b->slices[pass][0].packs)
                return sp__fail(SP_ERR_INVARIANT, "I6: replica %" PRId32 " has %" PRId64
                                " %s packs, replica 0 has %" PRId64, r, b->slices[pass][r].packs,
                                pass == SP_FORWARD ? "forward" : "backward",
                                b->slices[pass][0].packs);
    for (int64_t i = 0; i < (int64_t)dp * pp; i++)
        if (b->stage[i].ops != ops)
            return sp__fail(SP_ERR_INVARIANT,
                            "I4: replica %" PRId64 ", stage %" PRId64 " has %" PRId64
                            " ops, but its packs make %" PRId64,
                            i / pp, i % pp, b->stage[i].ops, ops);
    return SP_OK;
}

static void measure(const sp_builder *b, sp__plan_size *size)
{
    int64_t ranks = (int64_t)b->shape.degree[SP__DP] * b->shape.degree[SP__CP];

    for (int64_t i = 0; i < ranks; i++)
        size->block_shards[i] = b->shards[0][i].parts.count + b->shards[1][i].parts.count;
    for (int pass = 0; pass < 2; pass++) {
        size->packs[pass] = (int32_t)b->slices[pass][0].packs;
        size->slices[pass] = 0;
        for (int32_t r = 0; r < b->shape.degree[SP__DP]; r++)
            size->slices[pass] += b->slices[pass][r].parts.count;
    }
}

static void write_slices(const sp_builder *b, struct sp_schedule *s, int pass)
{
    int64_t at = 0;

    for (int32_t r = 0; r < b->shape.degree[SP__DP]; r++)
        for (int32_t k = 0; k < s->packs[pass]; k++) {
            const built_list *list = &b->slices[pass][r];
            int64_t pack = (int64_t)r * s->packs[pass] + k;

            sp__schedule_begin_pack(s, pass, pack, list->pack[k].merge, at);
            for (int32_t i = 0; i < list->pack[k].count; i++) {
                const int32_t *t = list->parts.data + 3 * (list->pack[k].first + i);

                sp__schedule_put_slice(s, pass, pack, at++, t[0], t[1], t[2]);
            }
        }
}

/* Lengths and starts that would make offsets run backwards are refused here, since
 * offsets are all that is kept of them. */
static sp_status write_rank(const sp_builder *b, struct sp_schedule *s, int64_t rank)
{
    int64_t at = s->block_first[rank];

    for (int pass = 0; pass < 2; pass++)
        for (int32_t k = 0; k < s->packs[pass]; k++) {
            const built_list *list = &b->shards[pass][rank];
            sp__shards *x = &s->shards[pass][rank * s->packs[pass] + k];

            at = sp__schedule_begin_shards(s, x, at, list->pack[k].count);
            for (int32_t i = 0; i < x->count; i++) {
                const int32_t *t = list->parts.data + 3 * (list->pack[k].first + i);

                if (t[1] < 0 || t[2] < 1 || t[1] > INT32_MAX - t[2])
                    return sp__fail(SP_ERR_INVARIANT, "I1: shard [%" PRId32 ", +%" PRId32
                                    ") of sample %" PRId32 " is no range of tokens", t[1], t[2],
                                    t[0]);
                SP_TRY(sp__schedule_put_shard(s, x, i, t[0], t[1], t[2]));
            }
        }
    return SP_OK;
}

/* Most tokens between their forward and their backward on one rank of a stage. */
static int64_t peak_live_tokens(const struct sp_schedule *s, int64_t stage, int32_t cp)
{
    const sp__timeline *t = &s->timeline;
    int32_t dp = (int32_t)(stage / s->shape.degree[SP__PP]);
    int64_t live = 0, most = 0;

    for (int32_t i = 0; i < t->ops; i++) {
        int32_t op = t->op[stage * t->ops + i], k = sp__op_pack(op);
        int pass = sp__op_pass(op);
        const sp__shards *x;

        if (k >= s->packs[sp__pack_pass(pass)] || (pass == SP_BACKWARD && s->flow.split))
            continue; /* refused later, with its place; or still needed by its weights */
        x = sp__rank_shards(s, dp, cp, sp__pack_pass(pass), k);
        live += (pass == SP_FORWARD ? 1 : -1) * (int64_t)sp__shard_cu_q(s, x)[x->count];
        most = live > most ? live : most;
    }
    return most;
}

static void write_ops(const sp_builder *b, struct sp_schedule *s)
{
    int32_t cp = b->shape.degree[SP__CP];
    sp__timeline *t = &s->timeline;
    sp_stats *stats = &s->stats;

    for (int64_t i = 0; i < (int64_t)b->shape.degree[SP__DP] * b->shape.degree[SP__PP]; i++) {
        const built_stage *from = &b->stage[i];
        int64_t busy = 0;

        for (int32_t j = 0; j < t->ops; j++) {
            t->op[i * t->ops + j] = from->op[j].op;
            t->start[i * t->ops + j] = from->op[j].start;
            t->end[i * t->ops + j] = from->op[j].end;
            /* Ops that overlap are refused later; until then they may add up to any time. */
            if (sp__add_overflows(busy, from->op[j].end - from->op[j].start, &busy))
                busy = INT64_MAX;
            if (from->op[j].end > stats->makespan_ps)
                stats->makespan_ps = from->op[j].end;
        }
        for (int32_t c = 0; c < cp; c++) {
            int64_t live = peak_live_tokens(s, i, c);

            t->stage[i * cp + c] = (sp__stage_result){ from->static_bytes, from->peak_bytes, live,
                                                       busy };
            if (live > stats->peak_live_tokens)
                stats->peak_live_tokens = live;
        }
        if (from->peak_bytes > stats->peak_bytes)
            stats->peak_bytes = from->peak_bytes;
    }
}

/* Slices of all samples; those of a merge stand in each of its replicas. */
static int64_t count_slices(const struct sp_schedule *s)
{
    int64_t slices = 0;

    for (int64_t k = 0; k < (int64_t)s->shape.degree[SP__DP] * s->packs[SP_FORWARD]; k++) {
        int32_t g = s->pack_merge[SP_FORWARD][k];

        if (g < 0 || k / s->packs[SP_FORWARD] == s->merge[g].first)
            slices += s->slice_first[SP_FORWARD][k + 1] - s->slice_first[SP_FORWARD][k];
    }
    return slices;
}

static void write_stats(const sp_builder *b, struct sp_schedule *s)
{
    s->stats.samples = b->samples;
    for (int32_t i = 0; i < b->samples; i++)
        s->stats.tokens += b->lengths[i];
    s->stats.slices = count_slices(s);
    s->stats.merges = b->merges;
    s->stats.forward_packs = s->packs[0];
    s->stats.backward_packs = s->packs[1];
    s->stats.memory_bytes = b->memory;
}

static sp_status write_all(const sp_builder *b, struct sp_schedule *s)
{
    write_slices(b, s, SP_FORWARD);
    write_slices(b, s, SP_BACKWARD);
    for (int64_t i = 0; i < (int64_t)b->shape.degree[SP__DP] * b->shape.degree[SP__CP]; i++)
        SP_TRY(write_rank(b, s, i));
    s->lockstep = b->lockstep;
    write_ops(b, s);
    write_stats(b, s);
    return sp_schedule_check(s);
}

sp_status sp_builder_finish(const sp_builder *b, sp_schedule **out)
{
    sp__plan_size size = { 0 };
    struct sp_schedule *s = NULL;
    sp_status status;

    if (b == NULL || out == NULL)
        return sp__fail_null(b == NULL ? "builder" : "out");
    SP_TRY(check_counts(b));
    size.shape = b->shape;
    size.lanes = b->shape.degree[SP__DP];
    size.samples = b->samples;
    size.merges = (int32_t)b->merges;
    size.alignment = b->alignment;
    size.pad_multiple = b->pad_multiple;
    size.flow = b->flow;
    size.block_shards = sp__alloc_array(&b->alloc, (int64_t)b->shape.degree[SP__DP] *
                                        b->shape.degree[SP__CP], sizeof *size.block_shards);
    if (size.block_shards == NULL)
        return sp__fail_memory();
    measure(b, &size);
    status = sp__schedule_open(&b->alloc, NULL, &size, b->lengths, b->merge, &s);
    sp__free(&b->alloc, size.block_shards);
    if (status == SP_OK)
        status = write_all(b, s);
    if (status != SP_OK) {
        sp_schedule_destroy(s);
        return status;
    }
    *out = s;
    return SP_OK;
}
