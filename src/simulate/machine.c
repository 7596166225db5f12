/*
 * machine.c - the state of a simulated machine: see machine.h.
 *
 * Memory follows the tokens: an op forward adds what its pack leaves on the
 * stage at its start, an op backward takes its pack's share away at its end; where
 * weight gradients are an op of their own, the activations go with them.
 * Since a stage runs one op at a time, its peak lies at the start of a forward.
 *
 * Buffers hold the largest pack of each pass that a stage receives and sends.
 */
#include "simulate/machine.h"

#include <string.h>

#include "base/status.h"

/* Numbers the merged packs, the same pack alike in all its replicas: merges in
 * turn, the n-th pack of a merge in one replica being its n-th in every other. */
static sp_status number_shared(sp__machine *m, sp__arena *scratch)
{
    const sp__draft *d = m->sim->draft;
    int32_t *base, *seen;

    m->shared[0] = m->shared[1] = NULL;
    m->shared_packs = 0;
    if (d->merges == 0 || m->sim->lockstep)
        return SP_OK;
    SP_TAKE(scratch, base, d->merges);
    SP_TAKE(scratch, seen, d->merges);
    for (int pass = 0; pass < 2; pass++) {
        SP_TAKE(scratch, m->shared[pass], (int64_t)m->lanes * d->packs[pass]);
        for (int32_t g = 0; g < d->merges; g++)
            base[g] = -1;
        for (int32_t r = 0; r < m->lanes; r++) {
            const sp__packs *packs = sp__machine_packs(m, r, pass);
            int32_t *shared = m->shared[pass] + (int64_t)r * d->packs[pass];

            memset(seen, 0, (size_t)d->merges * sizeof *seen);
            for (int32_t k = 0; k < packs->count; k++) {
                int32_t g = packs->merge[k];

                shared[k] = g < 0 ? -1 : seen[g]++;
            }
            for (int32_t k = 0; k < packs->count; k++) {
                int32_t g = packs->merge[k];

                if (g < 0)
                    continue;
                if (base[g] < 0) {
                    base[g] = m->shared_packs;
                    m->shared_packs += seen[g];
                }
                shared[k] += base[g];
            }
        }
    }
    return SP_OK;
}

static int is_free(const sp__link *link)
{
    return link->bandwidth == INT64_MAX && link->latency == 0;
}

/* Index of a replica's stage among those of the machine. */
static int64_t replica_stage(const sp__machine *m, int32_t lane, int32_t copy, int32_t stage)
{
    return ((int64_t)lane * m->copies + copy) * m->pp + stage;
}

/* Tokens of the largest pack of a pass on a CP rank of a replica. */
static int64_t largest_pack(const sp__machine *m, int32_t replica, int32_t c, int pass)
{
    const sp__packs *packs = sp__machine_packs(m, replica, pass);
    int64_t most = 0;

    for (int32_t k = 0; k < packs->count; k++)
        most = sp__max(most, packs->load[(int64_t)k * m->cp + c].tokens);
    return most;
}

static void start_memory(sp__machine *m)
{
    for (int32_t r = 0; r < m->lanes * m->copies; r++)
        for (int32_t c = 0; c < m->cp; c++) {
            int64_t largest[2] = { largest_pack(m, r, c, 0), largest_pack(m, r, c, 1) };

            for (int32_t s = 0; s < m->pp; s++) {
                int64_t i = ((int64_t)r * m->pp + s) * m->cp + c;
                sp__stage_result *result =
                    &m->out->stage[(int64_t)m->first * m->pp * m->cp + i];

                m->live_tokens[i] = 0;
                result->static_bytes = m->sim->memory[s].fixed;
                m->live_bytes[i] = result->static_bytes +
                                   sp__buffer_bytes(m->sim->rates, s, largest);
                result->peak_bytes = m->live_bytes[i];
                result->peak_live_tokens = result->busy_ps = 0;
            }
        }
}

static sp_status take_units(sp__machine *m, sp__arena *scratch)
{
    int64_t units = (int64_t)m->lanes * m->pp * m->chunks;

    for (int pass = 0; pass <= SP_WEIGHT; pass++) {
        SP_TAKE(scratch, m->next[pass], units);
        memset(m->next[pass], 0, (size_t)units * sizeof *m->next[pass]);
    }
    for (int pass = 0; pass < 2; pass++) {
        SP_TAKE(scratch, m->end[pass], units * m->sim->draft->packs[pass]);
        m->there[pass] = m->end[pass];
        if (!m->free_links)
            SP_TAKE(scratch, m->there[pass], units * m->sim->draft->packs[pass]);
    }
    return SP_OK;
}

sp_status sp__machine_start(sp__machine *m, const sp__sim *sim, int32_t first, int32_t lanes,
                            sp__arena *scratch, sp__timeline *out)
{
    int64_t stages;

    m->sim = sim;
    m->out = out;
    m->first = first;
    m->lanes = lanes;
    m->copies = sim->lockstep ? sim->draft->lanes : 1;
    m->pp = sim->rates->pp;
    m->chunks = sim->rates->chunks;
    m->cp = sim->draft->cp;
    m->free_links = is_free(&sim->rates->intra) && is_free(&sim->rates->inter);
    stages = (int64_t)lanes * m->pp;
    SP_TAKE(scratch, m->stage, stages);
    SP_TAKE(scratch, m->live_tokens, stages * m->copies * m->cp);
    SP_TAKE(scratch, m->live_bytes, stages * m->copies * m->cp);
    memset(m->stage, 0, (size_t)stages * sizeof *m->stage);
    SP_TRY(take_units(m, scratch));
    start_memory(m);
    return number_shared(m, scratch);
}

/* What an op does to the memory and the work of the devices of a stage. */
static void account(sp__machine *m, int64_t stage, int pass, const sp__load *load,
                    const sp__stage_memory *memory, int64_t busy)
{
    sp__stage_result *result = &m->out->stage[(int64_t)m->first * m->pp * m->cp + stage * m->cp];
    int64_t kept = pass == SP_FORWARD                                ? 1
                   : pass == SP_WEIGHT || !m->sim->draft->flow.split ? -1
                                                                     : 0;
    int64_t cached = pass == SP_FORWARD ? 1 : pass == SP_BACKWARD ? -1 : 0;

    for (int32_t c = 0; c < m->cp; c++, load++, result++) {
        int64_t *tokens = &m->live_tokens[stage * m->cp + c];
        int64_t *bytes = &m->live_bytes[stage * m->cp + c];

        *tokens += kept * load->tokens;
        *bytes += kept * load->tokens * memory->token + cached * load->cached * memory->cached;
        result->peak_live_tokens = sp__max(result->peak_live_tokens, *tokens);
        result->peak_bytes = sp__max(result->peak_bytes, *bytes);
        result->busy_ps += busy;
    }
}

/* Packs of a replica that a lane stands for. */
static const sp__packs *copy_packs(const sp__machine *m, int32_t lane, int32_t copy, int pass)
{
    return sp__machine_packs(m, lane + copy, pass);
}

static int64_t most_tokens(const sp__machine *m, int32_t lane, int pass, int32_t k)
{
    int64_t most = 0;

    for (int32_t copy = 0; copy < m->copies; copy++) {
        const sp__load *load = &copy_packs(m, lane, copy, pass)->load[(int64_t)k * m->cp];

        for (int32_t c = 0; c < m->cp; c++)
            most = sp__max(most, load[c].tokens);
    }
    return most;
}

/* Whether a hand-over leaves the node: in lockstep that of any replica holds all up. */
static int send_crosses(const sp__machine *m, const sp__unit *u, const sp__unit *taker)
{
    int32_t dp = m->sim->first_lane + m->first + u->lane;
    int crosses = 0;

    for (int32_t copy = 0; copy < m->copies && !crosses; copy++)
        crosses = sp__crosses_nodes(m->sim->rates,
                                    sp__shape_rank(m->sim->shape, dp + copy, 0, u->stage, 0),
                                    sp__shape_rank(m->sim->shape, dp + copy, 0, taker->stage, 0));
    return crosses;
}

/* Sends what a unit has made of a pack at end; it is there when this says. The link
 * takes one message after another where they queue, and the stage waits for its own
 * where sends block. */
static int64_t send(sp__machine *m, const sp__unit *u, int pass, int32_t k, int64_t end)
{
    sp__stage_state *state = sp__machine_stage(m, u);
    const sp__rates *rates = m->sim->rates;
    int64_t tokens = most_tokens(m, u->lane, pass, k), leaves = end, sent;
    sp__unit taker;
    int crosses;

    if (tokens == 0 || !sp__machine_taker(m, u, pass, &taker))
        return end;
    crosses = send_crosses(m, u, &taker);
    if (rates->queued_sends)
        leaves = sp__max(leaves, state->link);
    sent = sp__min(leaves + sp__send_time(rates, tokens, crosses), SP__LONGEST);
    state->link = sent;
    sent = sp__min(sent + sp__send_latency(rates, crosses), SP__LONGEST);
    if (rates->blocking_sends)
        state->free = sent;
    return sent;
}

static uint8_t cause_of(const sp__machine *m, const sp__unit *u, int pass, int64_t start)
{
    return (uint8_t)((sp__machine_stage(m, u)->free == start ? SP__CAUSE_STAGE : 0) |
                     (sp__machine_ready(m, u, pass) == start ? SP__CAUSE_INPUT : 0));
}

void sp__machine_run(sp__machine *m, const sp__unit *u, int pass, int64_t start, int64_t end)
{
    uint8_t cause = m->sim->cause != NULL ? cause_of(m, u, pass, start) : 0;
    int32_t k = m->next[pass][u->index]++;
    sp__stage_state *state = sp__machine_stage(m, u);

    for (int32_t copy = 0; copy < m->copies; copy++) {
        int64_t at = replica_stage(m, u->lane, copy, u->stage);
        int64_t op = ((int64_t)m->first * m->pp + at) * m->out->ops + state->done;

        m->out->op[op] = sp__op(k, u->chunk, pass);
        m->out->start[op] = start;
        m->out->end[op] = end;
        if (m->sim->cause != NULL)
            m->sim->cause[op] = cause;
        account(m, at, pass,
                &copy_packs(m, u->lane, copy, sp__pack_pass(pass))->load[(int64_t)k * m->cp],
                &m->sim->memory[u->chunk * m->pp + u->stage], end - start);
    }
    state->done++;
    state->free = end;
    if (pass == SP_WEIGHT) {
        state->weighed = sp__machine_pending(m, u->lane, u->stage) + 1;
        return;
    }
    m->end[pass][u->index * m->sim->draft->packs[pass] + k] = end;
    if (!m->free_links)
        m->there[pass][u->index * m->sim->draft->packs[pass] + k] = send(m, u, pass, k, end);
}

int32_t sp__machine_pending(const sp__machine *m, int32_t lane, int32_t stage)
{
    const sp__stage_state *state = &m->stage[(int64_t)lane * m->pp + stage];
    const int32_t *op =
        m->out->op + ((int64_t)m->first * m->pp + replica_stage(m, lane, 0, stage)) * m->out->ops;

    for (int32_t i = state->weighed; i < state->done; i++)
        if (sp__op_pass(op[i]) == SP_BACKWARD)
            return i;
    return -1;
}

/* Whether the ranks of a group on one stage lie on several nodes. */
static int group_crosses(const sp__machine *m, int32_t lane, int32_t last_lane, int32_t stage)
{
    const sp__shape *shape = m->sim->shape;
    int32_t first = m->sim->first_lane + m->first;

    return sp__crosses_nodes(m->sim->rates, sp__shape_rank(shape, first + lane, 0, stage, 0),
                             sp__shape_rank(shape, first + last_lane, shape->degree[SP__TP] - 1,
                                            stage, m->cp - 1));
}

/* Costs of a pass: those of a backward without its weights where these are apart. */
static int rate_of(const sp__machine *m, int pass)
{
    return pass == SP_BACKWARD && m->sim->draft->flow.split ? SP__INPUT : pass;
}

static int64_t slowest_rank(const sp__machine *m, const sp__unit *u, int pass, int32_t k,
                            int32_t group, int crosses)
{
    const sp__load *load =
        &sp__machine_packs(m, u->lane, sp__pack_pass(pass))->load[(int64_t)k * m->cp];
    int64_t slowest = 0;

    for (int32_t c = 0; c < m->cp; c++) {
        int64_t cost = sp__load_cost(m->sim->rates, u->chunk * m->pp + u->stage, rate_of(m, pass),
                                     &load[c], group, crosses);

        if (cost < 0)
            return -1;
        slowest = sp__max(slowest, cost);
    }
    return slowest;
}

/* A merged pack is the next of its pass in every member when its time is asked. */
static int64_t slowest_member(const sp__machine *m, int32_t merge, const sp__unit *u, int pass)
{
    const sp__merge *g = &m->sim->draft->merge[merge];
    int32_t first = g->first - m->first, last = first + g->replicas - 1;
    int crosses = group_crosses(m, first, last, u->stage);
    int64_t slowest = 0;

    for (int32_t lane = first; lane <= last; lane++) {
        sp__unit member = sp__machine_unit(m, lane, u->stage, u->chunk);
        int64_t cost = slowest_rank(m, &member, pass, m->next[pass][member.index],
                                    g->replicas * m->cp, crosses);

        if (cost < 0)
            return -1;
        slowest = sp__max(slowest, cost);
    }
    return slowest;
}

/* In lockstep all replicas take the time of the slowest. */
static int64_t slowest_copy(const sp__machine *m, const sp__unit *u, int pass, int32_t k)
{
    int64_t slowest = 0;

    for (int32_t r = 0; r < m->copies; r++) {
        int32_t merge = copy_packs(m, 0, r, sp__pack_pass(pass))->merge[k];
        const sp__merge *g = merge >= 0 && m->sim->draft->merges > 0
                                 ? &m->sim->draft->merge[merge] : NULL;
        int32_t first = g != NULL ? g->first : r, last = g != NULL ? first + g->replicas - 1 : r;
        sp__unit copy = { r, u->stage, u->chunk, u->index };
        int64_t cost = slowest_rank(m, &copy, pass, k, (last - first + 1) * m->cp,
                                    group_crosses(m, first, last, u->stage));

        if (cost < 0)
            return -1;
        slowest = sp__max(slowest, cost);
    }
    return slowest;
}

int64_t sp__machine_cost(const sp__machine *m, const sp__unit *u, int pass)
{
    int32_t k = m->next[pass][u->index];

    if (m->copies > 1)
        return slowest_copy(m, u, pass, k);
    if (sp__machine_shared(m, u->lane, pass, k) >= 0)
        return slowest_member(m, sp__machine_packs(m, u->lane, pass)->merge[k], u, pass);
    return slowest_rank(m, u, pass, k, m->cp,
                        m->cp > 1 && group_crosses(m, u->lane, u->lane, u->stage));
}

int32_t sp__machine_needs(const sp__machine *m, int32_t lane, int32_t k)
{
    int32_t needs = -1;

    for (int32_t copy = 0; copy < m->copies; copy++) {
        int32_t here = m->sim->draft->lane[m->first + lane + copy].needs[k];

        needs = here > needs ? here : needs;
    }
    return needs;
}

/* When the last virtual stage can turn to a backward: once it has run its forwards. */
static int64_t turn(const sp__machine *m, const sp__unit *u, int32_t k)
{
    int32_t needs = sp__machine_needs(m, u->lane, k);

    if (needs < 0)
        return 0;
    return needs < m->next[SP_FORWARD][u->index]
               ? m->end[SP_FORWARD][u->index * m->sim->draft->packs[SP_FORWARD] + needs]
               : SP__NEVER;
}

int64_t sp__machine_ready(const sp__machine *m, const sp__unit *u, int pass)
{
    const sp__draft *d = m->sim->draft;
    int32_t number = u->chunk * m->pp + u->stage, k = m->next[pass][u->index];
    sp__unit giver;

    if (k == d->packs[sp__pack_pass(pass)])
        return SP__NEVER;
    if (pass == SP_WEIGHT)
        return m->next[SP_BACKWARD][u->index] <= k
                   ? SP__NEVER : m->end[SP_BACKWARD][u->index * d->packs[SP_BACKWARD] + k];
    if (pass == SP_FORWARD && number == 0)
        return 0;
    if (pass == SP_BACKWARD && number == m->pp * m->chunks - 1)
        return turn(m, u, k);
    if (!sp__machine_taker(m, u, pass == SP_FORWARD ? SP_BACKWARD : SP_FORWARD, &giver) ||
        m->next[pass][giver.index] <= k)
        return SP__NEVER;
    return m->there[pass][giver.index * d->packs[pass] + k];
}
