/*
 * events.h - the state of the greedy simulation, shared by its parts: events.c runs
 * it, ahead.c knows how far a stage may go.
 */
#ifndef SP_SIMULATE_EVENTS_H
#define SP_SIMULATE_EVENTS_H

#include "base/heap.h"
#include "simulate/machine.h"

#define SP__NO_PASS (-1)

/* A pass on a unit: its next pack. Input times are kept up to date by what changes
 * them, not asked for again. */
typedef struct line {
    int64_t ready;    /* when its input is there */
    int32_t reported; /* whether it counts as ready where its merge meets */
} line;

/* What a stage could do next. */
typedef struct act {
    int64_t time; /* SP__NEVER when it knows of nothing */
    int64_t since; /* when its input was there in all replicas */
    int32_t chunk;
    int32_t pass;
} act;

/* A stage of a lane. */
typedef struct station {
    act next;
    act waiting; /* for the replicas of a merged pack, or SP__NO_PASS */
} station;

/* What a stage takes from another, in the order in which that gave: chunks of its own. */
typedef struct channel {
    uint8_t *chunk;
    int32_t head, tail;
} channel;

/* Where the replicas of a merged pack meet, for each virtual stage. */
typedef struct meeting {
    int64_t ready; /* latest input */
    int32_t reports;
    int32_t waiting;
} meeting;

typedef struct greedy {
    sp__machine machine;
    station *station;   /* [lanes * pp] */
    line *line;         /* [units * 2] by pass */
    int32_t *permitted; /* [units] forward packs that it may have run by now */
    int64_t *window;    /* [units] work that it may run ahead */
    int64_t *put_off;   /* [lanes * pp] weight gradients put off, in units of work */
    int32_t *best;      /* [lanes] stage that would act first */
    meeting *meeting;   /* [shared packs * virtual stages] */
    int64_t *work[2];   /* [lanes * (packs + 1)] prefix sums of a pass's work */
    int32_t *needs;     /* [lanes * backward packs] */
    channel *channel;   /* [lanes * pp * 2] by pass, with several chunks; else NULL */
    sp__heap heap;      /* lanes by the time of their best */
} greedy;

static inline station *station_of(const greedy *g, int32_t lane, int32_t stage)
{
    return &g->station[(int64_t)lane * g->machine.pp + stage];
}

static inline meeting *meeting_of(const greedy *g, int32_t number, const sp__unit *u)
{
    const sp__machine *m = &g->machine;

    return &g->meeting[((int64_t)number * m->pp + u->stage) * m->chunks + u->chunk];
}

static inline const sp__merge *merge_of(const greedy *g, const sp__unit *u, int pass)
{
    const sp__machine *m = &g->machine;
    int32_t k = m->next[pass][u->index];

    return &m->sim->draft->merge[sp__machine_packs(m, u->lane, pass)->merge[k]];
}

/* The same chunk of the same stage in the i-th replica of a merge. */
static inline sp__unit member(const greedy *g, const sp__merge *merge, int32_t i, const sp__unit *u)
{
    return sp__machine_unit(&g->machine, merge->first - g->machine.first + i, u->stage, u->chunk);
}

/* Measures the work of a lane's packs, and from it how far its stages may go. */
void sp__measure_ahead(greedy *g, int32_t lane);

/* Moves a unit's permission on after its next backward has changed. */
void sp__permit(greedy *g, const sp__unit *u);

/* Notes that weight gradients of pack k have been put off, or made up for. */
void sp__put_off(greedy *g, const sp__unit *u, int pass, int32_t k);

/* Whether weight gradients have been put off for as long as they may. */
int sp__is_overdue(const greedy *g, int32_t lane, int32_t stage);

#endif
