/*
 * checker_stats.c - the stats are what the parts of the plan add up to.
 */
#include <inttypes.h>

#include "checker_parts.h"

static int64_t makespan_of(const plain_plan *p)
{
    int64_t last = 0;

    for (int32_t d = 0; d < p->dp; d++)
        for (int32_t s = 0; s < p->pp; s++)
            for (int32_t i = 0; i < p->replica[d].ops; i++)
                last = plain_ops_at(p, d, s, 0)[i].end_ps > last
                           ? plain_ops_at(p, d, s, 0)[i].end_ps : last;
    return last;
}

/* Slices of one pass, those of a merged pack counted once. */
static int64_t slices_of(const plain_plan *p, int pass)
{
    int64_t count = 0;

    for (int32_t d = 0; d < p->dp; d++)
        for (int32_t k = 0; k < p->replica[d].packs[pass]; k++) {
            const plain_pack *pack = &p->replica[d].pack[pass][k];

            if (pack->merge < 0 || p->merge[pack->merge].first_replica == d)
                count += pack->count;
        }
    return count;
}

static void peaks_of(const plain_plan *p, int64_t *bytes, int64_t *tokens)
{
    *bytes = *tokens = 0;
    for (int32_t d = 0; d < p->dp; d++)
        for (int64_t i = 0; i < (int64_t)p->pp * p->cp; i++) {
            const sp_stage_view *v = &p->replica[d].stage[i];

            *bytes = v->peak_bytes > *bytes ? v->peak_bytes : *bytes;
            *tokens = v->peak_live_tokens > *tokens ? v->peak_live_tokens : *tokens;
        }
}

static int same(const checker *c, const char *what, int64_t stat, int64_t parts)
{
    if (stat != parts)
        return check_fail(c, CHECK_STATS, "stats: %s is %" PRId64 ", the parts say %" PRId64, what,
                          stat, parts);
    return 0;
}

/* Idle share of all devices; the library rounds it somehow. */
static int check_bubble(const checker *c)
{
    const plain_plan *p = c->plan;
    long double all = (long double)p->dp * p->pp * p->cp * (long double)p->stats.makespan_ps;
    long double busy = 0, bubble;

    for (int32_t d = 0; d < p->dp; d++)
        for (int64_t i = 0; i < (int64_t)p->pp * p->cp; i++)
            busy += (long double)p->replica[d].stage[i].busy_ps;
    bubble = all > 0 ? 1000000 * (1 - busy / all) : 0;
    if ((long double)p->stats.bubble_ppm < bubble - 2 ||
        (long double)p->stats.bubble_ppm > bubble + 2)
        return check_fail(c, CHECK_STATS, "stats: bubble is %" PRId64 " ppm, the parts say %.1Lf",
                          p->stats.bubble_ppm, bubble);
    return 0;
}

/* What only a planner knows: no plan beats its bound. */
static int check_certificate(const checker *c)
{
    const sp_stats *s = &c->plan->stats;
    long double ratio = s->ideal_ps > 0
                            ? 1000000 * (long double)s->makespan_ps / (long double)s->ideal_ps : 0;

    if (s->ideal_ps < 0 || s->bound_ps < s->ideal_ps || s->makespan_ps < s->bound_ps)
        return check_fail(c, CHECK_STATS, "stats: ideal %" PRId64 ", bound %" PRId64 ", makespan %"
                          PRId64 " ps do not increase", s->ideal_ps, s->bound_ps, s->makespan_ps);
    if (s->ideal_ps > 0 && ((long double)s->ratio_ppm < ratio - 2 ||
                            (long double)s->ratio_ppm > ratio + 2))
        return check_fail(c, CHECK_STATS, "stats: ratio is %" PRId64
                          " ppm, makespan / ideal is %.1Lf", s->ratio_ppm, ratio);
    return 0;
}

int check_stats(checker *c)
{
    const plain_plan *p = c->plan;
    int64_t bytes, tokens;

    peaks_of(p, &bytes, &tokens);
    CHECK(same(c, "makespan_ps", p->stats.makespan_ps, makespan_of(p)));
    CHECK(same(c, "slices", p->stats.slices, slices_of(p, SP_FORWARD)));
    CHECK(same(c, "merges", p->stats.merges, p->merges));
    CHECK(same(c, "forward_packs", p->stats.forward_packs, p->replica[0].packs[SP_FORWARD]));
    CHECK(same(c, "backward_packs", p->stats.backward_packs, p->replica[0].packs[SP_BACKWARD]));
    CHECK(same(c, "peak_bytes", p->stats.peak_bytes, bytes));
    CHECK(same(c, "peak_live_tokens", p->stats.peak_live_tokens, tokens));
    if (!c->limits->planned)
        return 0;
    CHECK(check_bubble(c));
    return check_certificate(c);
}
