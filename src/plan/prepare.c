/*
 * prepare.c - sums up a batch and sorts it; assigns its samples.
 */
#include "base/status.h"
#include "plan/step.h"

/* The stage with the most work bounds the step, so plans are balanced on it. */
static sp_status pick_stage(const sp__step *step, int32_t *stage)
{
    const sp__rates *rates = &step->planner->target.rates;
    int64_t most = -1, ideal;

    SP_TRY(sp__ideal(rates, &step->totals, 1, &ideal));
    for (int32_t s = 0; s < rates->stages; s++) {
        int64_t here = sp__ideal_stage(rates, s, &step->totals, 1);

        if (here > most) {
            most = here;
            *stage = s;
        }
    }
    return SP_OK;
}

static void set_yardstick(sp__step *step, int32_t stage)
{
    const sp__rates *rates = &step->planner->target.rates;
    sp__yardstick *y = &step->yardstick;

    for (int pass = 0; pass < 2; pass++) {
        y->token[pass] = rates->stage[stage].pass[pass].token;
        y->pair[pass] = rates->stage[stage].pass[pass].pair;
    }
    y->attention = rates->attention;
    y->alignment = (int32_t)sp__planner_value(step->planner, SP_PLANNER_ALIGNMENT);
}

static sp_status sort_samples(sp__step *step)
{
    int32_t count = step->batch->count;
    sp__arena_mark mark;
    sp__keyed *scratch;

    SP_TAKE(step->arena, step->sorted, count);
    mark = sp__arena_here(step->arena);
    SP_TAKE(step->arena, scratch, count);
    step->pass_cost[0] = step->pass_cost[1] = 0;
    for (int32_t i = 0; i < count; i++) {
        int64_t length = step->batch->lengths[i];
        int64_t f = sp__slice_cost(&step->yardstick, SP_FORWARD, 0, length, length);
        int64_t b = sp__slice_cost(&step->yardstick, SP_BACKWARD, 0, length, length);

        step->sorted[i] = (sp__keyed){ f + b, i };
        step->pass_cost[SP_FORWARD] += f;
        step->pass_cost[SP_BACKWARD] += b;
    }
    sp__sort_descending(step->sorted, scratch, count);
    sp__arena_rewind(step->arena, mark);
    return SP_OK;
}

sp_status sp__step_start(sp__step *step, struct sp_planner *planner, const struct sp_batch *batch)
{
    int32_t stage = 0;

    step->planner = planner;
    step->batch = batch;
    step->arena = &planner->arena;
    step->is_1f1b = 0;
    sp__arena_reset(step->arena);
    SP_TRY(sp__batch_totals(&planner->target.rates.attention, batch->lengths, batch->count,
                            &step->totals));
    SP_TRY(pick_stage(step, &stage));
    set_yardstick(step, stage);
    step->draft = (sp__draft){ .lanes = planner->shape.degree[SP__DP],
                               .cp = planner->shape.degree[SP__CP],
                               .alignment = step->yardstick.alignment,
                               .pad_multiple =
                                   (int32_t)sp__planner_value(planner, SP_PLANNER_PAD_MULTIPLE),
                               .pack_tokens =
                                   (int32_t)sp__planner_value(planner, SP_PLANNER_MAX_PACK_TOKENS) };
    return sort_samples(step);
}

/* Consecutive replicas that share a node with the first. */
static int32_t replicas_in_node(const struct sp_planner *p)
{
    int32_t stride = p->shape.stride[SP__DP];

    return (int32_t)sp__max(p->target.rates.devices_per_node / stride, 1);
}

static int can_slice(const struct sp_planner *p)
{
    return p->target.rates.attention.causal && sp__planner_value(p, SP_PLANNER_SLICING);
}

sp_status sp__step_assign(sp__step *step, int merges)
{
    const struct sp_planner *p = step->planner;
    int64_t degree = sp__planner_value(p, SP_PLANNER_MAX_MERGE_DEGREE);
    int32_t dp = p->shape.degree[SP__DP];
    sp__assign_options options = {
        .replicas = dp,
        .merges = merges && can_slice(p) && sp__planner_value(p, SP_PLANNER_MERGES),
        .max_degree = (int32_t)(degree > 0 ? sp__min(degree, dp) : dp),
        .shortest_part = 2 * step->yardstick.alignment * p->shape.degree[SP__CP],
        .node_replicas = replicas_in_node(p),
        .rounds = 8,
    };

    return sp__assign(&options, step->sorted, step->batch->count, step->batch->lengths, NULL,
                      step->arena, &step->assignment);
}
