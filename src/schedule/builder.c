/*
 * builder.c - makes a schedule from parts that a caller lists: see the header.
 *
 * Parts are kept as they come, in growing arrays; nothing is trusted until
 * sp_builder_finish() has written them into a schedule and checked it.
 */
#include <inttypes.h>
#include <string.h>

#include "base/arith.h"
#include "base/status.h"
#include "input/batch.h"
#include "schedule/check.h"
#include "schedule/writer.h"

/* A growing array of int32 triples (sample, start, length). */
typedef struct triples {
    int32_t *data;
    int64_t count, capacity;
} triples;

typedef struct built_pack {
    int64_t first; /* of the list's slices or shards */
    int32_t count;
    int32_t merge;
} built_pack;

/* Packs of one pass of a replica, or of one of its CP ranks (shards). */
typedef struct built_list {
    built_pack *pack;
    int64_t packs, capacity;
    triples parts;
} built_list;

typedef struct built_op {
    int64_t start, end;
    int32_t op; /* as sp__op() makes it */
} built_op;

typedef struct built_stage {
    built_op *op;
    int64_t ops, capacity;
    int64_t static_bytes, peak_bytes;
} built_stage;

struct sp_builder {
    sp__alloc alloc;
    sp__shape shape;
    int32_t samples, alignment;
    sp__flow flow;
    int64_t *lengths;
    int64_t memory;
    sp__merge *merge;
    int64_t merges, merge_capacity;
    built_list *slices[2]; /* [dp] */
    built_list *shards[2]; /* [dp * cp] */
    built_stage *stage;    /* [dp * pp] */
};

static sp_status alloc_lists(sp_builder *b)
{
    int64_t dp = b->shape.degree[SP__DP];

    for (int pass = 0; pass < 2; pass++) {
        b->slices[pass] = sp__alloc_zeroed(&b->alloc, dp, sizeof *b->slices[pass]);
        b->shards[pass] = sp__alloc_zeroed(&b->alloc, dp * b->shape.degree[SP__CP],
                                           sizeof *b->shards[pass]);
        if (b->slices[pass] == NULL || b->shards[pass] == NULL)
            return sp__fail_memory();
    }
    b->stage = sp__alloc_zeroed(&b->alloc, dp * b->shape.degree[SP__PP], sizeof *b->stage);
    return b->stage == NULL ? sp__fail_memory() : SP_OK;
}

sp_status sp_builder_create(const sp_topology *topology, const sp_batch *batch,
                            const sp_allocator *allocator, sp_builder **out)
{
    sp__alloc alloc;
    sp_builder *b;
    sp_status status;

    if (topology == NULL || batch == NULL || out == NULL)
        return sp__fail_null(topology == NULL ? "topology" : batch == NULL ? "batch" : "out");
    SP_TRY(sp__alloc_init(&alloc, allocator));
    b = sp__alloc_zeroed(&alloc, 1, sizeof *b);
    if (b == NULL)
        return sp__fail_memory();
    b->alloc = alloc;
    b->shape = topology->shape;
    b->samples = batch->count;
    b->alignment = 1;
    b->flow = (sp__flow){ 1, 0 };
    b->memory = INT64_MAX;
    b->lengths = sp__alloc_array(&alloc, batch->count, sizeof *b->lengths);
    status = b->lengths == NULL ? sp__fail_memory() : alloc_lists(b);
    if (status != SP_OK) {
        sp_builder_destroy(b);
        return status;
    }
    memcpy(b->lengths, batch->lengths, (size_t)batch->count * sizeof *b->lengths);
    *out = b;
    return SP_OK;
}

static void free_lists(sp_builder *b, built_list *lists, int64_t count)
{
    for (int64_t i = 0; lists != NULL && i < count; i++) {
        sp__free(&b->alloc, lists[i].pack);
        sp__free(&b->alloc, lists[i].parts.data);
    }
    sp__free(&b->alloc, lists);
}

void sp_builder_destroy(sp_builder *b)
{
    int64_t dp, stages;
    sp__alloc alloc;

    if (b == NULL)
        return;
    alloc = b->alloc;
    dp = b->shape.degree[SP__DP];
    stages = dp * b->shape.degree[SP__PP];
    for (int pass = 0; pass < 2; pass++) {
        free_lists(b, b->slices[pass], dp);
        free_lists(b, b->shards[pass], dp * b->shape.degree[SP__CP]);
    }
    for (int64_t i = 0; b->stage != NULL && i < stages; i++)
        sp__free(&alloc, b->stage[i].op);
    sp__free(&alloc, b->stage);
    sp__free(&alloc, b->merge);
    sp__free(&alloc, b->lengths);
    sp__free(&alloc, b);
}

static sp_status check_bounds(const char *argument, int64_t value, int64_t low, int64_t high)
{
    if (value < low || value > high)
        return sp__fail(SP_ERR_RANGE, "%s: %" PRId64 " is outside %" PRId64 " to %" PRId64,
                        argument, value, low, high);
    return SP_OK;
}

sp_status sp_builder_set_alignment(sp_builder *b, int32_t alignment)
{
    if (b == NULL)
        return sp__fail_null("builder");
    SP_TRY(check_bounds("alignment", alignment, 1, INT32_MAX));
    b->alignment = alignment;
    return SP_OK;
}

sp_status sp_builder_set_pipeline(sp_builder *b, int32_t virtual_stages, int32_t pipeline)
{
    if (b == NULL)
        return sp__fail_null("builder");
    SP_TRY(check_bounds("virtual_stages", virtual_stages, 1, SP_VIRTUAL_STAGES_MAX));
    SP_TRY(check_bounds("pipeline", pipeline, SP_PIPELINE_1F1B, SP_PIPELINE_ZERO_BUBBLE));
    b->flow = (sp__flow){ virtual_stages, pipeline == SP_PIPELINE_ZERO_BUBBLE };
    return SP_OK;
}

sp_status sp_builder_add_merge(sp_builder *b, int32_t sample, int32_t first, int32_t replicas)
{
    int32_t dp;

    if (b == NULL)
        return sp__fail_null("builder");
    dp = b->shape.degree[SP__DP];
    SP_TRY(check_bounds("sample", sample, 0, (int64_t)b->samples - 1));
    SP_TRY(check_bounds("first_replica", first, 0, dp - 1));
    SP_TRY(check_bounds("replicas", replicas, 2, dp - first));
    SP_TRY(check_bounds("merges", b->merges, 0, INT32_MAX - 1));
    SP_TRY(sp__grow(&b->alloc, (void **)&b->merge, &b->merge_capacity, b->merges + 1,
                    sizeof *b->merge));
    b->merge[b->merges++] = (sp__merge){ sample, first, replicas };
    return SP_OK;
}

static sp_status add_parts(sp_builder *b, built_list *list, int32_t count, const int32_t *parts)
{
    triples *t = &list->parts;

    SP_TRY(sp__grow(&b->alloc, (void **)&t->data, &t->capacity, t->count + count,
                    3 * sizeof *t->data));
    if (count > 0)
        memcpy(t->data + 3 * t->count, parts, 3 * (size_t)count * sizeof *parts);
    t->count += count;
    return SP_OK;
}

static sp_status open_pack(sp_builder *b, built_list *list, int32_t merge)
{
    SP_TRY(sp__grow(&b->alloc, (void **)&list->pack, &list->capacity, list->packs + 1,
                    sizeof *list->pack));
    list->pack[list->packs++] = (built_pack){ list->parts.count, 0, merge };
    return SP_OK;
}

static sp_status check_pack_arguments(const sp_builder *b, int32_t replica, sp_pass pass,
                                      int32_t count, const int32_t *parts, const char *name)
{
    if (b == NULL)
        return sp__fail_null("builder");
    SP_TRY(check_bounds("replica", replica, 0, b->shape.degree[SP__DP] - 1));
    SP_TRY(check_bounds("pass", pass, SP_FORWARD, SP_BACKWARD));
    SP_TRY(check_bounds("count", count, 0, INT32_MAX / 3));
    return count > 0 && parts == NULL ? sp__fail_null(name) : SP_OK;
}

/* Every rank gets the pack too, empty until its shards are added. When memory
 * runs out half-way the builder is of no more use than to be destroyed, and
 * finishing it reports unequal packs. */
sp_status sp_builder_add_pack(sp_builder *b, int32_t replica, sp_pass pass, int32_t merge,
                              int32_t count, const int32_t *slices)
{
    built_list *list;
    int32_t cp;

    SP_TRY(check_pack_arguments(b, replica, pass, count, slices, "slices"));
    SP_TRY(check_bounds("merge", merge, -1, b->merges - 1));
    list = &b->slices[pass][replica];
    cp = b->shape.degree[SP__CP];
    SP_TRY(check_bounds("packs", list->packs, 0, INT32_MAX - 1));
    for (int32_t c = 0; c < cp; c++)
        SP_TRY(open_pack(b, &b->shards[pass][(int64_t)replica * cp + c], merge));
    SP_TRY(open_pack(b, list, merge));
    SP_TRY(add_parts(b, list, count, slices));
    list->pack[list->packs - 1].count = count;
    return SP_OK;
}

sp_status sp_builder_add_shards(sp_builder *b, int32_t replica, sp_pass pass, int32_t cp,
                                int32_t count, const int32_t *shards)
{
    built_list *list;

    SP_TRY(check_pack_arguments(b, replica, pass, count, shards, "shards"));
    SP_TRY(check_bounds("cp", cp, 0, b->shape.degree[SP__CP] - 1));
    list = &b->shards[pass][(int64_t)replica * b->shape.degree[SP__CP] + cp];
    if (list->packs == 0)
        return sp__fail(SP_ERR_STATE, "replica %" PRId32 " has no pack to add shards to", replica);
    SP_TRY(check_bounds("count", list->pack[list->packs - 1].count + (int64_t)count, 0,
                        INT32_MAX / 5));
    SP_TRY(add_parts(b, list, count, shards));
    list->pack[list->packs - 1].count += count;
    return SP_OK;
}

static sp_status check_stage(const sp_builder *b, int32_t replica, int32_t stage)
{
    if (b == NULL)
        return sp__fail_null("builder");
    SP_TRY(check_bounds("replica", replica, 0, b->shape.degree[SP__DP] - 1));
    return check_bounds("stage", stage, 0, b->shape.degree[SP__PP] - 1);
}

sp_status sp_builder_add_op(sp_builder *b, int32_t replica, int32_t stage, sp_pass pass,
                            int32_t pack, int32_t chunk, int64_t start_ps, int64_t end_ps)
{
    built_stage *s;

    SP_TRY(check_stage(b, replica, stage));
    SP_TRY(check_bounds("pass", pass, SP_FORWARD, SP_WEIGHT));
    SP_TRY(check_bounds("pack", pack, 0, SP__OP_PACKS - 1));
    SP_TRY(check_bounds("chunk", chunk, 0, SP_VIRTUAL_STAGES_MAX - 1));
    SP_TRY(check_bounds("start_ps", start_ps, 0, INT64_MAX));
    SP_TRY(check_bounds("end_ps", end_ps, start_ps, INT64_MAX));
    s = &b->stage[(int64_t)replica * b->shape.degree[SP__PP] + stage];
    SP_TRY(sp__grow(&b->alloc, (void **)&s->op, &s->capacity, s->ops + 1, sizeof *s->op));
    s->op[s->ops++] = (built_op){ start_ps, end_ps, sp__op(pack, chunk, pass) };
    return SP_OK;
}

sp_status sp_builder_set_memory(sp_builder *b, int32_t replica, int32_t stage,
                                int64_t static_bytes, int64_t peak_bytes, int64_t memory_bytes)
{
    built_stage *s;

    SP_TRY(check_stage(b, replica, stage));
    SP_TRY(check_bounds("static_bytes", static_bytes, 0, INT64_MAX));
    SP_TRY(check_bounds("peak_bytes", peak_bytes, static_bytes, INT64_MAX));
    SP_TRY(check_bounds("memory_bytes", memory_bytes, 0, INT64_MAX));
    s = &b->stage[(int64_t)replica * b->shape.degree[SP__PP] + stage];
    s->static_bytes = static_bytes;
    s->peak_bytes = peak_bytes;
    b->memory = memory_bytes;
    return SP_OK;
}

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
    size.pad_multiple = 1;
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
