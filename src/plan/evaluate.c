/*
 * evaluate.c - runs a step's draft on the simulator.
 */
#include "base/status.h"
#include "plan/step.h"

sp__sim sp__step_sim(const sp__step *step)
{
    const struct sp_planner *p = step->planner;

    return (sp__sim){ .rates = &p->target.rates, .memory = p->target.memory, .shape = &p->shape,
                      .draft = &step->draft, .workers = &step->workers,
                      .run_ahead = (int32_t)sp__planner_value(p, SP_PLANNER_RUN_AHEAD) *
                                   step->run_ahead,
                      .lockstep = (int32_t)sp__planner_value(p, SP_PLANNER_LOCKSTEP) };
}

sp_status sp__step_simulate(const sp__step *step, sp__timeline *timeline)
{
    sp__sim sim = sp__step_sim(step);

    if (!step->is_1f1b || (sim.rates->chunks > 1 && step->draft.flow.split))
        return sp__simulate_greedy(&sim, timeline);
    sp__order_1f1b(&step->draft, sim.rates->pp, timeline);
    return sp__simulate_order(&sim, timeline);
}

static sp_status open_timeline(const sp__step *step, int32_t lanes, sp__timeline *out)
{
    int64_t stages = (int64_t)lanes * step->planner->target.rates.pp;
    int64_t ops = sp__flow_ops(&step->draft.flow, step->draft.packs);

    if (ops > INT32_MAX)
        return sp__fail(SP_ERR_OVERFLOW, "packs: the ops of a stage pass 2^31 - 1");
    out->ops = (int32_t)ops;
    SP_TAKE(step->arena, out->op, stages * out->ops);
    SP_TAKE(step->arena, out->start, stages * out->ops);
    SP_TAKE(step->arena, out->end, stages * out->ops);
    SP_TAKE(step->arena, out->stage, stages * step->draft.cp);
    return SP_OK;
}

static void find_peak(const sp__step *step, const sp__timeline *t, sp__outcome *out)
{
    int32_t pp = step->planner->target.rates.pp, cp = step->draft.cp;

    out->peak_bytes = -1;
    for (int64_t i = 0; i < (int64_t)step->draft.lanes * pp * cp; i++)
        if (t->stage[i].peak_bytes > out->peak_bytes) {
            out->peak_bytes = t->stage[i].peak_bytes;
            out->replica = (int32_t)(i / cp / pp);
            out->stage = (int32_t)(i / cp % pp);
        }
}

sp_status sp__step_evaluate(sp__step *step, sp__outcome *out)
{
    sp__arena_mark mark = sp__arena_here(step->arena);
    sp__sim sim = sp__step_sim(step);
    sp__timeline timeline;

    SP_TRY(open_timeline(step, step->draft.lanes, &timeline));
    SP_TRY(sp__step_simulate(step, &timeline));
    out->makespan = sp__makespan(&sim, &timeline);
    find_peak(step, &timeline, out);
    if (out->peak_bytes < step->least.peak_bytes)
        step->least = *out;
    sp__arena_rewind(step->arena, mark);
    return SP_OK;
}

sp_status sp__step_ends(const sp__step *step, int64_t *end)
{
    sp__arena_mark mark = sp__arena_here(step->arena);
    int32_t pp = step->planner->target.rates.pp;
    sp__timeline t;

    SP_TRY(open_timeline(step, step->draft.lanes, &t));
    SP_TRY(sp__step_simulate(step, &t));
    for (int32_t r = 0; r < step->draft.lanes; r++) {
        end[r] = 0;
        for (int32_t s = 0; s < pp; s++)
            end[r] = sp__max(end[r], t.end[((int64_t)r * pp + s + 1) * t.ops - 1]);
    }
    sp__arena_rewind(step->arena, mark);
    return SP_OK;
}

sp_status sp__step_evaluate_lane(const sp__step *step, int32_t replica, int64_t *makespan)
{
    sp__arena_mark mark = sp__arena_here(step->arena);
    sp__draft alone = step->draft;
    sp__sim sim = sp__step_sim(step);
    sp__timeline timeline;

    alone.lane = &step->draft.lane[replica];
    alone.lanes = 1;
    alone.merges = 0;
    sim.draft = &alone;
    sim.first_lane = replica;
    SP_TRY(open_timeline(step, 1, &timeline));
    SP_TRY(sp__simulate_greedy(&sim, &timeline));
    *makespan = sp__makespan(&sim, &timeline);
    sp__arena_rewind(step->arena, mark);
    return SP_OK;
}
