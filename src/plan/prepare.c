/*
 * prepare.c - sums up a batch and sorts it; assigns its samples.
 */
#include <inttypes.h>

#include "base/status.h"
#include "plan/step.h"

/* The stage with the most work bounds the step, so plans are balanced on it. */
static sp_status pick_stage(const sp__step *step, int32_t *stage)
{
    const sp__rates *rates = &step->planner->target.rates;
    int64_t most = -1, ideal;

    SP_TRY(sp__ideal(rates, &step->totals, 1, &ideal));
    for (int32_t s = 0; s < rates->pp; s++) {
        int64_t here = sp__ideal_stage(rates, s, &step->totals, 1);

        if (here > most) {
            most = here;
            *stage = s;
        }
    }
    return SP_OK;
}

int sp__step_can_slice(const sp__step *step)
{
    const struct sp_planner *p = step->planner;
    int64_t policy = sp__planner_value(p, SP_PLANNER_POLICY);

    return p->target.rates.attention.causal && sp__planner_value(p, SP_PLANNER_SLICING) &&
           (policy == SP_POLICY_SLIMPACK || policy == SP_POLICY_UNIFORM_SLICE);
}

static sp_status fail_cost(const sp__step *step, int32_t stage)
{
    return sp__fail(SP_ERR_OVERFLOW, "lengths: on stage %" PRId32 " the work of %" PRId64
                    " tokens with its communication passes 2^61 ps", stage, step->totals.tokens);
}

/* Exchange of K and V on a stage: what a pack pays for any, and for each token. */
static sp_status set_exchange(sp__step *step, int32_t stage)
{
    const struct sp_planner *p = step->planner;
    const sp__shape *shape = &p->shape;
    int32_t cp = shape->degree[SP__CP];
    int32_t last = sp__shape_rank(shape, 0, shape->degree[SP__TP] - 1, 0, cp - 1);
    int crosses = sp__crosses_nodes(&p->target.rates, 0, last);
    sp__int128 one = 0, many = 0;

    for (int32_t u = stage; u < p->target.rates.stages; u += p->target.rates.pp) {
        int64_t token = sp__exchange_time(&p->target.rates, u, 1, cp, crosses);
        int64_t tokens = sp__exchange_time(&p->target.rates, u, 1 << SP__COST_BITS, cp, crosses);

        if (token < 0 || tokens < 0)
            return fail_cost(step, stage);
        one += token;
        many += tokens;
    }
    if (many > SP__LONGEST)
        return fail_cost(step, stage);
    step->yardstick.exchange = (int64_t)one;
    step->yardstick.exchange_token = (int64_t)(many - one);
    return SP_OK;
}

/* Sums of the stage's chunks; what the whole batch costs by them, exchanged in every
 * token, fits, and with it any sum of its parts. */
static sp_status set_yardstick(sp__step *step, int32_t stage)
{
    const sp__rates *rates = &step->planner->target.rates;
    sp__yardstick *y = &step->yardstick;
    sp__int128 all = 0;

    SP_TRY(set_exchange(step, stage));
    for (int pass = 0; pass < 2; pass++) {
        sp__int128 token = 0, pair = 0;

        for (int32_t u = stage; u < rates->stages; u += rates->pp) {
            token += rates->stage[u].pass[pass].token;
            pair += rates->stage[u].pass[pass].pair;
        }
        if (token > SP__LONGEST || pair > SP__LONGEST)
            return fail_cost(step, stage);
        y->token[pass] = (int64_t)token;
        y->pair[pass] = (int64_t)pair;
        all += (token + y->exchange_token) * step->totals.tokens + pair * step->totals.pairs;
    }
    if (all >> SP__COST_BITS > SP__LONGEST)
        return fail_cost(step, stage);
    y->attention = rates->attention;
    y->alignment = (int32_t)sp__planner_value(step->planner, SP_PLANNER_ALIGNMENT);
    return SP_OK;
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

static void set_limit(sp__step *step)
{
    const struct sp_planner *p = step->planner;
    int64_t tokens = sp__planner_value(p, SP_PLANNER_MAX_PACK_TOKENS);
    int64_t samples = sp__planner_value(p, SP_PLANNER_MAX_PACK_SAMPLES);

    step->limit = (sp__limit){ tokens > 0 ? tokens : INT64_MAX,
                               samples > 0 ? (int32_t)samples : INT32_MAX,
                               p->shape.degree[SP__CP],
                               (int32_t)sp__planner_value(p, SP_PLANNER_PAD_MULTIPLE) };
}

/* A sample whose smallest piece passes the cap has no plan, unless it may run
 * alone: whole where samples are not sliced, else one step of the alignment. */
static sp_status check_limit(const sp__step *step)
{
    int can_slice = sp__step_can_slice(step);

    if (step->limit.tokens == INT64_MAX ||
        sp__planner_value(step->planner, SP_PLANNER_OVERSIZE) == SP_OVERSIZE_ALONE)
        return SP_OK;
    for (int32_t i = 0; i < step->batch->count; i++) {
        int64_t length = step->batch->lengths[i];
        int64_t piece = can_slice ? sp__min(length, step->yardstick.alignment) : length;

        if (sp__padded_size(&step->limit, piece) > step->limit.tokens)
            return sp__fail(SP_ERR_INFEASIBLE, "lengths[%" PRId32 "]: %s of %" PRId64
                            " tokens takes %" PRId64 " on a rank, above max_pack_tokens %" PRId64
                            "%s", i, can_slice ? "its smallest slice" : "the whole sample", piece,
                            sp__padded_size(&step->limit, piece), step->limit.tokens,
                            can_slice ? "" : "; allow slicing, or oversize alone");
    }
    return SP_OK;
}

const char *const sp__count_names[2] = { "forward_packs", "backward_packs" };

static sp_status check_given(const struct sp_planner *p, int pass, int64_t group, int64_t most)
{
    int64_t given = sp__planner_packs(p, pass);

    if (given % group != 0)
        return sp__fail(SP_ERR_INVALID, "%s: %" PRId64 " is no multiple of pack_group %" PRId64,
                        sp__count_names[pass], given, group);
    if (given > most)
        return sp__fail(SP_ERR_INVALID, "%s: %" PRId64 " is above the %" PRId64
                        " that max_packs and pack_group allow", sp__count_names[pass], given, most);
    return SP_OK;
}

/* Parameters of pack counts that no plan could keep together, whatever the policy. */
static sp_status check_counts(const struct sp_planner *p)
{
    int64_t most = sp__planner_value(p, SP_PLANNER_MAX_PACKS);
    int64_t group = sp__planner_value(p, SP_PLANNER_PACK_GROUP);

    if (group > most)
        return sp__fail(SP_ERR_INVALID, "pack_group: %" PRId64 " is above max_packs %" PRId64,
                        group, most);
    most -= most % group;
    SP_TRY(check_given(p, SP_FORWARD, group, most));
    return check_given(p, SP_BACKWARD, group, most);
}

sp_status sp__step_start(sp__step *step, struct sp_planner *planner, const struct sp_batch *batch)
{
    int32_t stage = 0;

    step->planner = planner;
    step->batch = batch;
    step->arena = &planner->arena[0];
    step->workers = (sp__workers){ planner->arena,
                                   (int32_t)sp__planner_value(planner, SP_PLANNER_THREADS) };
    step->is_1f1b = step->policy_simulates = 0;
    step->memory = sp__planner_memory(planner);
    step->largest_part = INT64_MAX;
    step->least.peak_bytes = INT64_MAX;
    step->run_ahead = SP__RUN_AHEAD_WHOLE;
    step->offset = NULL;
    step->most_packs = 0;
    sp__arena_reset(step->arena);
    SP_TRY(check_counts(planner));
    SP_TRY(sp__batch_totals(&planner->target.rates.attention, batch->lengths, batch->count,
                            &step->totals));
    SP_TRY(pick_stage(step, &stage));
    SP_TRY(set_yardstick(step, stage));
    SP_TRY(sp__memory_check(planner->target.memory, &planner->target.rates, step->totals.tokens));
    step->draft =
        (sp__draft){.lanes = planner->shape.degree[SP__DP],
                    .cp = planner->shape.degree[SP__CP],
                    .flow = { planner->target.rates.chunks,
                              sp__planner_value(planner, SP_PLANNER_PIPELINE) ==
                                  SP_PIPELINE_ZERO_BUBBLE },
                    .alignment = step->yardstick.alignment,
                    .pad_multiple = (int32_t)sp__planner_value(planner, SP_PLANNER_PAD_MULTIPLE),
                    .pack_tokens = (int32_t)sp__planner_value(planner, SP_PLANNER_MAX_PACK_TOKENS)};
    set_limit(step);
    SP_TRY(check_limit(step));
    return sort_samples(step);
}

/* Consecutive replicas that share a node with the first. */
static int32_t replicas_in_node(const struct sp_planner *p)
{
    int32_t stride = p->shape.stride[SP__DP];

    return (int32_t)sp__max(p->target.rates.devices_per_node / stride, 1);
}

/* Samples of each replica in input order instead of by weight. */
static sp_status sort_by_index(sp__step *step)
{
    sp__assignment *a = &step->assignment;
    sp__arena_mark mark = sp__arena_here(step->arena);
    int32_t *replica, *at;

    SP_TAKE(step->arena, replica, step->batch->count);
    SP_TAKE(step->arena, at, step->draft.lanes);
    for (int32_t r = 0; r < step->draft.lanes; r++) {
        at[r] = a->first[r];
        for (int32_t i = a->first[r]; i < a->first[r + 1]; i++)
            replica[a->sample[i]] = r;
    }
    for (int32_t i = 0; i < step->batch->count; i++)
        a->sample[at[replica[i]]++] = i;
    sp__arena_rewind(step->arena, mark);
    return SP_OK;
}

/* Merged packs run before a replica's own, so an order that is to be kept leaves
 * no place for them. */
sp_status sp__step_assign(sp__step *step, int merges)
{
    const struct sp_planner *p = step->planner;
    int64_t degree = sp__planner_value(p, SP_PLANNER_MAX_MERGE_DEGREE);
    int64_t keep_order = sp__planner_value(p, SP_PLANNER_KEEP_ORDER);
    int32_t dp = p->shape.degree[SP__DP];
    sp__assign_options options = {
        .replicas = dp,
        .merges = merges && !keep_order && sp__step_can_slice(step) &&
                  sp__planner_value(p, SP_PLANNER_MERGES),
        .max_degree = (int32_t)(degree > 0 ? sp__min(degree, dp) : dp),
        .shortest_part = 2 * step->yardstick.alignment * p->shape.degree[SP__CP],
        .node_replicas = replicas_in_node(p),
        .rounds = 8,
        .largest_part = step->largest_part,
        .exact_nodes = sp__planner_value(p, SP_PLANNER_EXACT_NODES),
    };

    SP_TRY(sp__assign(&options, step->sorted, step->batch->count, step->batch->lengths,
                      step->offset, step->arena, &step->assignment));
    step->load_bound = step->assignment.bound;
    step->exact_nodes = step->assignment.nodes;
    for (int32_t r = 0; r < dp; r++)
        step->load = sp__max(r > 0 ? step->load : 0, step->assignment.load[r]);
    return keep_order ? sort_by_index(step) : SP_OK;
}
