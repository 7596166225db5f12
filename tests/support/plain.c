/*
 * plain.c - copies a schedule through its public queries: see plain.h.
 *
 * The number of packs of a replica is found by asking until the answer is
 * SP_ERR_RANGE, so that unequal replicas would show.
 */
#include "plain.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "views.h"

#define CHUNK_BYTES ((size_t)1 << 18)

typedef struct plain_chunk {
    struct plain_chunk *next;
    size_t used, size;
    _Alignas(max_align_t) char data[];
} plain_chunk;

/* What reading needs at every step. */
typedef struct reader {
    const sp_schedule *schedule;
    const sp_topology *topology;
    int64_t pad_multiple;
    plain_plan *plan;
    char *why;
    size_t why_size;
} reader;

#define REFUSE(r, code, ...) return (snprintf((r)->why, (r)->why_size, __VA_ARGS__), (code))
#define TRY(expression)           \
    do {                          \
        int code_ = (expression); \
        if (code_ != 0)           \
            return code_;         \
    } while (0)

static plain_chunk *new_chunk(size_t bytes, plain_chunk *next)
{
    plain_chunk *c = malloc(sizeof *c + bytes);

    if (c == NULL) {
        fprintf(stderr, "plain_take: no memory for %zu bytes\n", bytes);
        abort();
    }
    c->next = next;
    c->used = 0;
    c->size = bytes;
    return c;
}

void *plain_take(plain_plan *plan, int64_t count, size_t size)
{
    size_t bytes = ((size_t)count * size + 15) / 16 * 16;
    plain_chunk *c = plan->memory;
    void *out;

    if (c == NULL || c->size - c->used < bytes)
        c = plan->memory = new_chunk(bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES, c);
    out = c->data + c->used;
    c->used += bytes;
    return memset(out, 0, bytes);
}

void plain_free(plain_plan *plan)
{
    while (plan->memory != NULL) {
        plain_chunk *next = plan->memory->next;

        free(plan->memory);
        plan->memory = next;
    }
}

static int read_shape(reader *r)
{
    plain_plan *p = r->plan;
    sp_coordinates at = SP_COORDINATES_INIT;

    if (sp_topology_degrees(r->topology, &at) != SP_OK)
        REFUSE(r, CHECK_VIEWS, "sp_topology_degrees: %s", sp_error_message());
    p->dp = at.dp;
    p->tp = at.tp;
    p->pp = at.pp;
    p->cp = at.cp;
    p->rank = plain_take(p, (int64_t)p->dp * p->pp * p->cp, sizeof *p->rank);
    for (int32_t i = 0; i < p->dp * p->pp * p->cp; i++) {
        at.dp = i / p->cp / p->pp;
        at.tp = 0;
        at.pp = i / p->cp % p->pp;
        at.cp = i % p->cp;
        if (sp_topology_rank(r->topology, &at, &p->rank[i]) != SP_OK)
            REFUSE(r, CHECK_VIEWS, "sp_topology_rank: %s", sp_error_message());
    }
    return 0;
}

static int read_merges(reader *r)
{
    plain_plan *p = r->plan;
    sp_merge_view past = SP_MERGE_VIEW_INIT;

    p->merges = sp_schedule_merge_count(r->schedule);
    p->merge = plain_take(p, p->merges, sizeof *p->merge);
    for (int32_t g = 0; g < p->merges; g++) {
        p->merge[g] = past;
        if (sp_schedule_merge(r->schedule, g, &p->merge[g]) != SP_OK)
            REFUSE(r, CHECK_VIEWS, "merge %" PRId32 ": %s", g, sp_error_message());
    }
    if (sp_schedule_merge(r->schedule, p->merges, &past) != SP_ERR_RANGE)
        REFUSE(r, CHECK_VIEWS, "merge %" PRId32 " is past the last, but not refused", p->merges);
    return 0;
}

static int32_t count_packs(reader *r, int32_t replica, int pass)
{
    sp_slice_view view = SP_SLICE_VIEW_INIT;
    int32_t count = 0;

    while (sp_schedule_pack_slices(r->schedule, replica, pass, count, &view) == SP_OK)
        count++;
    return count;
}

static int read_slices(reader *r, int32_t replica, int pass, int32_t k, plain_pack *pack)
{
    sp_slice_view v = SP_SLICE_VIEW_INIT;

    if (sp_schedule_pack_slices(r->schedule, replica, pass, k, &v) != SP_OK)
        REFUSE(r, CHECK_VIEWS, "replica %" PRId32 ": %s", replica, sp_error_message());
    pack->merge = v.merge;
    pack->count = v.count;
    pack->tokens = v.tokens;
    pack->slice = plain_take(r->plan, v.count, sizeof *pack->slice);
    for (int32_t i = 0; i < v.count; i++)
        pack->slice[i] = (plain_piece){ v.sample[i], v.start[i], v.length[i] };
    return 0;
}

static void copy_part(plain_plan *p, const sp_pack_view *v, plain_part *part)
{
    part->flags = v->flags;
    part->count = v->count;
    part->tokens = v->tokens;
    part->padded_tokens = v->padded_tokens;
    part->shard = plain_take(p, v->count, sizeof *part->shard);
    for (int32_t j = 0; j < v->count; j++)
        part->shard[j] = (plain_piece){ v->sample[j], v->start[j],
                                        v->cu_seqlens_q[j + 1] - v->cu_seqlens_q[j] };
}

/* Global rank of some coordinates; those of a plan always exist. */
static int32_t rank_of(const reader *r, int32_t dp, int32_t tp, int32_t pp, int32_t cp)
{
    sp_coordinates at = { sizeof at, dp, tp, pp, cp };
    int32_t rank = -1;

    sp_topology_rank(r->topology, &at, &rank);
    return rank;
}

/* One rank's view of a pack, against the one that was read first. */
static int read_view(reader *r, int32_t rank, int pass, int32_t k, const plain_pack *pack,
                     sp_pack_view *v)
{
    view_block block;
    char words[160];

    if (sp_schedule_pack(r->schedule, rank, pass, k, v) != SP_OK ||
        sp_schedule_block(r->schedule, rank, &block.data, &block.bytes) != SP_OK)
        REFUSE(r, CHECK_VIEWS, "rank %" PRId32 ": %s", rank, sp_error_message());
    if (view_check(v, &block, r->pad_multiple, words, sizeof words) != 0)
        REFUSE(r, CHECK_VIEWS, "rank %" PRId32 ", pass %d, pack %" PRId32 ": %s", rank, pass, k,
               words);
    if (v->merge != pack->merge || v->pack_tokens != pack->tokens)
        REFUSE(r, CHECK_VIEWS, "rank %" PRId32 ", pass %d, pack %" PRId32 ": merge %" PRId32
               " and %" PRId64 " pack tokens, its slices say %" PRId32 " and %" PRId64, rank, pass,
               k, v->merge, v->pack_tokens, pack->merge, pack->tokens);
    return 0;
}

/* All stages and TP ranks of a CP rank must be shown the same. */
static int read_part(reader *r, int32_t replica, int pass, int32_t k, int32_t cp)
{
    plain_plan *p = r->plan;
    const plain_pack *pack = &p->replica[replica].pack[pass][k];
    sp_pack_view first = SP_PACK_VIEW_INIT;

    TRY(read_view(r, rank_of(r, replica, 0, 0, cp), pass, k, pack, &first));
    for (int32_t i = 1; i < p->pp * p->tp; i++) {
        sp_pack_view other = SP_PACK_VIEW_INIT;
        int32_t rank = rank_of(r, replica, i % p->tp, i / p->tp, cp);

        TRY(read_view(r, rank, pass, k, pack, &other));
        if (!view_equal(&first, &other))
            REFUSE(r, 9, "I9: rank %" PRId32 " is shown another pack %" PRId32
                   " of pass %d than rank %" PRId32, rank, k, pass, rank_of(r, replica, 0, 0, cp));
    }
    copy_part(p, &first, plain_part_at(p, replica, pass, k, cp));
    return 0;
}

static int read_pass(reader *r, int32_t replica, int pass)
{
    plain_plan *p = r->plan;
    plain_replica *out = &p->replica[replica];

    out->packs[pass] = count_packs(r, replica, pass);
    if (out->packs[pass] != sp_schedule_pack_count(r->schedule, pass))
        REFUSE(r, 6, "I6: replica %" PRId32 " has %" PRId32 " packs of pass %d, %" PRId32
               " are due",
               replica, out->packs[pass], pass, sp_schedule_pack_count(r->schedule, pass));
    out->pack[pass] = plain_take(p, out->packs[pass], sizeof *out->pack[pass]);
    out->part[pass] = plain_take(p, (int64_t)out->packs[pass] * p->cp, sizeof *out->part[pass]);
    for (int32_t k = 0; k < out->packs[pass]; k++) {
        TRY(read_slices(r, replica, pass, k, &out->pack[pass][k]));
        for (int32_t c = 0; c < p->cp; c++)
            TRY(read_part(r, replica, pass, k, c));
    }
    return 0;
}

/* Peers are ranks of the same TP index, so they shift with it. */
static int same_op(const sp_op_view *a, const sp_op_view *b)
{
    return a->pass == b->pass && a->pack == b->pack && a->chunk == b->chunk &&
           a->merge == b->merge &&
           (a->recv_rank < 0) == (b->recv_rank < 0) && (a->send_rank < 0) == (b->send_rank < 0) &&
           a->recv_tokens == b->recv_tokens && a->send_tokens == b->send_tokens &&
           a->start_ps == b->start_ps && a->end_ps == b->end_ps;
}

static int32_t shifted(const reader *r, int32_t rank, int32_t tp)
{
    sp_coordinates at = SP_COORDINATES_INIT;

    if (rank < 0 || sp_topology_coordinates(r->topology, rank, &at) != SP_OK)
        return -1;
    return rank_of(r, at.dp, tp, at.pp, at.cp);
}

static int read_op(reader *r, int32_t replica, int32_t stage, int32_t cp, int32_t i,
                   sp_op_view *out)
{
    for (int32_t tp = 0; tp < r->plan->tp; tp++) {
        int32_t rank = rank_of(r, replica, tp, stage, cp);
        sp_op_view op = SP_OP_VIEW_INIT;

        if (sp_schedule_op(r->schedule, rank, i, &op) != SP_OK)
            REFUSE(r, CHECK_VIEWS, "rank %" PRId32 ": %s", rank, sp_error_message());
        if (tp == 0)
            *out = op;
        if (!same_op(out, &op) || op.recv_rank != shifted(r, out->recv_rank, tp) ||
            op.send_rank != shifted(r, out->send_rank, tp))
            REFUSE(r, 9, "I9: rank %" PRId32 " is shown another op %" PRId32 " than TP rank 0",
                   rank,
                   i);
    }
    return 0;
}

static int read_stage(reader *r, int32_t replica, int32_t stage, int32_t cp, sp_stage_view *out)
{
    for (int32_t tp = 0; tp < r->plan->tp; tp++) {
        int32_t rank = rank_of(r, replica, tp, stage, cp);
        sp_stage_view view = SP_STAGE_VIEW_INIT;

        if (sp_schedule_stage(r->schedule, rank, &view) != SP_OK)
            REFUSE(r, CHECK_VIEWS, "rank %" PRId32 ": %s", rank, sp_error_message());
        if (tp == 0)
            *out = view;
        if (memcmp(out, &view, sizeof view) != 0)
            REFUSE(r, 9, "I9: rank %" PRId32 " is shown another memory than TP rank 0", rank);
    }
    return 0;
}

static int read_ops(reader *r, int32_t replica)
{
    plain_plan *p = r->plan;
    plain_replica *out = &p->replica[replica];

    out->ops = sp_schedule_op_count(r->schedule);
    out->op = plain_take(p, (int64_t)p->pp * p->cp * out->ops, sizeof *out->op);
    out->stage = plain_take(p, (int64_t)p->pp * p->cp, sizeof *out->stage);
    for (int32_t s = 0; s < p->pp; s++)
        for (int32_t c = 0; c < p->cp; c++) {
            for (int32_t i = 0; i < out->ops; i++)
                TRY(read_op(r, replica, s, c, i, &plain_ops_at(p, replica, s, c)[i]));
            TRY(read_stage(r, replica, s, c, &out->stage[(int64_t)s * p->cp + c]));
        }
    return 0;
}

static int read_all(reader *r)
{
    plain_plan *p = r->plan;
    const sp_stats none = SP_STATS_INIT;
    sp_pipeline_view pipeline = SP_PIPELINE_VIEW_INIT;

    p->stats = none;
    if (sp_schedule_stats(r->schedule, &p->stats) != SP_OK)
        REFUSE(r, CHECK_VIEWS, "sp_schedule_stats: %s", sp_error_message());
    TRY(read_shape(r));
    if (sp_schedule_pipeline(r->schedule, &pipeline) != SP_OK)
        REFUSE(r, CHECK_VIEWS, "sp_schedule_pipeline: %s", sp_error_message());
    p->chunks = pipeline.virtual_stages;
    p->split = pipeline.pipeline == SP_PIPELINE_ZERO_BUBBLE;
    p->samples = p->stats.samples;
    p->lengths = plain_take(p, p->samples, sizeof *p->lengths);
    memcpy(p->lengths, sp_schedule_lengths(r->schedule), (size_t)p->samples * sizeof *p->lengths);
    TRY(read_merges(r));
    p->replica = plain_take(p, p->dp, sizeof *p->replica);
    for (int32_t d = 0; d < p->dp; d++) {
        TRY(read_pass(r, d, SP_FORWARD));
        TRY(read_pass(r, d, SP_BACKWARD));
        TRY(read_ops(r, d));
    }
    return 0;
}

int plain_read(const sp_schedule *schedule, const sp_topology *topology, int64_t pad_multiple,
               plain_plan *out, char *why, size_t why_size)
{
    reader r = { schedule, topology, pad_multiple, out, why, why_size };
    int code;

    memset(out, 0, sizeof *out);
    code = read_all(&r);
    if (code != 0)
        plain_free(out);
    return code;
}
