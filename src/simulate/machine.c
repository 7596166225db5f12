/*
 * machine.c - the state of a simulated machine: see machine.h.
 *
 * Memory follows the tokens: an op forward adds what its pack leaves on the
 * stage at its start, an op backward takes its pack's share away at its end.
 * Since a stage runs one op at a time, its peak lies at the start of a forward.
 */
#include "simulate/machine.h"

#include <string.h>

#include "base/status.h"

static int64_t stage_index(const sp__machine *m, int32_t lane, int32_t stage)
{
    return (int64_t)lane * m->pp + stage;
}

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

static void start_memory(sp__machine *m)
{
    int64_t states = (int64_t)m->lanes * m->copies * m->pp * m->cp;

    for (int64_t i = 0; i < states; i++) {
        const sp__stage_memory *memory = &m->sim->memory[i / m->cp % m->pp];
        sp__stage_result *result = &m->out->stage[(int64_t)m->first * m->pp * m->cp + i];

        m->live_tokens[i] = 0;
        m->live_bytes[i] = memory->fixed;
        result->static_bytes = result->peak_bytes = memory->fixed;
        result->peak_live_tokens = result->busy_ps = 0;
    }
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
    m->pp = sim->rates->stages;
    m->cp = sim->draft->cp;
    m->free_links = is_free(&sim->rates->intra) && is_free(&sim->rates->inter);
    stages = (int64_t)lanes * m->pp;
    SP_TAKE(scratch, m->stage, stages);
    SP_TAKE(scratch, m->end[0], stages * sim->draft->packs[0]);
    SP_TAKE(scratch, m->end[1], stages * sim->draft->packs[1]);
    SP_TAKE(scratch, m->live_tokens, stages * m->copies * m->cp);
    SP_TAKE(scratch, m->live_bytes, stages * m->copies * m->cp);
    memset(m->stage, 0, (size_t)stages * sizeof *m->stage);
    start_memory(m);
    return number_shared(m, scratch);
}

static void account(sp__machine *m, int64_t stage, int pass, const sp__load *load,
                    const sp__stage_memory *memory, int64_t busy)
{
    sp__stage_result *result = &m->out->stage[(int64_t)m->first * m->pp * m->cp + stage * m->cp];
    int64_t sign = pass == SP_FORWARD ? 1 : -1;

    for (int32_t c = 0; c < m->cp; c++, load++, result++) {
        int64_t *tokens = &m->live_tokens[stage * m->cp + c];
        int64_t *bytes = &m->live_bytes[stage * m->cp + c];

        *tokens += sign * load->tokens;
        *bytes += sign * (load->tokens * memory->token + load->cached * memory->cached);
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

void sp__machine_run(sp__machine *m, int32_t lane, int32_t stage, int pass, int32_t k,
                     int64_t start, int64_t end)
{
    int64_t index = stage_index(m, lane, stage);
    sp__stage_state *state = &m->stage[index];

    for (int32_t copy = 0; copy < m->copies; copy++) {
        int64_t at = replica_stage(m, lane, copy, stage);
        int64_t op = ((int64_t)m->first * m->pp + at) * m->out->ops + state->done;

        m->out->op[op] = k * 2 + pass;
        m->out->start[op] = start;
        m->out->end[op] = end;
        account(m, at, pass, &copy_packs(m, lane, copy, pass)->load[(int64_t)k * m->cp],
                &m->sim->memory[stage], end - start);
    }
    m->end[pass][index * m->sim->draft->packs[pass] + k] = end;
    state->done++;
    state->free = end;
    state->next[pass] = k + 1;
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

static int64_t slowest_rank(const sp__machine *m, int32_t lane, int32_t stage, int pass, int32_t k,
                            int32_t group, int crosses)
{
    const sp__load *load = &sp__machine_packs(m, lane, pass)->load[(int64_t)k * m->cp];
    int64_t slowest = 0;

    for (int32_t c = 0; c < m->cp; c++) {
        int64_t cost = sp__load_cost(m->sim->rates, stage, pass, &load[c], group, crosses);

        if (cost < 0)
            return -1;
        slowest = sp__max(slowest, cost);
    }
    return slowest;
}

/* A merged pack is the next of its pass in every member when its time is asked. */
static int64_t slowest_member(const sp__machine *m, int32_t merge, int32_t stage, int pass)
{
    const sp__merge *g = &m->sim->draft->merge[merge];
    int32_t first = g->first - m->first, last = first + g->replicas - 1;
    int crosses = group_crosses(m, first, last, stage);
    int64_t slowest = 0;

    for (int32_t lane = first; lane <= last; lane++) {
        int32_t k = m->stage[stage_index(m, lane, stage)].next[pass];
        int64_t cost = slowest_rank(m, lane, stage, pass, k, g->replicas * m->cp, crosses);

        if (cost < 0)
            return -1;
        slowest = sp__max(slowest, cost);
    }
    return slowest;
}

/* In lockstep all replicas take the time of the slowest. */
static int64_t slowest_copy(const sp__machine *m, int32_t stage, int pass, int32_t k)
{
    int64_t slowest = 0;

    for (int32_t r = 0; r < m->copies; r++) {
        int32_t merge = copy_packs(m, 0, r, pass)->merge[k];
        const sp__merge *g = merge >= 0 && m->sim->draft->merges > 0
                                 ? &m->sim->draft->merge[merge] : NULL;
        int32_t first = g != NULL ? g->first : r, last = g != NULL ? first + g->replicas - 1 : r;
        int64_t cost = slowest_rank(m, r, stage, pass, k, (last - first + 1) * m->cp,
                                    group_crosses(m, first, last, stage));

        if (cost < 0)
            return -1;
        slowest = sp__max(slowest, cost);
    }
    return slowest;
}

int64_t sp__machine_cost(const sp__machine *m, int32_t lane, int32_t stage, int pass, int32_t k)
{
    if (m->copies > 1)
        return slowest_copy(m, stage, pass, k);
    if (sp__machine_shared(m, lane, pass, k) >= 0)
        return slowest_member(m, sp__machine_packs(m, lane, pass)->merge[k], stage, pass);
    return slowest_rank(m, lane, stage, pass, k, m->cp,
                        m->cp > 1 && group_crosses(m, lane, lane, stage));
}

int32_t sp__machine_needs(const sp__machine *m, int32_t lane, int32_t k)
{
    int32_t needs = 0;

    for (int32_t copy = 0; copy < m->copies; copy++) {
        int32_t here = m->sim->draft->lane[m->first + lane + copy].needs[k];

        needs = here > needs ? here : needs;
    }
    return needs;
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

/* Time from the end of a pack on one stage to its input on the neighbour. */
static int64_t hop(const sp__machine *m, int32_t lane, int32_t from, int32_t to, int pass,
                   int32_t k)
{
    const sp__shape *shape = m->sim->shape;
    const sp__rates *rates = m->sim->rates;
    int32_t dp = m->sim->first_lane + m->first + lane;

    if (m->free_links)
        return 0;
    return sp__hop_time(rates, most_tokens(m, lane, pass, k),
                        sp__crosses_nodes(rates, sp__shape_rank(shape, dp, 0, from, 0),
                                          sp__shape_rank(shape, dp, 0, to, 0)));
}

int64_t sp__machine_ready(const sp__machine *m, int32_t lane, int32_t stage, int pass)
{
    const sp__draft *d = m->sim->draft;
    int64_t index = stage_index(m, lane, stage);
    const sp__stage_state *here = &m->stage[index];
    int32_t k = here->next[pass];
    int32_t from;

    if (k == d->packs[pass])
        return SP__NEVER;
    if (pass == SP_FORWARD && stage == 0)
        return 0;
    if (pass == SP_BACKWARD && stage == m->pp - 1) {
        int32_t needs = sp__machine_needs(m, lane, k);

        return needs < here->next[SP_FORWARD]
                   ? m->end[SP_FORWARD][index * d->packs[SP_FORWARD] + needs] : SP__NEVER;
    }
    from = pass == SP_FORWARD ? stage - 1 : stage + 1;
    index += from - stage;
    if (m->stage[index].next[pass] <= k)
        return SP__NEVER;
    return m->end[pass][index * d->packs[pass] + k] + hop(m, lane, from, stage, pass, k);
}
