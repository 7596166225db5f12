/*
 * simulation.c - replays a finished plan under another model or device: what if.
 *
 * The plan's packs and op order stay; costs, times and memory are the new
 * machine's. A plan that does not fit the memory is simulated all the same: the
 * stats show by how much.
 */
#include "simulate/simulation.h"

#include <inttypes.h>
#include <string.h>

#include "base/abi.h"
#include "base/first.h"
#include "base/status.h"
#include "schedule/writer.h"

static sp_status alloc_timeline(sp_simulation *sim, const sp_schedule *schedule)
{
    int64_t stages = (int64_t)schedule->shape.degree[SP__DP] * schedule->shape.degree[SP__PP];
    int64_t ops = stages * schedule->timeline.ops;
    sp__timeline *t = &sim->timeline;

    t->ops = schedule->timeline.ops;
    t->op = sp__alloc_array(&sim->alloc, ops, sizeof *t->op);
    t->start = sp__alloc_array(&sim->alloc, ops, sizeof *t->start);
    t->end = sp__alloc_array(&sim->alloc, ops, sizeof *t->end);
    t->stage = sp__alloc_array(&sim->alloc, stages * sim->shape.degree[SP__CP], sizeof *t->stage);
    if (t->op == NULL || t->start == NULL || t->end == NULL || t->stage == NULL)
        return sp__fail_memory();
    memcpy(t->op, schedule->timeline.op, (size_t)ops * sizeof *t->op);
    return SP_OK;
}

static sp_status open_simulation(const sp_schedule *schedule, const sp_model *model,
                                 const sp_device *device, sp_simulation **out)
{
    sp_simulation *sim = sp__alloc_zeroed(&schedule->alloc, 1, sizeof *sim);
    sp_status status;

    if (sim == NULL)
        return sp__fail_memory();
    sim->alloc = schedule->alloc;
    sim->shape = schedule->shape;
    sp__arena_init(&sim->arena, &sim->alloc);
    status = sp__target_init(&sim->target, model, device, &sim->shape, schedule->flow.chunks,
                             &sim->alloc);
    if (status == SP_OK)
        status = alloc_timeline(sim, schedule);
    if (status != SP_OK) {
        sp_simulation_destroy(sim);
        return status;
    }
    *out = sim;
    return SP_OK;
}

/* The draft borrows its merges from the schedule, which may go. */
static sp_status keep_merges(sp_simulation *s, const sp_schedule *schedule)
{
    SP_TAKE(&s->arena, s->draft.merge, schedule->merges);
    if (schedule->merges > 0)
        memcpy(s->draft.merge, schedule->merge, (size_t)schedule->merges * sizeof *schedule->merge);
    return SP_OK;
}

static sp_status run(sp_simulation *s, const sp_schedule *schedule, int64_t memory,
                     sp__arena *scratch)
{
    sp__workers workers = { scratch, 1 };
    sp__sim sim = { .rates = &s->target.rates, .memory = s->target.memory, .shape = &s->shape,
                    .lockstep = schedule->lockstep, .workers = &workers, .draft = &s->draft };
    sp__totals totals;

    SP_TRY(sp__batch_totals(&s->target.rates.attention, schedule->lengths, schedule->count,
                            &totals));
    SP_TRY(sp__memory_check(s->target.memory, &s->target.rates, totals.tokens));
    SP_TRY(sp__draft_from_schedule(schedule, &s->target.rates.attention, &s->arena, &s->draft));
    SP_TRY(keep_merges(s, schedule));
    SP_TAKE(scratch, sim.cause, (int64_t)s->draft.lanes * s->target.rates.pp * s->timeline.ops);
    SP_TRY(sp__simulate_order(&sim, &s->timeline));
    SP_TRY(sp__stats_fill(&sim, &s->timeline, schedule->lengths, schedule->count, memory,
                          &s->stats));
    sp__stats_step(&sim, &s->timeline, &s->target, &totals, s->shape.size, &s->stats);
    s->lockstep = schedule->lockstep;
    return sp__find_path(s, sim.cause, scratch);
}

sp_status sp_simulate(const sp_schedule *schedule, const sp_model *model, const sp_device *device,
                      sp_simulation **out)
{
    sp_simulation *simulation = NULL;
    sp__arena scratch;
    sp_status status;

    if (schedule == NULL || model == NULL || device == NULL || out == NULL)
        return sp__fail_null(schedule == NULL ? "schedule" : model == NULL ? "model"
                             : device == NULL ? "device" : "out");
    SP_TRY(sp__need_whole(schedule));
    SP_TRY(open_simulation(schedule, model, device, &simulation));
    sp__arena_init(&scratch, &schedule->alloc);
    status = run(simulation, schedule, sp__device_value(device, SP_DEVICE_MEMORY_BYTES), &scratch);
    sp__arena_destroy(&scratch);
    if (status != SP_OK) {
        sp_simulation_destroy(simulation);
        return status;
    }
    *out = simulation;
    return SP_OK;
}

void sp_simulation_destroy(sp_simulation *simulation)
{
    sp__alloc alloc;

    if (simulation == NULL)
        return;
    alloc = simulation->alloc;
    sp__free(&alloc, simulation->timeline.op);
    sp__free(&alloc, simulation->timeline.start);
    sp__free(&alloc, simulation->timeline.end);
    sp__free(&alloc, simulation->timeline.stage);
    sp__target_free(&simulation->target, &alloc);
    sp__arena_destroy(&simulation->arena);
    sp__free(&alloc, simulation);
}

sp_status sp__check_simulation(const sp_simulation *simulation, int32_t rank)
{
    if (simulation == NULL)
        return sp__fail_null("simulation");
    if (rank < 0 || rank >= simulation->shape.size)
        return sp__fail(SP_ERR_RANGE, "rank: %" PRId32 " is outside 0 to %" PRId32, rank,
                        simulation->shape.size - 1);
    return SP_OK;
}

sp_status sp_simulation_op(const sp_simulation *simulation, int32_t rank, int32_t index,
                           int64_t *start_ps, int64_t *end_ps)
{
    const sp__shape *shape;
    int64_t at;

    SP_TRY(sp__check_simulation(simulation, rank));
    if (start_ps == NULL || end_ps == NULL)
        return sp__fail_null(start_ps == NULL ? "start_ps" : "end_ps");
    if (index < 0 || index >= simulation->timeline.ops)
        return sp__fail(SP_ERR_RANGE, "index: %" PRId32 " is outside 0 to %" PRId32, index,
                        simulation->timeline.ops - 1);
    shape = &simulation->shape;
    at = ((int64_t)sp__shape_index(shape, SP__DP, rank) * shape->degree[SP__PP] +
          sp__shape_index(shape, SP__PP, rank)) * simulation->timeline.ops + index;
    *start_ps = simulation->timeline.start[at];
    *end_ps = simulation->timeline.end[at];
    return SP_OK;
}

sp_status sp_simulation_stage(const sp_simulation *simulation, int32_t rank, sp_stage_view *view)
{
    SP_TRY(sp__check_simulation(simulation, rank));
    return sp__timeline_stage(&simulation->timeline, &simulation->shape,
                              sp__shape_index(&simulation->shape, SP__DP, rank), rank, view);
}

sp_status sp_simulation_stats(const sp_simulation *simulation, sp_stats *stats)
{
    if (simulation == NULL)
        return sp__fail_null("simulation");
    return sp__struct_out(stats, &simulation->stats, sizeof simulation->stats,
                          SP__FIRST_STATS, "stats");
}
