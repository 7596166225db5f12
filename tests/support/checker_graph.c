/*
 * checker_graph.c - I4: every stage runs every pack of both passes once and in
 * order, the graph of ops has no cycle, and the op times keep its edges.
 */
#include <inttypes.h>

#include "checker_parts.h"
#include "plan_graph.h"

/* next counts packs by chunk and pass. */
static int check_op(const checker *c, int32_t replica, int32_t stage, int32_t i,
                    int32_t (*next)[3])
{
    const plain_replica *r = &c->plan->replica[replica];
    const sp_op_view *op = &plain_ops_at(c->plan, replica, stage, 0)[i];

    if (op->pass < SP_FORWARD || op->pass > SP_BACKWARD + c->plan->split || op->chunk < 0 ||
        op->chunk >= c->plan->chunks)
        return check_fail(c, 4, "replica %" PRId32 ", stage %" PRId32 ", op %" PRId32 ": pass %"
                          PRId32 " of chunk %" PRId32, replica, stage, i, op->pass, op->chunk);
    if (op->pack != next[op->chunk][op->pass] || op->pack >= r->packs[plain_pass(op->pass)])
        return check_fail(c, 4, "replica %" PRId32 ", stage %" PRId32 ", op %" PRId32 ": pack %"
                          PRId32
                          " of pass %" PRId32 ", %" PRId32 " is due", replica, stage, i, op->pack,
                          op->pass, next[op->chunk][op->pass]);
    if (op->merge != r->pack[plain_pass(op->pass)][op->pack].merge)
        return check_fail(c, 4, "replica %" PRId32 ", stage %" PRId32 ", op %" PRId32 ": merge %"
                          PRId32 " differs from its pack's", replica, stage, i, op->merge);
    if (op->start_ps < 0 || op->end_ps < op->start_ps || (i > 0 && op->start_ps < op[-1].end_ps))
        return check_fail(c, 4, "replica %" PRId32 ", stage %" PRId32 ", op %" PRId32 ": %" PRId64
                          " to %"
                          PRId64 " ps overlaps the op before", replica, stage, i, op->start_ps,
                          op->end_ps);
    next[op->chunk][op->pass]++;
    return 0;
}

/* All CP ranks of a stage run the same ops at the same times. */
static int check_context_ranks(const checker *c, int32_t replica, int32_t stage)
{
    const sp_op_view *first = plain_ops_at(c->plan, replica, stage, 0);

    for (int32_t cp = 1; cp < c->plan->cp; cp++) {
        const sp_op_view *op = plain_ops_at(c->plan, replica, stage, cp);

        for (int32_t i = 0; i < c->plan->replica[replica].ops; i++)
            if (op[i].pass != first[i].pass || op[i].pack != first[i].pack ||
                op[i].chunk != first[i].chunk || op[i].merge != first[i].merge ||
                op[i].start_ps != first[i].start_ps || op[i].end_ps != first[i].end_ps)
                return check_fail(c, 4, "replica %" PRId32 ", stage %" PRId32 ", op %" PRId32
                                  ": CP rank %" PRId32 " runs another than CP rank 0", replica,
                                  stage, i, cp);
    }
    return 0;
}

static int check_stage_ops(const checker *c, int32_t replica, int32_t stage)
{
    const plain_replica *r = &c->plan->replica[replica];
    int32_t next[SP_VIRTUAL_STAGES_MAX][3] = { { 0 } };

    for (int32_t i = 0; i < r->ops; i++)
        CHECK(check_op(c, replica, stage, i, next));
    for (int32_t k = 0; k < c->plan->chunks * (2 + c->plan->split); k++) {
        int32_t chunk = k / (2 + c->plan->split);
        int pass = k % (2 + c->plan->split);

        if (next[chunk][pass] != r->packs[plain_pass(pass)])
            return check_fail(c, 4, "replica %" PRId32 ", stage %" PRId32 " runs %" PRId32 " of %"
                              PRId32 " packs of pass %d in chunk %" PRId32, replica, stage,
                              next[chunk][pass], r->packs[plain_pass(pass)], pass, chunk);
    }
    return check_context_ranks(c, replica, stage);
}

/* A node starts when one of its replicas says; all others must agree. */
static int check_meeting(const checker *c, const plan_graph *g, int32_t replica, int32_t stage)
{
    const plain_plan *p = c->plan;
    const sp_op_view *op = plain_ops_at(p, replica, stage, 0);

    for (int32_t i = 0; i < p->replica[replica].ops; i++) {
        const plan_node *node = &g->node[plan_node_of(p, replica, stage, &op[i])];

        if (op[i].start_ps != node->start)
            return check_fail(c, 4, "stage %" PRId32 ": merge %" PRId32 " runs at %" PRId64
                              " ps on replica %" PRId32 ", at %" PRId64 " on %" PRId32, stage,
                              op[i].merge, op[i].start_ps, replica, node->start, node->replica);
    }
    return 0;
}

static int check_times(const checker *c, const plan_graph *g)
{
    for (int64_t e = 0; e < g->edges; e++) {
        const plan_node *from = &g->node[g->edge[e].from], *to = &g->node[g->edge[e].to];

        if (to->start < from->end)
            return check_fail(c, 4, "replica %" PRId32 ": pack %" PRId32 " of pass %" PRId32
                              " on stage %" PRId32 " starts at %" PRId64 " ps, before pack %" PRId32
                              " of pass %" PRId32 " on stage %" PRId32 " ends at %" PRId64,
                              to->replica, to->pack, to->pass, to->stage, to->start, from->pack,
                              from->pass, from->stage, from->end);
    }
    return 0;
}

int check_graph(checker *c)
{
    plan_graph g;

    for (int32_t d = 0; d < c->plan->dp; d++)
        for (int32_t s = 0; s < c->plan->pp; s++)
            CHECK(check_stage_ops(c, d, s));
    plan_graph_build(c->plan, &g);
    if (g.ordered < g.nodes)
        return check_fail(c, 4, "%" PRId64 " of %" PRId64 " ops wait for each other in a ring",
                          g.nodes - g.ordered, g.nodes);
    for (int32_t d = 0; d < c->plan->dp; d++)
        for (int32_t s = 0; s < c->plan->pp; s++)
            CHECK(check_meeting(c, &g, d, s));
    return check_times(c, &g);
}
