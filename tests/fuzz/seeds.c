/*
 * seeds.c - writes seeds of the fuzz targets that take bytes: see seeds.sh.
 *
 * Small random cases are planned; of each kind of plan (merges, context ranks, chunks,
 * zero-bubble, several stages, any) the first two go to decode/ as bytes and to
 * builder/ as the calls that build them. plan/ and fit/ take any bytes: theirs are
 * those of a generator, where they are a case that has a plan. The only argument is the
 * folder of the seeds.
 */
#include "fuzz.h"

#include "../support/random_case.h"
#include "../support/round_trip.h"
#include "calls.h"
#include "case.h"

enum { ROOM = 1 << 16, LARGEST = 2048, KINDS = 6, EACH = 2 };

static const char *folder;

static void write_seed(const char *target, const char *name, const void *bytes, size_t size)
{
    char path[512];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s/%s", folder, target, name);
    file = fopen(path, "wb");
    REQUIRE(file != NULL && fwrite(bytes, 1, size, file) == size && fclose(file) == 0, "%s", path);
}

static void put_call(sp__sink *to, int kind, const int64_t *argument)
{
    sp__put_signed(to, kind);
    for (int i = 0; i < call_arguments[kind]; i++)
        sp__put_signed(to, argument[i]);
}

#define PUT(to, kind, ...) put_call((to), (kind), (const int64_t[]){ __VA_ARGS__ })

static void put_piece(sp__sink *to, int32_t sample, int32_t start, int32_t length)
{
    sp__put_signed(to, sample);
    sp__put_signed(to, start);
    sp__put_signed(to, length);
}

static int32_t rank_at(const sp_topology *t, int32_t dp, int32_t pp, int32_t cp)
{
    sp_coordinates at = { sizeof at, dp, 0, pp, cp };
    int32_t rank = -1;

    REQUIRE(sp_topology_rank(t, &at, &rank) == SP_OK, "%s", sp_error_message());
    return rank;
}

static void put_pack(sp__sink *to, const sp_schedule *s, const sp_topology *t, int32_t dp,
                     int32_t cps, sp_pass pass, int32_t k)
{
    sp_slice_view slices = SP_SLICE_VIEW_INIT;

    sp_schedule_pack_slices(s, dp, pass, k, &slices);
    PUT(to, CALL_PACK, dp, pass, slices.merge);
    sp__put_signed(to, slices.count);
    for (int32_t i = 0; i < slices.count; i++)
        put_piece(to, slices.sample[i], slices.start[i], slices.length[i]);
    for (int32_t cp = 0; cp < cps; cp++) {
        sp_pack_view view = SP_PACK_VIEW_INIT;

        sp_schedule_pack(s, rank_at(t, dp, 0, cp), pass, k, &view);
        PUT(to, CALL_SHARDS, dp, pass, cp);
        sp__put_signed(to, view.count);
        for (int32_t i = 0; i < view.count; i++)
            put_piece(to, view.sample[i], view.start[i],
                      view.cu_seqlens_q[i + 1] - view.cu_seqlens_q[i]);
    }
}

static void put_stage(sp__sink *to, const sp_schedule *s, const sp_topology *t, int32_t dp,
                      int32_t pp, int64_t cap)
{
    sp_stage_view stage = SP_STAGE_VIEW_INIT;
    int32_t rank = rank_at(t, dp, pp, 0);

    for (int32_t i = 0; i < sp_schedule_op_count(s); i++) {
        sp_op_view op = SP_OP_VIEW_INIT;

        sp_schedule_op(s, rank, i, &op);
        PUT(to, CALL_OP, dp, pp, op.pass, op.pack, op.chunk, op.start_ps, op.end_ps);
    }
    sp_schedule_stage(s, rank, &stage);
    PUT(to, CALL_MEMORY, dp, pp, stage.static_bytes, stage.peak_bytes, cap);
}

static size_t put_calls(uint8_t *bytes, const random_case *c, const sp_schedule *s,
                        const sp_topology *t, const sp_coordinates *degrees)
{
    sp__sink to = { bytes, 0 };
    sp_stats stats = SP_STATS_INIT;
    sp_pipeline_view pipeline = SP_PIPELINE_VIEW_INIT;

    sp_schedule_stats(s, &stats);
    sp_schedule_pipeline(s, &pipeline);
    sp__put_signed(&to, degrees->dp - 1);
    sp__put_signed(&to, degrees->tp - 1);
    sp__put_signed(&to, degrees->pp - 1);
    sp__put_signed(&to, degrees->cp - 1);
    sp__put_signed(&to, c->count - 1);
    for (int64_t i = 0; i < c->count; i++)
        sp__put_signed(&to, c->length[i] - 1);
    PUT(&to, CALL_ALIGNMENT, c->limits.alignment);
    PUT(&to, CALL_PADDING, c->limits.pad_multiple);
    PUT(&to, CALL_PIPELINE, pipeline.virtual_stages, pipeline.pipeline);
    for (int32_t g = 0; g < sp_schedule_merge_count(s); g++) {
        sp_merge_view m = SP_MERGE_VIEW_INIT;

        sp_schedule_merge(s, g, &m);
        PUT(&to, CALL_MERGE, m.sample, m.first_replica, m.replicas);
    }
    for (int32_t dp = 0; dp < degrees->dp; dp++) {
        for (sp_pass pass = SP_FORWARD; pass <= SP_BACKWARD; pass++)
            for (int32_t k = 0; k < sp_schedule_pack_count(s, pass); k++)
                put_pack(&to, s, t, dp, degrees->cp, pass, k);
        for (int32_t pp = 0; pp < degrees->pp; pp++)
            put_stage(&to, s, t, dp, pp, stats.memory_bytes);
    }
    return to.at;
}

/* The first kind of a plan that has room left, -1 for none. */
static int kind_of(const sp_schedule *s, const sp_coordinates *d, const int *written)
{
    sp_pipeline_view p = SP_PIPELINE_VIEW_INIT;
    int is[KINDS];

    sp_schedule_pipeline(s, &p);
    is[0] = sp_schedule_merge_count(s) > 0;
    is[1] = d->cp > 1;
    is[2] = p.virtual_stages > 1;
    is[3] = p.pipeline == SP_PIPELINE_ZERO_BUBBLE;
    is[4] = d->pp > 1;
    is[5] = 1;
    for (int kind = 0; kind < KINDS; kind++)
        if (is[kind] && written[kind] < EACH)
            return kind;
    return -1;
}

static void write_plan(const random_case *c, const case_handles *h, const sp_schedule *s,
                       int *written)
{
    static const char *const names[KINDS] = { "merges", "context", "chunks", "zero-bubble",
                                              "stages", "any" };
    static uint8_t calls[ROOM];
    sp_coordinates d = SP_COORDINATES_INIT;
    size_t size, call_size;
    uint8_t *bytes;
    char name[32];
    int kind;

    sp_topology_degrees(h->topology, &d);
    kind = kind_of(s, &d, written);
    if (kind < 0 || d.dp > 4 || d.tp > 4 || d.pp > 4 || d.cp > 4 || c->count > CALL_MOST_SAMPLES)
        return;
    bytes = encoded(s, SP_ALL_RANKS, &size);
    if (size <= LARGEST) {
        call_size = put_calls(calls, c, s, h->topology, &d);
        snprintf(name, sizeof name, "%s-%d", names[kind], ++written[kind]);
        write_seed("decode", name, bytes, size);
        if (call_size <= LARGEST)
            write_seed("builder", name, calls, call_size);
    }
    free(bytes);
}

static void write_plans(void)
{
    int written[KINDS] = { 0 };

    for (uint64_t seed = 0; seed < 3000; seed++) {
        sp_schedule *schedule = NULL;
        random_case c;
        case_handles h;

        random_case_make(seed, CASE_SMALL, &c);
        REQUIRE(random_case_open(&c, &h) == SP_OK, "%s", sp_error_message());
        if (sp_plan_batch(h.planner, h.batch, &schedule) == SP_OK)
            write_plan(&c, &h, schedule, written);
        sp_schedule_destroy(schedule);
        random_case_close(&h);
    }
}

/* Whether the bytes are a case that has a plan. */
static int has_plan(const uint8_t *bytes, size_t size)
{
    fuzz_bytes b = { bytes, size };
    sp_schedule *schedule = NULL;
    fuzz_case c;

    if (case_open(&b, &c) == SP_OK)
        sp_plan_batch(c.planner, c.batch, &schedule);
    case_close(&c);
    sp_schedule_destroy(schedule);
    return schedule != NULL;
}

static void write_bytes(void)
{
    uint8_t bytes[512];
    uint64_t s = 1;
    char name[32];

    for (int n = 0; n < 12;) {
        size_t size = 64 + (size_t)random_below(&s, 448);

        for (size_t i = 0; i < size; i++)
            bytes[i] = (uint8_t)random_next(&s);
        if (!has_plan(bytes, size))
            continue;
        snprintf(name, sizeof name, "random-%d", ++n);
        write_seed("plan", name, bytes, size);
        write_seed("fit", name, bytes, size);
    }
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    folder = argv[1];
    write_plans();
    write_bytes();
    return 0;
}
