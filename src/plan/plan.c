/*
 * plan.c - plans a step: the outline of the method.
 */
#include "base/status.h"
#include "plan/step.h"
#include "schedule/writer.h"

static sp_status make_draft(sp__step *step)
{
    switch (sp__planner_value(step->planner, SP_PLANNER_POLICY)) {
    case SP_POLICY_FIXED_PACK:
        return sp__step_fixed_pack(step);
    case SP_POLICY_BALANCED_PACK:
        return sp__step_balanced_pack(step);
    case SP_POLICY_UNIFORM_SLICE:
        return sp__step_uniform_slice(step);
    default:
        SP_TRY(sp__step_assign(step, 1));
        SP_TRY(sp__step_search(step));
        return sp__step_pack(step);
    }
}

static sp_status finish(sp__step *step, struct sp_schedule *schedule)
{
    sp__sim sim = sp__step_sim(step);

    SP_TRY(sp__step_simulate(step, &schedule->timeline));
    return sp__stats_fill(&sim, &schedule->timeline, step->batch->lengths, step->batch->count,
                          sp__planner_memory(step->planner), &schedule->stats);
}

sp_status sp_plan_batch(sp_planner *planner, const sp_batch *batch, sp_schedule **out)
{
    struct sp_schedule *schedule;
    sp_status status;
    sp__step step;

    if (planner == NULL)
        return sp__fail_null("planner");
    if (batch == NULL)
        return sp__fail_null("batch");
    if (out == NULL)
        return sp__fail_null("out");
    SP_TRY(sp__step_start(&step, planner, batch));
    SP_TRY(make_draft(&step));
    SP_TRY(sp__schedule_from_draft(&planner->alloc, &planner->shape, &step.draft, batch->lengths,
                                   batch->count, step.arena, &schedule));
    status = finish(&step, schedule);
    if (status != SP_OK) {
        sp_schedule_destroy(schedule);
        return status;
    }
    *out = schedule;
    return SP_OK;
}
