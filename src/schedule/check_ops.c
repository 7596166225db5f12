/*
 * check_ops.c - I4: the op orders can be run, and times respect what ops wait for.
 *
 * The graph of waiting has an edge from each op to the next of its stage, from
 * F k of a virtual stage to F k of the next, from B k to B k of the one before, from
 * the forward packs of a backward pack's slices to it, and from B k to the weight
 * gradients of k; the ops of a merged pack on a virtual stage are one node, and in
 * lockstep those of pack k in all replicas are. A sweep
 * that runs whatever can run ends early exactly when the graph has a ring. The times
 * given must respect each edge.
 */
#include <inttypes.h>
#include <string.h>

#include "base/status.h"
#include "schedule/check.h"

typedef struct sweep {
    const struct sp_schedule *s;
    int32_t dp, pp, ops, chunks;
    int32_t *done;    /* [dp * pp] ops run */
    int32_t *next[3]; /* [dp * pp * chunks] packs run, by pass */
    int32_t *needs;   /* [dp * backward packs] last forward pack with slices of it */
    int64_t *end[2];  /* [dp * pp * chunks * packs] */
} sweep;

/* A chunk of a stage among all of them. */
static int64_t unit_of(const sweep *w, int32_t r, int32_t stage, int32_t chunk)
{
    return ((int64_t)r * w->pp + stage) * w->chunks + chunk;
}

static sp_status fill_needs(const struct sp_schedule *s, int32_t *needs, sp__arena *scratch)
{
    int32_t *last;

    SP_TAKE(scratch, last, s->count);
    for (int32_t r = 0; r < s->shape.degree[SP__DP]; r++) {
        int64_t f = (int64_t)r * s->packs[SP_FORWARD], b = (int64_t)r * s->packs[SP_BACKWARD];

        for (int32_t k = 0; k < s->packs[SP_FORWARD]; k++)
            for (int64_t i = s->slice_first[SP_FORWARD][f + k];
                 i < s->slice_first[SP_FORWARD][f + k + 1]; i++)
                last[s->sample[SP_FORWARD][i]] = k;
        for (int32_t k = 0; k < s->packs[SP_BACKWARD]; k++) {
            needs[b + k] = -1;
            for (int64_t i = s->slice_first[SP_BACKWARD][b + k];
                 i < s->slice_first[SP_BACKWARD][b + k + 1]; i++)
                if (last[s->sample[SP_BACKWARD][i]] > needs[b + k])
                    needs[b + k] = last[s->sample[SP_BACKWARD][i]];
        }
    }
    return SP_OK;
}

static int64_t op_index(const sweep *w, int32_t r, int32_t stage)
{
    return ((int64_t)r * w->pp + stage) * w->ops + w->done[(int64_t)r * w->pp + stage];
}

/* End of pack k of a pass on a unit into from, unless it has not run. */
static int has_run(const sweep *w, int64_t unit, int pass, int32_t k, int64_t *from)
{
    int64_t end;

    if (w->next[pass][unit] <= k)
        return 0;
    end = w->end[pass][unit * w->s->packs[pass] + k];
    *from = end > *from ? end : *from;
    return 1;
}

/* Whether an op of a stage has its input; from receives when it came. */
static int has_input(const sweep *w, int32_t r, int32_t stage, int32_t op, int64_t *from)
{
    int pass = sp__op_pass(op);
    int32_t k = sp__op_pack(op), chunk = sp__op_chunk(op);
    int32_t other = chunk * w->pp + stage + (pass == SP_FORWARD ? -1 : 1);
    int64_t here = unit_of(w, r, stage, chunk);

    *from = 0;
    if (pass == SP_WEIGHT)
        return has_run(w, here, SP_BACKWARD, k, from);
    if (other >= 0 && other < w->pp * w->chunks &&
        !has_run(w, unit_of(w, r, other % w->pp, other / w->pp), pass, k, from))
        return 0;
    if (pass == SP_BACKWARD) {
        int32_t needs = w->needs[(int64_t)r * w->s->packs[SP_BACKWARD] + k];

        return needs < 0 || has_run(w, here, SP_FORWARD, needs, from);
    }
    return 1;
}

static sp_status run_op(sweep *w, int32_t r, int32_t stage, int64_t from)
{
    const sp__timeline *t = &w->s->timeline;
    int64_t here = (int64_t)r * w->pp + stage, at = op_index(w, r, stage);
    int pass = sp__op_pass(t->op[at]);
    int32_t k = sp__op_pack(t->op[at]);
    int64_t unit = unit_of(w, r, stage, sp__op_chunk(t->op[at]));

    if (w->done[here] > 0 && t->end[at - 1] > from)
        from = t->end[at - 1];
    if (t->start[at] < from || t->end[at] < t->start[at])
        return sp__fail(SP_ERR_INVARIANT, "I4: replica %" PRId32 ", stage %" PRId32 ": op %" PRId32
                        " starts at %" PRId64 " ps, before %" PRId64 " ps when it can", r, stage,
                        w->done[here], t->start[at], from);
    if (pass != SP_WEIGHT)
        w->end[pass][unit * w->s->packs[pass] + k] = t->end[at];
    w->next[pass][unit] = k + 1;
    w->done[here]++;
    return SP_OK;
}

/* The op that a stage stands before, or -1; an op out of pack order fails. */
static sp_status next_op(const sweep *w, int32_t r, int32_t stage, int32_t *op)
{
    static const char *const names[] = { "forward", "backward", "weight", "unknown" };
    int64_t here = (int64_t)r * w->pp + stage;
    int32_t expected = -1;
    int pass;

    *op = -1;
    if (w->done[here] == w->ops)
        return SP_OK;
    *op = w->s->timeline.op[op_index(w, r, stage)];
    pass = sp__op_pass(*op);
    if (*op >= 0 && sp__op_chunk(*op) < w->chunks && pass <= SP_BACKWARD + w->s->flow.split)
        expected = w->next[pass][unit_of(w, r, stage, sp__op_chunk(*op))];
    if (expected >= w->s->packs[sp__pack_pass(pass)])
        return sp__fail(SP_ERR_INVARIANT, "I4: replica %" PRId32 ", stage %" PRId32 ": op %" PRId32
                        " is one more %s pack of chunk %" PRId32 " than the %" PRId32 " there are",
                        r, stage, w->done[here], names[pass], sp__op_chunk(*op), expected);
    if (expected < 0 || sp__op_pack(*op) != expected)
        return sp__fail(SP_ERR_INVARIANT, "I4: replica %" PRId32 ", stage %" PRId32 ": op %" PRId32
                        " is %s pack %" PRId32 " of chunk %" PRId32 ", expected pack %" PRId32, r,
                        stage, w->done[here], names[pass], sp__op_pack(*op), sp__op_chunk(*op),
                        expected < 0 ? 0 : expected);
    return SP_OK;
}

/* Replicas that run an op together: those of a merge, in lockstep all of them, else one. */
typedef struct meeting {
    int32_t first, replicas;
    int32_t merge; /* that they share the pack of, -1 for none */
} meeting;

/* Weight gradients are each replica's own but in lockstep. */
static meeting meeting_of(const sweep *w, int32_t r, int32_t op)
{
    int pass = sp__op_pass(op);
    int32_t g = pass == SP_WEIGHT
                    ? -1 : w->s->pack_merge[pass][(int64_t)r * w->s->packs[pass] + sp__op_pack(op)];

    if (w->s->lockstep)
        return (meeting){ 0, w->dp, -1 };
    return g < 0 ? (meeting){ r, 1, -1 }
                 : (meeting){ w->s->merge[g].first, w->s->merge[g].replicas, g };
}

/* Whether replica r's next op is its part of the meeting that another's op asks for.
 * Packs of a merge may have other numbers in each replica; I8 makes it the same one. */
static int is_part(const sweep *w, const meeting *m, int32_t r, int32_t op, int32_t of)
{
    if (op < 0 || sp__op_pass(op) != sp__op_pass(of) || sp__op_chunk(op) != sp__op_chunk(of))
        return 0;
    return m->merge >= 0 ? meeting_of(w, r, op).merge == m->merge
                         : sp__op_pack(op) == sp__op_pack(of);
}

/* Whether all replicas of a meeting stand before an op like this one, with their
 * inputs; from receives the latest. */
static sp_status all_meet(const sweep *w, const meeting *m, int32_t stage, int32_t of, int *meet,
                          int64_t *from)
{
    *from = 0;
    *meet = 0;
    for (int32_t r = m->first; r < m->first + m->replicas; r++) {
        int64_t input;
        int32_t op;

        SP_TRY(next_op(w, r, stage, &op));
        if (!is_part(w, m, r, op, of) || !has_input(w, r, stage, op, &input))
            return SP_OK;
        *from = input > *from ? input : *from;
    }
    *meet = 1;
    return SP_OK;
}

static sp_status fail_apart(const meeting *m, int32_t stage, int32_t r, const char *what)
{
    if (m->merge >= 0)
        return sp__fail(SP_ERR_INVARIANT, "I4: merge %" PRId32 ", stage %" PRId32
                        ": replicas %" PRId32 " and %" PRId32
                        " %s a shared pack at different times", m->merge, stage, m->first, r, what);
    return sp__fail(SP_ERR_INVARIANT, "I4: stage %" PRId32 ": replicas 0 and %" PRId32
                    " %s a pack at different times, but run in lockstep", stage, r, what);
}

/* What runs together waits for its slowest rank: it starts and ends as one. */
static sp_status run_meeting(sweep *w, const meeting *m, int32_t stage, int64_t from)
{
    const sp__timeline *t = &w->s->timeline;
    int64_t start = t->start[op_index(w, m->first, stage)];
    int64_t end = t->end[op_index(w, m->first, stage)];

    for (int32_t r = m->first; r < m->first + m->replicas; r++) {
        if (t->start[op_index(w, r, stage)] != start)
            return fail_apart(m, stage, r, "start");
        if (t->end[op_index(w, r, stage)] != end)
            return fail_apart(m, stage, r, "end");
        SP_TRY(run_op(w, r, stage, from));
    }
    return SP_OK;
}

static sp_status step(sweep *w, int32_t r, int32_t stage, int *moved)
{
    meeting m;
    int32_t op;
    int64_t from;

    *moved = 0;
    SP_TRY(next_op(w, r, stage, &op));
    if (op < 0 || !has_input(w, r, stage, op, &from))
        return SP_OK;
    m = meeting_of(w, r, op);
    if (m.replicas > 1)
        SP_TRY(all_meet(w, &m, stage, op, moved, &from));
    else
        *moved = 1;
    return *moved ? run_meeting(w, &m, stage, from) : SP_OK;
}

static sp_status run_all(sweep *w)
{
    int again, moved;

    do {
        moved = 0;
        for (int32_t r = 0; r < w->dp; r++)
            for (int32_t i = 0; i < 2 * w->pp; i++)
                do {
                    SP_TRY(step(w, r, i < w->pp ? i : 2 * w->pp - 1 - i, &again));
                    moved |= again;
                } while (again);
    } while (moved);
    for (int64_t i = 0; i < (int64_t)w->dp * w->pp; i++)
        if (w->done[i] < w->ops)
            return sp__fail(SP_ERR_INVARIANT, "I4: replica %" PRId64 ", stage %" PRId64
                            ": op %" PRId32 " can never run, ops wait for each other in a ring",
                            i / w->pp, i % w->pp, w->done[i]);
    return SP_OK;
}

sp_status sp__check_ops(const struct sp_schedule *s, sp__arena *scratch)
{
    sweep w = { .s = s, .dp = s->shape.degree[SP__DP], .pp = s->shape.degree[SP__PP],
                .ops = s->timeline.ops, .chunks = s->flow.chunks };
    int64_t stages = (int64_t)w.dp * w.pp, units = stages * w.chunks;

    SP_TAKE(scratch, w.done, stages);
    SP_TAKE(scratch, w.needs, (int64_t)w.dp * s->packs[SP_BACKWARD]);
    memset(w.done, 0, (size_t)stages * sizeof *w.done);
    for (int pass = 0; pass <= SP_WEIGHT; pass++) {
        SP_TAKE(scratch, w.next[pass], units);
        memset(w.next[pass], 0, (size_t)units * sizeof *w.next[pass]);
    }
    for (int pass = 0; pass < 2; pass++)
        SP_TAKE(scratch, w.end[pass], units * s->packs[pass]);
    SP_TRY(fill_needs(s, w.needs, scratch));
    return run_all(&w);
}
