/*
 * plan.c - plans a step: the outline of the method.
 */
#include "base/status.h"
#include "plan/step.h"
#include "schedule/writer.h"

/* Exact loads are not to be moved again. */
static int refines(const sp__step *step)
{
    return sp__planner_value(step->planner, SP_PLANNER_EFFORT) == SP_EFFORT_THOROUGH &&
           sp__planner_value(step->planner, SP_PLANNER_EXACT_NODES) == 0;
}

sp_status sp__step_draft(sp__step *step)
{
    switch (sp__planner_value(step->planner, SP_PLANNER_POLICY)) {
    case SP_POLICY_FIXED_PACK:
        return sp__step_fixed_pack(step);
    case SP_POLICY_BALANCED_PACK:
        return sp__step_balanced_pack(step);
    case SP_POLICY_UNIFORM_SLICE:
        return sp__step_uniform_slice(step);
    default:
        /* Whole samples in any order pack best by themselves, not cut from a stream. */
        if (!sp__step_can_slice(step) && !sp__planner_value(step->planner, SP_PLANNER_KEEP_ORDER))
            return sp__step_balanced_pack(step);
        step->offset = NULL;
        SP_TRY(sp__step_assign(step, 1));
        SP_TRY(sp__step_search(step));
        SP_TRY(sp__step_pack(step));
        return refines(step) ? sp__step_refine(step) : SP_OK;
    }
}

/* The draft as a schedule, simulated. */
static sp_status write(const sp__step *step, struct sp_schedule **out)
{
    const struct sp_planner *p = step->planner;
    const struct sp_batch *b = step->batch;
    sp__sim sim = sp__step_sim(step);
    struct sp_schedule *schedule;
    sp_status status;

    SP_TRY(sp__schedule_from_draft(&p->alloc, p->shelf, &p->shape, &step->draft, b->lengths,
                                   b->count, step->arena, &schedule));
    schedule->lockstep = sim.lockstep;
    status = sp__step_simulate(step, &schedule->timeline);
    if (status == SP_OK)
        status = sp__stats_fill(&sim, &schedule->timeline, b->lengths, b->count,
                                sp__planner_memory(p), &schedule->stats);
    if (status != SP_OK) {
        sp_schedule_destroy(schedule);
        return status;
    }
    sp__stats_step(&sim, &schedule->timeline, &p->target, &step->totals, p->shape.size,
                   &schedule->stats);
    schedule->stats.load_ps = step->load;
    schedule->stats.load_bound_ps = step->load_bound;
    schedule->stats.exact_nodes = step->exact_nodes;
    *out = schedule;
    return SP_OK;
}

static sp_status check_arguments(const sp_planner *planner, const sp_batch *batch,
                                 sp_schedule *const *out)
{
    if (planner == NULL)
        return sp__fail_null("planner");
    if (batch == NULL)
        return sp__fail_null("batch");
    return out == NULL ? sp__fail_null("out") : SP_OK;
}

sp_status sp_plan_batch(sp_planner *planner, const sp_batch *batch, sp_schedule **out)
{
    struct sp_schedule *schedule;
    sp__step step;

    SP_TRY(check_arguments(planner, batch, out));
    SP_TRY(sp__step_start(&step, planner, batch));
    sp__step_presume(&step);
    SP_TRY(sp__step_draft(&step));
    SP_TRY(write(&step, &schedule));
    if (schedule->stats.peak_bytes > step.memory) {
        sp_schedule_destroy(schedule);
        SP_TRY(sp__step_fit(&step));
        SP_TRY(write(&step, &schedule));
    }
    *out = schedule;
    return SP_OK;
}
