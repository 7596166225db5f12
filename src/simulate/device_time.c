/*
 * device_time.c - where the time and the memory of a simulated device go.
 *
 * Both are found by walking a stage's ops: what an op of a rank costs without its
 * communication, and what its tokens keep. Nothing here shapes a plan.
 */
#include <string.h>

#include "base/abi.h"
#include "base/first.h"
#include "base/status.h"
#include "simulate/simulation.h"

/* A rank's place, and its ops. */
typedef struct walk {
    const struct sp_simulation *s;
    int32_t replica, stage, cp;
} walk;

static walk walk_of(const struct sp_simulation *s, int32_t rank)
{
    return (walk){ s, sp__shape_index(&s->shape, SP__DP, rank),
                   sp__shape_index(&s->shape, SP__PP, rank),
                   sp__shape_index(&s->shape, SP__CP, rank) };
}

static int32_t op_at(const walk *w, int32_t i)
{
    return w->s->timeline.op[sp__simulation_op(w->s, w->replica, w->stage, i)];
}

static const sp__load *load_at(const walk *w, int32_t op)
{
    const sp__packs *packs = &w->s->draft.lane[w->replica].pass[sp__pack_pass(sp__op_pass(op))];

    return &packs->load[(int64_t)sp__op_pack(op) * w->s->draft.cp + w->cp];
}

static int32_t unit_of(const walk *w, int32_t op)
{
    return sp__op_chunk(op) * w->s->shape.degree[SP__PP] + w->stage;
}

/* Costs that an op goes by. */
static int rate_of(const walk *w, int32_t op)
{
    return sp__op_pass(op) == SP_BACKWARD && w->s->draft.flow.split ? SP__INPUT : sp__op_pass(op);
}

/* Time of an op of this rank without any communication: the weight gradients' have
 * none, so that their overhead is the pack's alone. */
static int64_t compute_of(const walk *w, int32_t op)
{
    const sp__stage_rates *stage = &w->s->target.rates.stage[unit_of(w, op)];
    const sp__rate *r = &stage->pass[rate_of(w, op)];
    const sp__load *load = load_at(w, op);

    if (load->tokens == 0)
        return 0;
    return sp__max(sp__fixed_cost(r->compute, load->tokens, r->pair, load->pairs) + r->half,
                   r->floor) + stage->pass[SP_WEIGHT].fixed;
}

/* The whole of it, as if the rank were alone. */
static int64_t cost_of(const walk *w, int32_t op)
{
    const sp__packs *packs = &w->s->draft.lane[w->replica].pass[sp__pack_pass(sp__op_pass(op))];
    const sp__shape *shape = &w->s->shape;
    int32_t merge = packs->merge[sp__op_pack(op)];
    int32_t first = merge < 0 ? w->replica : w->s->draft.merge[merge].first;
    int32_t last = merge < 0 ? first : first + w->s->draft.merge[merge].replicas - 1;
    int crosses = sp__crosses_nodes(&w->s->target.rates,
                                    sp__shape_rank(shape, first, 0, w->stage, 0),
                                    sp__shape_rank(shape, last, shape->degree[SP__TP] - 1,
                                                   w->stage, shape->degree[SP__CP] - 1));

    return sp__load_cost(&w->s->target.rates, unit_of(w, op), rate_of(w, op), load_at(w, op),
                         (last - first + 1) * shape->degree[SP__CP], crosses);
}

/* Tokens that the stage hands over after an op: those of its busiest rank, in lockstep
 * of all replicas. */
static int64_t sent_tokens(const walk *w, int32_t op)
{
    const sp__draft *d = &w->s->draft;
    int64_t most = 0;

    for (int32_t r = 0; r < d->lanes; r++)
        for (int32_t c = 0; (r == w->replica || w->s->lockstep) && c < d->cp; c++)
            most = sp__max(most, d->lane[r].pass[sp__op_pass(op)]
                                     .load[(int64_t)sp__op_pack(op) * d->cp + c].tokens);
    return most;
}

/* Time that the stage waits for what it sends after an op. */
static int64_t send_of(const walk *w, int32_t op)
{
    const sp__rates *rates = &w->s->target.rates;
    int pass = sp__op_pass(op);
    int32_t to = unit_of(w, op) + (pass == SP_FORWARD ? 1 : -1);
    int32_t replica = w->s->lockstep ? 0 : w->replica; /* whose ranks stand for all */
    int64_t tokens;
    int crosses;

    if (!rates->blocking_sends || pass == SP_WEIGHT || to < 0 || to >= rates->stages)
        return 0;
    tokens = sent_tokens(w, op);
    crosses = sp__crosses_nodes(rates, sp__shape_rank(&w->s->shape, replica, 0, w->stage, 0),
                                sp__shape_rank(&w->s->shape, replica, 0, to % rates->pp, 0));
    return tokens == 0 ? 0 : sp__send_time(rates, tokens, crosses) +
                                 sp__send_latency(rates, crosses);
}

/* What is live on a rank while an op runs, in bytes of each kind. */
static void keep(const walk *w, int32_t op, int sign, int64_t *live)
{
    const sp__stage_memory *memory = &w->s->target.memory[unit_of(w, op)];
    const sp__load *load = load_at(w, op);
    int pass = sp__op_pass(op), split = w->s->draft.flow.split;

    if (pass == SP_FORWARD || pass == SP_WEIGHT || !split) {
        live[SP_MEMORY_ACTIVATIONS] +=
            sign * load->tokens * (memory->token - memory->own_kv - memory->logits);
        live[SP_MEMORY_KV] += sign * load->tokens * memory->own_kv;
        live[SP_MEMORY_LOGITS] += sign * load->tokens * memory->logits;
    }
    if (pass != SP_WEIGHT) {
        live[SP_MEMORY_KV] += sign * (load->cached - load->context) * memory->cached;
        live[SP_MEMORY_DKV] += sign * load->context * memory->cached;
    }
}

static void start_live(const walk *w, int64_t *live)
{
    const sp__stage_memory *memory = &w->s->target.memory[w->stage];
    const sp__draft *d = &w->s->draft;
    int64_t largest[2] = { 0, 0 };

    for (int pass = 0; pass < 2; pass++)
        for (int32_t k = 0; k < d->packs[pass]; k++)
            largest[pass] = sp__max(largest[pass], d->lane[w->replica].pass[pass]
                                                       .load[(int64_t)k * d->cp + w->cp].tokens);
    memset(live, 0, SP_MEMORY_KINDS * sizeof *live);
    live[SP_MEMORY_WEIGHTS] = memory->weights;
    live[SP_MEMORY_GRADIENTS] = memory->gradients;
    live[SP_MEMORY_OPTIMIZER] = memory->optimizer;
    live[SP_MEMORY_BUFFERS] = sp__buffer_bytes(&w->s->target.rates, w->stage, largest);
}

sp_status sp_simulation_memory(const sp_simulation *s, int32_t rank, int64_t *bytes)
{
    int64_t live[SP_MEMORY_KINDS];
    walk w;

    SP_TRY(sp__check_simulation(s, rank));
    if (bytes == NULL)
        return sp__fail_null("bytes");
    w = walk_of(s, rank);
    start_live(&w, live);
    for (int32_t i = 0; i < s->timeline.ops; i++) {
        int32_t op = op_at(&w, i);

        if (sp__op_pass(op) == SP_FORWARD)
            keep(&w, op, 1, live);
        memcpy(bytes + (int64_t)i * SP_MEMORY_KINDS, live, sizeof live);
        if (sp__op_pass(op) != SP_FORWARD)
            keep(&w, op, -1, live);
    }
    return SP_OK;
}

/* Start of the first op at which memory is largest. */
static int64_t peak_time(const walk *w)
{
    int64_t live[SP_MEMORY_KINDS], most = -1, at = 0;

    start_live(w, live);
    for (int32_t i = 0; i < w->s->timeline.ops; i++) {
        int32_t op = op_at(w, i);
        int64_t sum = 0;

        if (sp__op_pass(op) == SP_FORWARD)
            keep(w, op, 1, live);
        for (int kind = 0; kind < SP_MEMORY_KINDS; kind++)
            sum += live[kind];
        if (sum > most) {
            most = sum;
            at = w->s->timeline.start[sp__simulation_op(w->s, w->replica, w->stage, i)];
        }
        if (sp__op_pass(op) != SP_FORWARD)
            keep(w, op, -1, live);
    }
    return at;
}

/* What a stage does once its ops are done. */
static void add_finish(const walk *w, sp_device_view *v)
{
    const sp__sync *sync = &w->s->target.sync[w->stage];
    sp__sim sim = { .rates = &w->s->target.rates, .draft = &w->s->draft };
    int64_t ended = 0, reduced;

    v->finish_ps = sp__finish(&sim, &w->s->timeline, sync, w->stage, &reduced);
    for (int32_t r = 0; r < w->s->draft.lanes; r++)
        ended = sp__max(ended, w->s->timeline.end[sp__simulation_op(w->s, r, w->stage,
                                                                   w->s->timeline.ops - 1)]);
    v->reduce_ps = reduced - ended;
    v->optimizer_ps = sync->optimizer;
    v->gather_ps = sync->gather;
}

sp_status sp_simulation_device(const sp_simulation *s, int32_t rank, sp_device_view *view)
{
    sp_device_view v = SP_DEVICE_VIEW_INIT;
    int64_t *const compute[] = { &v.forward_ps, &v.backward_ps, &v.weight_ps };
    walk w;

    SP_TRY(sp__check_simulation(s, rank));
    w = walk_of(s, rank);
    for (int32_t i = 0; i < s->timeline.ops; i++) {
        int32_t op = op_at(&w, i);
        int64_t own = compute_of(&w, op);

        *compute[sp__op_pass(op)] += own;
        v.communication_ps += cost_of(&w, op) - own + send_of(&w, op);
    }
    v.bubble_ps = s->stats.makespan_ps - v.forward_ps - v.backward_ps - v.weight_ps -
                  v.communication_ps;
    v.peak_ps = peak_time(&w);
    add_finish(&w, &v);
    return sp__struct_out(view, &v, sizeof v, SP__FIRST_DEVICE_VIEW, "view");
}
