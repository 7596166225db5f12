/*
 * check.c - verifies a plan: see check.h.
 *
 * I6, equal pack counts on all replicas, is in the form of the data: a schedule
 * has one count a pass, and the builder refuses parts that would not fit it.
 */
#include "schedule/check.h"

#include <inttypes.h>
#include <string.h>

#include "base/status.h"

static sp_status check_slice_values(const struct sp_schedule *s, int pass)
{
    int64_t packs = (int64_t)s->lanes * s->packs[pass];

    for (int64_t k = 0; k < packs; k++)
        if (s->pack_merge[pass][k] < -1 || s->pack_merge[pass][k] >= s->merges)
            return sp__fail(SP_ERR_INVARIANT, "I8: a pack names merge %" PRId32 " of %" PRId32,
                            s->pack_merge[pass][k], s->merges);
    for (int64_t i = 0; i < s->slice_first[pass][packs]; i++) {
        int32_t sample = s->sample[pass][i], start = s->start[pass][i];

        if (sample < 0 || sample >= s->count)
            return sp__fail(SP_ERR_INVARIANT, "I1: a slice names sample %" PRId32 " of %" PRId32,
                            sample, s->count);
        if (start < 0 || s->length[pass][i] < 1 ||
            s->length[pass][i] > s->lengths[sample] - start)
            return sp__fail(SP_ERR_INVARIANT, "I1: slice [%" PRId32 ", +%" PRId32
                            ") lies outside sample %" PRId32 " of %" PRId64 " tokens", start,
                            s->length[pass][i], sample, s->lengths[sample]);
    }
    return SP_OK;
}

static sp_status check_shard_values(const struct sp_schedule *s, int pass)
{
    int64_t packs = (int64_t)s->lanes * s->shape.degree[SP__CP] * s->packs[pass];

    for (int64_t k = 0; k < packs; k++) {
        const sp__shards *x = &s->shards[pass][k];
        const int32_t *sample = sp__shard_samples(s, x), *start = sp__shard_starts(s, x);
        const int32_t *cu = sp__shard_cu_q(s, x);

        for (int32_t i = 0; i < x->count; i++)
            if (sample[i] < 0 || sample[i] >= s->count || start[i] < 0 || cu[i + 1] <= cu[i] ||
                cu[i + 1] - cu[i] > s->lengths[sample[i]] - start[i])
                return sp__fail(SP_ERR_INVARIANT, "I1: shard [%" PRId32 ", +%" PRId32
                                ") of sample %" PRId32 " lies outside the batch", start[i],
                                cu[i + 1] - cu[i], sample[i]);
    }
    return SP_OK;
}

sp_status sp__check_values(const struct sp_schedule *s)
{
    for (int32_t g = 0; g < s->merges; g++) {
        const sp__merge *m = &s->merge[g];

        if (m->sample < 0 || m->sample >= s->count || m->first < 0 || m->replicas < 2 ||
            m->replicas > s->shape.degree[SP__DP] - m->first)
            return sp__fail(SP_ERR_INVARIANT, "I8: merge %" PRId32 " of sample %" PRId32
                            " on replicas %" PRId32 " to %" PRId64 " lies outside the plan", g,
                            m->sample, m->first, (int64_t)m->first + m->replicas - 1);
    }
    for (int pass = 0; pass < 2; pass++) {
        SP_TRY(check_slice_values(s, pass));
        SP_TRY(check_shard_values(s, pass));
    }
    return SP_OK;
}

sp_status sp__check_memory(const struct sp_schedule *s)
{
    int64_t devices = (int64_t)s->shape.degree[SP__DP] * s->shape.degree[SP__PP] *
                      s->shape.degree[SP__CP];
    int32_t per_replica = s->shape.degree[SP__PP] * s->shape.degree[SP__CP];

    for (int64_t i = 0; i < devices; i++)
        if (s->timeline.stage[i].peak_bytes > s->stats.memory_bytes)
            return sp__fail(SP_ERR_INVARIANT, "I5: replica %" PRId64 ", stage %" PRId64
                            ": peak of %" PRId64 " bytes is above the cap of %" PRId64,
                            i / per_replica, i % per_replica / s->shape.degree[SP__CP],
                            s->timeline.stage[i].peak_bytes, s->stats.memory_bytes);
    return SP_OK;
}

static sp_status check_all(const struct sp_schedule *s, sp__arena *scratch)
{
    SP_TRY(sp__check_values(s));
    SP_TRY(sp__check_slices(s, scratch));
    SP_TRY(sp__check_cover(s, scratch));
    SP_TRY(sp__check_merges(s));
    SP_TRY(sp__check_homes(s, scratch));
    SP_TRY(sp__check_ops(s, scratch));
    return sp__check_memory(s);
}

sp_status sp_schedule_check(const sp_schedule *s)
{
    sp__arena scratch;
    sp_status status;

    if (s == NULL)
        return sp__fail_null("schedule");
    SP_TRY(sp__need_whole(s));
    sp__arena_init(&scratch, &s->alloc);
    status = check_all(s, &scratch);
    sp__arena_destroy(&scratch);
    return status;
}
