/*
 * search.c - phase two of policy slimpack: how many packs, and how tapered.
 *
 * A pass of m packs pays m times its overhead o and a bubble of about
 * (pp - 1) packs, a part of which the tapered ends save:
 *
 *     loss(m) = m * o + BUBBLE * (pp - 1) * work / m
 *
 * which is least at the square root of BUBBLE * (pp - 1) * work / o. The search
 * starts there and tries counts around it on the simulator, on the replica with
 * the most work, without its merges' barriers.
 *
 * Forward packs are fewer than backward packs: a forward pack then costs nearly
 * as much as a backward one, and 2 * pp of them ahead cover the time a pack needs
 * to the last stage and back.
 */
#include <inttypes.h>

#include "base/status.h"
#include "plan/step.h"

/* Part of a full bubble that tapered ends leave, in sixteenths. Larger starts
 * the search at more packs. */
#define BUBBLE_SIXTEENTHS 6

/* How many forward packs there are, and how the ends taper. More forward packs
 * shorten the fill, but the fewer there are, the farther ahead the run-ahead limit
 * lets stages go, without which the last stage starves between two long samples.
 * Of the ramps: lengths of the ramps in 1/256 of a pass's packs, and their
 * smallest pack in thousandths of a full one. Longer ramps leave a smaller bubble
 * but larger packs in the middle, which starve the last stage between two long
 * samples: short ramps suit many packs, long ramps few. A smaller end fills the
 * pipeline sooner but pays its overhead for little work. Measured on the data
 * files with 176 + 256 packs (short) and with h100's overheads (long). */
typedef struct profile {
    int32_t forward_start, forward_end, backward_end;
    int32_t share;
    int32_t forward; /* packs for each 16 backward packs */
} profile;

static const profile profiles[] = { { 42, 23, 32, 50, 11 },
                                    { 256, 64, 128, 100, 11 },
                                    { 256, 64, 256, 50, 11 },
                                    { 42, 23, 32, 50, 16 },
                                    { 42, 23, 32, 50, 13 },
                                    { 100, 0, 32, 50, 16 },
                                    { 160, 23, 32, 50, 16 },
                                    { 256, 23, 32, 50, 16 } };

/* The profile for many packs that cost overhead, tried with every count. */
#define LONG_RAMPS 1

/* Backward packs up to which every profile is tried with every count: about 20 us
 * a try on four stages. */
#define FEW_PACKS 64

/* Replicas from which trying other shapes on one of them costs next to nothing. */
#define MANY_REPLICAS 32

#define PROFILES ((int32_t)(sizeof profiles / sizeof *profiles))

/* The last ones are for zero bubble: weight gradients fill what a long ramp forward
 * leaves idle, which of them fills most depends on the batch. */
#define ZERO_BUBBLE_PROFILES 3

/* Pack counts tried around the start, in 1/256 of it. */
static const int32_t steps_balanced[] = { 256, 181, 362, 128, 512 };
static const int32_t steps_thorough[] = { 256, 215, 304, 181, 362, 152, 431, 128, 512, 91, 724 };

/* What bounds the counts of each pass. */
typedef struct bounds {
    int32_t least[2], most, group;
} bounds;

static int32_t to_group(const bounds *b, int pass, int64_t packs)
{
    int64_t within = sp__max(sp__min(packs, b->most), b->least[pass]);

    within = (within + b->group / 2) / b->group * b->group;
    if (within > b->most)
        within -= b->group;
    while (within < b->least[pass])
        within += b->group;
    return (int32_t)within;
}

static sp_status check_least(const sp__step *step, const bounds *b, int pass)
{
    int64_t most = sp__planner_most_packs(step->planner, pass);

    if (b->least[pass] > most)
        return sp__fail(SP_ERR_INFEASIBLE, "%s: a replica needs %" PRId32
                        " %s packs to keep its limits, but %" PRId64 " are allowed",
                        sp__planner_most_name(step->planner, pass), b->least[pass],
                        pass == SP_FORWARD ? "forward" : "backward", most);
    return SP_OK;
}

/* Merges need packs of their own; where the counts have none for them, the step
 * is planned without. */
static sp_status find_bounds(sp__step *step, bounds *b)
{
    int64_t most = sp__planner_value(step->planner, SP_PLANNER_MAX_PACKS);

    b->group = (int32_t)sp__planner_value(step->planner, SP_PLANNER_PACK_GROUP);
    b->most = (int32_t)(most / b->group * b->group);
    SP_TRY(sp__step_fewest(step, b->least));
    if (step->assignment.merges > 0 &&
        (b->least[SP_FORWARD] > sp__planner_most_packs(step->planner, SP_FORWARD) ||
         b->least[SP_BACKWARD] > sp__planner_most_packs(step->planner, SP_BACKWARD))) {
        SP_TRY(sp__step_assign(step, 0));
        SP_TRY(sp__step_fewest(step, b->least));
    }
    SP_TRY(check_least(step, b, SP_FORWARD));
    return check_least(step, b, SP_BACKWARD);
}

/* Forward and backward counts for a number of backward packs, given ones first. */
static void shape_of(const sp__step *step, const bounds *b, int64_t packs, const profile *p,
                     sp__pack_shape *shape)
{
    int64_t forward = sp__planner_packs(step->planner, SP_FORWARD);
    int64_t backward = sp__planner_packs(step->planner, SP_BACKWARD);
    int32_t k = to_group(b, SP_BACKWARD, backward > 0 ? backward : packs);
    int32_t f = to_group(b, SP_FORWARD, forward > 0 ? forward : (k * p->forward + 15) / 16);

    *shape = (sp__pack_shape){
        .packs = { f, k },
        .ramp = { { f * p->forward_start / 256, f * p->forward_end / 256 },
                  { 0, k * p->backward_end / 256 } },
        .share = { { p->share, p->share }, { p->share, p->share } },
    };
}

static int32_t heaviest_replica(const sp__step *step)
{
    int32_t most = 0;

    for (int32_t r = 1; r < step->draft.lanes; r++)
        if (step->assignment.load[r] > step->assignment.load[most])
            most = r;
    return most;
}

static int64_t rate_overhead(const sp__rate *r)
{
    return sp__max(r->half, r->floor) + r->fixed;
}

/* What a pack costs in all its ops before its first token, on the costliest stage. */
static int64_t pack_overhead(const sp__rates *rates, int split)
{
    int64_t most = 0;

    for (int32_t s = 0; s < rates->pp; s++) {
        int64_t here = 0;

        for (int32_t u = s; u < rates->stages; u += rates->pp) {
            const sp__rate *pass = rates->stage[u].pass;

            here += rate_overhead(&pass[SP_FORWARD]);
            here += split ? rate_overhead(&pass[SP__INPUT]) + rate_overhead(&pass[SP_WEIGHT])
                          : rate_overhead(&pass[SP_BACKWARD]);
        }
        most = sp__max(most, here);
    }
    return most;
}

static int64_t square_root(int64_t x)
{
    int64_t root = 0;

    for (int64_t bit = (int64_t)1 << 31; bit > 0; bit /= 2)
        if (root + bit <= INT32_MAX && (root + bit) * (root + bit) <= x)
            root += bit;
    return root;
}

/* The count at which the loss is least; no more than there are slices to cut. */
static int64_t closed_form(const sp__step *step, const bounds *b)
{
    const sp__rates *rates = &step->planner->target.rates;
    int64_t work = (step->pass_cost[0] + step->pass_cost[1]) / step->draft.lanes;
    int64_t overhead = pack_overhead(rates, step->draft.flow.split);
    int64_t grains = sp__ceil_div(step->totals.tokens / step->draft.lanes,
                                  step->yardstick.alignment) + 1;
    int64_t best = b->most;

    if (overhead > 0)
        best = square_root(sp__mul_div(work, BUBBLE_SIXTEENTHS * sp__max(rates->pp - 1, 1),
                                       16 * overhead));
    return sp__min(best, grains);
}

/* Shapes that did best on one replica, the best first. */
#define FINALISTS 3

typedef struct finalist {
    int64_t time;
    sp__pack_shape shape;
} finalist;

typedef struct contest {
    sp__step *step;
    const bounds *bounds;
    int32_t replica;
    finalist best[FINALISTS];
} contest;

static int64_t best_packs(const contest *c)
{
    return c->best[0].shape.packs[SP_BACKWARD];
}

static int32_t count_profiles(const contest *c)
{
    return c->step->draft.flow.split ? PROFILES : PROFILES - ZERO_BUBBLE_PROFILES;
}

static sp_status try_shape(contest *c, int64_t packs, const profile *p)
{
    finalist now = { .time = 0 };
    int32_t at = FINALISTS;

    shape_of(c->step, c->bounds, packs, p, &now.shape);
    SP_TRY(sp__step_try(c->step, &now.shape, c->replica, &now.time));
    while (at > 0 && now.time < c->best[at - 1].time)
        at--;
    for (int32_t i = FINALISTS - 1; i > at; i--)
        c->best[i] = c->best[i - 1];
    if (at < FINALISTS)
        c->best[at] = now;
    return SP_OK;
}

/* One replica's time is not that of all; where a try of all is cheap, the finalists
 * run against each other with everything in. */
static sp_status hold_final(contest *c)
{
    int64_t best = INT64_MAX, time;
    sp__pack_shape shape = c->best[0].shape;

    for (int32_t i = 0; i < FINALISTS && c->best[i].time < INT64_MAX; i++) {
        SP_TRY(sp__step_try_all(c->step, &c->best[i].shape, &time));
        if (time < best) {
            best = time;
            shape = c->best[i].shape;
        }
    }
    c->best[0].shape = shape;
    return SP_OK;
}

/* All profiles for few packs, where a try costs little and ends weigh much. */
static sp_status try_count(contest *c, int64_t packs)
{
    for (int32_t p = 0; p < count_profiles(c); p++)
        if (p == LONG_RAMPS || packs <= FEW_PACKS)
            SP_TRY(try_shape(c, packs, &profiles[p]));
    return SP_OK;
}

/* On to more packs while the most that were tried are the best. */
static sp_status climb(contest *c, int64_t most)
{
    while (best_packs(c) == most && most < c->bounds->most) {
        int64_t more = to_group(c->bounds, SP_BACKWARD, most * 5 / 4 + 1);

        if (more == most)
            break;
        SP_TRY(try_count(c, more));
        most = more;
    }
    return SP_OK;
}

/* Counts around the start, then at the best one the profiles not tried yet. */
static sp_status hold_contest(contest *c, int64_t start, const int32_t *steps, int32_t count)
{
    int64_t last = -1, most = 0;

    for (int32_t i = 0; i < count; i++) {
        int64_t packs = to_group(c->bounds, SP_BACKWARD, start * steps[i] / 256);

        if (packs != last)
            SP_TRY(try_count(c, packs));
        last = packs;
        most = sp__max(most, packs);
    }
    if (count > 1)
        SP_TRY(climb(c, most));
    if (best_packs(c) <= FEW_PACKS)
        return c->step->draft.lanes > 1 ? hold_final(c) : SP_OK;
    last = best_packs(c);
    for (int32_t p = 0; p < count_profiles(c); p++)
        if (p != LONG_RAMPS)
            SP_TRY(try_shape(c, last, &profiles[p]));
    if (c->step->draft.flow.split && c->step->draft.lanes > 1 &&
        c->step->draft.lanes < MANY_REPLICAS)
        return hold_final(c);
    return SP_OK;
}

/* Part of the way from the best count to the most, in equal factors: doubling is
 * near enough to that, and the last level is the most itself. */
static int64_t levelled(const sp__step *step, const bounds *b, int64_t packs)
{
    int32_t level = step->most_packs;

    return level == SP__PACK_LEVELS - 1 ? b->most : sp__min(packs << level, b->most);
}

#define COUNT_OF(array) ((int32_t)(sizeof(array) / sizeof *(array)))

sp_status sp__step_search(sp__step *step)
{
    int64_t effort = sp__planner_value(step->planner, SP_PLANNER_EFFORT);
    int is_free = pack_overhead(&step->planner->target.rates, step->draft.flow.split) == 0;
    contest c = { .step = step };
    sp__pack_shape *shape = &c.best[0].shape;
    int64_t start;
    bounds b;

    SP_TRY(find_bounds(step, &b));
    start = closed_form(step, &b);
    c.bounds = &b;
    c.replica = heaviest_replica(step);
    for (int32_t i = 0; i < FINALISTS; i++)
        c.best[i].time = INT64_MAX;
    shape_of(step, &b, start, &profiles[is_free ? 0 : LONG_RAMPS], shape);
    if (is_free && effort == SP_EFFORT_BALANCED &&
        (step->draft.lanes >= MANY_REPLICAS || step->draft.flow.split))
        SP_TRY(hold_contest(&c, start, steps_balanced, 1));
    if (effort == SP_EFFORT_THOROUGH)
        SP_TRY(hold_contest(&c, start, steps_thorough, COUNT_OF(steps_thorough)));
    else if (effort == SP_EFFORT_BALANCED && !is_free)
        SP_TRY(hold_contest(&c, start, steps_balanced, COUNT_OF(steps_balanced)));
    if (step->most_packs > 0)
        shape_of(step, &b, levelled(step, &b, best_packs(&c)), &profiles[0], shape);
    sp__step_use(step, shape);
    return SP_OK;
}
