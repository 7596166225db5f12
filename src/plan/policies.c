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

/* What pack counts are multiples of: the order of interleaving goes round in groups of
 * pp packs. */
static int64_t group_of(const sp__step *step)
{
    const sp__rates *rates = &step->planner->target.rates;
    int64_t group = sp__planner_value(step->planner, SP_PLANNER_PACK_GROUP), both = group;

    if (!step->is_1f1b || rates->chunks == 1 || step->draft.flow.split)
        return group;
    while (both % rates->pp != 0)
        both += group;
    return both;
}

/* The step's draft from one list of runs a replica, and as many packs as are given.
 * 1F1B takes both passes alike. */
static sp_status make_draft(sp__step *step, sp__runs *runs)
{
    sp__draft *d = &step->draft;
    int32_t packs = 1;

    for (int32_t r = 0; r < d->lanes; r++)
        packs = runs[r].packs > packs ? runs[r].packs : packs;
    for (int pass = 0; pass < 2 && step->is_1f1b; pass++)
        packs = (int32_t)sp__max(packs, sp__planner_packs(step->planner, pass));
    packs = (int32_t)sp__round_up(packs, group_of(step));
    for (int pass = 0; pass < 2; pass++)
        d->packs[pass] = step->is_1f1b
                             ? packs
                             : (int32_t)sp__max(packs, sp__planner_packs(step->planner, pass));
    d->merges = 0;
    SP_TAKE(step->arena, d->lane, d->lanes);
    for (int32_t r = 0; r < d->lanes; r++) {
        SP_TRY(sp__runs_to_lane(&runs[r], d->packs, d->cp, &d->lane[r], step->arena));
        SP_TRY(sp__place_context(d, r, &step->yardstick, step->batch->lengths, step->batch->count,
                                 step->arena));
        SP_TRY(sp__lane_finish(d, r, step->batch->lengths, step->batch->count,
                               &step->yardstick.attention, step->arena));
    }
    if (sp__draft_excess(d, step->batch->lengths) > 0)
        return sp__fail(SP_ERR_INFEASIBLE, "max_pack_tokens: %" PRId32
                        " are passed by %" PRId64 " once shards are padded", d->pack_tokens,
                        sp__draft_excess(d, step->batch->lengths));
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

static int keeps_order(const sp__step *step)
{
    return sp__planner_value(step->planner, SP_PLANNER_KEEP_ORDER) != 0;
}

/* First-fit-decreasing, or next fit where the order is kept. */
static sp_status fit(const sp__step *step, const sp__keyed *items, int32_t count, int64_t capacity,
                     int32_t *bin, int32_t *bins)
{
    if (!keeps_order(step))
        return sp__first_fit(items, count, capacity, step->limit.samples, step->arena, bin, bins);
    sp__next_fit(items, count, capacity, step->limit.samples, bin, bins);
    return SP_OK;
}

/* Samples by decreasing padded length, or in input order. */
static sp_status sort_by_length(const sp__step *step, sp__keyed **items)
{
    int32_t count = step->batch->count;
    sp__keyed *scratch;

    SP_TAKE(step->arena, *items, count);
    SP_TAKE(step->arena, scratch, count);
    for (int32_t i = 0; i < count; i++)
        (*items)[i] = (sp__keyed){ sp__padded_size(&step->limit, step->batch->lengths[i]), i };
    if (!keeps_order(step))
        sp__sort_descending(*items, scratch, count);
    return SP_OK;
}

/* The limits may need more packs than are allowed, or than are given. */
static int keeps_counts(const sp__step *step, int pass)
{
    return step->draft.packs[pass] <= sp__planner_most_packs(step->planner, pass);
}

static sp_status check_packs(const sp__step *step)
{
    for (int pass = 0; pass < 2; pass++)
        if (!keeps_counts(step, pass))
            return sp__fail(SP_ERR_INFEASIBLE, "%s: a replica needs %" PRId32
                            " packs, but %" PRId64 " are allowed",
                            sp__planner_most_name(step->planner, pass), step->draft.packs[pass],
                            sp__planner_most_packs(step->planner, pass));
    return SP_OK;
}

/* Policies that run both passes in the same packs. */
static sp_status check_alike(const sp__step *step)
{
    int64_t f = sp__planner_packs(step->planner, SP_FORWARD);
    int64_t b = sp__planner_packs(step->planner, SP_BACKWARD);

    if (step->is_1f1b && f > 0 && b > 0 && f != b)
        return sp__fail(SP_ERR_INVALID, "backward_packs: %" PRId64 " are not the %" PRId64
                        " forward_packs, and policy %s runs both passes in the same packs", b, f,
                        sp_policy_name((int32_t)sp__planner_value(step->planner,
                                                                  SP_PLANNER_POLICY)));
    return SP_OK;
}

/* The largest load of replicas that nobody balanced. */
static void measure_load(sp__step *step, const sp__runs *runs)
{
    int64_t all = 0;

    step->load = step->exact_nodes = 0;
    for (int32_t r = 0; r < step->draft.lanes; r++) {
        int64_t load = 0;

        for (int32_t i = 0; i < runs[r].slice_count; i++)
            load += sp__sample_cost(&step->yardstick, runs[r].slices[i].length);
        all += load;
        step->load = sp__max(step->load, load);
    }
    step->load_bound = sp__ceil_div(all, step->draft.lanes);
}

sp_status sp__step_fixed_pack(sp__step *step)
{
    int32_t count = step->batch->count, lanes = step->draft.lanes, bins;
    int32_t *bin, *first, *order;
    sp__keyed *items;
    sp__runs *runs;

    step->is_1f1b = 1;
    SP_TRY(check_alike(step));
    SP_TRY(sort_by_length(step, &items));
    SP_TAKE(step->arena, bin, count);
    SP_TRY(fit(step, items, count,
               sp__min(sp__padded_size(&step->limit, step->batch->longest), step->limit.tokens),
               bin, &bins));
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
    measure_load(step, runs);
    SP_TRY(make_draft(step, runs));
    return check_packs(step);
}

/* Samples of one replica with their costs or padded lengths, the heaviest first or
 * in input order. */
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

        (*items)[i] = (sp__keyed){ by_length ? sp__padded_size(&step->limit, length)
                                             : sp__sample_cost(&step->yardstick, length), sample };
    }
    if (!keeps_order(step))
        sp__sort_descending(*items, scratch, *count);
    return SP_OK;
}

/* Items of a replica to packs of equal cost, at least as many as the limits need.
 * In input order, each pack takes samples up to an equal share. */
static sp_status balance(const sp__step *step, sp__keyed *items, const int64_t *size,
                         int32_t count, int32_t *bin, int32_t *packs)
{
    int64_t cost = 0, room = 0, done = 0;
    int32_t last = -1, held = 0;

    if (!keeps_order(step))
        return sp__least_loaded(items, size, count, step->limit.tokens, step->limit.samples,
                                step->arena, bin, packs);
    for (int32_t i = 0; i < count; i++)
        cost += items[i].key;
    for (int32_t i = 0; i < count; i++) {
        int32_t share = (int32_t)sp__mul_div(done + items[i].key / 2, *packs, sp__max(cost, 1));

        if (last < 0 || share > last || size[i] > room || held == step->limit.samples) {
            last = share > last ? share : last + 1;
            room = step->limit.tokens;
            held = 0;
        }
        bin[i] = last;
        room -= size[i] < room ? size[i] : room;
        held++;
        done += items[i].key;
    }
    *packs = last >= *packs ? last + 1 : *packs;
    return SP_OK;
}

static sp_status balanced_lane(const sp__step *step, int32_t replica, int32_t packs, sp__runs *runs)
{
    int32_t count, *bin, *first, *order;
    sp__keyed *items;
    int64_t *size;

    SP_TRY(replica_items(step, replica, 0, &items, &count));
    SP_TAKE(step->arena, bin, count);
    SP_TAKE(step->arena, size, count);
    for (int32_t i = 0; i < count; i++)
        size[i] = sp__padded_size(&step->limit, length_of(step, items[i].index));
    SP_TRY(balance(step, items, size, count, bin, &packs));
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
    int32_t length = length_of(step, sample), start = 0;

    for (; length - start > tokens; start += tokens) {
        sp__runs_add_pack(runs, start > 0);
        sp__runs_add_slice(runs, sample, start, tokens);
    }
    sp__runs_add_pack(runs, start > 0);
    sp__runs_add_slice(runs, sample, start, length - start);
}

static int32_t count_long(const sp__step *step, const sp__keyed *items, int32_t count,
                          int32_t tokens, int64_t *slices)
{
    int32_t found = 0;

    *slices = 0;
    for (int32_t i = 0; i < count; i++)
        if (length_of(step, items[i].index) > tokens) {
            *slices += sp__ceil_div(length_of(step, items[i].index), tokens);
            found++;
        }
    return found;
}

/* Short samples from place on up to the next long one, in bins of tokens. Returns
 * the place behind them. */
static sp_status add_short(const sp__step *step, const sp__keyed *items, int32_t *place,
                           int32_t count, int32_t tokens, sp__runs *runs)
{
    int32_t from = *place, bins, *bin, *first, *order;

    while (*place < count && length_of(step, items[*place].index) <= tokens)
        ++*place;
    if (*place == from)
        return SP_OK;
    SP_TAKE(step->arena, bin, *place - from);
    SP_TRY(fit(step, items + from, *place - from, sp__padded_size(&step->limit, tokens), bin,
               &bins));
    SP_TRY(list_bins(bin, *place - from, bins, step->arena, &first, &order));
    for (int32_t b = 0; b < bins; b++)
        add_bin(step, items + from, order, first[b], first[b + 1], runs);
    return SP_OK;
}

static sp_status uniform_lane(const sp__step *step, int32_t replica, int32_t tokens, sp__runs *runs)
{
    int32_t count, longer;
    int64_t slices;
    sp__keyed *items;

    SP_TRY(replica_items(step, replica, 1, &items, &count));
    longer = count_long(step, items, count, tokens, &slices);
    SP_TRY(sp__runs_open(runs, slices + count - longer, slices + count - longer, step->arena));
    for (int32_t i = 0; i < count;) {
        if (length_of(step, items[i].index) > tokens)
            add_long(step, items[i++].index, tokens, runs);
        else
            SP_TRY(add_short(step, items, &i, count, tokens, runs));
    }
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
 * best makespan of those within max_packs and memory. */
static sp_status best_of_doubling(sp__step *step, sp_status (*make)(sp__step *, int64_t),
                                  int64_t first, int64_t last)
{
    int64_t best = last, best_time = INT64_MAX;

    step->policy_simulates = 1;
    for (int64_t size = first; size < 2 * last; size *= 2) {
        sp__arena_mark mark = sp__arena_here(step->arena);
        sp__outcome outcome;

        SP_TRY(make(step, sp__min(size, last)));
        SP_TRY(sp__step_evaluate(step, &outcome));
        if (keeps_counts(step, SP_FORWARD) && keeps_counts(step, SP_BACKWARD) &&
            outcome.makespan < best_time && outcome.peak_bytes <= step->memory) {
            best = sp__min(size, last);
            best_time = outcome.makespan;
        }
        sp__arena_rewind(step->arena, mark);
    }
    SP_TRY(make(step, best));
    return check_packs(step);
}

/* The pack limit, rounded down to whole groups as drafts are rounded up. */
static int64_t most_in_groups(const sp__step *step)
{
    int64_t most = sp__planner_value(step->planner, SP_PLANNER_MAX_PACKS);
    int64_t group = group_of(step);

    return sp__max(most / group * group, 1);
}

sp_status sp__step_balanced_pack(sp__step *step)
{
    int64_t f = sp__planner_packs(step->planner, SP_FORWARD);
    int64_t b = sp__planner_packs(step->planner, SP_BACKWARD), most = 1;

    step->is_1f1b = sp__planner_value(step->planner, SP_PLANNER_POLICY) != SP_POLICY_SLIMPACK;
    SP_TRY(check_alike(step));
    SP_TRY(sp__step_assign(step, 0));
    if (f > 0 || b > 0) {
        SP_TRY(balanced_draft(step, f > 0 && b > 0 ? sp__min(f, b) : sp__max(f, b)));
        return check_packs(step);
    }
    for (int32_t r = 0; r < step->draft.lanes; r++)
        most = sp__max(most, step->assignment.first[r + 1] - step->assignment.first[r]);
    most = sp__min(most, most_in_groups(step));
    return best_of_doubling(step, balanced_draft, 1, most);
}

/* Tokens of the fullest replica. */
static int64_t most_tokens(const sp__step *step)
{
    const sp__assignment *a = &step->assignment;
    int64_t most = 0;

    for (int32_t r = 0; r < step->draft.lanes; r++) {
        int64_t sum = 0;

        for (int32_t i = a->first[r]; i < a->first[r + 1]; i++)
            sum += length_of(step, a->sample[i]);
        most = sp__max(most, sum);
    }
    return most;
}

/* Sizes that make too many packs are known to without a draft of them, which takes
 * memory and time for each pack: least is the smallest that may not. */
static sp_status least_size(const sp__step *step, int64_t largest, int64_t *least)
{
    int64_t max_packs = sp__planner_value(step->planner, SP_PLANNER_MAX_PACKS);
    int64_t tokens = most_tokens(step);

    *least = sp__ceil_div(tokens, max_packs);
    if (*least > largest)
        return sp__fail(SP_ERR_INFEASIBLE, "max_packs: a replica needs %" PRId64
                        " packs or more, but %" PRId64 " are allowed",
                        sp__ceil_div(tokens, largest), max_packs);
    return SP_OK;
}

sp_status sp__step_uniform_slice(sp__step *step)
{
    int64_t given = sp__planner_value(step->planner, SP_PLANNER_SLICE_TOKENS);
    int64_t alignment = step->yardstick.alignment;
    /* A slice of that many tokens cuts no sample, be it a multiple of alignment or not. */
    int64_t longest = sp__min(sp__round_up(step->batch->longest, alignment), INT32_MAX);
    int64_t least, first;

    SP_TRY(sp__step_assign(step, 0));
    if (!sp__step_can_slice(step))
        return sp__fail(SP_ERR_INVALID,
                        "policy uniform-slice: it needs slicing and causal attention");
    if (step->limit.tokens < INT64_MAX)
        longest = sp__min(longest, sp__max(sp__longest_within(&step->limit, step->limit.tokens) /
                                               alignment * alignment, alignment));
    if (given > 0 && given % alignment != 0)
        return sp__fail(SP_ERR_INVALID, "slice_tokens: %" PRId64 " is no multiple of alignment %"
                        PRId64, given, alignment);
    if (given > longest && step->limit.tokens < INT64_MAX)
        return sp__fail(SP_ERR_INFEASIBLE, "slice_tokens: %" PRId64
                        " are above the %" PRId64 " that max_pack_tokens allows", given, longest);
    SP_TRY(least_size(step, given > 0 ? given : longest, &least));
    if (given > 0) {
        SP_TRY(uniform_draft(step, given));
        return check_packs(step);
    }
    first = alignment * sp__max(256 / alignment, 1);
    while (first < least)
        first *= 2;
    return best_of_doubling(step, uniform_draft, sp__min(first, longest), longest);
}
