/*
 * search.c - numbers to bins to proven optimality: see search.h.
 *
 * Depth first, the heaviest item first, the emptiest windows first, so that the
 * first dive is the longest-first heuristic. A node is left when
 *
 *     max(largest load, average of all loads and what is still to place)
 *
 * reaches the best known: the average is a bound because parts only round up.
 * When all items still to place go to one bin each, bins of equal load are
 * interchangeable and only the first of them is tried (Korf, IJCAI 2009). A search
 * that ends within its nodes has proved its best; one cut short has proved the
 * bound of the root, or of the least node it left open.
 */
#include "exact/search.h"

#include <string.h>

#include "base/arith.h"
#include "base/status.h"

/* A way to place an item: ordered by the load it leads to, then by place. */
typedef struct option {
    int64_t load;
    int32_t first, degree;
} option;

typedef struct search {
    const sp__exact_problem *problem;
    int64_t *load;           /* [bins] */
    int64_t *rest;           /* [count + 1] weight of items from each on */
    int32_t *all_single;     /* [count + 1] whether items from each on have degree 1 */
    sp__exact_place *now;    /* [count] */
    sp__exact_place *best;   /* [count] */
    option *options;         /* [count * most_options] */
    int64_t most_options;
    int64_t best_load, open; /* open: least bound of a node left for want of nodes */
    int64_t nodes;
} search;

static int64_t largest_load(const search *s)
{
    int64_t most = 0;

    for (int32_t b = 0; b < s->problem->bins; b++)
        most = sp__max(most, s->load[b]);
    return most;
}

static int64_t bound_at(const search *s, int32_t item)
{
    sp__int128 sum = s->rest[item];

    for (int32_t b = 0; b < s->problem->bins; b++)
        sum += s->load[b];
    return sp__max(largest_load(s), (int64_t)((sum + s->problem->bins - 1) / s->problem->bins));
}

/* Whether a window crosses none of the items placed before. */
static int is_laminar(const search *s, int32_t item, int32_t first, int32_t degree)
{
    int32_t end = first + degree;

    for (int32_t i = 0; i < item && degree > 1; i++) {
        int32_t a = s->now[i].first, b = a + s->now[i].degree;

        if (s->now[i].degree > 1 && ((a < first && first < b && b < end) ||
                                     (first < a && a < end && end < b)))
            return 0;
    }
    return 1;
}

static int64_t load_after(const search *s, int32_t item, int32_t first, int32_t degree)
{
    int64_t most = 0;

    for (int32_t b = first; b < first + degree; b++)
        most = sp__max(most, s->load[b]);
    return most + sp__ceil_div(s->problem->weight[item], degree);
}

static int seen_before(const search *s, int32_t bin)
{
    for (int32_t b = 0; b < bin; b++)
        if (s->load[b] == s->load[bin])
            return 1;
    return 0;
}

static void insert_option(option *list, int32_t count, option o)
{
    int32_t at = count;

    for (; at > 0 && o.load < list[at - 1].load; at--)
        list[at] = list[at - 1];
    list[at] = o;
}

/* Ways to place an item that stay below the best known, the least load first. */
static int32_t list_options(const search *s, int32_t item, option *list)
{
    const sp__exact_problem *p = s->problem;
    int32_t count = 0;

    for (int32_t degree = 1; degree <= p->degree[item] && degree <= p->bins; degree++)
        for (int32_t first = 0; first + degree <= p->bins; first++) {
            option o = { load_after(s, item, first, degree), first, degree };

            if (o.load >= s->best_load || !is_laminar(s, item, first, degree) ||
                (s->all_single[item] && seen_before(s, first)))
                continue;
            insert_option(list, count++, o);
        }
    return count;
}

static void add(search *s, int32_t item, const option *o, int64_t sign)
{
    int64_t part = sp__ceil_div(s->problem->weight[item], o->degree);

    for (int32_t b = o->first; b < o->first + o->degree; b++)
        s->load[b] += sign * part;
    s->now[item] = (sp__exact_place){ o->first, o->degree };
}

/* Recursion is as deep as there are items; callers keep instances small. */
static void visit(search *s, int32_t item)
{
    option *list = s->options + item * s->most_options;
    int64_t bound = bound_at(s, item);
    int32_t count;

    if (bound >= s->best_load)
        return;
    if (s->nodes >= s->problem->max_nodes) {
        s->open = sp__min(s->open, bound);
        return;
    }
    s->nodes++;
    if (item == s->problem->count) {
        s->best_load = largest_load(s);
        memcpy(s->best, s->now, (size_t)s->problem->count * sizeof *s->best);
        return;
    }
    count = list_options(s, item, list);
    for (int32_t i = 0; i < count; i++) {
        add(s, item, &list[i], 1);
        visit(s, item + 1);
        add(s, item, &list[i], -1);
    }
}

static sp_status start(search *s, const sp__exact_problem *p, sp__exact_place *place,
                       sp__arena *scratch)
{
    s->problem = p;
    s->best = place;
    s->nodes = 0;
    s->open = INT64_MAX;
    s->most_options = 0;
    for (int32_t i = 0; i < p->count; i++)
        s->most_options = sp__max(s->most_options,
                                  sp__min(p->degree[i], p->bins) * (int64_t)p->bins);
    SP_TAKE(scratch, s->load, p->bins);
    SP_TAKE(scratch, s->rest, (int64_t)p->count + 1);
    SP_TAKE(scratch, s->all_single, (int64_t)p->count + 1);
    SP_TAKE(scratch, s->now, p->count);
    SP_TAKE(scratch, s->options, p->count * s->most_options);
    memset(s->load, 0, (size_t)p->bins * sizeof *s->load);
    s->rest[p->count] = 0;
    s->all_single[p->count] = 1;
    for (int32_t i = p->count - 1; i >= 0; i--) {
        s->rest[i] = s->rest[i + 1] + p->weight[i];
        s->all_single[i] = s->all_single[i + 1] && p->degree[i] == 1;
    }
    return SP_OK;
}

/* Largest load of the solution to start from. */
static int64_t given_load(search *s)
{
    int64_t most;

    for (int32_t i = 0; i < s->problem->count; i++)
        add(s, i, &(option){ 0, s->best[i].first, s->best[i].degree }, 1);
    most = largest_load(s);
    memset(s->load, 0, (size_t)s->problem->bins * sizeof *s->load);
    return most;
}

sp_status sp__exact_search(const sp__exact_problem *p, sp__exact_place *place, sp__arena *scratch,
                           sp__exact_result *out)
{
    sp__arena_mark mark = sp__arena_here(scratch);
    search s;

    SP_TRY(start(&s, p, place, scratch));
    s.best_load = given_load(&s);
    visit(&s, 0);
    *out = (sp__exact_result){ s.best_load, sp__min(s.best_load, s.open), s.nodes };
    sp__arena_rewind(scratch, mark);
    return SP_OK;
}
