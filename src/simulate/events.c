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

/* A stage of a lane: what it could do, and what it would do next. Input times and
 * the permission are kept up to date by what changes them, not asked for again. */
typedef struct station {
    int64_t ready[2];   /* when the input of its next pack is there, by pass */
    int64_t time;       /* of its next act, SP__NEVER when it knows of none */
    int64_t window;     /* work that it may run ahead */
    int32_t permitted;  /* forward packs that it may have run by now */
    int8_t pass;        /* of its next act */
    int8_t waiting;     /* pass of the merged pack it waits for, or NO_PASS */
    int8_t reported[2]; /* whether its next merged pack counts as ready here */
} station;

/* Where the replicas of a merged pack meet, for each stage. */
typedef struct meeting {
    int64_t ready; /* latest input */
    int32_t reports;
    int32_t waiting;
} meeting;

typedef struct greedy {
    sp__machine machine;
    station *station;   /* [lanes * pp] */
    int32_t *best;      /* [lanes] stage that would act first */
    meeting *meeting;   /* [shared packs * pp] */
    int64_t *work;      /* [lanes * (forward packs + 1)] prefix sums of forward work */
    int32_t *needs;     /* [lanes * backward packs] */
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

/* What a forward pack costs on the first stage, exchanges left out. */
static int64_t forward_cost(const sp__machine *m, int32_t lane, int32_t k)
{
    int64_t most = 0;

    for (int32_t copy = 0; copy < m->copies; copy++) {
        const sp__load *load = sp__machine_packs(m, lane + copy, SP_FORWARD)->load;

        most = sp__max(most, sp__load_cost(m->sim->rates, 0, SP_FORWARD,
                                           &load[(int64_t)k * m->cp], 1, 0));
    }
    return most;
}

/* Forward work in units that need no stage, and from it the windows. */
static void measure_work(greedy *g, int32_t lane)
{
    const sp__machine *m = &g->machine;
    const sp__draft *d = m->sim->draft;
    int64_t *work = g->work + (int64_t)lane * (d->packs[SP_FORWARD] + 1);
    int64_t largest = 0;

    work[0] = 0;
    for (int32_t k = 0; k < d->packs[SP_FORWARD]; k++) {
        int64_t cost = forward_cost(m, lane, k) / 4;

        work[k + 1] = work[k] + cost;
        largest = sp__max(largest, cost);
    }
    for (int32_t s = 0; s < m->pp; s++) {
        sp__int128 window = (sp__int128)m->sim->run_ahead * (m->pp - s) * largest / 16;

        g->station[stage_of(g, lane, s)].window = window > SP__LONGEST ? SP__LONGEST
                                                                       : (int64_t)window;
    }
    for (int32_t k = 0; k < d->packs[SP_BACKWARD]; k++)
        g->needs[(int64_t)lane * d->packs[SP_BACKWARD] + k] = sp__machine_needs(m, lane, k);
}

/* Moves the permission on after the stage's next backward has changed. */
static void permit(greedy *g, int32_t lane, int32_t stage)
{
    const sp__machine *m = &g->machine;
    const sp__draft *d = m->sim->draft;
    station *s = &g->station[stage_of(g, lane, stage)];
    const int64_t *work = g->work + (int64_t)lane * (d->packs[SP_FORWARD] + 1);
    int32_t b = m->stage[stage_of(g, lane, stage)].next[SP_BACKWARD];
    int64_t limit = INT64_MAX;

    if (b < d->packs[SP_BACKWARD]) {
        int32_t needed = g->needs[(int64_t)lane * d->packs[SP_BACKWARD] + b];

        limit = work[needed + 1] + s->window;
    }
    while (s->permitted < d->packs[SP_FORWARD] && work[s->permitted + 1] <= limit)
        s->permitted++;
}

static void look(greedy *g, int32_t lane, int32_t stage);

/* A merged pack that has become ready in one more replica; the last one wakes all. */
static void report(greedy *g, int32_t lane, int32_t stage, int pass, int32_t number)
{
    const sp__machine *m = &g->machine;
    station *s = &g->station[stage_of(g, lane, stage)];
    int32_t k = m->stage[stage_of(g, lane, stage)].next[pass];
    const sp__merge *merge = &m->sim->draft->merge[sp__machine_packs(m, lane, pass)->merge[k]];
    meeting *meet = meeting_of(g, number, stage);

    s->reported[pass] = 1;
    meet->ready = sp__max(meet->ready, s->ready[pass]);
    if (++meet->reports < merge->replicas)
        return;
    for (int32_t i = 0; i < merge->replicas; i++)
        if (merge->first - m->first + i != lane)
            look(g, merge->first - m->first + i, stage);
}

/* When all replicas of a merged pack have its input. */
static int64_t all_ready(greedy *g, int32_t lane, int32_t stage, int pass, int32_t number)
{
    const sp__machine *m = &g->machine;
    int32_t k = m->stage[stage_of(g, lane, stage)].next[pass];
    const sp__merge *merge = &m->sim->draft->merge[sp__machine_packs(m, lane, pass)->merge[k]];

    if (!g->station[stage_of(g, lane, stage)].reported[pass])
        report(g, lane, stage, pass, number);
    return meeting_of(g, number, stage)->reports < merge->replicas
               ? SP__NEVER : meeting_of(g, number, stage)->ready;
}

/* When a stage could run its next pack of a pass, as far as is known. */
static int64_t possible(greedy *g, int32_t lane, int32_t stage, int pass)
{
    const sp__stage_state *state = &g->machine.stage[stage_of(g, lane, stage)];
    const station *s = &g->station[stage_of(g, lane, stage)];
    int64_t ready = s->ready[pass];
    int32_t number;

    if (ready == SP__NEVER || (pass == SP_FORWARD && state->next[SP_FORWARD] >= s->permitted))
        return SP__NEVER;
    number = sp__machine_shared(&g->machine, lane, pass, state->next[pass]);
    if (number >= 0)
        ready = all_ready(g, lane, stage, pass, number);
    return sp__max(ready, state->free);
}

static void choose(greedy *g, int32_t lane, int32_t stage)
{
    station *s = &g->station[stage_of(g, lane, stage)];
    int64_t backward, forward;

    if (s->waiting == SP_BACKWARD) {
        s->time = SP__NEVER;
        return;
    }
    backward = possible(g, lane, stage, SP_BACKWARD);
    forward = s->waiting == SP_FORWARD ? SP__NEVER : possible(g, lane, stage, SP_FORWARD);
    s->pass = backward <= forward ? SP_BACKWARD : SP_FORWARD;
    s->time = sp__min(backward, forward);
}

/* Looks again at what a stage would do, and so at what its lane would do first. */
static void look(greedy *g, int32_t lane, int32_t stage)
{
    const station *s = &g->station[stage_of(g, lane, 0)];
    int32_t best = 0;

    choose(g, lane, stage);
    for (int32_t i = 1; i < g->machine.pp; i++)
        if (s[i].time < s[best].time)
            best = i;
    g->best[lane] = best;
    sp__heap_set(&g->heap, lane, s[best].time);
}

/* Asks for the input of a stage's next pack if it was not known. */
static void await(greedy *g, int32_t lane, int32_t stage, int pass)
{
    station *s = &g->station[stage_of(g, lane, stage)];

    if (s->ready[pass] == SP__NEVER)
        s->ready[pass] = sp__machine_ready(&g->machine, lane, stage, pass);
}

/* After an op the stage itself and the one that takes its output look again. */
static void look_around(greedy *g, int32_t lane, int32_t stage, int pass)
{
    int32_t taker = pass == SP_FORWARD ? stage + 1 : stage - 1;

    await(g, lane, stage, pass);
    if (pass == SP_BACKWARD)
        permit(g, lane, stage);
    else if (stage == g->machine.pp - 1)
        await(g, lane, stage, SP_BACKWARD);
    if (taker >= 0 && taker < g->machine.pp) {
        await(g, lane, taker, pass);
        choose(g, lane, taker);
    }
    look(g, lane, stage);
}

static void run(greedy *g, int32_t lane, int32_t stage, int pass, int64_t start, int64_t cost)
{
    station *s = &g->station[stage_of(g, lane, stage)];

    s->waiting = NO_PASS;
    s->reported[pass] = 0;
    s->ready[pass] = SP__NEVER;
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

    g->station[stage_of(g, lane, stage)].waiting = (int8_t)pass;
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
    station *s = &g->station[stage_of(g, lane, stage)];
    int32_t k;

    if (s->waiting == NO_PASS)
        return;
    k = m->stage[stage_of(g, lane, stage)].next[s->waiting];
    meeting_of(g, sp__machine_shared(m, lane, s->waiting, k), stage)->waiting--;
    s->waiting = NO_PASS;
}

static sp_status act(greedy *g, int32_t lane, int32_t stage)
{
    const sp__machine *m = &g->machine;
    station *s = &g->station[stage_of(g, lane, stage)];
    int64_t now = s->time, cost;
    int pass = s->pass;
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

static sp_status open_greedy(greedy *g, sp__arena *scratch)
{
    const sp__machine *m = &g->machine;
    const sp__draft *d = m->sim->draft;
    int64_t meetings = (int64_t)m->shared_packs * m->pp;

    SP_TAKE(scratch, g->station, (int64_t)m->lanes * m->pp);
    SP_TAKE(scratch, g->best, m->lanes);
    SP_TAKE(scratch, g->meeting, meetings);
    SP_TAKE(scratch, g->work, m->lanes * ((int64_t)d->packs[SP_FORWARD] + 1));
    SP_TAKE(scratch, g->needs, m->lanes * (int64_t)d->packs[SP_BACKWARD]);
    SP_TAKE(scratch, g->heap.key, m->lanes);
    SP_TAKE(scratch, g->heap.order, m->lanes);
    SP_TAKE(scratch, g->heap.where, m->lanes);
    memset(g->meeting, 0, (size_t)meetings * sizeof *g->meeting);
    g->heap.count = m->lanes;
    return SP_OK;
}

/* Only the first stage can act at first. */
static void start_lanes(greedy *g)
{
    const sp__machine *m = &g->machine;

    for (int64_t i = 0; i < (int64_t)m->lanes * m->pp; i++)
        g->station[i] = (station){ .ready = { SP__NEVER, SP__NEVER }, .time = SP__NEVER,
                                   .waiting = NO_PASS };
    for (int32_t r = 0; r < m->lanes; r++)
        g->heap.key[r] = SP__NEVER;
    sp__heap_build(&g->heap);
    for (int32_t r = 0; r < m->lanes; r++) {
        measure_work(g, r);
        for (int32_t s = 0; s < m->pp; s++)
            permit(g, r, s);
        await(g, r, 0, SP_FORWARD);
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
        SP_TRY(act(&g, lane, g.best[lane]));
    }
}

sp_status sp__simulate_greedy(const sp__sim *sim, sp__timeline *out)
{
    return sp__run_groups(sim, run_lanes, out);
}
