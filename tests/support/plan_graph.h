/*
 * plan_graph.h - the graph that a plan's ops form, for checking and for timing.
 *
 * Node unit * virtual stages + virtual stage stands for one pack there; a merged pack
 * is one node across its replicas, its weight gradients are one in each. Edges: stage
 * order, forward from the virtual stage before, backward from the one after, backward
 * after the forward packs that hold its slices on the same virtual stage, and weight
 * gradients after their backward.
 *
 * Takes a plan whose units are numbered and whose ops name existing packs.
 */
#ifndef TESTS_SUPPORT_PLAN_GRAPH_H
#define TESTS_SUPPORT_PLAN_GRAPH_H

#include "plain.h"

typedef struct plan_node {
    int32_t replica, stage; /* of one of its ops */
    int32_t pass, pack, chunk;
    int64_t start, end;     /* as that op says; the latest end of a merged pack */
} plan_node;

typedef struct plan_edge {
    int64_t from, to;
} plan_edge;

typedef struct plan_graph {
    int64_t nodes, edges;
    plan_node *node;  /* [nodes] */
    plan_edge *edge;  /* [edges] */
    int64_t *first;   /* [nodes + 1] of out */
    int64_t *out;     /* [edges] successors */
    int64_t *sorted;  /* [ordered] nodes in topological order */
    int64_t ordered;  /* below nodes when there is a cycle */
} plan_graph;

/* Node of an op of a stage. */
int64_t plan_node_of(const plain_plan *plan, int32_t replica, int32_t stage, const sp_op_view *op);

/* Builds the graph and sorts it; memory comes from the plan. */
void plan_graph_build(plain_plan *plan, plan_graph *out);

/* Last forward pack of each backward pack's slices, needs [backward packs]. */
void plan_needs(plain_plan *plan, int32_t replica, int32_t *needs);

/* Earliest start of each node, start [nodes], when every node takes the time
 * that its op takes; for a graph without cycle. Returns the latest end. */
int64_t plan_graph_longest(const plan_graph *graph, int64_t *start);

#endif
