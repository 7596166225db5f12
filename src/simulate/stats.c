/*
 * stats.c - how good a simulated plan is: see stats.h.
 *
 * Both ideal and bound are lower bounds of any plan's makespan on this machine.
 * Take any stage. Its DP x CP devices have a fixed sum of work to do, so one of them
 * has at least the average; it has tokens, so it runs at least one pack in each
 * pass and pays its overhead. Its first tokens have come through all stages before
 * it, its last gradients go back through them, each time as a pack of at least one
 * token. The bound is the largest over stages of that sum; the ideal leaves out
 * collectives, overheads and the way through the other stages.
 */
#include "simulate/stats.h"

#include <inttypes.h>

#include "base/status.h"

sp_status sp__batch_totals(const sp__attention *attention, const int64_t *lengths, int32_t samples,
                           sp__totals *out)
{
    sp__totals sum = { 0, 0 };

    for (int32_t i = 0; i < samples; i++) {
        if (lengths[i] > INT32_MAX)
            return sp__fail(SP_ERR_OVERFLOW, "lengths[%" PRId32 "]: %" PRId64 " tokens are above "
                            "2147483647, the most that int32 cu_seqlens hold", i, lengths[i]);
        if (sp__add_overflows(sum.tokens, lengths[i], &sum.tokens) ||
            sp__add_overflows(sum.pairs, sp__pairs(attention, 0, lengths[i], lengths[i]),
                              &sum.pairs))
            return sp__fail(SP_ERR_OVERFLOW, "lengths[%" PRId32
                            "]: attended pairs of the batch pass 2^63", i);
    }
    *out = sum;
    return SP_OK;
}

/* Work of both passes on a virtual stage, in fixed point; compute leaves collectives
 * out. */
static sp__int128 work_of(const sp__stage_rates *r, const sp__totals *totals, int compute_only)
{
    const sp__rate *f = &r->pass[SP_FORWARD], *b = &r->pass[SP_BACKWARD];
    int64_t token = compute_only ? f->compute + b->compute : f->token + b->token;

    return (sp__int128)token * totals->tokens + (sp__int128)(f->pair + b->pair) * totals->pairs;
}

/* The same of a stage, shared by sharers and rounded up to picoseconds. */
static sp__int128 stage_work(const sp__rates *rates, int32_t stage, const sp__totals *totals,
                             int32_t sharers, int compute_only)
{
    sp__int128 work = 0;

    for (int32_t u = stage; u < rates->stages; u += rates->pp)
        work += work_of(&rates->stage[u], totals, compute_only);
    return ((work >> SP__COST_BITS) + sharers - 1) / sharers;
}

int64_t sp__ideal_stage(const sp__rates *rates, int32_t stage, const sp__totals *totals,
                        int32_t sharers)
{
    sp__int128 work = stage_work(rates, stage, totals, sharers, 1);

    return work > SP__LONGEST ? -1 : (int64_t)work;
}

sp_status sp__ideal(const sp__rates *rates, const sp__totals *totals, int32_t sharers,
                    int64_t *out)
{
    int64_t most = 0;

    for (int32_t s = 0; s < rates->pp; s++) {
        int64_t here = sp__ideal_stage(rates, s, totals, sharers);

        if (here < 0)
            return sp__fail(SP_ERR_OVERFLOW, "lengths: on stage %" PRId32 " the work of %" PRId64
                            " tokens passes 2^61 ps", s, totals->tokens);
        most = sp__max(most, here);
    }
    *out = most;
    return SP_OK;
}

/* The least that a pack with tokens costs. */
static int64_t smallest_pack(const sp__rate *r)
{
    return sp__max(sp__fixed_cost(r->token, 1, r->pair, 1) + r->half, r->floor) + r->fixed;
}

/* What a pack of one token costs on a stage before and after its compute. */
static int64_t overhead(const sp__rates *rates, int32_t stage, int rate)
{
    int64_t sum = 0;

    for (int32_t u = stage; u < rates->stages; u += rates->pp)
        sum += rates->stage[u].pass[rate].half + rates->stage[u].pass[rate].fixed;
    return sum;
}

/* Weight gradients of a stage need not be done before its last gradients go back. */
static int64_t bound_of(const sp__rates *rates, const sp__flow *flow, const sp__totals *totals,
                        int32_t sharers)
{
    int64_t most = 0, forward = 0, back = 0;
    int input = flow->split ? SP__INPUT : SP_BACKWARD;

    for (int32_t s = 0; s < rates->pp; s++) {
        sp__int128 work = stage_work(rates, s, totals, sharers, 0) + forward +
                          overhead(rates, s, SP_FORWARD) + overhead(rates, s, input);
        sp__int128 weights = 0;

        for (int32_t u = s; flow->split && u < rates->stages; u += rates->pp)
            weights += (sp__int128)rates->stage[u].pass[SP_WEIGHT].token * totals->tokens;
        weights = (weights >> SP__COST_BITS) / sharers;
        work += sp__max(flow->split ? overhead(rates, s, SP_WEIGHT) : 0, back - (int64_t)weights);
        most = sp__max(most, work > SP__LONGEST ? SP__LONGEST : (int64_t)work);
        forward += smallest_pack(&rates->stage[s].pass[SP_FORWARD]);
        back += smallest_pack(&rates->stage[s].pass[input]);
    }
    return most;
}

/* Compares replicas on the stage with the most work, and stages. */
static void compare_loads(const sp__sim *sim, const sp__timeline *t, sp_stats *out)
{
    int32_t pp = sim->rates->pp, cp = sim->draft->cp, lanes = sim->draft->lanes;
    sp__int128 all = 0;
    int64_t most_stage = -1, dp_excess = 0;

    for (int32_t s = 0; s < pp; s++) {
        sp__int128 stage = 0;
        int64_t most = 0;

        for (int32_t r = 0; r < lanes; r++) {
            int64_t busy = t->stage[((int64_t)r * pp + s) * cp].busy_ps;

            stage += busy;
            most = sp__max(most, busy);
        }
        all += stage;
        if ((int64_t)(stage / lanes) > most_stage) {
            most_stage = (int64_t)(stage / lanes);
            dp_excess = sp__excess_ppm(most, most_stage);
        }
    }
    out->imbalance_dp_ppm = dp_excess;
    out->imbalance_pp_ppm = sp__excess_ppm(most_stage, (int64_t)(all / lanes / pp));
    if (out->makespan_ps > 0)
        out->bubble_ppm = 1000000 - (int64_t)(all * 1000000 / lanes / pp / out->makespan_ps);
}

/* Largest and mean pack of a pass, and the time that CP ranks lose within packs,
 * all on the first stage. */
static void compare_packs(const sp__sim *sim, int pass, int64_t *excess, int64_t *held,
                          int64_t *even)
{
    const sp__draft *d = sim->draft;
    int64_t packs = (int64_t)d->lanes * d->packs[pass], largest = 0;
    sp__int128 sum = 0;

    for (int32_t r = 0; r < d->lanes; r++)
        for (int32_t k = 0; k < d->packs[pass]; k++) {
            const sp__load *load = &d->lane[r].pass[pass].load[(int64_t)k * d->cp];
            int64_t most = 0, all = 0;

            for (int32_t c = 0; c < d->cp; c++) {
                int64_t cost = sp__max(sp__load_cost(sim->rates, 0, pass, &load[c], 1, 0), 0);

                most = sp__max(most, cost);
                all += cost / d->cp;
            }
            *held += most / packs;
            *even += all / packs;
            largest = sp__max(largest, most);
            sum += most;
        }
    *excess = sp__excess_ppm(largest, (int64_t)(sum / packs));
}

static void peaks(const sp__sim *sim, const sp__timeline *t, sp_stats *out)
{
    int64_t devices = (int64_t)sim->draft->lanes * sim->rates->pp * sim->draft->cp;

    for (int64_t i = 0; i < devices; i++) {
        out->peak_bytes = sp__max(out->peak_bytes, t->stage[i].peak_bytes);
        out->peak_live_tokens = sp__max(out->peak_live_tokens, t->stage[i].peak_live_tokens);
    }
}

static int64_t count_slices(const sp__draft *d)
{
    int64_t slices = 0;

    for (int32_t r = 0; r < d->lanes; r++) {
        const sp__packs *packs = &d->lane[r].pass[SP_FORWARD];

        for (int32_t k = 0; k < packs->count; k++)
            if (packs->merge[k] < 0 || d->merge[packs->merge[k]].first == r)
                slices += packs->first[k + 1] - packs->first[k];
    }
    return slices;
}

/* Quotient of what fits and a time, for people. */
static int64_t per_second(sp__int128 amount, int64_t ps)
{
    sp__int128 rate = ps > 0 ? amount * 1000000000000 / ps : 0;

    return rate > INT64_MAX ? INT64_MAX : (int64_t)rate;
}

/* 10^9 FLOPs forward and twice that backward. */
static int64_t gigaflops(const sp__target *target, const sp__totals *totals)
{
    sp__int128 linear = target->token_flops * 3 / 1000 * totals->tokens / 1000000;
    sp__int128 attention = target->pair_flops * 3 * totals->pairs / 1000000000;

    return linear + attention > INT64_MAX ? INT64_MAX : (int64_t)(linear + attention);
}

void sp__stats_step(const sp__sim *sim, const sp__timeline *t, const sp__target *target,
                    const sp__totals *totals, int32_t devices, sp_stats *out)
{
    int64_t reduced;

    out->step_ps = out->makespan_ps;
    for (int32_t s = 0; s < sim->rates->pp; s++)
        out->step_ps = sp__max(out->step_ps, sp__finish(sim, t, &target->sync[s], s, &reduced));
    out->tokens_per_s = per_second(totals->tokens, out->step_ps);
    out->model_gflop = gigaflops(target, totals);
    out->device_gflops = per_second(out->model_gflop, out->step_ps) / devices;
    out->mfu_ppm = sp__mul_div(out->device_gflops, 1000000000000000, target->peak);
}

sp_status sp__stats_fill(const sp__sim *sim, const sp__timeline *t, const int64_t *lengths,
                         int32_t samples, int64_t memory, sp_stats *out)
{
    const sp__draft *d = sim->draft;
    int64_t held = 0, even = 0;
    sp_stats s = SP_STATS_INIT;
    sp__totals totals = { 0 };

    SP_TRY(sp__batch_totals(&sim->rates->attention, lengths, samples, &totals));
    SP_TRY(sp__ideal(sim->rates, &totals, d->lanes * d->cp, &s.ideal_ps));
    s.samples = samples;
    s.tokens = totals.tokens;
    s.slices = count_slices(d);
    s.merges = d->merges;
    s.forward_packs = d->packs[SP_FORWARD];
    s.backward_packs = d->packs[SP_BACKWARD];
    s.makespan_ps = sp__makespan(sim, t);
    s.bound_ps = sp__max(bound_of(sim->rates, &d->flow, &totals, d->lanes * d->cp), s.ideal_ps);
    s.ratio_ppm = s.ideal_ps > 0 ? sp__mul_div(s.makespan_ps, 1000000, s.ideal_ps) : 1000000;
    s.memory_bytes = memory;
    compare_loads(sim, t, &s);
    compare_packs(sim, SP_FORWARD, &s.imbalance_forward_ppm, &held, &even);
    compare_packs(sim, SP_BACKWARD, &s.imbalance_backward_ppm, &held, &even);
    s.imbalance_cp_ppm = sp__max(sp__excess_ppm(held, even), 0);
    peaks(sim, t, &s);
    *out = s;
    return SP_OK;
}
