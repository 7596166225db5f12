/*
 * query.c - reads a finished plan: every answer is a look at what stands there.
 */
#include <inttypes.h>

#include "base/abi.h"
#include "base/first.h"
#include "base/status.h"
#include "schedule/schedule.h"

static sp_status check_index(const char *argument, int64_t value, int64_t count)
{
    if (count == 0)
        return sp__fail(SP_ERR_RANGE, "%s: %" PRId64 ", but there is none", argument, value);
    if (value < 0 || value >= count)
        return sp__fail(SP_ERR_RANGE, "%s: %" PRId64 " is outside 0 to %" PRId64, argument, value,
                        count - 1);
    return SP_OK;
}

static sp_status check_replica(const sp_schedule *s, int32_t replica)
{
    if (replica < s->first_lane || replica >= s->first_lane + s->lanes)
        return sp__fail(SP_ERR_STATE,
                        "replica %" PRId32 ": this part of the schedule holds replicas %" PRId32
                        " to %" PRId32,
                        replica, s->first_lane, s->first_lane + s->lanes - 1);
    return SP_OK;
}

static sp_status check_rank(const sp_schedule *s, int32_t rank)
{
    if (s == NULL)
        return sp__fail_null("schedule");
    SP_TRY(check_index("rank", rank, s->shape.size));
    return check_replica(s, sp__shape_index(&s->shape, SP__DP, rank));
}

sp_status sp__need_whole(const struct sp_schedule *s)
{
    if (sp__is_part(s))
        return sp__fail(SP_ERR_STATE, "schedule: %" PRId32 " of %" PRId32
                        " replicas are here; this needs all", s->lanes, s->shape.degree[SP__DP]);
    return SP_OK;
}

/* The pass that has the packs of an op's pass, which a caller hands on as it is. */
static sp_status find_pack(const sp_schedule *s, sp_pass *pass, int32_t pack)
{
    SP_TRY(check_index("pass", *pass, SP_WEIGHT + 1));
    *pass = sp__pack_pass(*pass);
    return check_index("pack", pack, s->packs[*pass]);
}

static int32_t lane_of(const sp_schedule *s, int32_t rank)
{
    return sp__shape_index(&s->shape, SP__DP, rank) - s->first_lane;
}

static int32_t cp_of(const sp_schedule *s, int32_t rank)
{
    return sp__shape_index(&s->shape, SP__CP, rank);
}

static int32_t pp_of(const sp_schedule *s, int32_t rank)
{
    return sp__shape_index(&s->shape, SP__PP, rank);
}

int32_t sp_schedule_pack_count(const sp_schedule *s, sp_pass pass)
{
    return pass >= SP_FORWARD && pass <= SP_WEIGHT ? s->packs[sp__pack_pass(pass)] : -1;
}

sp_status sp_schedule_pack(const sp_schedule *s, int32_t rank, sp_pass pass, int32_t pack,
                           sp_pack_view *view)
{
    sp_pack_view v = SP_PACK_VIEW_INIT;
    const sp__shards *x;
    int64_t index;

    SP_TRY(check_rank(s, rank));
    SP_TRY(find_pack(s, &pass, pack));
    index = (int64_t)lane_of(s, rank) * s->packs[pass] + pack;
    x = sp__rank_shards(s, lane_of(s, rank), cp_of(s, rank), pass, pack);
    v.count = x->count;
    v.merge = s->pack_merge[pass][index];
    v.flags = x->flags;
    v.max_seqlen_q = x->max_q;
    v.max_seqlen_k = x->max_k;
    v.sample = sp__shard_samples(s, x);
    v.start = sp__shard_starts(s, x);
    v.cu_seqlens_q = sp__shard_cu_q(s, x);
    v.cu_seqlens_k = sp__shard_cu_k(s, x);
    v.cu_seqlens_q_padded = sp__shard_cu_padded(s, x);
    v.tokens = v.cu_seqlens_q[x->count];
    v.padded_tokens = v.cu_seqlens_q_padded[x->count];
    v.pack_tokens = s->pack_tokens[pass][index];
    return sp__struct_out(view, &v, sizeof v, SP__FIRST_PACK_VIEW, "view");
}

sp_status sp_schedule_pack_slices(const sp_schedule *s, int32_t replica, sp_pass pass,
                                  int32_t pack, sp_slice_view *view)
{
    sp_slice_view v = SP_SLICE_VIEW_INIT;
    int64_t index, first;

    if (s == NULL)
        return sp__fail_null("schedule");
    SP_TRY(check_index("replica", replica, s->shape.degree[SP__DP]));
    SP_TRY(check_replica(s, replica));
    SP_TRY(find_pack(s, &pass, pack));
    index = ((int64_t)replica - s->first_lane) * s->packs[pass] + pack;
    first = s->slice_first[pass][index];
    v.count = (int32_t)(s->slice_first[pass][index + 1] - first);
    v.merge = s->pack_merge[pass][index];
    v.sample = s->sample[pass] + first;
    v.start = s->start[pass] + first;
    v.length = s->length[pass] + first;
    v.tokens = s->pack_tokens[pass][index];
    return sp__struct_out(view, &v, sizeof v, SP__FIRST_SLICE_VIEW, "view");
}

sp_status sp_schedule_block(const sp_schedule *s, int32_t rank, const void **data, size_t *bytes)
{
    int64_t block;

    SP_TRY(check_rank(s, rank));
    if (data == NULL || bytes == NULL)
        return sp__fail_null(data == NULL ? "data" : "bytes");
    block = (int64_t)lane_of(s, rank) * s->shape.degree[SP__CP] + cp_of(s, rank);
    *data = s->pool + s->block_first[block];
    *bytes = (size_t)(s->block_first[block + 1] - s->block_first[block]) * sizeof *s->pool;
    return SP_OK;
}

int32_t sp_schedule_op_count(const sp_schedule *s)
{
    return s->timeline.ops;
}

sp_status sp_schedule_pipeline(const sp_schedule *s, sp_pipeline_view *view)
{
    sp_pipeline_view v = SP_PIPELINE_VIEW_INIT;

    if (s == NULL)
        return sp__fail_null("schedule");
    v.virtual_stages = s->flow.chunks;
    v.pipeline = s->flow.split ? SP_PIPELINE_ZERO_BUBBLE : SP_PIPELINE_1F1B;
    return sp__struct_out(view, &v, sizeof v, SP__FIRST_PIPELINE_VIEW, "view");
}

/* Rank of the virtual stage at distance step from a rank's chunk, -1 past the ends. */
static int32_t neighbour(const sp_schedule *s, int32_t rank, int32_t chunk, int32_t step)
{
    int32_t pp = s->shape.degree[SP__PP], stage = pp_of(s, rank);
    int32_t virtual_stage = chunk * pp + stage + step;

    return virtual_stage < 0 || virtual_stage >= pp * s->flow.chunks
               ? -1 : rank + (virtual_stage % pp - stage) * s->shape.stride[SP__PP];
}

/* Whom an op exchanges its pack's tokens with. */
static void set_peers(const sp_schedule *s, int32_t rank, sp_op_view *v)
{
    const sp__shards *x = sp__rank_shards(s, lane_of(s, rank), cp_of(s, rank),
                                          sp__pack_pass(v->pass), v->pack);
    int32_t towards = v->pass == SP_FORWARD ? 1 : -1;

    v->recv_rank = v->send_rank = -1;
    if (v->pass == SP_WEIGHT)
        return;
    v->recv_rank = neighbour(s, rank, v->chunk, -towards);
    v->send_rank = neighbour(s, rank, v->chunk, towards);
    v->recv_tokens = v->recv_rank < 0 ? 0 : sp__shard_cu_q(s, x)[x->count];
    v->send_tokens = v->send_rank < 0 ? 0 : sp__shard_cu_q(s, x)[x->count];
}

sp_status sp_schedule_op(const sp_schedule *s, int32_t rank, int32_t index, sp_op_view *view)
{
    sp_op_view v = SP_OP_VIEW_INIT;
    int64_t at;
    int pass;

    SP_TRY(check_rank(s, rank));
    SP_TRY(check_index("index", index, s->timeline.ops));
    at = ((int64_t)lane_of(s, rank) * s->shape.degree[SP__PP] + pp_of(s, rank)) * s->timeline.ops +
         index;
    v.pass = sp__op_pass(s->timeline.op[at]);
    v.pack = sp__op_pack(s->timeline.op[at]);
    v.chunk = sp__op_chunk(s->timeline.op[at]);
    pass = sp__pack_pass(v.pass);
    v.merge = s->pack_merge[pass][(int64_t)lane_of(s, rank) * s->packs[pass] + v.pack];
    v.start_ps = s->timeline.start[at];
    v.end_ps = s->timeline.end[at];
    set_peers(s, rank, &v);
    return sp__struct_out(view, &v, sizeof v, SP__FIRST_OP_VIEW, "view");
}

sp_status sp_schedule_stage(const sp_schedule *s, int32_t rank, sp_stage_view *view)
{
    SP_TRY(check_rank(s, rank));
    return sp__timeline_stage(&s->timeline, &s->shape, lane_of(s, rank), rank, view);
}

sp_status sp__timeline_stage(const sp__timeline *t, const sp__shape *shape, int32_t lane,
                             int32_t rank, sp_stage_view *view)
{
    sp_stage_view v = SP_STAGE_VIEW_INIT;
    int64_t stage = (int64_t)lane * shape->degree[SP__PP] +
                    sp__shape_index(shape, SP__PP, rank);
    const sp__stage_result *r =
        &t->stage[stage * shape->degree[SP__CP] + sp__shape_index(shape, SP__CP, rank)];

    v.static_bytes = r->static_bytes;
    v.peak_bytes = r->peak_bytes;
    v.peak_live_tokens = r->peak_live_tokens;
    v.busy_ps = r->busy_ps;
    return sp__struct_out(view, &v, sizeof v, SP__FIRST_STAGE_VIEW, "view");
}

int32_t sp_schedule_merge_count(const sp_schedule *s)
{
    return s->merges;
}

sp_status sp_schedule_merge(const sp_schedule *s, int32_t merge, sp_merge_view *view)
{
    sp_merge_view v = SP_MERGE_VIEW_INIT;

    if (s == NULL)
        return sp__fail_null("schedule");
    SP_TRY(check_index("merge", merge, s->merges));
    v.sample = s->merge[merge].sample;
    v.first_replica = s->merge[merge].first;
    v.replicas = s->merge[merge].replicas;
    return sp__struct_out(view, &v, sizeof v, SP__FIRST_MERGE_VIEW, "view");
}

const int64_t *sp_schedule_lengths(const sp_schedule *s)
{
    return s->lengths;
}

sp_status sp_schedule_stats(const sp_schedule *s, sp_stats *stats)
{
    if (s == NULL)
        return sp__fail_null("schedule");
    return sp__struct_out(stats, &s->stats, sizeof s->stats, SP__FIRST_STATS, "stats");
}
