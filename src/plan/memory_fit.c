/*
 * memory_fit.c - finds a plan within the memory cap when the first one is not.
 *
 * The ways: merges of twice as many replicas, more and smaller packs, less run
 * ahead, in all combinations; the fastest that fits is taken. No way depends on the
 * cap, so the least memory that any of them takes is a cap under which planning
 * succeeds, and it is the smallest.
 */
#include <inttypes.h>

#include "base/status.h"
#include "plan/step.h"

/* Parts of the run-ahead parameter, in sixteenths. 0 runs only what the next
 * backward needs. */
static const int32_t run_aheads[] = { 16, 8, 4, 2, 1, 0 };

#define COUNT_OF(array) ((int32_t)(sizeof(array) / sizeof *(array)))

/* Widest merge that the parameters allow, 1 when they allow none. */
static int64_t widest(const sp__step *step)
{
    const struct sp_planner *p = step->planner;
    int64_t degree = sp__planner_value(p, SP_PLANNER_MAX_MERGE_DEGREE);
    int64_t dp = p->shape.degree[SP__DP];

    if (sp__planner_value(p, SP_PLANNER_POLICY) != SP_POLICY_SLIMPACK ||
        !sp__step_can_slice(step) || !sp__planner_value(p, SP_PLANNER_MERGES) ||
        sp__planner_value(p, SP_PLANNER_KEEP_ORDER))
        return 1;
    return degree > 0 ? sp__min(degree, dp) : dp;
}

/* Tokens of the longest sample that a replica takes in round i: halved each time. */
static int64_t part_of_round(const sp__step *step, int32_t i)
{
    return sp__max(step->batch->longest >> i, 1);
}

static int32_t count_rounds(const sp__step *step)
{
    int32_t rounds = 1;

    while (((int64_t)1 << (rounds - 1)) < widest(step))
        rounds++;
    return rounds;
}

/* Whether a device that holds its part of the longest sample is above the cap by
 * that alone. */
static int is_hopeless(const sp__step *step, int64_t part)
{
    const struct sp_planner *p = step->planner;
    int64_t least = sp__max(part, step->batch->longest / widest(step));

    for (int32_t s = 0; s < p->target.rates.pp; s++) {
        int64_t token = 0;

        for (int32_t u = s; u < p->target.rates.stages; u += p->target.rates.pp)
            token += p->target.memory[u].token;
        if (sp__mul_div(least / p->shape.degree[SP__CP], token, 1) >
            step->memory - p->target.memory[s].fixed)
            return 1;
    }
    return 0;
}

static void set_round(sp__step *step, int32_t i)
{
    step->largest_part = i == 0 ? INT64_MAX : part_of_round(step, i);
}

void sp__step_presume(sp__step *step)
{
    int32_t rounds = count_rounds(step), i = 0;

    while (step->memory < INT64_MAX && i + 1 < rounds && is_hopeless(step, part_of_round(step, i)))
        i++;
    set_round(step, i);
}

/* One way, and the best of those that fit so far. */
typedef struct way {
    int64_t largest_part;
    int32_t most_packs, run_ahead;
    int64_t makespan;
} way;

/* The planner's policy with less and less run ahead, until it fits. 1F1B has its
 * order by definition. */
static sp_status try_run_aheads(sp__step *step, way *best)
{
    for (int32_t i = 0; i < COUNT_OF(run_aheads); i++) {
        sp__outcome outcome;

        step->run_ahead = run_aheads[i];
        if (i == 0 || step->policy_simulates)
            SP_TRY(sp__step_draft(step));
        SP_TRY(sp__step_evaluate(step, &outcome));
        if (outcome.peak_bytes <= step->memory && outcome.makespan < best->makespan)
            *best = (way){ step->largest_part, step->most_packs, step->run_ahead,
                           outcome.makespan };
        if (outcome.peak_bytes <= step->memory || step->is_1f1b)
            break;
    }
    return SP_OK;
}

/* All widths of merges from a round on, until wider ones no longer gain. */
static sp_status try_all(sp__step *step, int32_t first_round, way *best)
{
    int is_slimpack = sp__planner_value(step->planner, SP_PLANNER_POLICY) == SP_POLICY_SLIMPACK;
    int32_t rounds = count_rounds(step), levels = is_slimpack ? SP__PACK_LEVELS : 1;

    for (int32_t i = first_round; i < rounds; i++) {
        int64_t before = best->makespan;

        set_round(step, i);
        for (step->most_packs = 0; step->most_packs < levels; step->most_packs++)
            SP_TRY(try_run_aheads(step, best));
        if (before < INT64_MAX && best->makespan == before)
            break;
    }
    return SP_OK;
}

static sp_status take(sp__step *step, const way *best)
{
    step->largest_part = best->largest_part;
    step->most_packs = best->most_packs;
    /* As it was made: with all of the run-ahead where packs do not depend on it. */
    step->run_ahead = step->policy_simulates ? best->run_ahead : SP__RUN_AHEAD_WHOLE;
    SP_TRY(sp__step_draft(step));
    step->run_ahead = best->run_ahead;
    return SP_OK;
}

sp_status sp__step_fit(sp__step *step)
{
    way best = { .makespan = INT64_MAX };
    int32_t first = 0;

    while (first + 1 < count_rounds(step) && is_hopeless(step, part_of_round(step, first)))
        first++;
    SP_TRY(try_all(step, first, &best));
    if (best.makespan == INT64_MAX && first > 0)
        SP_TRY(try_all(step, 0, &best));
    if (best.makespan < INT64_MAX)
        return take(step, &best);
    return sp__fail(SP_ERR_INFEASIBLE, "memory_bytes: replica %" PRId32 ", stage %" PRId32
                    " needs %" PRId64 " bytes, above the cap of %" PRId64
                    "; the smallest cap that would do is %" PRId64, step->least.replica,
                    step->least.stage, step->least.peak_bytes, step->memory,
                    step->least.peak_bytes);
}
