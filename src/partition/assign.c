/*
 * assign.c - phase one: see assign.h.
 *
 * The heaviest samples are merged first, each over the fewest replicas that keep
 * every member below a fair share, placed where the loads are least. The rest
 * goes longest first to the least loaded replica (Graham, 1969) and is improved
 * by moves and swaps between the most and the least loaded. Whether a sample is
 * merged depends on its weight against a threshold; several are tried and the
 * best kept, the one with fewer merges when the gain is below a thousandth,
 * since a merge is a barrier.
 */
#include "partition/assign.h"

#include <inttypes.h>
#include <string.h>

#include "base/arith.h"
#include "base/heap.h"
#include "base/status.h"
#include "exact/search.h"
#include "partition/improve.h"
#include "partition/windows.h"

/* Thresholds for merging in thousandths of a fair share, most first. */
static const int32_t thresholds[] = { 1000, 800, 600, 450, 300, 200 };

/* The part of a fair share that merges leave to a replica's own samples, where they
 * can: between the last forward and the first backward of a sample that is nearly
 * all of a replica's work, the first stages have nothing else to run. Less leaves
 * them idle for the time of a pack through the pipeline and back, more widens the
 * merges. Measured at DP 64, PP 8 on the data files: the worst ratio is 1.0315 with
 * nothing left, 1.0289 with a sixteenth, 1.0259 with an eighth, and no better with
 * a quarter. */
#define OWN_PART 8

/* The part of a fair share by which loads must be better without that room. */
#define OWN_GAIN 64

/* Degrees tried for one merge, from the smallest that the weight asks for: each
 * looks at every window. More finds little, since a few more members make room. */
#define DEGREES_TRIED 12

#define THRESHOLDS ((int32_t)(sizeof thresholds / sizeof *thresholds))

typedef struct attempt {
    const sp__assign_options *options;
    const sp__keyed *sorted;
    const int64_t *lengths;
    const int64_t *offset;
    int32_t count;
    int64_t fair;      /* load of a replica if all were equal */
    int64_t *load;     /* [replicas] */
    int32_t *replica;  /* [count] by place in sorted, -1 for a merged sample */
    sp__merge *merge;  /* [count] */
    int32_t merges;
    int32_t merged;    /* places below it may be merged, from it on none is */
    int64_t tried;      /* threshold of the last try, which load and replica show */
    int32_t tried_own;  /* and its leaves_own */
    int32_t leaves_own; /* merges leave room for a replica's own samples */
    int32_t large;     /* places below it are larger than a replica may take */
} attempt;

static int32_t largest_degree(const attempt *a, int32_t place)
{
    int64_t parts = a->lengths[a->sorted[place].index] / a->options->shortest_part;
    int64_t most = sp__min(a->options->max_degree, a->options->replicas);

    return (int32_t)sp__min(most, parts);
}

/* The fewest replicas that keep every member below a fair share; if none do,
 * the degree and place with the least load. */
static int32_t place_merge(const attempt *a, const sp__windows *w, int32_t place, int32_t *degree)
{
    int64_t weight = a->sorted[place].key, least = INT64_MAX;
    int32_t largest = largest_degree(a, place), best = -1;
    int64_t filled = a->fair - (a->leaves_own ? a->fair / OWN_PART : 0);
    int64_t fewest = sp__max(weight / sp__max(filled, 1),
                             sp__ceil_div(a->lengths[a->sorted[place].index],
                                          a->options->largest_part));
    int32_t d = (int32_t)sp__max(2, sp__min(largest, fewest));

    for (int32_t tried = 0; d <= largest && tried < DEGREES_TRIED; d++, tried++) {
        int64_t most;
        int32_t first = sp__windows_place(w, a->load, d, a->options->node_replicas, &most);

        if (first < 0 || most + sp__ceil_div(weight, d) >= least)
            continue;
        least = most + sp__ceil_div(weight, d);
        best = first;
        *degree = d;
        if (least <= filled)
            break;
    }
    return best;
}

static sp_status merge_heavy(attempt *a, int64_t threshold, sp__arena *arena)
{
    sp__windows w;

    SP_TRY(sp__windows_start(&w, a->options->replicas, arena));
    a->merges = 0;
    a->merged = 0;
    for (int32_t i = 0; i < a->count && (a->sorted[i].key > threshold || i < a->large); i++) {
        int32_t degree = 0, first;

        a->merged = i + 1;
        a->replica[i] = 0;
        if (largest_degree(a, i) < 2)
            continue;
        first = place_merge(a, &w, i, &degree);
        if (first < 0)
            continue;
        sp__windows_add(&w, first, degree);
        for (int32_t r = first; r < first + degree; r++)
            a->load[r] += sp__ceil_div(a->sorted[i].key, degree);
        a->merge[a->merges++] = (sp__merge){ a->sorted[i].index, first, degree };
        a->replica[i] = -1;
    }
    return SP_OK;
}

static sp_status place_rest(attempt *a, sp__arena *arena)
{
    sp__heap heap = { .key = a->load, .count = a->options->replicas };

    SP_TAKE(arena, heap.order, heap.count);
    SP_TAKE(arena, heap.where, heap.count);
    sp__heap_build(&heap);
    for (int32_t i = 0; i < a->count; i++) {
        int32_t r = sp__heap_top(&heap);

        if (i < a->merged && a->replica[i] < 0)
            continue;
        a->replica[i] = r;
        sp__heap_set(&heap, r, a->load[r] + a->sorted[i].key);
    }
    return SP_OK;
}

static int64_t largest(const int64_t *load, int32_t count)
{
    int64_t most = load[0];

    for (int32_t r = 1; r < count; r++)
        most = sp__max(most, load[r]);
    return most;
}

static sp_status try_threshold(attempt *a, int64_t threshold, sp__arena *arena, int64_t *most)
{
    sp__arena_mark mark = sp__arena_here(arena);

    a->tried = threshold;
    a->tried_own = a->leaves_own;
    for (int32_t r = 0; r < a->options->replicas; r++)
        a->load[r] = a->offset != NULL ? a->offset[r] : 0;
    SP_TRY(merge_heavy(a, threshold, arena));
    SP_TRY(place_rest(a, arena));
    *most = largest(a->load, a->options->replicas);
    sp__arena_rewind(arena, mark);
    return SP_OK;
}

/* Tries the thresholds from the fewest merges on; keeps the best and its load. */
static sp_status try_thresholds(attempt *a, sp__arena *arena, int64_t *best, int64_t *threshold)
{
    for (int32_t t = 0; t < THRESHOLDS && a->options->merges; t++) {
        int64_t here = sp__mul_div(a->fair, thresholds[t], 1000), most;

        if (*best - a->fair <= a->fair / 1000 || (a->count > 0 && a->sorted[0].key <= here))
            continue;
        SP_TRY(try_threshold(a, here, arena, &most));
        if (most < *best - a->fair / 1000) {
            *best = most;
            *threshold = here;
        }
    }
    return SP_OK;
}

/* With room for a replica's own samples, unless the loads are much better without,
 * as when a few samples are all there is. Ends with the best done. */
static sp_status choose_threshold(attempt *a, sp__arena *arena)
{
    int64_t none, best, full, threshold = INT64_MAX, full_threshold = INT64_MAX, most;

    a->leaves_own = 1;
    SP_TRY(try_threshold(a, INT64_MAX, arena, &none));
    best = full = none;
    SP_TRY(try_thresholds(a, arena, &best, &threshold));
    if (best - a->fair > a->fair / OWN_GAIN) {
        a->leaves_own = 0;
        SP_TRY(try_thresholds(a, arena, &full, &full_threshold));
        a->leaves_own = full >= best - a->fair / OWN_GAIN;
    }
    threshold = a->leaves_own ? threshold : full_threshold;
    /* Without a merge both kinds are the same, and often the first was the only one. */
    return a->tried == threshold && (threshold == INT64_MAX || a->tried_own == a->leaves_own)
               ? SP_OK : try_threshold(a, threshold, arena, &most);
}

/* Samples of each replica, by decreasing weight since sorted is. */
static sp_status list_samples(const attempt *a, sp__arena *arena, sp__assignment *out)
{
    int32_t replicas = a->options->replicas;

    SP_TAKE(arena, out->first, (int64_t)replicas + 1);
    SP_TAKE(arena, out->sample, a->count);
    memset(out->first, 0, ((size_t)replicas + 1) * sizeof *out->first);
    for (int32_t i = 0; i < a->count; i++)
        if (a->replica[i] >= 0)
            out->first[a->replica[i]]++;
    for (int32_t r = 0, before = 0; r <= replicas; r++) {
        int32_t here = out->first[r];

        out->first[r] = before;
        before += r < replicas ? here : 0;
    }
    for (int32_t i = 0; i < a->count; i++)
        if (a->replica[i] >= 0)
            out->sample[out->first[a->replica[i]]++] = i;
    for (int32_t r = replicas; r > 0; r--)
        out->first[r] = out->first[r - 1];
    out->first[0] = 0;
    return SP_OK;
}

/* Largest window first; of equal ones the lower, then the one merged first. */
static void order_merges(attempt *a)
{
    for (int32_t i = 1; i < a->merges; i++) {
        sp__merge m = a->merge[i];
        int32_t j = i;

        for (;
             j > 0 && (a->merge[j - 1].replicas < m.replicas ||
                       (a->merge[j - 1].replicas == m.replicas && a->merge[j - 1].first > m.first));
             j--)
            a->merge[j] = a->merge[j - 1];
        a->merge[j] = m;
    }
}

static sp_status start(attempt *a, sp__arena *arena)
{
    int64_t total = 0;

    SP_TAKE(arena, a->load, a->options->replicas);
    SP_TAKE(arena, a->replica, a->count);
    SP_TAKE(arena, a->merge, a->count);
    for (int32_t i = 0; i < a->count; i++)
        total += a->sorted[i].key;
    for (int32_t r = 0; a->offset != NULL && r < a->options->replicas; r++)
        total += a->offset[r];
    a->fair = sp__ceil_div(total, a->options->replicas);
    a->merged = a->large = 0;
    while (a->options->merges && a->large < a->count &&
           a->lengths[a->sorted[a->large].index] > a->options->largest_part)
        a->large++;
    return SP_OK;
}

static sp_status open_exact(const attempt *a, sp__exact_problem *problem, sp__exact_place **place,
                            sp__arena *arena)
{
    int32_t *degree, merge = 0;
    int64_t *weight;

    SP_TAKE(arena, weight, a->count);
    SP_TAKE(arena, degree, a->count);
    SP_TAKE(arena, *place, a->count);
    for (int32_t i = 0; i < a->count; i++) {
        weight[i] = a->sorted[i].key;
        degree[i] = a->options->merges ? (int32_t)sp__max(largest_degree(a, i), 1) : 1;
        /* Merges stand in the order of the samples. */
        (*place)[i] = a->replica[i] >= 0
                          ? (sp__exact_place){ a->replica[i], 1 }
                          : (sp__exact_place){ a->merge[merge].first, a->merge[merge].replicas };
        merge += a->replica[i] < 0;
    }
    *problem = (sp__exact_problem){ weight, degree, a->count, a->options->replicas,
                                    a->options->exact_nodes };
    return SP_OK;
}

static void take_places(attempt *a, const sp__exact_place *place)
{
    for (int32_t r = 0; r < a->options->replicas; r++)
        a->load[r] = 0;
    a->merges = 0;
    for (int32_t i = 0; i < a->count; i++) {
        int32_t degree = place[i].degree;

        a->replica[i] = degree == 1 ? place[i].first : -1;
        if (degree > 1)
            a->merge[a->merges++] = (sp__merge){ a->sorted[i].index, place[i].first, degree };
        for (int32_t r = place[i].first; r < place[i].first + degree; r++)
            a->load[r] += sp__ceil_div(a->sorted[i].key, degree);
    }
}

/* Branch and bound from what was found. A sample that memory forces into a merge
 * has no place in its numbers. */
static sp_status search_exactly(attempt *a, sp__arena *arena, sp__assignment *out)
{
    sp__exact_problem problem;
    sp__exact_result result;
    sp__exact_place *place = NULL;

    out->bound = a->fair;
    out->nodes = 0;
    if (a->options->exact_nodes == 0 || a->large > 0)
        return SP_OK;
    if (a->count > SP__EXACT_SAMPLES || a->options->replicas > SP__EXACT_REPLICAS)
        return sp__fail(SP_ERR_INVALID, "exact_nodes: %" PRId32 " samples on %" PRId32
                        " replicas are above the %d and %d that are searched exactly", a->count,
                        a->options->replicas, SP__EXACT_SAMPLES, SP__EXACT_REPLICAS);
    SP_TRY(open_exact(a, &problem, &place, arena));
    SP_TRY(sp__exact_search(&problem, place, arena, &result));
    take_places(a, place);
    out->bound = result.bound;
    out->nodes = result.nodes;
    return SP_OK;
}

sp_status sp__assign(const sp__assign_options *options, const sp__keyed *sorted, int32_t count,
                     const int64_t *lengths, const int64_t *offset, sp__arena *arena,
                     sp__assignment *out)
{
    attempt a = { .options = options, .sorted = sorted, .lengths = lengths, .offset = offset,
                  .count = count };

    SP_TRY(start(&a, arena));
    SP_TRY(choose_threshold(&a, arena));
    SP_TRY(sp__improve(options, sorted, count, a.replica, a.load, arena));
    SP_TRY(search_exactly(&a, arena, out));
    order_merges(&a);
    out->merge = a.merge;
    out->merges = a.merges;
    out->load = a.load;
    SP_TRY(list_samples(&a, arena, out));
    for (int32_t i = 0; i < out->first[options->replicas]; i++)
        out->sample[i] = sorted[out->sample[i]].index;
    return SP_OK;
}
