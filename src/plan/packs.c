/*
 * packs.c - phase two of policy slimpack: the packs of a given shape, for all
 * replicas or for one of them alone.
 */
#include <inttypes.h>

#include "base/status.h"
#include "partition/context.h"
#include "plan/step.h"
#include "plan/taper.h"
#include "schedule/loads.h"

/* Tries at keeping the token cap in the face of padding. */
#define CAP_ROUNDS 8

static sp_status set_weights(const sp__step *step, const sp__pack_shape *shape, sp__shares *shares)
{
    for (int pass = 0; pass < 2; pass++) {
        int32_t packs = shape->packs[pass], *weight, *end;

        SP_TAKE(step->arena, weight, packs);
        SP_TAKE(step->arena, end, packs);
        sp__taper(weight, packs, shape->ramp[pass][0], shape->share[pass][0], 0);
        sp__taper(end, packs, shape->ramp[pass][1], shape->share[pass][1], 1);
        for (int32_t k = 0; k < packs; k++)
            weight[k] = (int32_t)sp__min(weight[k], end[k]);
        shares->weight[pass] = weight;
        shares->packs[pass] = packs;
    }
    return SP_OK;
}

static sp__packing packing_of(const sp__step *step)
{
    return (sp__packing){
        .yardstick = &step->yardstick,
        .assignment = &step->assignment,
        .lengths = step->batch->lengths,
        .samples = step->batch->count,
        .replicas = step->draft.lanes,
        .sliceable = sp__step_can_slice(step),
        .limit = step->limit,
        .pass_cost = { step->pass_cost[0], step->pass_cost[1] },
        .arena = step->arena,
    };
}

static sp_status start_packing(const sp__step *step, const sp__pack_shape *shape,
                               sp__packing *packing)
{
    *packing = packing_of(step);
    return set_weights(step, shape, &packing->shares);
}

sp_status sp__step_fewest(const sp__step *step, int32_t fewest[2])
{
    sp__packing packing = packing_of(step);

    return sp__pack_fewest(&packing, fewest);
}

void sp__step_use(sp__step *step, const sp__pack_shape *shape)
{
    step->shape = *shape;
    step->draft.packs[0] = shape->packs[0];
    step->draft.packs[1] = shape->packs[1];
    step->draft.merge = step->assignment.merge;
    step->draft.merges = step->assignment.merges;
}

static sp_status make_lane(const sp__packing *packing, int32_t lane, sp__draft *draft,
                           sp__arena *arena)
{
    SP_TRY(sp__pack_lane(packing, lane, draft, arena));
    SP_TRY(sp__place_context(draft, lane, packing->yardstick, packing->lengths, packing->samples,
                             arena));
    return sp__lane_finish(draft, lane, packing->lengths, packing->samples,
                           &packing->yardstick->attention, arena);
}

/* What the workers share while they make lanes. */
typedef struct lanes_job {
    const sp__packing *packing;
    sp__draft *draft;
} lanes_job;

static sp_status lane_job(void *context, int32_t lane, sp__arena *arena)
{
    const lanes_job *job = context;

    return make_lane(job->packing, lane, job->draft, arena);
}

static sp_status make_lanes(sp__step *step)
{
    lanes_job job = { .draft = &step->draft };
    sp__packing packing;

    for (int32_t i = 1; i < step->workers.threads; i++)
        sp__arena_reset(&step->workers.arena[i]);
    SP_TAKE(step->arena, step->draft.lane, step->draft.lanes);
    SP_TRY(start_packing(step, &step->shape, &packing));
    SP_TRY(sp__pack_merges(&packing, -1));
    job.packing = &packing;
    return sp__run_jobs(&step->workers, step->draft.lanes, lane_job, &job);
}

/* A lower aim may take more packs than are allowed, which is no error yet. */
static sp_status search_again(sp__step *step, int *found)
{
    sp__sentence before = sp__last_sentence();
    sp_status status = sp__step_search(step);

    *found = status == SP_OK;
    if (status != SP_ERR_INFEASIBLE)
        return status;
    sp__put_back(&before);
    return SP_OK;
}

/* Padding counts anew for every slice that the other pass's cuts make, so a pack
 * can pass the cap by a few multiples: then the cuts aim lower by as much. */
static sp_status pack_within_cap(sp__step *step, int *fits)
{
    sp__arena_mark mark = sp__arena_here(step->arena);

    *fits = 0;
    for (int32_t round = 0; round < CAP_ROUNDS; round++) {
        int64_t excess;
        int found;

        SP_TRY(make_lanes(step));
        excess = sp__draft_excess(&step->draft, step->batch->lengths);
        *fits = excess == 0;
        if (*fits)
            return SP_OK;
        step->limit.tokens -= excess;
        sp__arena_rewind(step->arena, mark);
        if (step->limit.tokens < 1)
            return SP_OK;
        SP_TRY(search_again(step, &found));
        if (!found)
            return SP_OK;
        mark = sp__arena_here(step->arena);
    }
    return SP_OK;
}

/* Slices of whole multiples of the padding are not padded, however they are cut. 0
 * where the cuts are so already, or such a slice is too long. */
static int cut_at_padding(sp__step *step)
{
    const sp__limit *l = &step->limit;
    int64_t pad = (int64_t)l->pad * (l->group == 1 ? 1 : 2 * l->group);
    int64_t alignment = sp__lcm(step->draft.alignment, pad);

    if (alignment == step->yardstick.alignment || alignment > INT32_MAX ||
        sp__padded_size(l, alignment) > step->draft.pack_tokens)
        return 0;
    step->yardstick.alignment = (int32_t)alignment;
    return 1;
}

static sp_status pack_again(sp__step *step, int *fits)
{
    int found;

    step->limit.tokens = step->draft.pack_tokens;
    SP_TRY(search_again(step, &found));
    return found ? pack_within_cap(step, fits) : SP_OK;
}

/* A merge splits a slice over more ranks, and each part of it is padded: what fits no
 * cap shared may fit it alone. */
sp_status sp__step_pack(sp__step *step)
{
    int fits;

    SP_TRY(pack_within_cap(step, &fits));
    if (!fits && cut_at_padding(step))
        SP_TRY(pack_again(step, &fits));
    if (!fits && step->assignment.merges > 0) {
        SP_TRY(sp__step_assign(step, 0));
        SP_TRY(pack_again(step, &fits));
    }
    if (fits)
        return SP_OK;
    return sp__fail(SP_ERR_INFEASIBLE, "max_pack_tokens: found no cuts at alignment %" PRId32
                    " with pad_multiple %" PRId32 " that keep %" PRId32 " tokens in %" PRId64
                    " packs", step->draft.alignment, step->draft.pad_multiple,
                    step->draft.pack_tokens,
                    sp__planner_value(step->planner, SP_PLANNER_MAX_PACKS));
}

sp_status sp__step_try(sp__step *step, const sp__pack_shape *shape, int32_t replica,
                       int64_t *makespan)
{
    sp__arena_mark mark = sp__arena_here(step->arena);
    sp__draft all = step->draft;
    sp__packing packing;

    sp__step_use(step, shape);
    SP_TAKE(step->arena, step->draft.lane, all.lanes);
    SP_TRY(start_packing(step, shape, &packing));
    SP_TRY(sp__pack_merges(&packing, replica));
    SP_TRY(make_lane(&packing, replica, &step->draft, step->arena));
    SP_TRY(sp__step_evaluate_lane(step, replica, makespan));
    step->draft = all;
    sp__arena_rewind(step->arena, mark);
    return SP_OK;
}

sp_status sp__step_try_all(sp__step *step, const sp__pack_shape *shape, int64_t *makespan)
{
    sp__arena_mark mark = sp__arena_here(step->arena);
    sp__outcome outcome, least = step->least;

    sp__step_use(step, shape);
    SP_TRY(make_lanes(step));
    SP_TRY(sp__step_evaluate(step, &outcome));
    step->least = least; /* a try is no plan that could be taken */
    *makespan = outcome.makespan;
    sp__arena_rewind(step->arena, mark);
    return SP_OK;
}
