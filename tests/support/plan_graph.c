/*
 * plan_graph.c - the graph of a plan's ops: see plan_graph.h.
 *
 * Sorted by Kahn's method: nodes whose predecessors have all been taken, in turn.
 */
#include "plan_graph.h"

#include <stdlib.h>

typedef struct held_slice {
    int32_t sample, start, pack;
} held_slice;

static int by_sample_and_start(const void *a, const void *b)
{
    const held_slice *x = a, *y = b;

    if (x->sample != y->sample)
        return x->sample < y->sample ? -1 : 1;
    return (x->start > y->start) - (x->start < y->start);
}

static held_slice *forward_slices(plain_plan *plan, const plain_replica *r, int64_t *count)
{
    held_slice *all;

    *count = 0;
    for (int32_t k = 0; k < r->packs[SP_FORWARD]; k++)
        *count += r->pack[SP_FORWARD][k].count;
    all = plain_take(plan, *count, sizeof *all);
    *count = 0;
    for (int32_t k = 0; k < r->packs[SP_FORWARD]; k++)
        for (int32_t i = 0; i < r->pack[SP_FORWARD][k].count; i++) {
            const plain_piece *s = &r->pack[SP_FORWARD][k].slice[i];

            all[(*count)++] = (held_slice){ s->sample, s->start, k };
        }
    if (*count > 1)
        qsort(all, (size_t)*count, sizeof *all, by_sample_and_start);
    return all;
}

/* Pack of the forward slice that holds a token: the last that starts at it or before. */
static int32_t pack_of_token(const held_slice *all, int64_t count, int32_t sample, int64_t token)
{
    int64_t low = 0, high = count;

    while (low < high) {
        int64_t middle = (low + high) / 2;

        if (all[middle].sample < sample ||
            (all[middle].sample == sample && all[middle].start <= token))
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? all[low - 1].pack : 0;
}

void plan_needs(plain_plan *plan, int32_t replica, int32_t *needs)
{
    const plain_replica *r = &plan->replica[replica];
    int64_t count;
    held_slice *all = forward_slices(plan, r, &count);

    for (int32_t b = 0; b < r->packs[SP_BACKWARD]; b++) {
        const plain_pack *pack = &r->pack[SP_BACKWARD][b];

        needs[b] = -1;
        for (int32_t i = 0; i < pack->count; i++) {
            const plain_piece *s = &pack->slice[i];
            int32_t last = pack_of_token(all, count, s->sample, (int64_t)s->start + s->length - 1);

            needs[b] = last > needs[b] ? last : needs[b];
        }
    }
}

static int32_t virtual_stages(const plain_plan *p)
{
    return p->pp * p->chunks;
}

/* Packs first, those of a merge once; weight gradients behind them, replica by replica. */
static int64_t node_of(const plain_plan *p, int32_t replica, int32_t stage, int pass, int32_t pack)
{
    int64_t first = (int64_t)p->units * virtual_stages(p);

    if (pass == SP_WEIGHT)
        return first + ((int64_t)replica * p->replica[0].packs[SP_BACKWARD] + pack) *
                           virtual_stages(p) + stage;
    return (int64_t)p->replica[replica].pack[pass][pack].unit * virtual_stages(p) + stage;
}

int64_t plan_node_of(const plain_plan *p, int32_t replica, int32_t stage, const sp_op_view *op)
{
    return node_of(p, replica, op->chunk * p->pp + stage, op->pass, op->pack);
}

static void put_edge(plan_graph *g, int64_t from, int64_t to)
{
    g->edge[g->edges++] = (plan_edge){ from, to };
}

/* What an op waits for on a neighbour, or for its weights on its own stage. */
static void put_input(const plain_plan *p, plan_graph *g, int32_t replica, int32_t stage,
                      const sp_op_view *op)
{
    int32_t number = op->chunk * p->pp + stage;
    int32_t before = op->pass == SP_FORWARD ? number - 1 : number + 1;
    int64_t node = plan_node_of(p, replica, stage, op);

    if (op->pass == SP_WEIGHT)
        put_edge(g, node_of(p, replica, number, SP_BACKWARD, op->pack), node);
    else if (before >= 0 && before < virtual_stages(p))
        put_edge(g, node_of(p, replica, before, op->pass, op->pack), node);
}

static void put_stage(const plain_plan *p, plan_graph *g, int32_t replica, int32_t stage)
{
    const sp_op_view *op = plain_ops_at(p, replica, stage, 0);

    for (int32_t i = 0; i < p->replica[replica].ops; i++) {
        int64_t node = plan_node_of(p, replica, stage, &op[i]);
        int64_t end = g->node[node].end > op[i].end_ps ? g->node[node].end : op[i].end_ps;

        g->node[node] = (plan_node){ replica, stage, op[i].pass, op[i].pack, op[i].chunk,
                                     op[i].start_ps, end };
        if (i > 0)
            put_edge(g, plan_node_of(p, replica, stage, &op[i - 1]), node);
        put_input(p, g, replica, stage, &op[i]);
    }
}

static void put_needs(plain_plan *p, plan_graph *g, int32_t replica)
{
    int32_t packs = p->replica[replica].packs[SP_BACKWARD];
    int32_t *needs = plain_take(p, packs, sizeof *needs);

    plan_needs(p, replica, needs);
    for (int32_t b = 0; b < packs; b++)
        for (int32_t s = 0; needs[b] >= 0 && s < virtual_stages(p); s++)
            put_edge(g, node_of(p, replica, s, SP_FORWARD, needs[b]),
                     node_of(p, replica, s, SP_BACKWARD, b));
}

static void index_edges(plan_graph *g)
{
    for (int64_t e = 0; e < g->edges; e++)
        g->first[g->edge[e].from + 1]++;
    for (int64_t n = 0; n < g->nodes; n++)
        g->first[n + 1] += g->first[n];
    /* Filled from the back, which leaves first[] at the front again. */
    for (int64_t e = g->edges - 1; e >= 0; e--)
        g->out[--g->first[g->edge[e].from + 1]] = g->edge[e].to;
    for (int64_t n = 0; n < g->nodes; n++)
        g->first[n] = g->first[n + 1];
    g->first[g->nodes] = g->edges;
}

static void sort_nodes(plain_plan *p, plan_graph *g)
{
    int64_t *waits = plain_take(p, g->nodes, sizeof *waits);

    for (int64_t e = 0; e < g->edges; e++)
        waits[g->edge[e].to]++;
    g->ordered = 0;
    for (int64_t n = 0; n < g->nodes; n++)
        if (waits[n] == 0)
            g->sorted[g->ordered++] = n;
    for (int64_t i = 0; i < g->ordered; i++)
        for (int64_t e = g->first[g->sorted[i]]; e < g->first[g->sorted[i] + 1]; e++)
            if (--waits[g->out[e]] == 0)
                g->sorted[g->ordered++] = g->out[e];
}

void plan_graph_build(plain_plan *p, plan_graph *g)
{
    int64_t most = 0;

    for (int32_t d = 0; d < p->dp; d++)
        most += (int64_t)p->pp * (2 * (int64_t)p->replica[d].ops +
                                  (int64_t)p->chunks * p->replica[d].packs[SP_BACKWARD]);
    g->nodes = ((int64_t)p->units +
                (p->split ? (int64_t)p->dp * p->replica[0].packs[SP_BACKWARD] : 0)) *
               virtual_stages(p);
    g->edges = 0;
    g->node = plain_take(p, g->nodes, sizeof *g->node);
    g->edge = plain_take(p, most, sizeof *g->edge);
    for (int32_t d = 0; d < p->dp; d++) {
        for (int32_t s = 0; s < p->pp; s++)
            put_stage(p, g, d, s);
        put_needs(p, g, d);
    }
    g->first = plain_take(p, g->nodes + 2, sizeof *g->first);
    g->out = plain_take(p, g->edges, sizeof *g->out);
    g->sorted = plain_take(p, g->nodes, sizeof *g->sorted);
    index_edges(g);
    sort_nodes(p, g);
}

int64_t plan_graph_longest(const plan_graph *g, int64_t *start)
{
    int64_t last = 0;

    for (int64_t n = 0; n < g->nodes; n++)
        start[n] = 0;
    for (int64_t i = 0; i < g->ordered; i++) {
        int64_t n = g->sorted[i];
        int64_t end = start[n] + g->node[n].end - g->node[n].start;

        last = end > last ? end : last;
        for (int64_t e = g->first[n]; e < g->first[n + 1]; e++)
            if (start[g->out[e]] < end)
                start[g->out[e]] = end;
    }
    return last;
}
