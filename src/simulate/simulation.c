/*
 * simulation.c - replays a finished plan under another model or device: what if.
 *
 * The plan's packs and op order stay; costs, times and memory are the new
 * machine's. A plan that does not fit the memory is simulated all the same: the
 * stats show by how much.
 */
#include <inttypes.h>
#include <string.h>

#include "base/abi.h"
#include "base/status.h"
#include "cost/target.h"
#include "schedule/writer.h"
#include "simulate/simulate.h"
#include "simulate/stats.h"

struct sp_simulation {
    sp__alloc alloc;
    sp__shape shape;
    sp__timeline timeline;
    sp_stats stats;
};

static sp_status open_simulation(const sp_schedule *schedule, sp_simulation **out)
{
    int64_t stages = (int64_t)schedule->shape.degree[SP__DP] * schedule->shape.degree[SP__PP];
    int64_t ops = stages * schedule->timeline.ops;
    sp_simulation *sim = sp__alloc_zeroed(&schedule->alloc, 1, sizeof *sim);
    sp__timeline *t;

    if (sim == NULL)
        return sp__fail_memory();
    sim->alloc = schedule->alloc;
    sim->shape = schedule->shape;
    t = &sim->timeline;
    t->ops = schedule->timeline.ops;
    t->op = sp__alloc_array(&sim->alloc, ops, sizeof *t->op);
    t->start = sp__alloc_array(&sim->alloc, ops, sizeof *t->start);
    t->end = sp__alloc_array(&sim->alloc, ops, sizeof *t->end);
    t->stage = sp__alloc_array(&sim->alloc, stages * sim->shape.degree[SP__CP], sizeof *t->stage);
    if (t->op == NULL || t->start == NULL || t->end == NULL || t->stage == NULL) {
        sp_simulation_destroy(sim);
        return sp__fail_memory();
    }
    memcpy(t->op, schedule->timeline.op, (size_t)ops * sizeof *t->op);
    *out = sim;
    return SP_OK;
}

static sp_status run(sp_simulation *simulation, const sp_schedule *schedule,
                     const sp__target *target, int64_t memory, sp__arena *scratch)
{
    sp__workers workers = { scratch, 1 };
    sp__sim sim = { .rates = &target->rates, .memory = target->memory, .shape = &schedule->shape,
                    .lockstep = schedule->lockstep, .workers = &workers };
    sp__totals totals;
    sp__draft draft;

    SP_TRY(sp__batch_totals(&target->rates.attention, schedule->lengths, schedule->count, &totals));
    SP_TRY(sp__draft_from_schedule(schedule, &target->rates.attention, scratch, &draft));
    sim.draft = &draft;
    SP_TRY(sp__simulate_order(&sim, &simulation->timeline));
    return sp__stats_fill(&sim, &simulation->timeline, schedule->lengths, schedule->count, memory,
                          &simulation->stats);
}

sp_status sp_simulate(const sp_schedule *schedule, const sp_model *model, const sp_device *device,
                      sp_simulation **out)
{
    sp_simulation *simulation = NULL;
    sp__target target;
    sp__arena scratch;
    sp_status status;

    if (schedule == NULL || model == NULL || device == NULL || out == NULL)
        return sp__fail_null(schedule == NULL ? "schedule" : model == NULL ? "model"
                             : device == NULL ? "device" : "out");
    SP_TRY(sp__target_init(&target, model, device, &schedule->shape, &schedule->alloc));
    status = open_simulation(schedule, &simulation);
    if (status == SP_OK) {
        sp__arena_init(&scratch, &schedule->alloc);
        status = run(simulation, schedule, &target,
                     sp__device_value(device, SP_DEVICE_MEMORY_BYTES), &scratch);
        sp__arena_destroy(&scratch);
        if (status != SP_OK)
            sp_simulation_destroy(simulation);
    }
    sp__target_free(&target, &schedule->alloc);
    if (status == SP_OK)
        *out = simulation;
    return status;
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
    sp__free(&alloc, simulation);
}

static sp_status check_rank(const sp_simulation *simulation, int32_t rank)
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

    SP_TRY(check_rank(simulation, rank));
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
    SP_TRY(check_rank(simulation, rank));
    return sp__timeline_stage(&simulation->timeline, &simulation->shape, rank, view);
}

sp_status sp_simulation_stats(const sp_simulation *simulation, sp_stats *stats)
{
    if (simulation == NULL)
        return sp__fail_null("simulation");
    return sp__struct_out(stats, &simulation->stats, sizeof simulation->stats,
                          sizeof simulation->stats, "stats");
}
