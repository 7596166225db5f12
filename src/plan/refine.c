/*
 * refine.c - back from phase two to phase one.
 *
 * Replicas with the same load do not end together: their streams and merges leave
 * different bubbles. What the simulator shows of a replica beyond its load is
 * added to its load, and the samples are assigned again; a bounded number of times,
 * while it gains.
 */
#include "base/status.h"
#include "plan/step.h"

/* Rounds at most. The first gains nearly all; later ones answer to changes of the
 * round before. */
#define ROUNDS 3

static int64_t latest(const int64_t *end, int32_t count)
{
    int64_t most = 0;

    for (int32_t r = 0; r < count; r++)
        most = sp__max(most, end[r]);
    return most;
}

static sp_status redraft(sp__step *step, const int64_t *offset)
{
    step->offset = offset;
    SP_TRY(sp__step_assign(step, 1));
    SP_TRY(sp__step_search(step));
    return sp__step_pack(step);
}

sp_status sp__step_refine(sp__step *step)
{
    int32_t replicas = step->draft.lanes;
    int64_t *end, *offset, *best = NULL, least;

    SP_TAKE(step->arena, end, replicas);
    SP_TRY(sp__step_ends(step, end));
    least = latest(end, replicas);
    for (int32_t round = 0; round < ROUNDS && replicas > 1; round++) {
        SP_TAKE(step->arena, offset, replicas);
        for (int32_t r = 0; r < replicas; r++) {
            int64_t work = step->assignment.load[r] - (best != NULL ? best[r] : 0);

            /* No more than the load itself, so that the sums stay in int64. */
            offset[r] = sp__min(sp__max(end[r] - work, 0), work);
        }
        SP_TRY(redraft(step, offset));
        SP_TRY(sp__step_ends(step, end));
        if (latest(end, replicas) >= least)
            return redraft(step, best);
        least = latest(end, replicas);
        best = offset;
    }
    return SP_OK;
}
