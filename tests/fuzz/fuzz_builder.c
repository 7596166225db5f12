/*
 * fuzz_builder.c - schedules of arbitrary parts, through sp_builder_*().
 *
 * Bytes are a topology, lengths and calls: calls.h. Seeds are the calls that rebuild
 * plans, so that a change or two is near to what the invariants allow.
 *
 * Invariants: every call ends with a status that the header names; what
 * sp_builder_finish() takes passes the independent checker and sp_schedule_check(),
 * survives being bytes, and can be simulated; the builder stays as it is.
 */
#include "fuzz.h"

#include <inttypes.h>

#include "../support/checker.h"
#include "../support/round_trip.h"
#include "calls.h"

typedef struct parts {
    sp_topology *topology;
    sp_batch *batch;
    sp_builder *builder;
    int64_t samples, length[CALL_MOST_SAMPLES];
    int64_t alignment, padding, memory; /* as set last */
} parts;

static void open_parts(sp__source *src, parts *p)
{
    int32_t degree[4];

    memset(p, 0, sizeof *p);
    for (int i = 0; i < 4; i++)
        degree[i] = (int32_t)call_count(src, 4);
    p->samples = call_count(src, CALL_MOST_SAMPLES);
    for (int64_t i = 0; i < p->samples; i++)
        p->length[i] = call_count(src, INT32_MAX);
    REQUIRE(sp_topology_create(degree[0], degree[1], degree[2], degree[3], NULL, &p->topology) ==
            SP_OK && sp_batch_create(p->length, p->samples, NULL, &p->batch) == SP_OK &&
            sp_builder_create(p->topology, p->batch, NULL, &p->builder) == SP_OK, "%s",
            sp_error_message());
    p->alignment = p->padding = 1;
    p->memory = INT64_MAX;
}

static sp_status call(sp__source *src, int kind, parts *p)
{
    int32_t piece[3 * CALL_MOST_PIECES], a[CALL_MOST_ARGUMENTS];
    int64_t n[CALL_MOST_ARGUMENTS];

    for (int i = 0; i < call_arguments[kind]; i++) {
        n[i] = sp__get_signed(src);
        a[i] = call_int32(n[i]);
    }
    switch (kind) {
    case CALL_ALIGNMENT: return sp_builder_set_alignment(p->builder, a[0]);
    case CALL_PIPELINE: return sp_builder_set_pipeline(p->builder, a[0], a[1]);
    case CALL_MERGE: return sp_builder_add_merge(p->builder, a[0], a[1], a[2]);
    case CALL_PACK:
        return sp_builder_add_pack(p->builder, a[0], a[1], a[2], call_pieces(src, piece), piece);
    case CALL_SHARDS:
        return sp_builder_add_shards(p->builder, a[0], a[1], a[2], call_pieces(src, piece), piece);
    case CALL_OP:
        return sp_builder_add_op(p->builder, a[0], a[1], a[2], a[3], a[4], n[5], n[6]);
    case CALL_PADDING: return sp_builder_set_pad_multiple(p->builder, a[0]);
    case CALL_LOCKSTEP: return sp_builder_set_lockstep(p->builder, a[0]);
    default: return sp_builder_set_memory(p->builder, a[0], a[1], n[2], n[3], n[4]);
    }
}

/* The limits follow from the calls that were taken: as they stand before and after. */
static void make_call(sp__source *src, parts *p)
{
    int kind = (int)((uint64_t)sp__get_signed(src) % CALL_KINDS);
    sp__source before = *src;
    sp_status status = call(src, kind, p);

    fuzz_message(status);
    REQUIRE(status == SP_OK || status == SP_ERR_RANGE || status == SP_ERR_STATE, "%s: %s",
            sp_status_name(status), sp_error_message());
    if (status == SP_OK && kind == CALL_ALIGNMENT)
        p->alignment = sp__get_signed(&before);
    if (status == SP_OK && kind == CALL_PADDING)
        p->padding = sp__get_signed(&before);
    for (int i = 0; status == SP_OK && kind == CALL_MEMORY && i < 5; i++)
        p->memory = sp__get_signed(&before);
}

static void check_built(const parts *p, const sp_schedule *schedule)
{
    check_limits limits = CHECK_LIMITS_INIT;
    char why[400] = "";

    limits.alignment = p->alignment;
    limits.any_split = 1;
    limits.pad_multiple = p->padding;
    limits.memory_bytes = p->memory;
    REQUIRE(check_schedule(schedule, p->topology, p->length, p->samples, &limits, why,
                           sizeof why) == 0 &&
            round_trip_check(schedule, p->topology, sp_topology_size(p->topology) - 1, why,
                             sizeof why) == 0, "%s", why);
    REQUIRE(sp_schedule_check(schedule) == SP_OK, "%s", sp_error_message());
    fuzz_simulate(schedule);
}

static void finish(const parts *p)
{
    sp_schedule *schedule = NULL, *again = NULL;
    sp_status status = sp_builder_finish(p->builder, &schedule);

    fuzz_message(status);
    REQUIRE(sp_builder_finish(p->builder, &again) == status, "%s the first time",
            sp_status_name(status));
    if (status == SP_OK)
        check_built(p, schedule);
    else
        REQUIRE(status == SP_ERR_INVARIANT || status == SP_ERR_OVERFLOW, "%s: %s",
                sp_status_name(status), sp_error_message());
    sp_schedule_destroy(again);
    sp_schedule_destroy(schedule);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sp__source src = { data, 0, size, 0 };
    parts p;

    open_parts(&src, &p);
    while (sp__left(&src) > 0)
        make_call(&src, &p);
    finish(&p);
    sp_builder_destroy(p.builder);
    sp_batch_destroy(p.batch);
    sp_topology_destroy(p.topology);
    return 0;
}
