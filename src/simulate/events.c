/*
 * events.c - finds the op order of every stage while it times it.
 *
 * Ops start in the order of time. A free stage runs a backward that is ready,
 * else a forward that is ready and not too far ahead, else weight gradients that
 * are due, else it waits for what comes first. Backward first keeps tokens live as
 * shortly as possible; the limit on running ahead bounds what is live beyond the
 * samples that are open:
 *
 *     forward k may run if it is needed by the next backward, or if the work of
 *     the forwards after that need, k included, is within
 *     run_ahead * (stages from here to the last) times the largest forward pack.
 *
 * With several chunks the first stage alone holds packs back, what it lets in flows
 * on: of new packs and those that come round again the deepest goes first, which
 * fills the pipeline soonest (the order of Narayanan et al., arXiv 2104.04473, 2.2.2,
 * for equal packs). Where a stage takes from another it takes in the order in which
 * that gave, so that messages between two ranks need no tags. Of backwards the one
 * that was ready first runs first. Weight gradients go before a forward once the
 * work that is put off passes that by which the first stage may run ahead.
 *
 * A merged pack is ready when it is next, ready and permitted in all its replicas. A
 * stage that chooses it waits for the others; while it waits, what comes before it in
 * the order above takes it away again. That order is the same in all replicas, so no
 * two wait for each other: the first of all merged packs that are ready is the first
 * choice of all its replicas.
 */
#include "simulate/events.h"

#include <inttypes.h>
#include <string.h>

#include "base/status.h"

static void look(greedy *g, int32_t lane, int32_t stage);

/* A merged pack that has become ready in one more replica; the last one wakes all. */
static void report(greedy *g, const sp__unit *u, int pass, int32_t number)
{
    const sp__merge *merge = merge_of(g, u, pass);
    line *here = &g->line[2 * u->index + pass];
    meeting *meet = meeting_of(g, number, u);

    here->reported = 1;
    meet->ready = sp__max(meet->ready, here->ready);
    if (++meet->reports < merge->replicas)
        return;
    for (int32_t i = 0; i < merge->replicas; i++)
        if (merge->first - g->machine.first + i != u->lane)
            look(g, merge->first - g->machine.first + i, u->stage);
}

/* Since when a unit could run its next pack of a pass, whose input is known. */
static inline int64_t possible(greedy *g, const sp__unit *u, int pass)
{
    const sp__machine *m = &g->machine;
    line *here = &g->line[2 * u->index + pass];
    int32_t number;

    if (pass == SP_FORWARD && m->next[SP_FORWARD][u->index] >= g->permitted[u->index])
        return SP__NEVER;
    number = sp__machine_shared(m, u->lane, pass, m->next[pass][u->index]);
    if (number < 0)
        return here->ready;
    if (!here->reported)
        report(g, u, pass, number);
    return meeting_of(g, number, u)->reports < merge_of(g, u, pass)->replicas
               ? SP__NEVER : meeting_of(g, number, u)->ready;
}

/* Whether x comes before y where both could run at the same time. */
static inline int comes_before(const act *x, const act *y)
{
    if (x->pass != y->pass)
        return x->pass == SP_BACKWARD || (x->pass == SP_FORWARD && y->pass == SP_WEIGHT);
    if (x->pass == SP_FORWARD)
        return x->chunk > y->chunk;
    return x->since < y->since || (x->since == y->since && x->chunk < y->chunk);
}

static channel *channel_of(const greedy *g, const sp__unit *u, int pass)
{
    return &g->channel[2 * ((int64_t)u->lane * g->machine.pp + u->stage) + pass];
}

/* Whether a unit gets its input from no other stage. */
static int is_source(const sp__machine *m, const sp__unit *u, int pass)
{
    return pass == SP_FORWARD ? u->stage == 0 && u->chunk == 0
                              : u->stage == m->pp - 1 && u->chunk == m->chunks - 1;
}

/* Whether a unit's pack is the first that its stage has to take. */
static inline int is_first(const greedy *g, const sp__unit *u, int pass)
{
    const channel *c;

    if (g->channel == NULL || is_source(&g->machine, u, pass))
        return 1;
    c = channel_of(g, u, pass);
    return c->head < c->tail && c->chunk[c->head] == u->chunk;
}

/* Takes what a unit could do in a pass, if it is sooner, or comes before. */
static inline void consider(greedy *g, const station *s, const sp__unit *u, int pass, int64_t free,
                            act *best)
{
    int64_t since;
    act now;

    if (g->line[2 * u->index + pass].ready == SP__NEVER || !is_first(g, u, pass))
        return;
    since = possible(g, u, pass);
    if (since == SP__NEVER)
        return;
    now = (act){ sp__max(since, free), since, u->chunk, pass };
    if (s->waiting.pass != SP__NO_PASS && !comes_before(&now, &s->waiting))
        return;
    if (now.time < best->time || (now.time == best->time && comes_before(&now, best)))
        *best = now;
}

/* Weight gradients: in any pause, and before a forward when they are overdue. */
static void consider_weights(greedy *g, int32_t lane, int32_t stage, act *best)
{
    const sp__machine *m = &g->machine;
    int32_t at = sp__machine_pending(m, lane, stage);
    int64_t now = m->stage[(int64_t)lane * m->pp + stage].free;

    if (at < 0 || station_of(g, lane, stage)->waiting.pass != SP__NO_PASS)
        return;
    if (best->time > now || (best->pass == SP_FORWARD && sp__is_overdue(g, lane, stage))) {
        int64_t op = ((int64_t)m->first * m->pp + (int64_t)lane * m->copies * m->pp + stage) *
                     m->out->ops + at;

        *best = (act){ now, now, sp__op_chunk(m->out->op[op]), SP_WEIGHT };
    }
}

static void choose(greedy *g, int32_t lane, int32_t stage)
{
    const sp__machine *m = &g->machine;
    station *s = station_of(g, lane, stage);
    act best = { SP__NEVER, SP__NEVER, 0, SP_WEIGHT };

    for (int32_t c = 0; c < m->chunks; c++) {
        sp__unit u = sp__machine_unit(m, lane, stage, c);
        int64_t free = sp__machine_stage(m, &u)->free;

        consider(g, s, &u, SP_BACKWARD, free, &best);
        consider(g, s, &u, SP_FORWARD, free, &best);
    }
    if (m->sim->draft->flow.split)
        consider_weights(g, lane, stage, &best);
    s->next = best;
}

/* Looks again at what a stage would do, and so at what its lane would do first. */
static void look(greedy *g, int32_t lane, int32_t stage)
{
    const station *s = station_of(g, lane, 0);
    int32_t best = 0;

    choose(g, lane, stage);
    for (int32_t i = 1; i < g->machine.pp; i++)
        if (s[i].next.time < s[best].next.time)
            best = i;
    g->best[lane] = best;
    sp__heap_set(&g->heap, lane, s[best].next.time);
}

/* Asks for the input of a unit's next pack if it was not known. */
static void await(greedy *g, const sp__unit *u, int pass)
{
    line *here = &g->line[2 * u->index + pass];

    if (here->ready == SP__NEVER)
        here->ready = sp__machine_ready(&g->machine, u, pass);
}

/* After an op the stage itself and the one that takes its output look again. */
static void look_around(greedy *g, const sp__unit *u, int pass)
{
    const sp__machine *m = &g->machine;
    sp__unit taker;

    if (pass != SP_WEIGHT)
        await(g, u, pass);
    if (pass == SP_BACKWARD)
        sp__permit(g, u);
    if (sp__machine_taker(m, u, pass, &taker)) {
        await(g, &taker, pass);
        choose(g, taker.lane, taker.stage);
    } else if (pass == SP_FORWARD) {
        await(g, u, SP_BACKWARD);
    }
    look(g, u->lane, u->stage);
}

/* A unit takes its input off its channel and puts its output on the next. */
static void move_channels(greedy *g, const sp__unit *u, int pass)
{
    sp__unit taker;

    if (pass == SP_WEIGHT)
        return;
    if (!is_source(&g->machine, u, pass))
        channel_of(g, u, pass)->head++;
    if (sp__machine_taker(&g->machine, u, pass, &taker)) {
        channel *to = channel_of(g, &taker, pass);

        to->chunk[to->tail++] = (uint8_t)taker.chunk;
    }
}

static void run(greedy *g, const sp__unit *u, int pass, int64_t start, int64_t cost)
{
    sp__machine *m = &g->machine;

    station_of(g, u->lane, u->stage)->waiting.pass = SP__NO_PASS;
    if (pass != SP_WEIGHT)
        g->line[2 * u->index + pass] = (line){ SP__NEVER, 0 };
    if (pass != SP_FORWARD && m->sim->draft->flow.split)
        sp__put_off(g, u, pass, m->next[pass][u->index]);
    if (m->chunks > 1)
        move_channels(g, u, pass);
    sp__machine_run(m, u, pass, start, start + cost);
}

static sp_status check_time(int64_t start, int64_t cost)
{
    if (cost < 0 || start > INT64_MAX / 4 - cost)
        return sp__fail(SP_ERR_OVERFLOW, "cost: the simulated time passes 2^61 ps");
    return SP_OK;
}

/* A stage comes to the meeting of a merged pack; the last to come starts it. */
static sp_status meet(greedy *g, const sp__unit *u, const act *now, int32_t number)
{
    const sp__merge *merge = merge_of(g, u, now->pass);
    int64_t cost;

    station_of(g, u->lane, u->stage)->waiting = *now;
    if (++meeting_of(g, number, u)->waiting < merge->replicas) {
        look(g, u->lane, u->stage);
        return SP_OK;
    }
    cost = sp__machine_cost(&g->machine, u, now->pass);
    SP_TRY(check_time(now->time, cost));
    for (int32_t i = 0; i < merge->replicas; i++) {
        sp__unit one = member(g, merge, i, u);

        run(g, &one, now->pass, now->time, cost);
    }
    for (int32_t i = 0; i < merge->replicas; i++) {
        sp__unit one = member(g, merge, i, u);

        look_around(g, &one, now->pass);
    }
    return SP_OK;
}

/* A stage that waited turns to something that comes before. */
static void leave_meeting(greedy *g, int32_t lane, int32_t stage)
{
    const sp__machine *m = &g->machine;
    act *waiting = &station_of(g, lane, stage)->waiting;
    sp__unit u;

    if (waiting->pass == SP__NO_PASS)
        return;
    u = sp__machine_unit(m, lane, stage, waiting->chunk);
    meeting_of(g, sp__machine_shared(m, lane, waiting->pass, m->next[waiting->pass][u.index]), &u)
        ->waiting--;
    waiting->pass = SP__NO_PASS;
}

static sp_status take_turn(greedy *g, int32_t lane, int32_t stage)
{
    const sp__machine *m = &g->machine;
    act now = station_of(g, lane, stage)->next;
    sp__unit u = sp__machine_unit(m, lane, stage, now.chunk);
    int32_t number = sp__machine_shared(m, lane, now.pass, m->next[now.pass][u.index]);
    int64_t cost;

    leave_meeting(g, lane, stage);
    if (number >= 0)
        return meet(g, &u, &now, number);
    cost = sp__machine_cost(m, &u, now.pass);
    SP_TRY(check_time(now.time, cost));
    run(g, &u, now.pass, now.time, cost);
    look_around(g, &u, now.pass);
    return SP_OK;
}

static sp_status open_channels(greedy *g, sp__arena *scratch)
{
    const sp__machine *m = &g->machine;
    int64_t stages = (int64_t)m->lanes * m->pp;

    g->channel = NULL;
    if (m->chunks == 1)
        return SP_OK;
    SP_TAKE(scratch, g->channel, 2 * stages);
    for (int64_t i = 0; i < 2 * stages; i++) {
        g->channel[i].head = g->channel[i].tail = 0;
        SP_TAKE(scratch, g->channel[i].chunk,
                (int64_t)m->chunks * m->sim->draft->packs[i % 2]);
    }
    return SP_OK;
}

static sp_status open_greedy(greedy *g, sp__arena *scratch)
{
    const sp__machine *m = &g->machine;
    const sp__draft *d = m->sim->draft;
    int64_t stages = (int64_t)m->lanes * m->pp, units = stages * m->chunks;
    int64_t meetings = (int64_t)m->shared_packs * m->pp * m->chunks;

    SP_TAKE(scratch, g->station, stages);
    SP_TAKE(scratch, g->line, 2 * units);
    SP_TAKE(scratch, g->permitted, units);
    SP_TAKE(scratch, g->window, units);
    SP_TAKE(scratch, g->put_off, stages);
    SP_TAKE(scratch, g->best, m->lanes);
    SP_TAKE(scratch, g->meeting, meetings);
    SP_TAKE(scratch, g->work[SP_FORWARD], m->lanes * ((int64_t)d->packs[SP_FORWARD] + 1));
    if (d->flow.split)
        SP_TAKE(scratch, g->work[SP_BACKWARD], m->lanes * ((int64_t)d->packs[SP_BACKWARD] + 1));
    SP_TAKE(scratch, g->needs, m->lanes * (int64_t)d->packs[SP_BACKWARD]);
    SP_TAKE(scratch, g->heap.key, m->lanes);
    SP_TAKE(scratch, g->heap.order, m->lanes);
    SP_TAKE(scratch, g->heap.where, m->lanes);
    SP_TRY(open_channels(g, scratch));
    memset(g->meeting, 0, (size_t)meetings * sizeof *g->meeting);
    memset(g->put_off, 0, (size_t)stages * sizeof *g->put_off);
    memset(g->permitted, 0, (size_t)units * sizeof *g->permitted);
    for (int64_t i = 0; i < 2 * units; i++)
        g->line[i] = (line){ SP__NEVER, 0 };
    g->heap.count = m->lanes;
    return SP_OK;
}

/* Only the first virtual stage can act at first. */
static void start_lanes(greedy *g)
{
    const sp__machine *m = &g->machine;
    const act nothing = { SP__NEVER, SP__NEVER, 0, SP__NO_PASS };

    for (int64_t i = 0; i < (int64_t)m->lanes * m->pp; i++)
        g->station[i] = (station){ nothing, nothing };
    for (int32_t r = 0; r < m->lanes; r++)
        g->heap.key[r] = SP__NEVER;
    sp__heap_build(&g->heap);
    for (int32_t r = 0; r < m->lanes; r++) {
        sp__unit first = sp__machine_unit(m, r, 0, 0);

        sp__measure_ahead(g, r);
        for (int32_t u = 0; u < m->pp * m->chunks; u++) {
            sp__unit unit = sp__machine_unit(m, r, u % m->pp, u / m->pp);

            sp__permit(g, &unit);
        }
        await(g, &first, SP_FORWARD);
    }
    for (int32_t r = 0; r < m->lanes; r++)
        look(g, r, 0);
}

/* Whether every stage has run all its ops: the events end early only when the
 * packs contradict each other. */
static sp_status check_finished(const greedy *g)
{
    const sp__machine *m = &g->machine;

    for (int64_t i = 0; i < (int64_t)m->lanes * m->pp; i++)
        if (m->stage[i].done < m->out->ops)
            return sp__fail(SP_ERR_INVARIANT, "I4: replica %" PRId32 ", stage %" PRId32
                            ": op %" PRId32 " can never run", m->first + (int32_t)(i / m->pp),
                            (int32_t)(i % m->pp), m->stage[i].done);
    return SP_OK;
}

static sp_status run_lanes(const sp__sim *sim, int32_t first, int32_t lanes, sp__arena *scratch,
                           sp__timeline *out)
{
    greedy g;

    SP_TRY(sp__machine_start(&g.machine, sim, first, lanes, scratch, out));
    SP_TRY(open_greedy(&g, scratch));
    start_lanes(&g);
    for (;;) {
        int32_t lane = sp__heap_top(&g.heap);

        if (g.heap.key[lane] == SP__NEVER)
            return check_finished(&g);
        SP_TRY(take_turn(&g, lane, g.best[lane]));
    }
}

sp_status sp__simulate_greedy(const sp__sim *sim, sp__timeline *out)
{
    return sp__run_groups(sim, run_lanes, out);
}
