/*
 * replay.c - times a given op order.
 *
 * Sweeps over the stages, each running as far down its list as its inputs
 * allow, until all is done or nothing moves; the latter means that ops wait for
 * each other in a ring. A merged pack runs once all its replicas stand before it.
 */
#include <inttypes.h>

#include "base/status.h"
#include "simulate/machine.h"

static int32_t next_op(const sp__machine *m, int32_t lane, int32_t stage)
{
    int64_t index = (int64_t)lane * m->pp + stage;
    const sp__stage_state *state = &m->stage[index];
    int64_t at = ((int64_t)m->first * m->pp + index) * m->out->ops + state->done;

    return state->done < m->out->ops ? m->out->op[at] : -1;
}

/* When one replica could start its next op; SP__NEVER when it has to wait for
 * others first, or when its list does not name the pass's next pack. */
static int64_t start_of(const sp__machine *m, int32_t lane, int32_t stage, int32_t op)
{
    const sp__stage_state *state = &m->stage[(int64_t)lane * m->pp + stage];
    sp__unit unit;
    int64_t ready;

    if (op < 0)
        return SP__NEVER;
    unit = sp__machine_unit(m, lane, stage, sp__op_chunk(op));
    if (m->next[sp__op_pass(op)][unit.index] != sp__op_pack(op))
        return SP__NEVER;
    ready = sp__machine_ready(m, &unit, sp__op_pass(op));
    return ready == SP__NEVER ? SP__NEVER : sp__max(ready, state->free);
}

/* The same for all replicas of a merged pack: the latest of them. */
static int64_t meeting_time(const sp__machine *m, const sp__merge *g, int32_t number,
                            int32_t stage, int32_t like)
{
    int64_t start = 0;

    for (int32_t r = g->first - m->first; r < g->first - m->first + g->replicas; r++) {
        int32_t op = next_op(m, r, stage);

        if (op < 0 || sp__op_pass(op) != sp__op_pass(like) ||
            sp__op_chunk(op) != sp__op_chunk(like) ||
            sp__machine_shared(m, r, sp__op_pass(op), sp__op_pack(op)) != number)
            return SP__NEVER;
        start = sp__max(start, start_of(m, r, stage, op));
    }
    return start;
}

static sp_status run_op(sp__machine *m, int32_t lane, int32_t stage, int32_t op, int64_t start,
                        int64_t cost)
{
    sp__unit unit = sp__machine_unit(m, lane, stage, sp__op_chunk(op));

    if (cost < 0 || start > INT64_MAX / 4 - cost)
        return sp__fail(SP_ERR_OVERFLOW, "cost: the time of pack %" PRId32 " passes 2^61 ps",
                        sp__op_pack(op));
    sp__machine_run(m, &unit, sp__op_pass(op), start, start + cost);
    return SP_OK;
}

/* Runs the next op of a stage if it can; moved tells. */
static sp_status step(sp__machine *m, int32_t lane, int32_t stage, int *moved)
{
    int32_t op = next_op(m, lane, stage);
    int64_t start = start_of(m, lane, stage, op), cost;
    const sp__merge *merge;
    int32_t number;
    sp__unit unit;

    *moved = 0;
    if (start == SP__NEVER)
        return SP_OK;
    unit = sp__machine_unit(m, lane, stage, sp__op_chunk(op));
    number = sp__machine_shared(m, lane, sp__op_pass(op), sp__op_pack(op));
    if (number < 0) {
        *moved = 1;
        return run_op(m, lane, stage, op, start, sp__machine_cost(m, &unit, sp__op_pass(op)));
    }
    merge = &m->sim->draft->merge[sp__machine_packs(m, lane, sp__op_pass(op))
                                      ->merge[sp__op_pack(op)]];
    start = meeting_time(m, merge, number, stage, op);
    if (start == SP__NEVER)
        return SP_OK;
    *moved = 1;
    cost = sp__machine_cost(m, &unit, sp__op_pass(op));
    for (int32_t i = 0; i < merge->replicas; i++) {
        int32_t r = merge->first - m->first + i;

        SP_TRY(run_op(m, r, stage, next_op(m, r, stage), start, cost));
    }
    return SP_OK;
}

static sp_status sweep(sp__machine *m, int *moved)
{
    *moved = 0;
    for (int32_t r = 0; r < m->lanes; r++)
        for (int32_t i = 0; i < 2 * m->pp; i++) {
            int32_t stage = i < m->pp ? i : 2 * m->pp - 1 - i;
            int again;

            do {
                SP_TRY(step(m, r, stage, &again));
                *moved |= again;
            } while (again);
        }
    return SP_OK;
}

static sp_status check_finished(const sp__machine *m)
{
    for (int32_t r = 0; r < m->lanes; r++)
        for (int32_t s = 0; s < m->pp; s++)
            if (m->stage[(int64_t)r * m->pp + s].done < m->out->ops)
                return sp__fail(SP_ERR_INVARIANT, "I4: replica %" PRId32 ", stage %" PRId32
                                ": op %" PRId32 " can never run, ops wait for each other in a ring",
                                m->first + r, s, m->stage[(int64_t)r * m->pp + s].done);
    return SP_OK;
}

static sp_status replay_lanes(const sp__sim *sim, int32_t first, int32_t lanes, sp__arena *scratch,
                              sp__timeline *out)
{
    sp__machine m;
    int moved;

    SP_TRY(sp__machine_start(&m, sim, first, lanes, scratch, out));
    do
        SP_TRY(sweep(&m, &moved));
    while (moved);
    return check_finished(&m);
}

sp_status sp__simulate_order(const sp__sim *sim, sp__timeline *out)
{
    return sp__run_groups(sim, replay_lanes, out);
}

int64_t sp__makespan(const sp__sim *sim, const sp__timeline *t)
{
    int64_t stages = (int64_t)sim->draft->lanes * sim->rates->pp;
    int64_t last = 0;

    for (int64_t i = 0; i < stages && t->ops > 0; i++)
        last = sp__max(last, t->end[i * t->ops + t->ops - 1]);
    return last;
}

int64_t sp__finish(const sp__sim *sim, const sp__timeline *t, const sp__sync *sync, int32_t stage,
                   int64_t *reduced)
{
    int64_t started = 0, ended = 0;

    for (int32_t r = 0; r < sim->draft->lanes; r++) {
        int64_t last = ((int64_t)r * sim->rates->pp + stage + 1) * t->ops - 1;

        started = sp__max(started, t->start[last]);
        ended = sp__max(ended, t->end[last]);
    }
    *reduced = sp__max(ended + sync->reduce - sync->hidden, started + sync->reduce);
    return sp__min(*reduced, SP__LONGEST) + sync->optimizer + sync->gather;
}
