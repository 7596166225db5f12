/*
 * runs.c - packs that both passes share: see runs.h.
 */
#include "partition/runs.h"

#include <string.h>

#include "base/status.h"

sp_status sp__runs_open(sp__runs *r, int64_t packs, int64_t slices, sp__arena *arena)
{
    SP_TAKE(arena, r->slices, slices);
    SP_TAKE(arena, r->first, packs + 1);
    SP_TAKE(arena, r->run, packs);
    r->packs = r->slice_count = r->run_count = 0;
    return SP_OK;
}

void sp__runs_add_pack(sp__runs *r, int continues)
{
    if (!continues || r->run_count == 0)
        r->run_count++;
    r->first[r->packs] = r->slice_count;
    r->run[r->packs++] = r->run_count - 1;
}

void sp__runs_add_slice(sp__runs *r, int32_t sample, int32_t start, int32_t length)
{
    r->slices[r->slice_count++] = (sp__slice){ sample, start, length, SP__SPLIT };
}

static int32_t pack_end(const sp__runs *r, int32_t k)
{
    return k + 1 < r->packs ? r->first[k + 1] : r->slice_count;
}

static void put_pack(const sp__runs *r, int32_t k, sp__packs *out, int32_t at, int32_t *slices)
{
    int32_t count = pack_end(r, k) - r->first[k];

    out->first[at] = *slices;
    out->merge[at] = -1;
    if (count > 0)
        memcpy(out->slices + *slices, r->slices + r->first[k], (size_t)count * sizeof *r->slices);
    *slices += count;
}

static void fill_pass(const sp__runs *r, int pass, sp__packs *out)
{
    int32_t slices = 0, at = 0;

    for (int32_t k = 0; k < r->packs;) {
        int32_t last = k;

        while (last + 1 < r->packs && r->run[last + 1] == r->run[k])
            last++;
        for (int32_t i = 0; i <= last - k; i++)
            put_pack(r, pass == SP_FORWARD ? k + i : last - i, out, at++, &slices);
        k = last + 1;
    }
    for (; at < out->count; at++) {
        out->first[at] = slices;
        out->merge[at] = -1;
    }
    out->first[at] = slices;
}

sp_status sp__runs_to_lane(const sp__runs *r, const int32_t packs[2], int32_t cp, sp__lane *lane,
                           sp__arena *arena)
{
    for (int pass = 0; pass < 2; pass++) {
        sp__packs *out = &lane->pass[pass];

        out->count = packs[pass];
        SP_TAKE(arena, out->first, (int64_t)packs[pass] + 1);
        SP_TAKE(arena, out->merge, packs[pass]);
        SP_TAKE(arena, out->slices, r->slice_count);
        SP_TAKE(arena, out->load, (int64_t)packs[pass] * cp);
        fill_pass(r, pass, out);
    }
    return SP_OK;
}
