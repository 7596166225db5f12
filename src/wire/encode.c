/*
 * encode.c - a schedule, or one rank's part of it, becomes bytes: wire.h says which.
 *
 * The same code first counts, with a sink that has no memory, and then writes. It
 * reads the schedule alone and sets nothing before it knows that all fits.
 */
#include <inttypes.h>
#include <string.h>

#include "base/status.h"
#include "wire/lane.h"

/* Replicas to write. */
typedef struct part {
    const struct sp_schedule *s;
    int32_t first, lanes;
    size_t *section; /* [lanes] bytes of each */
} part;

static void put_sizes(sp__sink *k, const part *p)
{
    const struct sp_schedule *s = p->s;
    const sp__shape *shape = &s->shape;

    for (int axis = 0; axis < SP__AXES; axis++)
        sp__put(k, (uint64_t)shape->degree[axis]);
    for (int axis = 0; axis < SP__AXES; axis++)
        sp__put(k, (uint64_t)shape->stride[axis]);
    sp__put(k, (uint64_t)p->first);
    sp__put(k, (uint64_t)p->lanes);
    sp__put(k, (uint64_t)s->count);
    sp__put(k, (uint64_t)s->merges);
    sp__put(k, (uint64_t)s->packs[0]);
    sp__put(k, (uint64_t)s->packs[1]);
    sp__put(k, (uint64_t)s->alignment);
    sp__put(k, (uint64_t)s->pad_multiple);
    sp__put(k, (uint64_t)s->lockstep);
    sp__put(k, (uint64_t)s->flow.chunks);
    sp__put(k, (uint64_t)s->flow.split);
}

static void put_stats(sp__sink *k, const sp_stats *stats)
{
    int64_t value[SP__WIRE_STATS];

    memcpy(value, &stats->samples, sizeof value);
    sp__put(k, SP__WIRE_STATS);
    for (int i = 0; i < SP__WIRE_STATS; i++)
        sp__put_signed(k, value[i]);
}

static void put_body(sp__sink *k, const part *p)
{
    const struct sp_schedule *s = p->s;

    put_sizes(k, p);
    for (int32_t i = 0; i < s->count; i++)
        sp__put(k, (uint64_t)s->lengths[i]);
    for (int32_t g = 0; g < s->merges; g++) {
        sp__put(k, (uint64_t)s->merge[g].sample);
        sp__put(k, (uint64_t)s->merge[g].first);
        sp__put(k, (uint64_t)s->merge[g].replicas);
    }
    put_stats(k, &s->stats);
    for (int32_t l = 0; l < p->lanes; l++)
        sp__put(k, p->section[l]);
}

static int64_t shards_of(const struct sp_schedule *s, int64_t rank)
{
    int64_t count = 0;

    for (int pass = 0; pass < 2; pass++)
        for (int32_t k = 0; k < s->packs[pass]; k++)
            count += s->shards[pass][rank * s->packs[pass] + k].count;
    return count;
}

/* Bytes that the memory and the work of decoding ask for. */
static sp_status least_bytes(const part *p, sp__arena *arena, size_t *bytes)
{
    const struct sp_schedule *s = p->s;
    int32_t cp = s->shape.degree[SP__CP], lane = p->first - s->first_lane;
    sp__plan_size size = { .shape = s->shape, .first_lane = p->first, .lanes = p->lanes,
                           .samples = s->count, .merges = s->merges,
                           .packs = { s->packs[0], s->packs[1] }, .alignment = s->alignment,
                           .pad_multiple = s->pad_multiple, .flow = s->flow };

    int64_t work = 0;

    SP_TAKE(arena, size.block_shards, (int64_t)p->lanes * cp);
    for (int64_t i = 0; i < (int64_t)p->lanes * cp; i++)
        work += size.block_shards[i] = shards_of(s, (int64_t)lane * cp + i);
    for (int pass = 0; pass < 2; pass++) {
        const int64_t *first = s->slice_first[pass] + (int64_t)lane * s->packs[pass];

        size.slices[pass] = first[(int64_t)p->lanes * s->packs[pass]] - first[0];
        work += size.slices[pass] * cp;
    }
    *bytes = sp__schedule_bytes(&size) / SP__WIRE_STRETCH + 1;
    if (sp__wire_work(*bytes) < work)
        *bytes = (size_t)work / (SP__WIRE_STRETCH / 4) + 1;
    return SP_OK;
}

/* The size of the whole, without its padding in *used. */
static sp_status measure(part *p, sp__lane_writer *w, sp__arena *arena, size_t *used, size_t *size)
{
    size_t least = 0;
    sp__sink k = { NULL, 0 };

    SP_TAKE(arena, p->section, p->lanes);
    SP_TRY(least_bytes(p, arena, &least));
    *used = SP__WIRE_HEAD;
    for (int32_t l = 0; l < p->lanes; l++) {
        k.at = 0;
        sp__put_lane(&k, w, p->first + l);
        p->section[l] = k.at;
        *used += k.at;
    }
    k.at = 0;
    put_body(&k, p);
    *used += k.at;
    *size = *used < least ? least : *used;
    return SP_OK;
}

static void put_head(uint8_t *to, size_t size, uint64_t digest)
{
    sp__sink k = { to, 0 };

    for (int i = 0; i < 8; i++)
        sp__put_byte(&k, (uint8_t)SP__WIRE_MAGIC[i]);
    sp__put_fixed(&k, SP_WIRE_VERSION, 4);
    sp__put_fixed(&k, 0, 4);
    sp__put_fixed(&k, size, 8);
    k.at = SP__WIRE_SUMMED;
    sp__put_fixed(&k, digest, 8);
    k.at = SP__WIRE_SUMMED - 8;
    sp__put_fixed(&k, sp__checksum(to + SP__WIRE_SUMMED, size - SP__WIRE_SUMMED), 8);
}

static sp_status encode(part *p, sp__arena *arena, uint8_t *to, size_t capacity, size_t *out)
{
    sp__sink k = { to, SP__WIRE_HEAD };
    size_t used = 0, size = 0;
    sp__lane_writer w;

    SP_TRY(sp__lane_writer_open(&w, p->s, arena));
    SP_TRY(measure(p, &w, arena, &used, &size));
    if (to != NULL && capacity < size)
        return sp__fail(SP_ERR_RANGE, "capacity: %zu bytes are below the %zu that the plan takes",
                        capacity, size);
    if (to != NULL) {
        put_body(&k, p);
        for (int32_t l = 0; l < p->lanes; l++)
            sp__put_lane(&k, &w, p->first + l);
        memset(to + used, 0, size - used);
        put_head(to, size, sp_schedule_digest(p->s));
    }
    *out = size;
    return SP_OK;
}

static sp_status find_part(const struct sp_schedule *s, int32_t rank, part *p)
{
    *p = (part){ .s = s, .first = s->first_lane, .lanes = s->lanes };
    if (rank == SP_ALL_RANKS)
        return SP_OK;
    if (rank < 0 || rank >= s->shape.size)
        return sp__fail(SP_ERR_RANGE, "rank: %" PRId32 " is outside -1 to %" PRId32, rank,
                        s->shape.size - 1);
    sp__wire_window(s->merge, s->merges, sp__shape_index(&s->shape, SP__DP, rank), &p->first,
                    &p->lanes);
    if (p->first < s->first_lane || p->first + p->lanes > s->first_lane + s->lanes)
        return sp__fail(SP_ERR_STATE, "rank %" PRId32 ": takes replicas %" PRId32 " to %" PRId32
                        ", this part of the schedule holds %" PRId32 " to %" PRId32, rank,
                        p->first, p->first + p->lanes - 1, s->first_lane,
                        s->first_lane + s->lanes - 1);
    return SP_OK;
}

sp_status sp_schedule_encode(const sp_schedule *s, int32_t rank, void *buffer, size_t capacity,
                             size_t *size)
{
    sp__arena arena;
    sp_status status;
    part p;

    if (s == NULL || size == NULL)
        return sp__fail_null(s == NULL ? "schedule" : "size");
    if (buffer == NULL && capacity > 0)
        return sp__fail_null("buffer");
    SP_TRY(find_part(s, rank, &p));
    sp__arena_init(&arena, &s->alloc);
    status = encode(&p, &arena, buffer, capacity, size);
    sp__arena_destroy(&arena);
    return status;
}
