/*
 * retime.c - a plan under other times: see retime.h.
 *
 * Packs, shards and op order are copied from the schedule to a builder, view by
 * view; only times and memory come from the simulation.
 */
#include "retime.h"

#include <stdlib.h>

#include "message.h"

#define TRY(call)                \
    do {                         \
        sp_status tried = call;  \
                                 \
        if (tried != SP_OK)      \
            return tried;        \
    } while (0)

typedef struct copier {
    const cli_plan_file *plan;
    const sp_simulation *simulation;
    sp_builder *builder;
    int32_t *triples; /* [3 * capacity] */
    int32_t capacity;
} copier;

static sp_status reserve_triples(copier *c, int32_t count)
{
    int32_t *triples;

    if (count <= c->capacity)
        return SP_OK;
    if ((size_t)count > SIZE_MAX / (3 * sizeof *triples))
        return SP_ERR_MEMORY;
    triples = realloc(c->triples, (size_t)count * 3 * sizeof *triples);
    if (triples == NULL)
        return SP_ERR_MEMORY;
    c->triples = triples;
    c->capacity = count;
    return SP_OK;
}

static void put_triple(copier *c, int32_t at, int32_t sample, int32_t start, int32_t length)
{
    int32_t *triple = c->triples + 3 * (size_t)at;

    triple[0] = sample;
    triple[1] = start;
    triple[2] = length;
}

static sp_status rank_at(const copier *c, int32_t dp, int32_t pp, int32_t cp, int32_t *rank)
{
    sp_coordinates at = SP_COORDINATES_INIT;

    at.dp = dp;
    at.pp = pp;
    at.cp = cp;
    return sp_topology_rank(c->plan->topology, &at, rank);
}

static sp_status copy_slices(copier *c, int32_t dp, sp_pass pass, int32_t pack)
{
    sp_slice_view view = SP_SLICE_VIEW_INIT;

    TRY(sp_schedule_pack_slices(c->plan->schedule, dp, pass, pack, &view));
    TRY(reserve_triples(c, view.count));
    for (int32_t i = 0; i < view.count; i++)
        put_triple(c, i, view.sample[i], view.start[i], view.length[i]);
    return sp_builder_add_pack(c->builder, dp, pass, view.merge, view.count, c->triples);
}

static sp_status copy_shards(copier *c, int32_t dp, sp_pass pass, int32_t pack, int32_t cp)
{
    sp_pack_view view = SP_PACK_VIEW_INIT;
    int32_t rank = 0;

    TRY(rank_at(c, dp, 0, cp, &rank));
    TRY(sp_schedule_pack(c->plan->schedule, rank, pass, pack, &view));
    TRY(reserve_triples(c, view.count));
    for (int32_t i = 0; i < view.count; i++)
        put_triple(c, i, view.sample[i], view.start[i],
                   view.cu_seqlens_q[i + 1] - view.cu_seqlens_q[i]);
    return sp_builder_add_shards(c->builder, dp, pass, cp, view.count, c->triples);
}

static sp_status copy_packs(copier *c, int32_t dp, sp_pass pass)
{
    int32_t count = sp_schedule_pack_count(c->plan->schedule, pass);

    for (int32_t pack = 0; pack < count; pack++) {
        TRY(copy_slices(c, dp, pass, pack));
        for (int32_t cp = 0; cp < c->plan->note.cp; cp++)
            TRY(copy_shards(c, dp, pass, pack, cp));
    }
    return SP_OK;
}

static sp_status copy_ops(copier *c, int32_t dp, int32_t pp)
{
    int32_t count = sp_schedule_op_count(c->plan->schedule);
    int32_t rank = 0;

    TRY(rank_at(c, dp, pp, 0, &rank));
    for (int32_t i = 0; i < count; i++) {
        sp_op_view op = SP_OP_VIEW_INIT;
        int64_t start = 0, end = 0;

        TRY(sp_schedule_op(c->plan->schedule, rank, i, &op));
        TRY(sp_simulation_op(c->simulation, rank, i, &start, &end));
        TRY(sp_builder_add_op(c->builder, dp, pp, op.pass, op.pack, op.chunk, start,
                              end));
    }
    return SP_OK;
}

/* The heaviest CP rank speaks for the stage. */
static sp_status copy_memory(copier *c, int32_t dp, int32_t pp)
{
    int64_t peak = 0, fixed = 0;

    for (int32_t cp = 0; cp < c->plan->note.cp; cp++) {
        sp_stage_view view = SP_STAGE_VIEW_INIT;
        int32_t rank = 0;

        TRY(rank_at(c, dp, pp, cp, &rank));
        TRY(sp_simulation_stage(c->simulation, rank, &view));
        peak = view.peak_bytes > peak ? view.peak_bytes : peak;
        fixed = view.static_bytes > fixed ? view.static_bytes : fixed;
    }
    return sp_builder_set_memory(c->builder, dp, pp, fixed, peak, INT64_MAX);
}

static sp_status copy_merges(copier *c)
{
    int32_t count = sp_schedule_merge_count(c->plan->schedule);

    for (int32_t i = 0; i < count; i++) {
        sp_merge_view merge = SP_MERGE_VIEW_INIT;

        TRY(sp_schedule_merge(c->plan->schedule, i, &merge));
        TRY(sp_builder_add_merge(c->builder, merge.sample, merge.first_replica, merge.replicas));
    }
    return SP_OK;
}

static sp_status copy_plan(copier *c)
{
    TRY(cli_note_shape(&c->plan->note, c->builder));
    TRY(copy_merges(c));
    for (int32_t dp = 0; dp < c->plan->note.dp; dp++) {
        TRY(copy_packs(c, dp, SP_FORWARD));
        TRY(copy_packs(c, dp, SP_BACKWARD));
        for (int32_t pp = 0; pp < c->plan->note.pp; pp++) {
            TRY(copy_ops(c, dp, pp));
            TRY(copy_memory(c, dp, pp));
        }
    }
    return SP_OK;
}

int cli_retime(const cli_plan_file *plan, const sp_simulation *simulation, sp_schedule **out)
{
    copier c = { plan, simulation, NULL, NULL, 0 };
    sp_status status = sp_builder_create(plan->topology, plan->batch, NULL, &c.builder);

    if (status == SP_OK)
        status = reserve_triples(&c, 1);
    if (status == SP_OK)
        status = copy_plan(&c);
    if (status == SP_OK)
        status = sp_builder_finish(c.builder, out);
    sp_builder_destroy(c.builder);
    free(c.triples);
    if (status == SP_ERR_MEMORY)
        return cli_fail_memory();
    return status == SP_OK ? CLI_OK : cli_fail_library(CLI_DATA, status, plan->input_name);
}
