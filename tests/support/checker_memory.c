/*
 * checker_memory.c - I5: the memory of every device is within the cap, and its
 * peak of live tokens is what its ops and shards add up to.
 *
 * A token is live from the start of its forward to the end of its backward, or of its
 * weight gradients where these are apart, on that stage and in each chunk; a stage
 * runs one op at a time, so walking the ops in order will do.
 */
#include <inttypes.h>

#include "checker_parts.h"

static int64_t live_peak(const checker *c, int32_t replica, int32_t stage, int32_t cp,
                         int64_t *left)
{
    const sp_op_view *op = plain_ops_at(c->plan, replica, stage, cp);
    int64_t live = 0, peak = 0;

    for (int32_t i = 0; i < c->plan->replica[replica].ops; i++) {
        int64_t tokens = plain_part_at(c->plan, replica, op[i].pass, op[i].pack, cp)->tokens;

        if (op[i].pass != SP_BACKWARD || !c->plan->split)
            live += op[i].pass == SP_FORWARD ? tokens : -tokens;
        peak = live > peak ? live : peak;
    }
    *left = live;
    return peak;
}

static int64_t busy_time(const checker *c, int32_t replica, int32_t stage, int32_t cp)
{
    const sp_op_view *op = plain_ops_at(c->plan, replica, stage, cp);
    int64_t busy = 0;

    for (int32_t i = 0; i < c->plan->replica[replica].ops; i++)
        busy += op[i].end_ps - op[i].start_ps;
    return busy;
}

static int check_device(const checker *c, int32_t replica, int32_t stage, int32_t cp)
{
    const sp_stage_view *view = &c->plan->replica[replica].stage[(int64_t)stage * c->plan->cp + cp];
    int32_t rank = plain_rank_at(c->plan, replica, stage, cp);
    int64_t left, live = live_peak(c, replica, stage, cp, &left);

    if (view->static_bytes < 0 || view->peak_bytes < view->static_bytes)
        return check_fail(c, 5, "rank %" PRId32 ": peak of %" PRId64 " bytes, %" PRId64
                          " are static", rank, view->peak_bytes, view->static_bytes);
    if (view->peak_bytes > c->plan->stats.memory_bytes)
        return check_fail(c, 5, "rank %" PRId32 ": peak of %" PRId64 " bytes is above the cap %"
                          PRId64, rank, view->peak_bytes, c->plan->stats.memory_bytes);
    if (view->peak_live_tokens != live && (c->limits->planned || view->peak_live_tokens != 0))
        return check_fail(c, 5, "rank %" PRId32 ": peak of %" PRId64 " live tokens, its ops say %"
                          PRId64, rank, view->peak_live_tokens, live);
    if (left != 0)
        return check_fail(c, 5, "rank %" PRId32 ": %" PRId64 " tokens are live at the end", rank,
                          left);
    if (view->busy_ps != busy_time(c, replica, stage, cp))
        return check_fail(c, CHECK_STATS,
                          "rank %" PRId32 ": busy for %" PRId64 " ps, its ops take %" PRId64, rank,
                          view->busy_ps, busy_time(c, replica, stage, cp));
    return 0;
}

int check_memory(checker *c)
{
    const plain_plan *p = c->plan;

    if (c->limits->memory_bytes > 0 && p->stats.memory_bytes > c->limits->memory_bytes)
        return check_fail(c, 5, "planned under a cap of %" PRId64 " bytes, %" PRId64 " were set",
                          p->stats.memory_bytes, c->limits->memory_bytes);
    for (int32_t d = 0; d < p->dp; d++)
        for (int32_t s = 0; s < p->pp; s++)
            for (int32_t cp = 0; cp < p->cp; cp++)
                CHECK(check_device(c, d, s, cp));
    return 0;
}
