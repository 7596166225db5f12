/*
 * test_events.c - the order that the simulator finds: by hand, against closed forms,
 * and as properties of random plans.
 */
#include <string.h>

#include "../support/expect.h"
#include "../support/hand_plan.h"

static void run(hand_plan *h)
{
    if (sp__simulate_greedy(&h->sim, &h->timeline) != SP_OK)
        fail_msg("%s", sp_error_message());
}

#define F(k) sp__op(k, 0, SP_FORWARD)
#define B(k) sp__op(k, 0, SP_BACKWARD)

static void expect_op(const hand_plan *h, int32_t lane, int32_t stage, int32_t i, int32_t op,
                      int64_t start, int64_t end)
{
    assert_int_equal(h->timeline.op[hand_at(h, lane, stage, i)], op);
    assert_int_equal(h->timeline.start[hand_at(h, lane, stage, i)], start);
    assert_int_equal(h->timeline.end[hand_at(h, lane, stage, i)], end);
}

/* Two packs of 10 and 20 tokens: a backward runs as soon as it can. */
static void one_stage_runs_a_ready_backward_first(void **state)
{
    hand_plan h;

    (void)state;
    hand_open(&h, "dp=1", 2, 2);
    for (int32_t i = 0; i < 2; i++) {
        int32_t n = 10 * (i + 1);
        sp__slice slice = { hand_sample(&h, n), 0, n, SP__SPLIT };

        hand_pack(&h, 0, SP_FORWARD, -1, 1, &slice);
        hand_pack(&h, 0, SP_BACKWARD, -1, 1, &slice);
    }
    hand_close(&h);
    run(&h);
    expect_op(&h, 0, 0, 0, F(0), 0, 20);
    expect_op(&h, 0, 0, 1, B(0), 20, 50);
    expect_op(&h, 0, 0, 2, F(1), 50, 90);
    expect_op(&h, 0, 0, 3, B(1), 90, 150);
    hand_free(&h);
}

static void two_stages_overlap(void **state)
{
    hand_plan h;

    (void)state;
    hand_equal_packs(&h, "pp=2", 2, 10);
    run(&h);
    expect_op(&h, 0, 0, 0, F(0), 0, 20);
    expect_op(&h, 0, 0, 1, F(1), 20, 40);
    expect_op(&h, 0, 1, 0, F(0), 20, 40);
    expect_op(&h, 0, 1, 1, B(0), 40, 70);
    expect_op(&h, 0, 0, 2, B(0), 70, 100);
    expect_op(&h, 0, 1, 2, F(1), 70, 90);
    expect_op(&h, 0, 1, 3, B(1), 90, 120);
    expect_op(&h, 0, 0, 3, B(1), 120, 150);
    hand_free(&h);
}

/* Without leave to run ahead the second forward waits for the first backward. */
static void no_run_ahead_runs_one_pack_at_a_time(void **state)
{
    hand_plan h;

    (void)state;
    hand_equal_packs(&h, "pp=2", 2, 10);
    h.sim.run_ahead = 0;
    run(&h);
    expect_op(&h, 0, 0, 1, B(0), 70, 100);
    expect_op(&h, 0, 0, 2, F(1), 100, 120);
    expect_op(&h, 0, 1, 2, F(1), 120, 140);
    expect_op(&h, 0, 1, 3, B(1), 140, 170);
    expect_op(&h, 0, 0, 3, B(1), 170, 200);
    hand_free(&h);
}

/* No order of equal packs on equal stages is faster than that of 1F1B. */
static void equal_packs_take_packs_plus_stages_less_one(void **state)
{
    static const char *const topologies[] = { "pp=1", "pp=2", "pp=3", "pp=4", "pp=5", "pp=6" };

    (void)state;
    for (int32_t pp = 1; pp <= 6; pp++)
        for (int32_t packs = 1; packs <= 12; packs++) {
            hand_plan h;

            hand_equal_packs(&h, topologies[pp - 1], packs, 10);
            run(&h);
            assert_int_equal(sp__makespan(&h.sim, &h.timeline),
                             (int64_t)(pp - 1 + packs) * (20 + 30));
            hand_free(&h);
        }
}

/* Replica 0 is done with its own forward at 20, replica 1 at 100. */
static void a_shared_pack_waits_for_the_last_replica(void **state)
{
    const sp__slice shared = { 0, 0, 20, SP__SPLIT };
    hand_plan h;

    (void)state;
    hand_open(&h, "dp=2", 2, 2);
    hand_sample(&h, 20);
    hand_merge(&h, 0, 0, 2);
    for (int32_t r = 0; r < 2; r++) {
        int32_t n = r == 0 ? 10 : 50;
        sp__slice own = { hand_sample(&h, n), 0, n, SP__SPLIT };

        hand_pack(&h, r, SP_FORWARD, -1, 1, &own);
        hand_pack(&h, r, SP_FORWARD, 0, 1, &shared);
        hand_pack(&h, r, SP_BACKWARD, 0, 1, &shared);
        hand_pack(&h, r, SP_BACKWARD, -1, 1, &own);
    }
    hand_close(&h);
    run(&h);
    expect_op(&h, 0, 0, 1, F(1), 100, 120);
    expect_op(&h, 1, 0, 1, F(1), 100, 120);
    expect_op(&h, 0, 0, 2, B(0), 120, 150);
    expect_op(&h, 1, 0, 2, B(0), 120, 150);
    hand_free(&h);
}

/* Merges in opposite orders in two replicas can never meet. */
static void packs_that_contradict_each_other_are_found(void **state)
{
    const sp__slice slice[2] = { { 0, 0, 16, SP__SPLIT }, { 1, 0, 16, SP__SPLIT } };
    hand_plan h;

    (void)state;
    hand_open(&h, "dp=2", 2, 2);
    hand_sample(&h, 16);
    hand_sample(&h, 16);
    hand_merge(&h, 0, 0, 2);
    hand_merge(&h, 1, 0, 2);
    for (int32_t r = 0; r < 2; r++)
        for (int pass = 0; pass < 2; pass++)
            for (int32_t k = 0; k < 2; k++)
                hand_pack(&h, r, pass, k ^ r, 1, &slice[k ^ r]);
    hand_close(&h);
    EXPECT_FAIL(sp__simulate_greedy(&h.sim, &h.timeline), SP_ERR_INVARIANT,
                "I4: replica 0, stage 0: op 0 can never run");
    hand_free(&h);
}

static void a_time_that_does_not_fit_is_an_overflow(void **state)
{
    hand_plan h;

    (void)state;
    hand_equal_packs(&h, "pp=2", 2, 10);
    h.stage[1].pass[SP_FORWARD].fixed = INT64_MAX / 4 - 30;
    EXPECT_FAIL(sp__simulate_greedy(&h.sim, &h.timeline), SP_ERR_OVERFLOW,
                "cost: the simulated time passes 2^61 ps");
    hand_free(&h);
}

/* ---- properties of random plans */

enum { SEEDS = 150 };

static void for_each_random_plan(void (*expect)(hand_plan *h))
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        hand_plan h;

        hand_random(&h, seed);
        run(&h);
        expect(&h);
        hand_free(&h);
    }
}

static int64_t all_ops(const hand_plan *h)
{
    return (int64_t)h->draft.lanes * h->rates.stages * h->timeline.ops;
}

static void *copy_of(hand_plan *h, const void *from, int64_t count, size_t size)
{
    void *to = sp__arena_take(&h->arena[0], count, size);

    assert_non_null(to);
    memcpy(to, from, (size_t)count * size);
    return to;
}

/* A second run of some kind has to give the timeline that stands there. */
static void expect_same(hand_plan *h, sp_status (*again)(const sp__sim *, sp__timeline *))
{
    int64_t ops = all_ops(h), devices = ops / h->timeline.ops * h->draft.cp;
    const sp__timeline before = {
        h->timeline.ops,
        copy_of(h, h->timeline.op, ops, sizeof *before.op),
        copy_of(h, h->timeline.start, ops, sizeof *before.start),
        copy_of(h, h->timeline.end, ops, sizeof *before.end),
        copy_of(h, h->timeline.stage, devices, sizeof *before.stage),
    };

    memset(h->timeline.start, 0, (size_t)ops * sizeof *before.start);
    memset(h->timeline.end, 0, (size_t)ops * sizeof *before.end);
    memset(h->timeline.stage, 0, (size_t)devices * sizeof *before.stage);
    assert_int_equal(again(&h->sim, &h->timeline), SP_OK);
    assert_memory_equal(h->timeline.op, before.op, (size_t)ops * sizeof *before.op);
    assert_memory_equal(h->timeline.start, before.start, (size_t)ops * sizeof *before.start);
    assert_memory_equal(h->timeline.end, before.end, (size_t)ops * sizeof *before.end);
    assert_memory_equal(h->timeline.stage, before.stage, (size_t)devices * sizeof *before.stage);
}

static void expect_replay(hand_plan *h)
{
    expect_same(h, sp__simulate_order);
}

static void a_replay_of_the_order_gives_the_same_times(void **state)
{
    (void)state;
    for_each_random_plan(expect_replay);
}

static void expect_replay_in_lockstep(hand_plan *h)
{
    h->sim.lockstep = 1;
    run(h);
    expect_same(h, sp__simulate_order);
}

static void so_does_one_in_lockstep(void **state)
{
    (void)state;
    for_each_random_plan(expect_replay_in_lockstep);
}

static void expect_threads(hand_plan *h)
{
    h->workers.threads = HAND_THREADS;
    expect_same(h, sp__simulate_greedy);
}

static void threads_change_nothing(void **state)
{
    (void)state;
    for_each_random_plan(expect_threads);
}

/* A merged pack has the same start and end in all its replicas, on every stage. */
static void expect_meetings(hand_plan *h)
{
    for (int32_t g = 0; g < h->draft.merges; g++)
        for (int32_t s = 0; s < h->rates.stages; s++)
            for (int32_t op = 0; op < h->timeline.ops; op++) {
                const sp__merge *m = &h->merge[g];
                int64_t at = hand_at(h, m->first, s, op);
                int32_t pass = sp__op_pass(h->timeline.op[at]), k = sp__op_pack(h->timeline.op[at]),
                        nth = 0;

                if (h->lane[m->first].pass[pass].merge[k] != g)
                    continue;
                for (int32_t j = 0; j < k; j++)
                    nth += h->lane[m->first].pass[pass].merge[j] == g;
                for (int32_t r = m->first + 1; r < m->first + m->replicas; r++) {
                    int32_t other = 0, left = nth;
                    int64_t there;

                    while (h->lane[r].pass[pass].merge[other] != g || left-- > 0)
                        other++;
                    there = hand_at(h, r, s, hand_find(h, r, s, pass, other));
                    assert_int_equal(h->timeline.start[there], h->timeline.start[at]);
                    assert_int_equal(h->timeline.end[there], h->timeline.end[at]);
                }
            }
}

static void merges_start_and_end_together(void **state)
{
    (void)state;
    for_each_random_plan(expect_meetings);
}

static int64_t forward_work(const hand_plan *h, int32_t lane, int32_t k)
{
    int64_t most = 0;

    for (int32_t c = 0; c < h->draft.cp; c++)
        most = sp__max(
            most, sp__load_cost(&h->rates, 0, SP_FORWARD,
                                &h->lane[lane].pass[SP_FORWARD].load[k * h->draft.cp + c], 1, 0));
    return most;
}

/* A forward beyond the need of the next backward stays within the window: run_ahead
 * sixteenths of the largest pack for each stage from here on. 4 ps a pack may be lost
 * to the units of work. */
static void expect_stage_within_window(const hand_plan *h, int32_t lane, int32_t stage)
{
    int64_t largest = 0, window;
    int32_t b = 0;

    for (int32_t k = 0; k < h->draft.packs[SP_FORWARD]; k++)
        largest = sp__max(largest, forward_work(h, lane, k));
    window = h->sim.run_ahead * (h->rates.stages - stage) * largest / 16;
    for (int32_t i = 0; i < h->timeline.ops; i++) {
        int32_t op = h->timeline.op[hand_at(h, lane, stage, i)];
        int64_t ahead = 0;

        if (sp__op_pass(op) == SP_BACKWARD) {
            b++;
            continue;
        }
        if (b == h->draft.packs[SP_BACKWARD])
            continue;
        for (int32_t k = h->lane[lane].needs[b] + 1; k <= sp__op_pack(op); k++)
            ahead += forward_work(h, lane, k);
        assert_true(ahead <= window + 4 * h->timeline.ops);
    }
}

static void expect_windows(hand_plan *h)
{
    for (int32_t r = 0; r < h->draft.lanes; r++)
        for (int32_t s = 0; s < h->rates.stages; s++)
            expect_stage_within_window(h, r, s);
}

static void run_ahead_bounds_what_is_forwarded(void **state)
{
    (void)state;
    for_each_random_plan(expect_windows);
}

/* What is live grows with the leave to run ahead, and the time does not. */
static void more_run_ahead_is_more_live_and_no_slower_for_equal_packs(void **state)
{
    int64_t live = 0, time = INT64_MAX;

    (void)state;
    for (int64_t ahead = 0; ahead <= 64; ahead += 16) {
        hand_plan h;

        hand_equal_packs(&h, "pp=4", 16, 10);
        h.sim.run_ahead = ahead;
        run(&h);
        assert_true(h.timeline.stage[0].peak_live_tokens >= live);
        assert_true(sp__makespan(&h.sim, &h.timeline) <= time);
        live = h.timeline.stage[0].peak_live_tokens;
        time = sp__makespan(&h.sim, &h.timeline);
        hand_free(&h);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_stage_runs_a_ready_backward_first),
        cmocka_unit_test(two_stages_overlap),
        cmocka_unit_test(no_run_ahead_runs_one_pack_at_a_time),
        cmocka_unit_test(equal_packs_take_packs_plus_stages_less_one),
        cmocka_unit_test(a_shared_pack_waits_for_the_last_replica),
        cmocka_unit_test(packs_that_contradict_each_other_are_found),
        cmocka_unit_test(a_time_that_does_not_fit_is_an_overflow),
        cmocka_unit_test(a_replay_of_the_order_gives_the_same_times),
        cmocka_unit_test(so_does_one_in_lockstep),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(merges_start_and_end_together),
        cmocka_unit_test(run_ahead_bounds_what_is_forwarded),
        cmocka_unit_test(more_run_ahead_is_more_live_and_no_slower_for_equal_packs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
