/*
 * test_async.c - batches planned by the planner's own thread are what sp_plan_batch()
 * makes of them, and a planner can be left in any state.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../support/expect.h"
#include "../support/failing_alloc.h"
#include "../support/random_case.h"

enum { BATCHES = 12 };

typedef struct loader {
    sp_topology *topology;
    sp_model *model;
    sp_device *device;
    sp_batch *batch[BATCHES];
    uint64_t digest[BATCHES]; /* of sp_plan_batch() */
} loader;

static loader l;

static sp_planner *make_planner(const sp_allocator *hooks)
{
    sp_planner *planner;

    assert_int_equal(sp_planner_create(l.topology, l.model, l.device, hooks, &planner), SP_OK);
    assert_int_equal(sp_planner_set(planner, SP_PLANNER_MAX_PACKS, 32), SP_OK);
    return planner;
}

static int open_loader(void **state)
{
    uint64_t s = 7;
    sp_planner *planner;

    (void)state;
    if (sp_topology_create(4, 1, 2, 1, NULL, &l.topology) != SP_OK ||
        sp_model_create("llama2-7b", NULL, &l.model) != SP_OK ||
        sp_device_create("ideal", NULL, &l.device) != SP_OK)
        return -1;
    planner = make_planner(NULL);
    for (int i = 0; i < BATCHES; i++) {
        int64_t lengths[100];
        sp_schedule *schedule;

        for (int j = 0; j < 100; j++)
            lengths[j] = 1 + random_below(&s, (int64_t)16 << random_below(&s, 10));
        assert_int_equal(sp_batch_create(lengths, 100, NULL, &l.batch[i]), SP_OK);
        assert_int_equal(sp_plan_batch(planner, l.batch[i], &schedule), SP_OK);
        l.digest[i] = sp_schedule_digest(schedule);
        sp_schedule_destroy(schedule);
    }
    sp_planner_destroy(planner);
    return 0;
}

static int close_loader(void **state)
{
    (void)state;
    for (int i = 0; i < BATCHES; i++)
        sp_batch_destroy(l.batch[i]);
    sp_device_destroy(l.device);
    sp_model_destroy(l.model);
    sp_topology_destroy(l.topology);
    return 0;
}

static void collect(sp_planner *planner, int i)
{
    sp_schedule *schedule = NULL;

    assert_int_equal(sp_planner_collect(planner, &schedule), SP_OK);
    assert_true(sp_schedule_digest(schedule) == l.digest[i]);
    sp_planner_recycle(planner, schedule); /* while the next may be planned */
}

static void plans_come_in_order_and_are_those_of_plan_batch(void **state)
{
    (void)state;
    for (int64_t depth = 1; depth <= 4; depth++) {
        sp_planner *planner = make_planner(NULL);
        int next = 0;

        assert_int_equal(sp_planner_set(planner, SP_PLANNER_QUEUE_DEPTH, depth), SP_OK);
        for (int i = 0; i < BATCHES; i++) {
            if (i - next == depth)
                collect(planner, next++);
            assert_int_equal(sp_planner_submit(planner, l.batch[i]), SP_OK);
        }
        while (next < BATCHES)
            collect(planner, next++);
        sp_planner_destroy(planner);
    }
}

/* The batch is copied, and the planner's thread may be any number of threads. */
static void a_submitted_batch_may_go(void **state)
{
    const int64_t lengths[] = { 500, 30, 7000 };
    sp_planner *planner = make_planner(NULL);
    sp_schedule *schedule;
    sp_batch *batch;

    (void)state;
    assert_int_equal(sp_planner_set(planner, SP_PLANNER_THREADS, 3), SP_OK);
    assert_int_equal(sp_batch_create(lengths, 3, NULL, &batch), SP_OK);
    assert_int_equal(sp_planner_submit(planner, batch), SP_OK);
    sp_batch_destroy(batch);
    assert_int_equal(sp_planner_collect(planner, &schedule), SP_OK);
    assert_int_equal(sp_schedule_lengths(schedule)[2], 7000);
    sp_planner_destroy(planner);
    assert_int_equal(sp_schedule_check(schedule), SP_OK); /* outlives the planner */
    sp_schedule_destroy(schedule);
}

static void parameters_are_those_of_the_submission(void **state)
{
    sp_planner *planner = make_planner(NULL);
    sp_schedule *schedule;

    (void)state;
    assert_int_equal(sp_planner_submit(planner, l.batch[0]), SP_OK);
    assert_int_equal(sp_planner_set(planner, SP_PLANNER_MAX_PACKS, 8), SP_OK);
    assert_int_equal(sp_planner_submit(planner, l.batch[0]), SP_OK);
    collect(planner, 0);
    assert_int_equal(sp_planner_collect(planner, &schedule), SP_OK);
    assert_in_range(sp_schedule_pack_count(schedule, SP_BACKWARD), 1, 8);
    sp_schedule_destroy(schedule);
    sp_planner_destroy(planner);
}

static void plan_batch_may_come_between(void **state)
{
    sp_planner *planner = make_planner(NULL);
    sp_schedule *schedule;

    (void)state;
    assert_int_equal(sp_planner_submit(planner, l.batch[1]), SP_OK);
    assert_int_equal(sp_plan_batch(planner, l.batch[2], &schedule), SP_OK);
    assert_true(sp_schedule_digest(schedule) == l.digest[2]);
    sp_schedule_destroy(schedule);
    collect(planner, 1);
    sp_planner_destroy(planner);
}

static void what_cannot_be_is_said(void **state)
{
    sp_planner *planner = make_planner(NULL);
    sp_schedule *untouched = (sp_schedule *)&l, *out = untouched;

    (void)state;
    EXPECT_FAIL(sp_planner_collect(planner, &out), SP_ERR_STATE,
                "planner: no batch is submitted and not collected");
    EXPECT_FAIL(sp_planner_submit(NULL, l.batch[0]), SP_ERR_INVALID, "planner is NULL");
    EXPECT_FAIL(sp_planner_submit(planner, NULL), SP_ERR_INVALID, "batch is NULL");
    EXPECT_FAIL(sp_planner_collect(planner, NULL), SP_ERR_INVALID, "out is NULL");
    EXPECT_FAIL(sp_planner_collect(NULL, &out), SP_ERR_INVALID, "planner is NULL");
    EXPECT_FAIL(sp_planner_cancel(NULL), SP_ERR_INVALID, "planner is NULL");
    assert_int_equal(sp_planner_submit(planner, l.batch[0]), SP_OK);
    assert_int_equal(sp_planner_submit(planner, l.batch[1]), SP_OK);
    EXPECT_FAIL(sp_planner_submit(planner, l.batch[2]), SP_ERR_STATE,
                "queue_depth: 2 batches are submitted and not collected, as many as it allows");
    assert_ptr_equal(out, untouched);
    collect(planner, 0); /* the queue is as it was */
    collect(planner, 1);
    assert_int_equal(sp_planner_ready(planner), 0);
    EXPECT_FAIL(sp_planner_collect(planner, &out), SP_ERR_STATE,
                "planner: no batch is submitted and not collected");
    assert_ptr_equal(out, untouched);
    sp_planner_destroy(planner);
}

/* The worker's failure is the collector's, in words, and takes its place in the order. */
static void a_batch_without_a_plan_says_why_when_it_is_collected(void **state)
{
    sp_planner *planner = make_planner(NULL);
    sp_schedule *untouched = (sp_schedule *)&l, *out = untouched;

    (void)state;
    assert_int_equal(sp_planner_set(planner, SP_PLANNER_MEMORY_BYTES, 1000), SP_OK);
    assert_int_equal(sp_planner_submit(planner, l.batch[0]), SP_OK);
    assert_int_equal(sp_planner_set(planner, SP_PLANNER_MEMORY_BYTES, 0), SP_OK);
    assert_int_equal(sp_planner_submit(planner, l.batch[1]), SP_OK);
    assert_int_equal(sp_planner_collect(planner, &out), SP_ERR_INFEASIBLE);
    assert_non_null(strstr(sp_error_message(), "memory_bytes: replica"));
    assert_ptr_equal(out, untouched);
    collect(planner, 1);
    sp_planner_destroy(planner);
}

/* Whatever was submitted, collected or is being planned: nothing is lost or leaks. */
static void cancel_and_destroy_work_in_any_state(void **state)
{
    uint64_t s = 1;

    (void)state;
    for (int round = 0; round < 200; round++) {
        sp_planner *planner = make_planner(NULL);
        int submitted = 0, collected = 0;

        assert_int_equal(sp_planner_set(planner, SP_PLANNER_QUEUE_DEPTH, 5), SP_OK);
        for (int step = (int)random_below(&s, 8); step > 0; step--) {
            int64_t what = random_below(&s, 4);

            if (what == 3) {
                assert_int_equal(sp_planner_cancel(planner), SP_OK);
                assert_int_equal(sp_planner_ready(planner), 0);
                submitted = collected = 0;
            } else if (what > 0 && submitted - collected < 5) {
                assert_int_equal(sp_planner_submit(planner, l.batch[submitted % BATCHES]), SP_OK);
                submitted++;
            } else if (submitted > collected) {
                collect(planner, collected++ % BATCHES);
            }
        }
        sp_planner_destroy(planner);
    }
}

static void every_failed_allocation_of_a_submission_leaves_the_queue(void **state)
{
    (void)state;
    for (int64_t n = 0; n < 2; n++) { /* the worker, the copy of the batch */
        failing_alloc memory;
        sp_planner *planner;

        failing_alloc_init(&memory, NEVER_FAIL);
        planner = make_planner(&memory.hooks);
        memory.fail_at = memory.asked + n;
        EXPECT_FAIL(sp_planner_submit(planner, l.batch[0]), SP_ERR_MEMORY, OUT_OF_MEMORY);
        memory.fail_at = NEVER_FAIL;
        assert_int_equal(sp_planner_submit(planner, l.batch[3]), SP_OK);
        collect(planner, 3);
        sp_planner_destroy(planner);
        assert_int_equal(memory.live, 0);
    }
}

/* What a forked process sees, as its exit status: 0 when all is as it should be. */
static int child_of_a_fork(sp_planner *planner)
{
    sp_schedule *schedule = NULL;
    int bad = 0;

    bad |= sp_planner_collect(planner, &schedule) != SP_ERR_STATE;
    bad |= strstr(sp_error_message(), "forked from") == NULL;
    bad |= sp_planner_submit(planner, l.batch[0]) != SP_ERR_STATE;
    bad |= sp_planner_cancel(planner) != SP_ERR_STATE;
    bad |= sp_planner_ready(planner) != 0;
    bad |= sp_plan_batch(planner, l.batch[4], &schedule) != SP_OK;
    bad |= schedule == NULL || sp_schedule_digest(schedule) != l.digest[4];
    sp_schedule_destroy(schedule);
    sp_planner_destroy(planner);
    return bad;
}

static void a_fork_in_the_middle_is_noticed(void **state)
{
    sp_planner *planner = make_planner(NULL);
    int status = -1;
    pid_t child;

    (void)state;
    assert_int_equal(sp_planner_submit(planner, l.batch[0]), SP_OK);
    assert_int_equal(sp_planner_submit(planner, l.batch[1]), SP_OK);
    child = fork();
    if (child == 0)
        _exit(child_of_a_fork(planner));
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    collect(planner, 0); /* the parent goes on */
    collect(planner, 1);
    sp_planner_destroy(planner);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_come_in_order_and_are_those_of_plan_batch),
        cmocka_unit_test(a_submitted_batch_may_go),
        cmocka_unit_test(parameters_are_those_of_the_submission),
        cmocka_unit_test(plan_batch_may_come_between),
        cmocka_unit_test(what_cannot_be_is_said),
        cmocka_unit_test(a_batch_without_a_plan_says_why_when_it_is_collected),
        cmocka_unit_test(cancel_and_destroy_work_in_any_state),
        cmocka_unit_test(every_failed_allocation_of_a_submission_leaves_the_queue),
        cmocka_unit_test(a_fork_in_the_middle_is_noticed),
    };

    return cmocka_run_group_tests(tests, open_loader, close_loader);
}
