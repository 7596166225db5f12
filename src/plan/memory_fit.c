/*
 * memory_fit.c - finds a plan within the memory cap when the first one is not.
 *
 * What is live beyond the open samples is what runs ahead, so that is cut first:
 * it costs a bubble but changes no pack. Then packs as small as allowed, then
 * wider merges of the longest samples. Each step keeps what the earlier ones
 * saved. The lowest peak seen is a cap that would do: planning under it tries the
 * same plans, and is done once to be sure.
 */
#include <inttypes.h>

#include "base/status.h"
#include "plan/step.h"

/* Parts of the run-ahead parameter, in sixteenths. 0 runs only what the next
 * backward needs. */
static const int32_t run_aheads[] = { 16, 8, 4, 2, 1, 0 };

/* Shares of the free memory that one sample may take, as in sp__assign_options. */
static const int32_t shares[] = { SP__MEMORY_SHARE, 96, 48 };

#define COUNT_OF(array) ((int32_t)(sizeof(array) / sizeof *(array)))

/* The draft that stands, with less and less run ahead, until it fits. */
static sp_status try_run_aheads(sp__step *step, sp__outcome *least)
{
    for (int32_t i = 0; i < COUNT_OF(run_aheads); i++) {
        sp__outcome outcome;

        step->run_ahead = run_aheads[i];
        SP_TRY(sp__step_evaluate(step, &outcome));
        if (outcome.peak_bytes < least->peak_bytes)
            *least = outcome;
        /* 1F1B has its order by definition. */
        if (outcome.peak_bytes <= step->memory || step->is_1f1b)
            break;
    }
    return SP_OK;
}

/* All ways in turn; the draft of the first that fits is left standing. */
static sp_status try_all(sp__step *step, sp__outcome *least)
{
    int can_merge = sp__planner_value(step->planner, SP_PLANNER_POLICY) == SP_POLICY_SLIMPACK;

    least->peak_bytes = INT64_MAX;
    for (int32_t i = 0; i < (can_merge ? COUNT_OF(shares) : 1); i++)
        for (step->most_packs = 0; step->most_packs <= can_merge; step->most_packs++) {
            step->memory_share = shares[i];
            SP_TRY(sp__step_draft(step));
            SP_TRY(try_run_aheads(step, least));
            if (least->peak_bytes <= step->memory)
                return SP_OK;
        }
    return SP_OK;
}

sp_status sp__step_fit(sp__step *step)
{
    int64_t cap = step->memory;
    sp__outcome least, again;

    SP_TRY(try_all(step, &least));
    if (least.peak_bytes <= cap)
        return SP_OK;
    step->memory = least.peak_bytes;
    SP_TRY(try_all(step, &again));
    return sp__fail(SP_ERR_INFEASIBLE, "memory_bytes: replica %" PRId32 ", stage %" PRId32
                    " needs %" PRId64 " bytes, above the cap of %" PRId64
                    "; the smallest cap that would do is %" PRId64, least.replica, least.stage,
                    least.peak_bytes, cap, sp__max(again.peak_bytes, least.peak_bytes));
}
