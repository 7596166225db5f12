/*
 * groups.c - splits the replicas into groups that run on their own.
 *
 * Replicas wait for each other only in merges, or all of them in lockstep; what
 * is left are groups of neighbours whose simulations know nothing of each other.
 */
#include "base/status.h"
#include "simulate/machine.h"

typedef struct groups {
    const sp__sim *sim;
    sp__run_lanes run_lanes;
    sp__timeline *out;
    int32_t *first; /* [count + 1] replica */
} groups;

/* Marks each replica that a merge ties to the one before it. */
static void tie(const sp__sim *sim, int8_t *tied)
{
    for (int32_t r = 0; r < sim->draft->lanes; r++)
        tied[r] = r > 0 && sim->lockstep;
    for (int32_t g = 0; g < sim->draft->merges; g++) {
        const sp__merge *m = &sim->draft->merge[g];

        for (int32_t r = m->first + 1; r < m->first + m->replicas; r++)
            tied[r] = 1;
    }
}

static sp_status run_group(void *context, int32_t group, sp__arena *arena)
{
    const groups *g = context;
    int32_t first = g->first[group], lanes = g->first[group + 1] - first;
    sp__arena_mark mark = sp__arena_here(arena);

    SP_TRY(g->run_lanes(g->sim, first, g->sim->lockstep ? 1 : lanes, arena, g->out));
    sp__arena_rewind(arena, mark);
    return SP_OK;
}

sp_status sp__run_groups(const sp__sim *sim, sp__run_lanes run_lanes, sp__timeline *out)
{
    sp__arena *arena = &sim->workers->arena[0];
    sp__arena_mark mark = sp__arena_here(arena);
    groups g = { .sim = sim, .run_lanes = run_lanes, .out = out };
    int32_t count = 0;
    int8_t *tied;

    SP_TAKE(arena, g.first, (int64_t)sim->draft->lanes + 1);
    SP_TAKE(arena, tied, sim->draft->lanes);
    tie(sim, tied);
    for (int32_t r = 0; r < sim->draft->lanes; r++)
        if (!tied[r])
            g.first[count++] = r;
    g.first[count] = sim->draft->lanes;
    SP_TRY(sp__run_jobs(sim->workers, count, run_group, &g));
    sp__arena_rewind(arena, mark);
    return SP_OK;
}
