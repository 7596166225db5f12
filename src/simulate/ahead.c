/*
 * ahead.c - how far a stage may run ahead of its backwards, and put its weight
 * gradients off: see events.c for the rules.
 *
 * Work is measured in packs' costs on the first stage, so that limits mean the same
 * on every stage.
 */
#include "simulate/events.h"

/* What a pack costs on the first stage, exchanges left out. */
static int64_t pack_work(const sp__machine *m, int32_t lane, int pass, int32_t k)
{
    int64_t most = 0;

    for (int32_t copy = 0; copy < m->copies; copy++) {
        const sp__load *load = &sp__machine_packs(m, lane + copy, sp__pack_pass(pass))
                                    ->load[(int64_t)k * m->cp];

        most = sp__max(most, sp__load_cost(m->sim->rates, 0, pass, load, 1, 0));
    }
    return most;
}

/* Prefix sums of a pass's work in units that need no stage; returns the largest. */
static int64_t sum_work(greedy *g, int32_t lane, int pass, int64_t *work)
{
    const sp__machine *m = &g->machine;
    int64_t largest = 0;

    work[0] = 0;
    for (int32_t k = 0; k < m->sim->draft->packs[sp__pack_pass(pass)]; k++) {
        int64_t cost = pack_work(m, lane, pass, k) / 4;

        work[k + 1] = work[k] + cost;
        largest = sp__max(largest, cost);
    }
    return largest;
}

static int64_t *work_of(const greedy *g, int32_t lane, int pass)
{
    return g->work[pass] + (int64_t)lane * (g->machine.sim->draft->packs[pass] + 1);
}

/* Work that a stage may run ahead. */
static int64_t window_of(const sp__machine *m, int32_t stage, int64_t largest)
{
    sp__int128 window = (sp__int128)m->sim->run_ahead * (m->pp - stage) * largest / 16;

    return window > SP__LONGEST ? SP__LONGEST : (int64_t)window;
}

void sp__measure_ahead(greedy *g, int32_t lane)
{
    const sp__machine *m = &g->machine;
    const sp__draft *d = m->sim->draft;
    int64_t largest = sum_work(g, lane, SP_FORWARD, work_of(g, lane, SP_FORWARD));

    if (d->flow.split)
        sum_work(g, lane, SP_WEIGHT, work_of(g, lane, SP_BACKWARD));
    for (int32_t s = 0; s < m->pp; s++)
        for (int32_t c = 0; c < m->chunks; c++)
            g->window[sp__machine_unit(m, lane, s, c).index] =
                m->chunks > 1 && (s > 0 || c > 0) ? INT64_MAX : window_of(m, s, largest);
    for (int32_t k = 0; k < d->packs[SP_BACKWARD]; k++)
        g->needs[(int64_t)lane * d->packs[SP_BACKWARD] + k] = sp__machine_needs(m, lane, k);
}

void sp__permit(greedy *g, const sp__unit *u)
{
    const sp__machine *m = &g->machine;
    const sp__draft *d = m->sim->draft;
    const int64_t *work = work_of(g, u->lane, SP_FORWARD);
    int32_t b = m->next[SP_BACKWARD][u->index], *permitted = &g->permitted[u->index];
    int64_t limit = INT64_MAX;

    if (b < d->packs[SP_BACKWARD] && g->window[u->index] < INT64_MAX) {
        int32_t needed = g->needs[(int64_t)u->lane * d->packs[SP_BACKWARD] + b];

        limit = work[needed + 1] + g->window[u->index];
    }
    while (*permitted < d->packs[SP_FORWARD] && work[*permitted + 1] <= limit)
        (*permitted)++;
}

int sp__is_overdue(const greedy *g, int32_t lane, int32_t stage)
{
    int64_t at = (int64_t)lane * g->machine.pp + stage;

    return g->put_off[at] > g->window[sp__machine_unit(&g->machine, lane, 0, 0).index];
}

void sp__put_off(greedy *g, const sp__unit *u, int pass, int32_t k)
{
    const int64_t *work = work_of(g, u->lane, SP_BACKWARD);

    g->put_off[(int64_t)u->lane * g->machine.pp + u->stage] +=
        (pass == SP_BACKWARD ? 1 : -1) * (work[k + 1] - work[k]);
}
