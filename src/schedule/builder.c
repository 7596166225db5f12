/*
 * builder.c - takes the parts of a schedule that a caller lists: see the header.
 *
 * Parts are kept as they come, in growing arrays; nothing is trusted until
 * sp_builder_finish() has written them into a schedule and checked it: finish.c.
 */
#include <inttypes.h>
#include <string.h>

#include "base/arith.h"
#include "base/status.h"
#include "input/batch.h"
#include "schedule/builder.h"

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
    b->alignment = b->pad_multiple = 1;
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

sp_status sp_builder_set_pad_multiple(sp_builder *b, int32_t pad_multiple)
{
    if (b == NULL)
        return sp__fail_null("builder");
    SP_TRY(check_bounds("pad_multiple", pad_multiple, 1, SP_PAD_MULTIPLE_MAX));
    b->pad_multiple = pad_multiple;
    return SP_OK;
}

sp_status sp_builder_set_lockstep(sp_builder *b, int32_t lockstep)
{
    if (b == NULL)
        return sp__fail_null("builder");
    SP_TRY(check_bounds("lockstep", lockstep, 0, 1));
    b->lockstep = lockstep;
    return SP_OK;
}

sp_status sp_builder_set_pipeline(sp_builder *b, int32_t virtual_stages, int32_t pipeline)
{
    if (b == NULL)
        return sp__fail_null("builder");
    SP_TRY(check_bounds("virtual_stages", virtual_stages, 1, SP_VIRTUAL_STAGES_MAX));
    SP_TRY(check_bounds("pipeline", pipeline, SP_PIPELINE_1F1B, SP_PIPELINE_ZERO_BUBBLE));
    if (virtual_stages > 1 && b->shape.degree[SP__PP] == 1)
        return sp__fail(SP_ERR_RANGE, "virtual_stages: %" PRId32
                        " chunks a stage need a pipeline of at least 2 stages, but pp is 1",
                        virtual_stages);
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

static sp_status reserve_parts(sp_builder *b, built_list *list, int32_t count)
{
    triples *t = &list->parts;

    return sp__grow(&b->alloc, (void **)&t->data, &t->capacity, t->count + count,
                    3 * sizeof *t->data);
}

/* To the last pack; there is room. */
static void add_parts(built_list *list, int32_t count, const int32_t *parts)
{
    triples *t = &list->parts;

    if (count > 0)
        memcpy(t->data + 3 * t->count, parts, 3 * (size_t)count * sizeof *parts);
    t->count += count;
    list->pack[list->packs - 1].count += count;
}

static sp_status reserve_pack(sp_builder *b, built_list *list)
{
    return sp__grow(&b->alloc, (void **)&list->pack, &list->capacity, list->packs + 1,
                    sizeof *list->pack);
}

/* There is room. */
static void open_pack(built_list *list, int32_t merge)
{
    list->pack[list->packs++] = (built_pack){ list->parts.count, 0, merge };
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

/* Every rank gets the pack too, empty until its shards are added. All memory is there
 * before any list changes, so that they stay of one length. */
sp_status sp_builder_add_pack(sp_builder *b, int32_t replica, sp_pass pass, int32_t merge,
                              int32_t count, const int32_t *slices)
{
    built_list *list, *ranks;
    int32_t cp;

    SP_TRY(check_pack_arguments(b, replica, pass, count, slices, "slices"));
    SP_TRY(check_bounds("merge", merge, -1, b->merges - 1));
    list = &b->slices[pass][replica];
    cp = b->shape.degree[SP__CP];
    SP_TRY(check_bounds("packs", list->packs, 0, INT32_MAX - 1));
    ranks = &b->shards[pass][(int64_t)replica * cp];
    for (int32_t c = 0; c < cp; c++)
        SP_TRY(reserve_pack(b, &ranks[c]));
    SP_TRY(reserve_pack(b, list));
    SP_TRY(reserve_parts(b, list, count));
    for (int32_t c = 0; c < cp; c++)
        open_pack(&ranks[c], merge);
    open_pack(list, merge);
    add_parts(list, count, slices);
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
    SP_TRY(reserve_parts(b, list, count));
    add_parts(list, count, shards);
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
