/*
 * policies.c - the planners that slimpack is compared with, on the same simulator.
 *
 * fixed-pack    first-fit-decreasing by tokens into bins as long as the longest
 *               sample, dealt to the replicas in turn; 1F1B. What most
 *               frameworks' sequence packing does.
 * balanced-pack whole samples to replicas and then to packs by cost, longest
 *               first to the least loaded; 1F1B. Workload-balanced packing as in
 *               WLB-LLM (arXiv 2503.17924), with the pack count that simulates best.
 * uniform-slice samples cut every so many tokens, each slice a pack, short samples
 *               first-fit-decreasing into packs of that many tokens; the same packs
 *               forward and backward, with the slice length that simulates best.
 */
#include <inttypes.h>
#include <string.h>

#include "base/status.h"
#include "partition/bins.h"
#include "partition/context.h"
#include "partition/runs.h"
#include "plan/step.h"
#include "schedule/loads.h"

/* The step's draft from one list of runs a replica. */
static sp_status make_draft(sp__step *step, sp__runs *runs)
{
    sp__draft *d = &step->draft;
    int32_t packs = 1;

    for (int32_t r = 0; r < d->lanes; r++)
        packs = runs[r].packs > packs ? runs[r].packs : packs;
    d->packs[0] = d->packs[1] = packs;
    d->merges = 0;
    SP_TAKE(step->arena, d->lane, d->lanes);
    for (int32_t r = 0; r < d->lanes; r++) {
        SP_TRY(sp__runs_to_lane(&runs[r], packs, d->cp, &d->lane[r], step->arena));
        SP_TRY(sp__place_context(d, r, &step->yardstick, step->batch->lengths, step->batch->count,
                                 step->arena));
        SP_TRY(sp__lane_finish(d, r, step->batch->lengths, step->batch->count,
                               &step->yardstick.attention, step->arena));
    }
    return SP_OK;
}

static int32_t length_of(const sp__step *step, int32_t sample)
{
    return (int32_t)step->batch->lengths[sample];
}

/* Lists items by bin: order [count] places in items, first [bins + 1]. */
static sp_status list_bins(const int32_t *bin, int32_t count, int32_t bins, sp__arena *arena,
                           int32_t **first, int32_t **order)
{
    SP_TAKE(arena, *first, (int64_t)bins + 1);
    SP_TAKE(arena, *order, count);
    memset(*first, 0, ((size_t)bins + 1) * sizeof **first);
    for (int32_t i = 0; i < count; i++)
        (*first)[bin[i] + 1]++;
    for (int32_t b = 0; b < bins; b++)
        (*first)[b + 1] += (*first)[b];
    for (int32_t i = count - 1; i >= 0; i--)
        (*order)[--(*first)[bin[i] + 1]] = i;
    /* Each start has moved to its own place by now: shift them back. */
    for (int32_t b = 0; b < bins; b++)
        (*first)[b] = (*first)[b + 1];
    (*first)[bins] = count;
    return SP_OK;
}

/* One pack of whole samples for each bin. */
static void add_bin(const sp__step *step, const sp__keyed *items, const int32_t *order,
                    int32_t from, int32_t to, sp__runs *runs)
{
    sp__runs_add_pack(runs, 0);
    for (int32_t i = from; i < to; i++) {
        int32_t sample = items[order[i]].index;

        sp__runs_add_slice(runs, sample, 0, length_of(step, sample));
    }
}


/* Samples by decreasing length. */
static sp_status sort_by_length(const sp__step *step, sp__keyed **items)
{
    int32_t count = step->batch->count;
    sp__keyed *scratch;

    SP_TAKE(step->arena, *items, count);
    SP_TAKE(step->arena, scratch, count);
    for (int32_t i = 0; i < count; i++)
        (*items)[i] = (sp__keyed){ step->batch->lengths[i], i };
    sp__sort_descending(*items, scratch, count);
    return SP_OK;
}

sp_status sp__step_fixed_pack(sp__step *step)
{
    int32_t count = step->batch->count, lanes = step->draft.lanes, bins;
    int32_t *bin, *first, *order;
    sp__keyed *items;
    sp__runs *runs;

    SP_TRY(sort_by_length(step, &items));
    SP_TAKE(step->arena, bin, count);
    SP_TRY(sp__first_fit(items, count, step->batch->longest, 0, step->arena, bin, &bins));
    SP_TRY(list_bins(bin, count, bins, step->arena, &first, &order));
    SP_TAKE(step->arena, runs, lanes);
    for (int32_t r = 0; r < lanes; r++) {
        int64_t slices = 0;

        for (int32_t b = r; b < bins; b += lanes)
            slices += first[b + 1] - first[b];
        SP_TRY(sp__runs_open(&runs[r], bins / lanes + 1, slices, step->arena));
        for (int32_t b = r; b < bins; b += lanes)
            add_bin(step, items, order, first[b], first[b + 1], &runs[r]);
    }
    step->is_1f1b = 1;
    return make_draft(step, runs);
}

/* Samples of one replica with their costs, the heaviest first. */
static sp_status replica_items(const sp__step *step, int32_t replica, int by_length,
                               sp__keyed **items, int32_t *count)
{
    const sp__assignment *a = &step->assignment;
    sp__keyed *scratch;

    *count = a->first[replica + 1] - a->first[replica];
    SP_TAKE(step->arena, *items, *count);
    SP_TAKE(step->arena, scratch, *count);
    for (int32_t i = 0; i < *count; i++) {
        int32_t sample = a->sample[a->first[replica] + i];
        int64_t length = step->batch->lengths[sample];

        (*items)[i] = (sp__keyed){ by_length ? length
                                             : sp__sample_cost(&step->yardstick, length), sample };
    }
    sp__sort_descending(*items, scratch, *count);
    return SP_OK;
}

static sp_status balanced_lane(const sp__step *step, int32_t replica, int32_t packs, sp__runs *runs)
{
    int32_t count, *bin, *first, *order;
    sp__keyed *items;

    SP_TRY(replica_items(step, replica, 0, &items, &count));
    SP_TAKE(step->arena, bin, count);
    SP_TRY(sp__least_loaded(items, count, packs, step->arena, bin));
    SP_TRY(list_bins(bin, count, packs, step->arena, &first, &order));
    SP_TRY(sp__runs_open(runs, packs, count, step->arena));
    for (int32_t b = 0; b < packs; b++)
        add_bin(step, items, order, first[b], first[b + 1], runs);
    return SP_OK;
}

static sp_status balanced_draft(sp__step *step, int64_t packs)
{
    sp__runs *runs;

    SP_TAKE(step->arena, runs, step->draft.lanes);
    for (int32_t r = 0; r < step->draft.lanes; r++)
        SP_TRY(balanced_lane(step, r, (int32_t)packs, &runs[r]));
    return make_draft(step, runs);
}

/* Slices of a long sample, each a pack of one run. */
static void add_long(const sp__step *step, int32_t sample, int32_t tokens, sp__runs *runs)
{
    int32_t length = length_of(step, sample);

    for (int32_t start = 0; start < length; start += tokens) {
        sp__runs_add_pack(runs, start > 0);
        sp__runs_add_slice(runs, sample, start, start + tokens < length ? tokens : length - start);
        if (start > INT32_MAX - tokens)
            break;
    }
}

static sp_status uniform_lane(const sp__step *step, int32_t replica, int32_t tokens, sp__runs *runs)
{
    int32_t count, bins = 0, longer = 0, *bin, *first, *order;
    int64_t slices = 0;
    sp__keyed *items;

    SP_TRY(replica_items(step, replica, 1, &items, &count));
    for (; longer < count && items[longer].key > tokens; longer++)
        slices += sp__ceil_div(items[longer].key, tokens);
    SP_TRY(sp__runs_open(runs, slices + count - longer, slices + count - longer, step->arena));
    for (int32_t i = 0; i < longer; i++)
        add_long(step, items[i].index, tokens, runs);
    items += longer;
    count -= longer;
    SP_TAKE(step->arena, bin, count);
    SP_TRY(sp__first_fit(items, count, tokens, 0, step->arena, bin, &bins));
    SP_TRY(list_bins(bin, count, bins, step->arena, &first, &order));
    for (int32_t b = 0; b < bins; b++)
        add_bin(step, items, order, first[b], first[b + 1], runs);
    return SP_OK;
}

static sp_status uniform_draft(sp__step *step, int64_t tokens)
{
    sp__runs *runs;

    SP_TAKE(step->arena, runs, step->draft.lanes);
    for (int32_t r = 0; r < step->draft.lanes; r++)
        SP_TRY(uniform_lane(step, r, (int32_t)tokens, &runs[r]));
    return make_draft(step, runs);
}

/* Tries sizes from first on, doubling up to last, and leaves the draft with the
 * best makespan of those within max_packs (or, if none is, the last). */
static sp_status best_of_doubling(sp__step *step, sp_status (*make)(sp__step *, int64_t),
                                  int64_t first, int64_t last)
{
    int64_t max_packs = sp__planner_value(step->planner, SP_PLANNER_MAX_PACKS);
    int64_t best = last, best_time = INT64_MAX;

    for (int64_t size = first; size < 2 * last; size *= 2) {
        sp__arena_mark mark = sp__arena_here(step->arena);
        int64_t time;

        SP_TRY(make(step, sp__min(size, last)));
        SP_TRY(sp__step_evaluate(step, &time));
        if (step->draft.packs[0] <= max_packs && time < best_time) {
            best = sp__min(size, last);
            best_time = time;
        }
        sp__arena_rewind(step->arena, mark);
    }
    return make(step, best);
}

sp_status sp__step_balanced_pack(sp__step *step)
{
    int64_t given = sp__planner_value(step->planner, SP_PLANNER_FORWARD_PACKS);
    int64_t most = 1;

    SP_TRY(sp__step_assign(step, 0));
    step->is_1f1b = 1;
    if (given > 0)
        return balanced_draft(step, given);
    for (int32_t r = 0; r < step->draft.lanes; r++)
        most = sp__max(most, step->assignment.first[r + 1] - step->assignment.first[r]);
    most = sp__min(most, sp__planner_value(step->planner, SP_PLANNER_MAX_PACKS));
    return best_of_doubling(step, balanced_draft, 1, most);
}

sp_status sp__step_uniform_slice(sp__step *step)
{
    int64_t given = sp__planner_value(step->planner, SP_PLANNER_SLICE_TOKENS);
    int64_t alignment = step->yardstick.alignment;

    SP_TRY(sp__step_assign(step, 0));
    if (given > 0 && given % alignment != 0)
        return sp__fail(SP_ERR_INVALID, "slice_tokens: %" PRId64 " is no multiple of alignment %"
                        PRId64, given, alignment);
    if (given > 0)
        return uniform_draft(step, given);
    return best_of_doubling(step, uniform_draft, alignment * sp__max(256 / alignment, 1),
                            sp__ceil_div(step->batch->longest, alignment) * alignment);
}
