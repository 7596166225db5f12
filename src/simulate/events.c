/*
 * events.c - finds the op order of every stage while it times it.
 *
 * Ops start in the order of time. A free stage runs a backward that is ready,
 * else a forward that is ready and not too far ahead, else it waits for what
 * comes first. Backward first keeps tokens live as shortly as possible; the
 * limit on running ahead bounds what is live beyond the samples that are open:
 *
 *     forward k may run if it is needed by the next backward, or if the work of
 *     the forwards after that need, k included, is within
 *     run_ahead * (stages from here to the last) times the largest forward pack.
 *
 * A merged pack is ready when it is next and ready in all its replicas. A stage
 * that chooses it waits for the others; while it waits for a forward, a backward
 * that becomes ready takes it away again. So no two replicas wait for each other:
 * a backward that is ready is the first choice of all its replicas.
 */
#include <inttypes.h>
#include <string.h>

#include "base/heap.h"
#include "base/status.h"
#include "simulate/machine.h"

#define NO_PASS (-1)

/* What a stage would do next. */
typedef struct choice {
    int64_t time; /* SP__NEVER when nothing is known to do */
    int8_t pass;
    int8_t waiting;     /* pass of the merged pack it waits for, or NO_PASS */
    int8_t reported[2]; /* whether its next merged pack counts as ready here */
} choice;

/* Where the replicas of a merged pack meet, for each stage. */
typedef struct meeting {
    int64_t ready; /* latest input */
    int32_t reports;
    int32_t waiting;
} meeting;

typedef struct greedy {
    sp__machine machine;
    choice *choice;     /* [lanes * pp] */
    int32_t *best;      /* [lanes] stage that would act first */
    meeting *meeting;   /* [shared packs * pp] */
    int64_t *work;      /* [lanes * (forward packs + 1)] prefix sums of forward work */
    int64_t *largest;   /* [lanes] forward pack */
    sp__heap heap;      /* lanes by the time of their best */
} greedy;

static int64_t stage_of(const greedy *g, int32_t lane, int32_t stage)
{
    return (int64_t)lane * g->machine.pp + stage;
}

static meeting *meeting_of(const greedy *g, int32_t number, int32_t stage)
{
    return &g->meeting[(int64_t)number * g->machine.pp + stage];
}

/* Forward work in units that need no stage: what the pack costs on the first. */
static void measure_work(greedy *g)
{
    const sp__machine *m = &g->machine;
    int32_t packs = m->sim->draft->packs[SP_FORWARD];

    for (int32_t r = 0; r < m->lanes; r++) {
        const sp__load *load = sp__machine_packs(m, r, SP_FORWARD)->load;
        int64_t *work = g->work + (int64_t)r * (packs + 1);

        work[0] = 0;
        g->largest[r] = 0;
        for (int32_t k = 0; k < packs; k++) {
            int64_t cost = sp__load_cost(m->sim->rates, 0, SP_FORWARD, &load[(int64_t)k * m->cp],
                                         1, 0);

            work[k + 1] = work[k] + sp__max(cost, 0) / 4;
            g->largest[r] = sp__max(g->largest[r], work[k + 1] - work[k]);
        }
    }
}

static int is_permitted(const greedy *g, int32_t lane, int32_t stage)
{
    const sp__machine *m = &g->machine;
    const sp__draft *d = m->sim->draft;
    const sp__stage_state *state = &m->stage[stage_of(g, lane, stage)];
    const int64_t *work = g->work + (int64_t)lane * (d->packs[SP_FORWARD] + 1);
    int32_t k = state->next[SP_FORWARD], b = state->next[SP_BACKWARD];
    int32_t needed;

    if (b == d->packs[SP_BACKWARD])
        return 1;
    needed = d->lane[m->first + lane].needs[b];
    return k <= needed || work[k + 1] - work[needed + 1] <=
                              (sp__int128)m->sim->run_ahead * (m->pp - stage) * g->largest[lane] / 16;
}

static void look(greedy *g, int32_t lane, int32_t stage);

/* A merged pack that has become ready in one more replica; the last one wakes all. */
static void report(greedy *g, int32_t lane, int32_t stage, int pass, int32_t number, int64_t ready)
{
    const sp__machine *m = &g->machine;
    int32_t k = m->stage[stage_of(g, lane, stage)].next[pass];
    const sp__merge *merge = &m->sim->draft->merge[sp__machine_packs(m, lane, pass)->merge[k]];
    meeting *meet = meeting_of(g, number, stage);

    g->choice[stage_of(g, lane, stage)].reported[pass] = 1;
    meet->ready = sp__max(meet->ready, ready);
    if (++meet->reports < merge->replicas)
        return;
    for (int32_t i = 0; i < merge->replicas; i++)
        if (merge->first - m->first + i != lane)
            look(g, merge->first - m->first + i, stage);
}

/* When a stage could run its next pack of a pass, as far as is known. */
static int64_t possible(greedy *g, int32_t lane, int32_t stage, int pass)
{
    const sp__machine *m = &g->machine;
    const sp__stage_state *state = &m->stage[stage_of(g, lane, stage)];
    int64_t ready = sp__machine_ready(m, lane, stage, pass);
    int32_t number, k = state->next[pass];

    if (ready == SP__NEVER || (pass == SP_FORWARD && !is_permitted(g, lane, stage)))
        return SP__NEVER;
    number = sp__machine_shared(m, lane, pass, k);
    if (number >= 0) {
        const sp__merge *merge = &m->sim->draft->merge[sp__machine_packs(m, lane, pass)->merge[k]];

        if (!g->choice[stage_of(g, lane, stage)].reported[pass])
            report(g, lane, stage, pass, number, ready);
        if (meeting_of(g, number, stage)->reports < merge->replicas)
            return SP__NEVER;
        ready = meeting_of(g, number, stage)->ready;
    }
    return sp__max(ready, state->free);
}

static void choose(greedy *g, int32_t lane, int32_t stage)
{
    choice *c = &g->choice[stage_of(g, lane, stage)];
    int64_t backward, forward;

    if (c->waiting == SP_BACKWARD) {
        c->time = SP__NEVER;
        return;
    }
    backward = possible(g, lane, stage, SP_BACKWARD);
    forward = c->waiting == SP_FORWARD ? SP__NEVER : possible(g, lane, stage, SP_FORWARD);
    c->pass = backward <= forward ? SP_BACKWARD : SP_FORWARD;
    c->time = sp__min(backward, forward);
}

/* Looks again at what a stage would do, and so at what its lane would do first. */
static void look(greedy *g, int32_t lane, int32_t stage)
{
    const choice *c = &g->choice[stage_of(g, lane, 0)];
    int32_t best = 0;

    choose(g, lane, stage);
    for (int32_t s = 1; s < g->machine.pp; s++)
        if (c[s].time < c[best].time)
            best = s;
    g->best[lane] = best;
    sp__heap_set(&g->heap, lane, c[best].time);
}

/* After an op the stage itself and the one that takes its output look again. */
static void look_around(greedy *g, int32_t lane, int32_t stage, int pass)
{
    int32_t taker = pass == SP_FORWARD ? stage + 1 : stage - 1;

    if (taker >= 0 && taker < g->machine.pp)
        choose(g, lane, taker);
    look(g, lane, stage);
}

static void run(greedy *g, int32_t lane, int32_t stage, int pass, int64_t start, int64_t cost)
{
    choice *c = &g->choice[stage_of(g, lane, stage)];

    c->waiting = NO_PASS;
    c->reported[pass] = 0;
    sp__machine_run(&g->machine, lane, stage, pass,
                    g->machine.stage[stage_of(g, lane, stage)].next[pass], start, start + cost);
}

static sp_status check_time(int64_t start, int64_t cost)
{
    if (cost < 0 || start > INT64_MAX / 4 - cost)
        return sp__fail(SP_ERR_OVERFLOW, "cost: the simulated time passes 2^61 ps");
    return SP_OK;
}

/* A stage comes to the meeting of a merged pack; the last to come starts it. */
static sp_status meet(greedy *g, int32_t lane, int32_t stage, int pass, int32_t number, int64_t now)
{
    const sp__machine *m = &g->machine;
    int32_t k = m->stage[stage_of(g, lane, stage)].next[pass];
    const sp__merge *merge = &m->sim->draft->merge[sp__machine_packs(m, lane, pass)->merge[k]];
    int32_t first = merge->first - m->first;
    int64_t cost;

    g->choice[stage_of(g, lane, stage)].waiting = (int8_t)pass;
    if (++meeting_of(g, number, stage)->waiting < merge->replicas) {
        look(g, lane, stage);
        return SP_OK;
    }
    cost = sp__machine_cost(m, lane, stage, pass, k);
    SP_TRY(check_time(now, cost));
    for (int32_t i = 0; i < merge->replicas; i++)
        run(g, first + i, stage, pass, now, cost);
    for (int32_t i = 0; i < merge->replicas; i++)
        look_around(g, first + i, stage, pass);
    return SP_OK;
}

/* A stage that waited for a forward turns to a backward. */
static void leave_meeting(greedy *g, int32_t lane, int32_t stage)
{
    const sp__machine *m = &g->machine;
    choice *c = &g->choice[stage_of(g, lane, stage)];
    int32_t k;

    if (c->waiting == NO_PASS)
        return;
    k = m->stage[stage_of(g, lane, stage)].next[c->waiting];
    meeting_of(g, sp__machine_shared(m, lane, c->waiting, k), stage)->waiting--;
    c->waiting = NO_PASS;
}

static sp_status act(greedy *g, int32_t lane, int32_t stage)
{
    const sp__machine *m = &g->machine;
    choice *c = &g->choice[stage_of(g, lane, stage)];
    int64_t now = c->time, cost;
    int pass = c->pass;
    int32_t k = m->stage[stage_of(g, lane, stage)].next[pass];
    int32_t number = sp__machine_shared(m, lane, pass, k);

    leave_meeting(g, lane, stage);
    if (number >= 0)
        return meet(g, lane, stage, pass, number, now);
    cost = sp__machine_cost(m, lane, stage, pass, k);
    SP_TRY(check_time(now, cost));
    run(g, lane, stage, pass, now, cost);
    look_around(g, lane, stage, pass);
    return SP_OK;
}

static sp_status start(greedy *g, sp__arena *scratch)
{
    const sp__machine *m = &g->machine;
    int64_t stages = (int64_t)m->lanes * m->pp;
    int64_t meetings = (int64_t)m->shared_packs * m->pp;

    SP_TAKE(scratch, g->choice, stages);
    SP_TAKE(scratch, g->best, m->lanes);
    SP_TAKE(scratch, g->meeting, meetings);
    SP_TAKE(scratch, g->work, m->lanes * ((int64_t)m->sim->draft->packs[SP_FORWARD] + 1));
    SP_TAKE(scratch, g->largest, m->lanes);
    SP_TAKE(scratch, g->heap.key, m->lanes);
    SP_TAKE(scratch, g->heap.order, m->lanes);
    SP_TAKE(scratch, g->heap.where, m->lanes);
    memset(g->meeting, 0, (size_t)meetings * sizeof *g->meeting);
    for (int64_t i = 0; i < stages; i++)
        g->choice[i] = (choice){ SP__NEVER, SP_FORWARD, NO_PASS, { 0, 0 } };
    for (int32_t r = 0; r < m->lanes; r++)
        g->heap.key[r] = SP__NEVER;
    g->heap.count = m->lanes;
    sp__heap_build(&g->heap);
    measure_work(g);
    for (int32_t r = 0; r < m->lanes; r++)
        look(g, r, 0);
    return SP_OK;
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
    SP_TRY(start(&g, scratch));
    for (;;) {
        int32_t lane = sp__heap_top(&g.heap);

        if (g.heap.key[lane] == SP__NEVER)
            return check_finished(&g);
        SP_TRY(act(&g, lane, g.best[lane]));
    }
}

sp_status sp__simulate_greedy(const sp__sim *sim, sp__arena *scratch, sp__timeline *out)
{
    sp__arena_mark mark = sp__arena_here(scratch);

    for (int32_t first = 0; first < sim->draft->lanes;) {
        int32_t lanes = sp__machine_span(sim->draft, first);

        SP_TRY(run_lanes(sim, first, lanes, scratch, out));
        sp__arena_rewind(scratch, mark);
        first += lanes;
    }
    return SP_OK;
}
