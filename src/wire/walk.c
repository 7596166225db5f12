/*
 * walk.c - what a reader and a writer of bytes expect next: see wire.h.
 */
#include <string.h>

#include "base/status.h"
#include "wire/wire.h"

sp_status sp__walk_open(sp__walk *w, int32_t samples, const int32_t packs[2], int32_t chunks,
                        sp__arena *arena)
{
    int64_t times = packs[0] + 2 * (int64_t)packs[1];

    SP_TAKE(arena, w->seen, samples);
    SP_TAKE(arena, w->reached, samples);
    SP_TAKE(arena, w->expected, times);
    for (int pass = 0; pass < 3; pass++)
        SP_TAKE(arena, w->next[pass], chunks);
    memset(w->seen, 0, (size_t)samples * sizeof *w->seen);
    w->visit = 0;
    return SP_OK;
}

int64_t sp__walk_start(sp__walk *w, int pass, int32_t sample, int64_t length,
                       const int64_t *lengths)
{
    if (w->seen[sample] != w->visit) {
        w->seen[sample] = w->visit;
        w->reached[sample] = pass == SP_FORWARD ? 0 : (int32_t)lengths[sample];
    }
    return pass == SP_FORWARD ? w->reached[sample] : w->reached[sample] - length;
}

void sp__walk_reach(sp__walk *w, int pass, int32_t sample, int64_t start, int64_t length)
{
    w->reached[sample] = (int32_t)(pass == SP_FORWARD ? start + length : start);
}

void sp__walk_stage(sp__walk *w, const int32_t packs[2], int32_t chunks, int is_first)
{
    int64_t times = packs[0] + 2 * (int64_t)packs[1];

    if (is_first)
        memset(w->expected, 0, (size_t)times * sizeof *w->expected);
    for (int pass = 0; pass < 3; pass++)
        memset(w->next[pass], 0, (size_t)chunks * sizeof *w->next[pass]);
}

/* Merges nest, so that the windows of one replica are each within another. */
void sp__wire_window(const sp__merge *merge, int32_t merges, int32_t replica, int32_t *first,
                     int32_t *lanes)
{
    *first = replica;
    *lanes = 1;
    for (int32_t g = 0; g < merges; g++)
        if (merge[g].first <= replica && replica - merge[g].first < merge[g].replicas &&
            merge[g].replicas > *lanes) {
            *first = merge[g].first;
            *lanes = merge[g].replicas;
        }
}

int32_t sp__wire_shards(const sp__slice *slice, int pass, int32_t group, int32_t index,
                        sp__piece piece[2])
{
    int32_t count = sp__shard(slice, group, index, piece);

    if (pass == SP_BACKWARD && count == 2) {
        sp__piece first = piece[0];

        piece[0] = piece[1];
        piece[1] = first;
    }
    return count;
}
