/*
 * path.c - the critical path of a simulated step.
 *
 * From the stage that finishes last back to the start: an op began when the last of
 * what it waited for was through, be it the op before it on its stage or its input; a
 * merged pack when that was so in the last of its replicas. The simulator noted which
 * (sp__sim::cause). What an op waited for is the op before it on the path. Where both
 * were through at that moment the stage's own op is taken, and of replicas the first.
 */
#include <inttypes.h>
#include <string.h>

#include "base/abi.h"
#include "base/first.h"
#include "base/status.h"
#include "simulate/simulation.h"

/* Where each pack stands in its stage's list, so that inputs are found at once. */
typedef struct finder {
    const struct sp_simulation *s;
    const uint8_t *cause;
    int32_t *place[2]; /* [dp * pp * chunks * packs] index of its op */
} finder;

static int64_t place_of(const finder *f, int pass, int32_t replica, int32_t number, int32_t k)
{
    const sp__draft *d = &f->s->draft;
    int32_t stages = f->s->shape.degree[SP__PP] * d->flow.chunks;

    return ((int64_t)replica * stages + number) * d->packs[pass] + k;
}

static sp_status open_finder(finder *f, const struct sp_simulation *s, sp__arena *arena)
{
    const sp__draft *d = &s->draft;
    int32_t pp = s->shape.degree[SP__PP];

    f->s = s;
    for (int pass = 0; pass < 2; pass++)
        SP_TAKE(arena, f->place[pass],
                (int64_t)d->lanes * pp * d->flow.chunks * d->packs[pass]);
    for (int32_t r = 0; r < d->lanes; r++)
        for (int32_t stage = 0; stage < pp; stage++)
            for (int32_t i = 0; i < s->timeline.ops; i++) {
                int32_t op = s->timeline.op[sp__simulation_op(s, r, stage, i)];
                int pass = sp__op_pass(op);

                if (pass != SP_WEIGHT)
                    f->place[pass][place_of(f, pass, r, sp__op_chunk(op) * pp + stage,
                                            sp__op_pack(op))] = i;
            }
    return SP_OK;
}

/* Last forward pack that a backward pack waits for, -1 for none; in lockstep that of all
 * replicas. */
static int32_t needs_of(const finder *f, int32_t replica, int32_t k)
{
    const sp__draft *d = &f->s->draft;
    int32_t needs = d->lane[replica].needs[k];

    for (int32_t r = 0; f->s->lockstep && r < d->lanes; r++)
        needs = d->lane[r].needs[k] > needs ? d->lane[r].needs[k] : needs;
    return needs;
}

/* The op that gives an op its input: of the neighbour stage, or where the pipeline
 * turns the last forward of its slices; 0 when there is none. */
static int giver_of(const finder *f, const sp__path_op *at, int32_t op, sp__path_op *giver)
{
    const sp__draft *d = &f->s->draft;
    int32_t pp = f->s->shape.degree[SP__PP], k = sp__op_pack(op);
    int32_t number = sp__op_chunk(op) * pp + at->stage;
    int pass = sp__op_pass(op);
    int32_t from = number + (pass == SP_FORWARD ? -1 : 1);

    if (pass == SP_WEIGHT || from < 0)
        return 0; /* its backward was before it on its stage */
    *giver = *at;
    if (from == pp * d->flow.chunks) {
        k = needs_of(f, at->replica, k);
        from = number;
        pass = SP_FORWARD;
        if (k < 0)
            return 0;
    }
    giver->stage = from % pp;
    giver->index = f->place[pass][place_of(f, pass, at->replica, from, k)];
    return 1;
}

/* Pack of a replica that is the n-th of a merge in a pass. */
static int32_t nth_of_merge(const sp__packs *packs, int32_t merge, int32_t n)
{
    int32_t k = 0;

    while (packs->merge[k] != merge || n-- > 0)
        k++;
    return k;
}

/* The same merged op in the first of its replicas that waited no longer than it had
 * to; the op itself when it runs in one replica alone. */
static void find_latest(const finder *f, sp__path_op *at)
{
    const struct sp_simulation *s = f->s;
    int32_t op = s->timeline.op[sp__simulation_op(s, at->replica, at->stage, at->index)];
    int pass = sp__op_pass(op);
    const sp__packs *packs = &s->draft.lane[at->replica].pass[sp__pack_pass(pass)];
    int32_t merge = pass == SP_WEIGHT ? -1 : packs->merge[sp__op_pack(op)], n = 0;

    if (merge < 0 || s->lockstep)
        return;
    for (int32_t k = 0; k < sp__op_pack(op); k++)
        n += packs->merge[k] == merge;
    for (int32_t i = 0; i < s->draft.merge[merge].replicas; i++) {
        int32_t r = s->draft.merge[merge].first + i;
        int32_t k = nth_of_merge(&s->draft.lane[r].pass[pass], merge, n);
        int32_t place = f->place[pass][place_of(f, pass, r, sp__op_chunk(op) *
                                                s->shape.degree[SP__PP] + at->stage, k)];

        if (f->cause[sp__simulation_op(s, r, at->stage, place)] != 0) {
            at->replica = r;
            at->index = place;
            return;
        }
    }
}

/* Fills what an op of the path waited for, and that op into before; 0 when it is the
 * first. */
static int step_back(const finder *f, sp__path_op *at, sp__path_op *before)
{
    const struct sp_simulation *s = f->s;
    int64_t here, start;

    find_latest(f, at);
    here = sp__simulation_op(s, at->replica, at->stage, at->index);
    start = s->timeline.start[here];
    at->wait = SP_WAIT_NOTHING;
    at->transfer = 0;
    if (f->cause[here] & SP__CAUSE_STAGE && at->index > 0) {
        *before = *at;
        before->index--;
        at->wait = SP_WAIT_STAGE;
    } else if (f->cause[here] & SP__CAUSE_INPUT &&
               giver_of(f, at, s->timeline.op[here], before)) {
        at->wait = SP_WAIT_INPUT;
    } else {
        return 0;
    }
    at->transfer = start - s->timeline.end[sp__simulation_op(s, before->replica, before->stage,
                                                            before->index)];
    return 1;
}

/* The last op of the stage that finishes last, in the replica that holds it up. */
static sp__path_op last_op(const struct sp_simulation *s)
{
    sp__sim sim = { .rates = &s->target.rates, .draft = &s->draft };
    sp__path_op at = { .index = s->timeline.ops - 1 };
    int64_t latest = -1, reduced;

    for (int32_t stage = 0; stage < s->shape.degree[SP__PP]; stage++) {
        int64_t finish = sp__finish(&sim, &s->timeline, &s->target.sync[stage], stage, &reduced);

        if (finish > latest) {
            latest = finish;
            at.stage = stage;
        }
    }
    for (int32_t r = 1; r < s->draft.lanes; r++)
        if (s->timeline.end[sp__simulation_op(s, r, at.stage, at.index)] >
            s->timeline.end[sp__simulation_op(s, at.replica, at.stage, at.index)])
            at.replica = r;
    return at;
}

/* A path has no more ops than all stages together, and is found from its end. */
static void reverse(sp__path_op *path, int32_t count)
{
    for (int32_t i = 0; i < count / 2; i++) {
        sp__path_op other = path[i];

        path[i] = path[count - 1 - i];
        path[count - 1 - i] = other;
    }
}

sp_status sp__find_path(struct sp_simulation *s, const uint8_t *cause, sp__arena *scratch)
{
    sp__path_op at = last_op(s), before = at;
    sp__path_op *path = NULL;
    int64_t steps = 0, capacity = 0;
    finder f = { .cause = cause };
    int more;

    SP_TRY(open_finder(&f, s, scratch));
    do {
        if (steps == capacity) {
            sp__path_op *longer;

            capacity = capacity * 2 + 4 * (int64_t)s->timeline.ops;
            SP_TAKE(scratch, longer, capacity);
            if (steps > 0)
                memcpy(longer, path, (size_t)steps * sizeof *path);
            path = longer;
        }
        more = step_back(&f, &at, &before);
        path[steps++] = at;
        at = before;
    } while (more && steps < INT32_MAX);
    SP_TAKE(&s->arena, s->path, steps);
    memcpy(s->path, path, (size_t)steps * sizeof *path);
    s->steps = (int32_t)steps;
    reverse(s->path, s->steps);
    return SP_OK;
}

int32_t sp_simulation_path_count(const sp_simulation *s)
{
    return s->steps;
}

sp_status sp_simulation_path(const sp_simulation *s, int32_t index, sp_path_view *view)
{
    sp_path_view v = SP_PATH_VIEW_INIT;
    const sp__path_op *op;
    int64_t at;

    if (s == NULL)
        return sp__fail_null("simulation");
    if (index < 0 || index >= s->steps)
        return sp__fail(SP_ERR_RANGE, "index: %" PRId32 " is outside 0 to %" PRId32, index,
                        s->steps - 1);
    op = &s->path[index];
    at = sp__simulation_op(s, op->replica, op->stage, op->index);
    v.rank = sp__shape_rank(&s->shape, op->replica, 0, op->stage, 0);
    v.op = op->index;
    v.wait = op->wait;
    v.transfer_ps = op->transfer;
    v.start_ps = s->timeline.start[at];
    v.end_ps = s->timeline.end[at];
    return sp__struct_out(view, &v, sizeof v, SP__FIRST_PATH_VIEW, "view");
}
