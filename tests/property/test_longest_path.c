/*
 * test_longest_path.c - simulated times are what the plan's graph and the cost
 * model say, computed anew.
 *
 * On the ideal device nothing is communicated, so the simulator's start of every
 * op has to equal, to the picosecond, the longest path to it in the graph of
 * stage order, dependencies and merges; and an op has to take what the formulas
 * of the cost model give for its slowest rank.
 */
#include <inttypes.h>
#include <stdio.h>

#include "../support/checker.h"
#include "../support/costs.h"
#include "../support/expect.h"
#include "../support/plan_graph.h"
#include "../support/random_case.h"

#define CASES 300

/* A case with its plan, read and checked. */
typedef struct planned {
    random_case c;
    case_handles h;
    plain_plan plan;
} planned;

static void blame(const planned *x, const char *what)
{
    random_case_print(&x->c);
    fail_msg("seed %" PRIu64 ": %s", x->c.seed, what);
}

/* Lockstep adds waiting that is no edge of the graph. */
static void switch_off_lockstep(random_case *c)
{
    for (int32_t i = 0; i < c->settings; i++)
        if (c->setting[i].key == SP_PLANNER_LOCKSTEP)
            c->setting[i].value = 0;
}

/* Reads the plan; checking it numbers its units. What a planner owes beyond a valid
 * plan is for test_invariants.c. */
static void read_plan(planned *x, const sp_schedule *schedule)
{
    check_limits limits = CHECK_LIMITS_INIT;
    char why[400];

    if (plain_read(schedule, x->h.topology, x->c.limits.pad_multiple, &x->plan, why,
                   sizeof why) != 0 ||
        check_plan(&x->plan, x->c.length, x->c.count, &limits, why, sizeof why) != 0)
        blame(x, why);
}

/* Plans a case of one policy on the ideal device; 0 where it has no plan. */
static int open_case(planned *x, uint64_t seed, int kinds, int64_t policy)
{
    sp_schedule *schedule = NULL;
    sp_status status;

    random_case_make(seed, kinds | CASE_IDEAL | CASE_NO_CAPS, &x->c);
    if (random_case_value(&x->c, SP_PLANNER_POLICY, 0) != policy)
        return 0;
    switch_off_lockstep(&x->c);
    if (random_case_open(&x->c, &x->h) != SP_OK)
        blame(x, sp_error_message());
    status = sp_plan_batch(x->h.planner, x->h.batch, &schedule);
    if (status != SP_OK && !x->c.has_cap)
        blame(x, sp_error_message());
    if (status != SP_OK) {
        random_case_close(&x->h);
        return 0;
    }
    read_plan(x, schedule);
    sp_schedule_destroy(schedule);
    return 1;
}

static void close_case(planned *x)
{
    plain_free(&x->plan);
    random_case_close(&x->h);
}

/* Starts of every op, exactly. */
static void compare_starts(planned *x)
{
    plan_graph g;
    int64_t *start, makespan;
    char words[200];

    plan_graph_build(&x->plan, &g);
    start = plain_take(&x->plan, g.nodes, sizeof *start);
    makespan = plan_graph_longest(&g, start);
    for (int64_t n = 0; n < g.nodes; n++)
        if (start[n] != g.node[n].start) {
            snprintf(words, sizeof words, "replica %" PRId32 ", stage %" PRId32 ", pass %" PRId32
                     ", pack %" PRId32 " starts at %" PRId64 " ps, its longest path takes %" PRId64,
                     g.node[n].replica, g.node[n].stage, g.node[n].pass, g.node[n].pack,
                     g.node[n].start, start[n]);
            blame(x, words);
        }
    if (makespan != x->plan.stats.makespan_ps)
        blame(x, "the makespan is not the longest path");
}

/* The library rounds a coefficient to 2^-20 ps a token and a pair, and a pack to a
 * whole ps; full recomputation adds two rounded coefficients. */
static long double tolerance(part_work work)
{
    return 1 + ((long double)work.tokens + (long double)work.pairs) / 1048576;
}

/* What the formulas give for a pack's slowest rank, and how far off an op may be. */
typedef struct expected {
    long double time, allowed;
} expected;

/* All parts of one replica's pack, found by its unit, raise the expectation. */
static void expect_replica(const planned *x, const cost_model *m, int32_t replica, int32_t stage,
                           int pass, int32_t unit, expected *e)
{
    int32_t k = 0;

    while (x->plan.replica[replica].pack[plain_pass(pass)][k].unit != unit)
        k++;
    for (int32_t cp = 0; cp < x->plan.cp; cp++) {
        part_work work = cost_part(m, plain_part_at(&x->plan, replica, pass, k, cp), x->c.length);
        int cost = pass == SP_BACKWARD && x->plan.split ? COST_INPUT : pass;
        long double time = cost_time(m, stage, cost, work), allowed = tolerance(work);

        e->time = time > e->time ? time : e->time;
        e->allowed = allowed > e->allowed ? allowed : e->allowed;
    }
}

static void compare_op(planned *x, const cost_model *m, int32_t replica, int32_t stage,
                       const sp_op_view *op)
{
    int32_t first =
        op->merge < 0 || op->pass == SP_WEIGHT ? replica : x->plan.merge[op->merge].first_replica;
    int32_t count = op->merge < 0 || op->pass == SP_WEIGHT
                        ? 1 : x->plan.merge[op->merge].replicas;
    long double takes = (long double)(op->end_ps - op->start_ps);
    expected e = { 0, 1 };
    char words[200];

    for (int32_t r = first; r < first + count; r++)
        expect_replica(x, m, r, op->chunk * x->plan.pp + stage, op->pass,
                       x->plan.replica[replica].pack[plain_pass(op->pass)][op->pack].unit, &e);
    if (takes >= e.time - e.allowed && takes <= e.time + e.allowed)
        return;
    snprintf(words, sizeof words, "replica %" PRId32 ", stage %" PRId32 ", pass %" PRId32
             ", pack %" PRId32 " takes %.0Lf ps, the cost model says %.2Lf +- %.2Lf", replica,
             stage, op->pass, op->pack, takes, e.time, e.allowed);
    blame(x, words);
}

static void compare_durations(planned *x)
{
    stage_cost *stage = plain_take(&x->plan, x->plan.pp * x->plan.chunks, sizeof *stage);
    cost_model m;

    cost_model_init(&m, stage, x->h.model, x->h.device, x->plan.pp, x->plan.chunks,
                    x->plan.tp);
    for (int32_t r = 0; r < x->plan.dp; r++)
        for (int32_t s = 0; s < x->plan.pp; s++)
            for (int32_t i = 0; i < x->plan.replica[r].ops; i++)
                compare_op(x, &m, r, s, &plain_ops_at(&x->plan, r, s, 0)[i]);
}

/* Goes through the cases of a policy; some must have had a plan. */
static void for_each_case(int kinds, int64_t policy, void (*compare)(planned *))
{
    static planned x;
    int64_t compared = 0;

    for (uint64_t seed = 0; seed < CASES; seed++)
        if (open_case(&x, seed, kinds, policy)) {
            compare(&x);
            close_case(&x);
            compared++;
        }
    print_message("    %s: %" PRId64 " plans\n", sp_policy_name((int32_t)policy), compared);
    assert_true(compared >= CASES / 20);
}

static void every_op_starts_at_the_end_of_its_longest_path(void **state)
{
    (void)state;
    for (int64_t policy = 0; policy < 4; policy++) {
        for_each_case(CASE_SMALL, policy, compare_starts);
        for_each_case(CASE_ANY, policy, compare_starts);
    }
}

static void every_op_takes_what_the_cost_model_says(void **state)
{
    (void)state;
    for (int64_t policy = 0; policy < 4; policy++) {
        for_each_case(CASE_SMALL, policy, compare_durations);
        for_each_case(CASE_ANY, policy, compare_durations);
    }
}

/* The formulas themselves, for a shape that can be followed on paper. */
static void the_pairs_of_a_slice_are_counted_by_hand(void **state)
{
    cost_model m = { INT64_MAX, 1, NULL };
    plain_piece piece = { 0, 2, 3 };

    (void)state;
    assert_int_equal(cost_pairs(&m, &piece, 5), 3 + 4 + 5);
    m.window = 4;
    assert_int_equal(cost_pairs(&m, &piece, 5), 3 + 4 + 4);
    m.window = 2;
    assert_int_equal(cost_pairs(&m, &piece, 5), 2 + 2 + 2);
    m.causal = 0;
    assert_int_equal(cost_pairs(&m, &piece, 5), 5 + 5 + 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_pairs_of_a_slice_are_counted_by_hand),
        cmocka_unit_test(every_op_starts_at_the_end_of_its_longest_path),
        cmocka_unit_test(every_op_takes_what_the_cost_model_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
