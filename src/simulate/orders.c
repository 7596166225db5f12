/*
 * orders.c - writes the op orders of the literature: both passes have the same packs.
 *
 * 1F1B (Narayanan et al., arXiv 2104.04473, 2.2.1): stage s runs pp - 1 - s forwards,
 * then one forward and one backward in turn.
 *
 * Interleaved 1F1B (the same, 2.2.2, as Megatron-LM counts it): packs go through the
 * chunks in groups of pp, forwards from the first chunk, backwards from the last;
 * stage s runs 2 * (pp - 1 - s) + (chunks - 1) * pp forwards ahead. Packs are a
 * multiple of pp.
 *
 * Zero bubble (Qi et al., arXiv 2401.10241, ZB-H1): 1F1B, where stage s puts the
 * weight gradients of s packs off, so that it holds as much as 1F1B's first stage.
 */
#include "simulate/simulate.h"

/* The i-th op of a pass in the order of interleaving. */
static int32_t interleaved(const sp__flow *flow, int32_t pp, int32_t i, int pass)
{
    int32_t round = pp * flow->chunks, chunk = i % round / pp;
    int32_t pack = i / round * pp + i % pp;

    return sp__op(pack, pass == SP_FORWARD ? chunk : flow->chunks - 1 - chunk, pass);
}

static int32_t in_turn(const sp__flow *flow, int32_t pp, int32_t i, int pass)
{
    return flow->chunks > 1 ? interleaved(flow, pp, i, pass) : sp__op(i, 0, pass);
}

static int32_t warmup_of(const sp__flow *flow, int32_t pp, int32_t stage, int32_t total)
{
    int32_t ahead = flow->chunks > 1 ? 2 * (pp - 1 - stage) + (flow->chunks - 1) * pp
                                     : pp - 1 - stage;

    return ahead < total ? ahead : total;
}

static void order_stage(const sp__flow *flow, int32_t pp, int32_t stage, int32_t total, int32_t *op)
{
    int32_t warmup = warmup_of(flow, pp, stage, total), done = 0, delay = flow->split ? stage : 0;

    for (int32_t i = 0; i < warmup; i++)
        op[done++] = in_turn(flow, pp, i, SP_FORWARD);
    for (int32_t i = 0; i < total; i++) {
        if (i + warmup < total)
            op[done++] = in_turn(flow, pp, i + warmup, SP_FORWARD);
        op[done++] = in_turn(flow, pp, i, SP_BACKWARD);
        if (flow->split && i >= delay)
            op[done++] = (in_turn(flow, pp, i - delay, SP_BACKWARD) & ~3) | SP_WEIGHT;
    }
    for (int32_t i = total > delay ? total - delay : 0; flow->split && i < total; i++)
        op[done++] = (in_turn(flow, pp, i, SP_BACKWARD) & ~3) | SP_WEIGHT;
}

void sp__order_1f1b(const sp__draft *d, int32_t pp, sp__timeline *out)
{
    for (int32_t r = 0; r < d->lanes; r++)
        for (int32_t s = 0; s < pp; s++)
            order_stage(&d->flow, pp, s, d->packs[SP_FORWARD] * d->flow.chunks,
                        out->op + ((int64_t)r * pp + s) * out->ops);
}
