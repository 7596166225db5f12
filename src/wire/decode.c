/*
 * decode.c - bytes become a schedule, or one rank's part of it: wire.h says what they are.
 *
 * Nothing in them is trusted. The head is checked against the bytes that are there;
 * counts are checked against the bytes that must follow before anything is allocated by
 * them; all that is to be read is read once to measure and to check, then once to fill
 * the schedule in; and a whole plan has to keep its invariants and its digest.
 */
#include <inttypes.h>
#include <string.h>

#include "base/status.h"
#include "wire/lane.h"

typedef struct decoder {
    sp__arena arena;
    sp__source src;
    uint64_t digest;
    size_t bytes;
    int32_t first_lane, lanes; /* in the bytes */
    int64_t *lengths;
    sp__merge *merge;
    sp_stats stats;
    int32_t lockstep;
    size_t *section; /* [lanes + 1] where each begins */
    sp__lane_reader reader;
} decoder;

static sp_status check_head(const uint8_t *bytes, size_t size)
{
    if (size < SP__WIRE_HEAD)
        return sp__fail(SP_ERR_FORMAT, "bytes: %zu are fewer than the %d of an encoded plan's head",
                        size, SP__WIRE_HEAD);
    if (memcmp(bytes, SP__WIRE_MAGIC, 8) != 0)
        return sp__fail(SP_ERR_FORMAT,
                        "bytes: no encoded plan, they do not begin with \"slimpack\"");
    if (sp__get_fixed(bytes + 8, 4) != SP_WIRE_VERSION)
        return sp__fail(SP_ERR_FORMAT, "bytes: version %" PRIu64 ", this library reads %d",
                        sp__get_fixed(bytes + 8, 4), SP_WIRE_VERSION);
    if (sp__get_fixed(bytes + 16, 8) != size)
        return sp__fail(SP_ERR_FORMAT, "bytes: %zu are here of the %" PRIu64 " that were written",
                        size, sp__get_fixed(bytes + 16, 8));
    if (sp__get_fixed(bytes + 12, 4) != 0 ||
        sp__get_fixed(bytes + 24, 8) !=
            sp__checksum(bytes + SP__WIRE_SUMMED, size - SP__WIRE_SUMMED))
        return sp__fail(SP_ERR_FORMAT, "bytes: damaged, their checksum is another");
    return SP_OK;
}

static int32_t get_int32(sp__source *src, int64_t least, int64_t most)
{
    return (int32_t)sp__get_within(src, least, most);
}

/* The degrees make a topology, and the strides are those of an order of its axes. */
static sp_status get_shape(sp__source *src, sp__shape *shape)
{
    int64_t stride = 1;
    int placed = 0;

    for (int axis = 0; axis < SP__AXES; axis++)
        shape->degree[axis] = get_int32(src, 1, INT32_MAX);
    for (int axis = 0; axis < SP__AXES; axis++)
        shape->stride[axis] = get_int32(src, 1, INT32_MAX);
    for (int axis = 0; axis < SP__AXES; axis++)
        placed += shape->degree[axis] == 1;
    for (int round = 0; round < SP__AXES; round++)
        for (int axis = 0; axis < SP__AXES; axis++)
            if (shape->degree[axis] > 1 && shape->stride[axis] == stride &&
                stride * shape->degree[axis] <= INT32_MAX) {
                stride *= shape->degree[axis];
                placed++;
            }
    if (src->failed || placed != SP__AXES)
        return sp__wire_fail(src, "no topology");
    shape->size = (int32_t)stride;
    return SP_OK;
}

static sp_status get_sizes(decoder *d)
{
    sp__plan_size *size = &d->reader.size;
    sp__source *src = &d->src;
    int32_t dp;

    SP_TRY(get_shape(src, &size->shape));
    dp = size->shape.degree[SP__DP];
    d->first_lane = get_int32(src, 0, dp - 1);
    d->lanes = get_int32(src, 1, dp - d->first_lane);
    size->samples = get_int32(src, 1, INT32_MAX);
    size->merges = get_int32(src, 0, INT32_MAX);
    size->packs[0] = get_int32(src, 0, SP__OP_PACKS - 1);
    size->packs[1] = get_int32(src, 0, SP__OP_PACKS - 1);
    size->alignment = get_int32(src, 1, INT32_MAX);
    size->pad_multiple = get_int32(src, 1, SP_PAD_MULTIPLE_MAX);
    d->lockstep = get_int32(src, 0, 1);
    size->flow.chunks = get_int32(src, 1, size->shape.degree[SP__PP] > 1 ? SP_VIRTUAL_STAGES_MAX
                                                                         : 1);
    size->flow.split = get_int32(src, 0, 1);
    return src->failed ? sp__wire_fail(src, "sizes of no plan") : SP_OK;
}

/* Each of these takes bytes, so that none can be more than there are: a sample and its
 * length one, a merge three, a pack one in each lane, an op three, a device four. */
static sp_status check_sizes(const decoder *d)
{
    const sp__plan_size *size = &d->reader.size;
    const sp__shape *shape = &size->shape;
    uint64_t left = sp__left(&d->src);
    uint64_t packs = (uint64_t)size->packs[0] + (uint64_t)size->packs[1];
    uint64_t ops = (uint64_t)sp__flow_ops(&size->flow, size->packs);
    uint64_t stage = 3 * ops + 4 * (uint64_t)shape->degree[SP__CP];
    uint64_t lane = packs + 1;

    if ((uint64_t)size->samples > left || (uint64_t)size->merges > left / 3 || ops > INT32_MAX ||
        stage > left / (uint64_t)shape->degree[SP__PP])
        return sp__wire_fail(&d->src, "sizes of more than the bytes hold");
    lane += stage * (uint64_t)shape->degree[SP__PP];
    return lane > left / (uint64_t)d->lanes
               ? sp__wire_fail(&d->src, "sizes of more than the bytes hold") : SP_OK;
}

static sp_status get_lengths(decoder *d)
{
    int32_t samples = d->reader.size.samples;

    SP_TAKE(&d->arena, d->lengths, samples);
    for (int32_t i = 0; i < samples; i++)
        d->lengths[i] = sp__get_within(&d->src, 1, INT32_MAX);
    return d->src.failed ? sp__wire_fail(&d->src, "no length") : SP_OK;
}

static sp_status get_merges(decoder *d)
{
    const sp__plan_size *size = &d->reader.size;
    int32_t dp = size->shape.degree[SP__DP];

    SP_TAKE(&d->arena, d->merge, size->merges);
    for (int32_t g = 0; g < size->merges; g++) {
        sp__merge *m = &d->merge[g];

        m->sample = get_int32(&d->src, 0, size->samples - 1);
        m->first = get_int32(&d->src, 0, dp - 1);
        m->replicas = get_int32(&d->src, 2, dp - m->first);
    }
    return d->src.failed ? sp__wire_fail(&d->src, "no merge") : SP_OK;
}

/* Fields that a later release has appended are left out, those it lacks stay 0. */
static sp_status get_stats(decoder *d)
{
    int64_t value[SP__WIRE_STATS] = { 0 };
    int64_t count = sp__get_within(&d->src, 0, INT32_MAX);

    for (int64_t i = 0; i < count && !d->src.failed; i++) {
        int64_t x = sp__get_signed(&d->src);

        if (i < SP__WIRE_STATS)
            value[i] = x;
    }
    d->stats.struct_size = sizeof d->stats;
    memcpy(&d->stats.samples, value, sizeof value);
    return d->src.failed ? sp__wire_fail(&d->src, "no stats") : SP_OK;
}

/* Sections follow the body without a gap, and zeros follow them to the end. */
static sp_status get_directory(decoder *d)
{
    sp__source *src = &d->src;

    SP_TAKE(&d->arena, d->section, (int64_t)d->lanes + 1);
    for (int32_t l = 0; l < d->lanes; l++)
        d->section[l + 1] = (size_t)sp__get_within(src, 1, (int64_t)sp__left(src));
    d->section[0] = src->at;
    for (int32_t l = 0; l < d->lanes && !src->failed; l++) {
        if (d->section[l + 1] > src->end - d->section[l])
            src->failed = 1;
        else
            d->section[l + 1] += d->section[l];
    }
    if (src->failed)
        return sp__wire_fail(src, "no size of a replica's section");
    for (size_t i = d->section[d->lanes]; i < src->end; i++)
        if (src->from[i] != 0)
            return sp__fail(SP_ERR_FORMAT, "bytes: byte %zu behind the plan is not 0", i);
    return SP_OK;
}

static sp_status get_body(decoder *d)
{
    SP_TRY(get_sizes(d));
    SP_TRY(check_sizes(d));
    SP_TRY(get_lengths(d));
    SP_TRY(get_merges(d));
    SP_TRY(get_stats(d));
    return get_directory(d);
}

/* The replicas that are to be decoded. */
static sp_status choose_lanes(decoder *d, int32_t rank)
{
    sp__plan_size *size = &d->reader.size;

    size->first_lane = d->first_lane;
    size->lanes = d->lanes;
    if (rank == SP_ALL_RANKS)
        return SP_OK;
    if (rank < 0 || rank >= size->shape.size)
        return sp__fail(SP_ERR_RANGE, "rank: %" PRId32 " is outside -1 to %" PRId32, rank,
                        size->shape.size - 1);
    sp__wire_window(d->merge, size->merges, sp__shape_index(&size->shape, SP__DP, rank),
                    &size->first_lane, &size->lanes);
    if (size->first_lane < d->first_lane ||
        size->first_lane + size->lanes > d->first_lane + d->lanes)
        return sp__fail(SP_ERR_STATE, "rank %" PRId32 ": takes replicas %" PRId32 " to %" PRId32
                        ", the bytes hold %" PRId32 " to %" PRId32, rank, size->first_lane,
                        size->first_lane + size->lanes - 1, d->first_lane,
                        d->first_lane + d->lanes - 1);
    return SP_OK;
}

static sp_status read_lanes(decoder *d)
{
    sp__lane_reader *r = &d->reader;
    const sp__plan_size *size = &r->size;

    r->at[0] = r->at[1] = 0;
    for (int32_t l = 0; l < size->lanes; l++) {
        int32_t replica = size->first_lane + l, at = replica - d->first_lane;
        sp__source src = { d->src.from, d->section[at], d->section[at + 1], 0 };

        SP_TRY(sp__get_lane(&src, r, replica));
    }
    return SP_OK;
}

/* Reads all once, to learn the schedule's size. */
static sp_status measure(decoder *d)
{
    sp__lane_reader *r = &d->reader;
    int64_t ranks = (int64_t)r->size.lanes * r->size.shape.degree[SP__CP];
    size_t bytes;

    r->lengths = d->lengths;
    r->merge = d->merge;
    r->work_left = sp__wire_work(d->bytes);
    SP_TAKE(&d->arena, r->size.block_shards, ranks);
    memset(r->size.block_shards, 0, (size_t)ranks * sizeof *r->size.block_shards);
    SP_TRY(sp__walk_open(&r->walk, r->size.samples, r->size.packs, r->size.flow.chunks,
                         &d->arena));
    SP_TRY(read_lanes(d));
    r->size.slices[0] = r->at[0];
    r->size.slices[1] = r->at[1];
    bytes = sp__schedule_bytes(&r->size);
    return bytes == 0 || bytes / SP__WIRE_STRETCH > d->bytes
               ? sp__wire_fail(&d->src, "sizes of more than the bytes may stand for") : SP_OK;
}

/* Reads all once more, into the schedule. */
static sp_status fill(decoder *d, const sp__alloc *alloc, struct sp_schedule **out)
{
    sp__lane_reader *r = &d->reader;
    int64_t ranks = (int64_t)r->size.lanes * r->size.shape.degree[SP__CP];

    SP_TAKE(&d->arena, r->pool, ranks);
    SP_TRY(sp__schedule_open(alloc, NULL, &r->size, d->lengths, d->merge, out));
    r->s = *out;
    r->s->lockstep = d->lockstep;
    r->s->whole = d->digest;
    r->s->stats = d->stats;
    memcpy(r->pool, r->s->block_first, (size_t)ranks * sizeof *r->pool);
    return read_lanes(d);
}

static sp_status verify(const decoder *d, const struct sp_schedule *s)
{
    if (sp__is_part(s))
        return SP_OK;
    SP_TRY(sp_schedule_check(s));
    return sp_schedule_digest(s) != d->digest
               ? sp__fail(SP_ERR_FORMAT, "bytes: the plan's digest is another than they say")
               : SP_OK;
}

static sp_status decode(decoder *d, int32_t rank, const sp__alloc *alloc, struct sp_schedule **out)
{
    SP_TRY(get_body(d));
    SP_TRY(choose_lanes(d, rank));
    SP_TRY(measure(d));
    SP_TRY(fill(d, alloc, out));
    return verify(d, *out);
}

sp_status sp_schedule_decode(const void *bytes, size_t size, int32_t rank,
                             const sp_allocator *allocator, sp_schedule **out)
{
    struct sp_schedule *s = NULL;
    sp_status status;
    sp__alloc alloc;
    decoder d;

    if (bytes == NULL || out == NULL)
        return sp__fail_null(bytes == NULL ? "bytes" : "out");
    SP_TRY(sp__alloc_init(&alloc, allocator));
    SP_TRY(check_head(bytes, size));
    memset(&d, 0, sizeof d);
    sp__arena_init(&d.arena, &alloc);
    d.src = (sp__source){ bytes, SP__WIRE_HEAD, size, 0 };
    d.digest = sp__get_fixed((const uint8_t *)bytes + SP__WIRE_SUMMED, 8);
    d.bytes = size;
    d.reader.alloc = &alloc;
    status = decode(&d, rank, &alloc, &s);
    sp__free(&alloc, d.reader.slice);
    sp__free(&alloc, d.reader.shard);
    sp__arena_destroy(&d.arena);
    if (status != SP_OK) {
        sp_schedule_destroy(s);
        return status;
    }
    *out = s;
    return SP_OK;
}
