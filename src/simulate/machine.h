/*
 * machine.h - the state of a simulated machine: what has run, until when, and
 * what it left in memory. Shared by both ways of running it.
 */
#ifndef SP_SIMULATE_MACHINE_H
#define SP_SIMULATE_MACHINE_H

#include "simulate/simulate.h"

#define SP__NEVER INT64_MAX

typedef struct sp__stage_state {
    int64_t free;      /* when the next op can start: the end of the last one, or of what it
                          sent where sends block */
    int64_t link;      /* when the stage's link has sent all, where sends queue */
    int32_t done;      /* ops recorded */
    int32_t weighed;   /* index of the op behind the last backward whose weights are done */
} sp__stage_state;

/* A chunk of a stage in a lane. */
typedef struct sp__unit {
    int32_t lane, stage, chunk;
    int64_t index;     /* among all chunks of the lanes' stages */
} sp__unit;

typedef struct sp__machine {
    const sp__sim *sim;
    sp__timeline *out;
    int32_t first, lanes;   /* the lanes that run together */
    int32_t copies;         /* replicas that each lane stands for: all of them in lockstep,
                               when there is one lane; else 1 */
    int32_t pp, cp, chunks;
    int32_t free_links;     /* hand-overs take no time on this device */
    sp__stage_state *stage; /* [lanes * pp] */
    int32_t *next[3];       /* [lanes * pp * chunks] next pack of each pass */
    int64_t *end[2];        /* [lanes * pp * chunks * packs] end of each pack that has run */
    int64_t *there[2];      /* the same: when the neighbour has it; end where links are free */
    int64_t *live_tokens;   /* [lanes * copies * pp * cp] */
    int64_t *live_bytes;
    int32_t *shared[2];     /* [lanes * packs] number of a merged pack, -1 for others;
                               NULL without merges */
    int32_t shared_packs;   /* merged packs of both passes */
} sp__machine;

/* Starts the machine for lanes first to first + lanes - 1 of the draft. */
sp_status sp__machine_start(sp__machine *m, const sp__sim *sim, int32_t first, int32_t lanes,
                            sp__arena *scratch, sp__timeline *out);

static inline sp__unit sp__machine_unit(const sp__machine *m, int32_t lane, int32_t stage,
                                        int32_t chunk)
{
    return (sp__unit){ lane, stage, chunk, ((int64_t)lane * m->pp + stage) * m->chunks + chunk };
}

static inline sp__stage_state *sp__machine_stage(const sp__machine *m, const sp__unit *u)
{
    return &m->stage[(int64_t)u->lane * m->pp + u->stage];
}

/* Runs the next pack of a pass on a unit from start to end. Lanes count from first. */
void sp__machine_run(sp__machine *m, const sp__unit *unit, int pass, int64_t start, int64_t end);

/* Time the next pack of a pass takes on a unit: its slowest rank, and for a merged
 * pack the slowest of all members. -1 when it does not fit. */
int64_t sp__machine_cost(const sp__machine *m, const sp__unit *unit, int pass);

/* Last forward pack that backward pack k of a lane waits for, -1 for none. */
int32_t sp__machine_needs(const sp__machine *m, int32_t lane, int32_t k);

/* When the input of a unit's next pack of a pass is there, SP__NEVER when that
 * is not known yet or the pass is finished. */
int64_t sp__machine_ready(const sp__machine *m, const sp__unit *unit, int pass);

/* The unit that takes what a unit gives in a pass; 0 when there is none. Past the last
 * stage the next chunk follows on the first. */
static inline int sp__machine_taker(const sp__machine *m, const sp__unit *u, int pass,
                                    sp__unit *taker)
{
    int32_t step = pass == SP_FORWARD ? 1 : -1, stage = u->stage + step, chunk = u->chunk;

    if (stage < 0 || stage == m->pp) {
        stage = stage < 0 ? m->pp - 1 : 0;
        chunk += step;
    }
    if (pass == SP_WEIGHT || chunk < 0 || chunk == m->chunks)
        return 0;
    *taker = sp__machine_unit(m, u->lane, stage, chunk);
    return 1;
}

/* Backward op whose weight gradients a stage would compute next, -1 when there is none. */
int32_t sp__machine_pending(const sp__machine *m, int32_t lane, int32_t stage);

static inline const sp__packs *sp__machine_packs(const sp__machine *m, int32_t lane, int pass)
{
    return &m->sim->draft->lane[m->first + lane].pass[pass];
}

static inline int32_t sp__machine_shared(const sp__machine *m, int32_t lane, int pass, int32_t k)
{
    return pass == SP_WEIGHT || m->shared[pass] == NULL
               ? -1 : m->shared[pass][(int64_t)lane * m->sim->draft->packs[pass] + k];
}

/* Runs groups of replicas that merges or lockstep tie together, each by run_lanes:
 * lanes from first on, 1 in lockstep. Groups are independent: the workers share
 * them. */
typedef sp_status (*sp__run_lanes)(const sp__sim *sim, int32_t first, int32_t lanes,
                                   sp__arena *scratch, sp__timeline *out);
sp_status sp__run_groups(const sp__sim *sim, sp__run_lanes run_lanes, sp__timeline *out);

#endif
