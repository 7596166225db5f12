/*
 * windows.c - places merges on windows that never cross: see windows.h.
 *
 * For each boundary only the smallest window that covers it is kept: larger ones
 * contain it, so a new window that respects the smallest respects them all.
 */
#include "partition/windows.h"

#include "base/status.h"

sp_status sp__windows_start(sp__windows *w, int32_t replicas, sp__arena *arena)
{
    w->replicas = replicas;
    SP_TAKE(arena, w->inner_start, (int64_t)replicas + 1);
    SP_TAKE(arena, w->inner_end, (int64_t)replicas + 1);
    for (int32_t x = 0; x <= replicas; x++) {
        w->inner_start[x] = 0;
        w->inner_end[x] = replicas;
    }
    return SP_OK;
}

void sp__windows_add(sp__windows *w, int32_t first, int32_t degree)
{
    int32_t end = first + degree;

    for (int32_t x = first + 1; x < end; x++)
        if (w->inner_end[x] - w->inner_start[x] > degree) {
            w->inner_start[x] = first;
            w->inner_end[x] = end;
        }
}

static int64_t largest_load(const int64_t *load, int32_t first, int32_t degree)
{
    int64_t most = load[first];

    for (int32_t r = first + 1; r < first + degree; r++)
        if (load[r] > most)
            most = load[r];
    return most;
}

int32_t sp__windows_place(const sp__windows *w, const int64_t *load, int32_t degree,
                          int32_t node_replicas, int64_t *most)
{
    int32_t best = -1, best_across = 0;

    for (int32_t first = 0; first + degree <= w->replicas; first++) {
        int32_t across = first / node_replicas != (first + degree - 1) / node_replicas;
        int64_t here;

        if (!sp__windows_allow(w, first, degree))
            continue;
        here = largest_load(load, first, degree);
        if (best < 0 || here < *most || (here == *most && across < best_across)) {
            best = first;
            best_across = across;
            *most = here;
        }
    }
    return best;
}
