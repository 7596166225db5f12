/*
 * check_merges.c - I8: merges never cross, and their replicas agree on their packs.
 */
#include <inttypes.h>
#include <string.h>

#include "base/status.h"
#include "schedule/check.h"

static sp_status check_windows(const struct sp_schedule *s)
{
    for (int32_t g = 0; g < s->merges; g++)
        for (int32_t h = 0; h < g; h++) {
            const sp__merge *a = &s->merge[g], *b = &s->merge[h];
            int32_t a_end = a->first + a->replicas, b_end = b->first + b->replicas;

            if ((a->first < b->first && b->first < a_end && a_end < b_end) ||
                (b->first < a->first && a->first < b_end && b_end < a_end))
                return sp__fail(SP_ERR_INVARIANT, "I8: merges %" PRId32 " and %" PRId32
                                " cross: replicas %" PRId32 " to %" PRId32 " and %" PRId32
                                " to %" PRId32, h, g, b->first, b_end - 1, a->first, a_end - 1);
        }
    return SP_OK;
}

/* Next pack of replica r, from *k on, of a merge that also holds another replica. */
static int32_t next_shared(const struct sp_schedule *s, int pass, int32_t r, int32_t other,
                           int32_t *k)
{
    for (; *k < s->packs[pass]; (*k)++) {
        int32_t g = s->pack_merge[pass][(int64_t)r * s->packs[pass] + *k];

        if (g >= 0 && other >= s->merge[g].first &&
            other < s->merge[g].first + s->merge[g].replicas)
            return (*k)++;
    }
    return -1;
}

static int same_slices(const struct sp_schedule *s, int pass, int64_t a, int64_t b)
{
    int64_t i = s->slice_first[pass][a], j = s->slice_first[pass][b];
    size_t count = (size_t)(s->slice_first[pass][a + 1] - i);

    return s->slice_first[pass][b + 1] - j == (int64_t)count &&
           memcmp(s->sample[pass] + i, s->sample[pass] + j, count * sizeof(int32_t)) == 0 &&
           memcmp(s->start[pass] + i, s->start[pass] + j, count * sizeof(int32_t)) == 0 &&
           memcmp(s->length[pass] + i, s->length[pass] + j, count * sizeof(int32_t)) == 0;
}

/* Windows are of consecutive replicas, so it is enough that neighbours agree on
 * the packs they share. */
static sp_status check_neighbours(const struct sp_schedule *s, int pass, int32_t r)
{
    int64_t here = (int64_t)r * s->packs[pass], there = here + s->packs[pass];
    int32_t i = 0, j = 0;

    for (;;) {
        int32_t a = next_shared(s, pass, r, r + 1, &i), b = next_shared(s, pass, r + 1, r, &j);

        if (a < 0 && b < 0)
            return SP_OK;
        if (a < 0 || b < 0 || s->pack_merge[pass][here + a] != s->pack_merge[pass][there + b] ||
            !same_slices(s, pass, here + a, there + b))
            return sp__fail(SP_ERR_INVARIANT, "I8: replicas %" PRId32 " and %" PRId32
                            " differ in the %s packs of their merges", r, r + 1,
                            pass == SP_FORWARD ? "forward" : "backward");
    }
}

/* A merge's packs hold its sample alone, and only its replicas run them. */
static sp_status check_members(const struct sp_schedule *s, int pass)
{
    for (int64_t k = 0; k < (int64_t)s->shape.degree[SP__DP] * s->packs[pass]; k++) {
        int32_t g = s->pack_merge[pass][k], r = (int32_t)(k / s->packs[pass]);

        if (g < 0)
            continue;
        if (r < s->merge[g].first || r >= s->merge[g].first + s->merge[g].replicas)
            return sp__fail(SP_ERR_INVARIANT,
                            "I8: replica %" PRId32 " runs a pack of merge %" PRId32
                            ", which does not hold it",
                            r, g);
        for (int64_t i = s->slice_first[pass][k]; i < s->slice_first[pass][k + 1]; i++)
            if (s->sample[pass][i] != s->merge[g].sample)
                return sp__fail(SP_ERR_INVARIANT, "I8: a pack of merge %" PRId32
                                " holds sample %" PRId32, g, s->sample[pass][i]);
    }
    return SP_OK;
}

sp_status sp__check_merges(const struct sp_schedule *s)
{
    if (s->merges == 0)
        return SP_OK;
    SP_TRY(check_windows(s));
    for (int pass = 0; pass < 2; pass++) {
        SP_TRY(check_members(s, pass));
        for (int32_t r = 0; r + 1 < s->shape.degree[SP__DP]; r++)
            SP_TRY(check_neighbours(s, pass, r));
    }
    return SP_OK;
}
