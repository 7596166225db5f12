/*
 * test_plan.c - sp_plan_batch() as a call: errors, memory, warmth.
 */
#include "../support/expect.h"
#include "../support/failing_alloc.h"

static const int64_t lengths[] = { 70000, 300, 4000, 1200, 700, 5000, 64, 2500, 31, 800 };

enum { SAMPLES = sizeof lengths / sizeof *lengths };

typedef struct handles {
    sp_topology *topology;
    sp_model *model;
    sp_device *device;
    sp_batch *batch;
} handles;

static handles open_handles(const char *topology)
{
    handles h;

    assert_int_equal(sp_topology_parse(topology, &h.topology), SP_OK);
    assert_int_equal(sp_model_create("llama2-7b", NULL, &h.model), SP_OK);
    assert_int_equal(sp_device_create("h100", NULL, &h.device), SP_OK);
    assert_int_equal(sp_batch_create(lengths, SAMPLES, NULL, &h.batch), SP_OK);
    return h;
}

static void close_handles(handles *h)
{
    sp_topology_destroy(h->topology);
    sp_model_destroy(h->model);
    sp_device_destroy(h->device);
    sp_batch_destroy(h->batch);
}

static void null_arguments_are_named(void **state)
{
    handles h = open_handles("dp=2 pp=2 tp=8");
    sp_planner *planner = NULL;
    sp_schedule *schedule = NULL;

    (void)state;
    EXPECT_FAIL(sp_planner_create(NULL, h.model, h.device, NULL, &planner), SP_ERR_INVALID,
                "topology is NULL");
    EXPECT_FAIL(sp_planner_create(h.topology, NULL, h.device, NULL, &planner), SP_ERR_INVALID,
                "model is NULL");
    EXPECT_FAIL(sp_planner_create(h.topology, h.model, NULL, NULL, &planner), SP_ERR_INVALID,
                "device is NULL");
    EXPECT_FAIL(sp_planner_create(h.topology, h.model, h.device, NULL, NULL), SP_ERR_INVALID,
                "out is NULL");
    assert_int_equal(sp_planner_create(h.topology, h.model, h.device, NULL, &planner), SP_OK);
    EXPECT_FAIL(sp_plan_batch(NULL, h.batch, &schedule), SP_ERR_INVALID, "planner is NULL");
    EXPECT_FAIL(sp_plan_batch(planner, NULL, &schedule), SP_ERR_INVALID, "batch is NULL");
    EXPECT_FAIL(sp_plan_batch(planner, h.batch, NULL), SP_ERR_INVALID, "out is NULL");
    sp_planner_destroy(planner);
    sp_planner_destroy(NULL);
    close_handles(&h);
}

/* The planner tries a lower aim on the way, which would take too many packs. */
static void a_call_that_succeeds_leaves_the_last_message(void **state)
{
    static const int64_t batch[] = { 8547, 769, 221, 59 };
    static const int64_t settings[][2] = { { SP_PLANNER_EFFORT, SP_EFFORT_FAST },
                                           { SP_PLANNER_ALIGNMENT, 12 },
                                           { SP_PLANNER_MAX_PACK_TOKENS, 382 },
                                           { SP_PLANNER_PAD_MULTIPLE, 46 },
                                           { SP_PLANNER_PACK_GROUP, 2 },
                                           { SP_PLANNER_MEMORY_BYTES, INT64_MAX } };
    handles h = open_handles("dp=4");
    sp_planner *planner;
    sp_schedule *schedule;

    (void)state;
    sp_batch_destroy(h.batch);
    assert_int_equal(sp_batch_create(batch, 4, NULL, &h.batch), SP_OK);
    assert_int_equal(sp_planner_create(h.topology, h.model, h.device, NULL, &planner), SP_OK);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        assert_int_equal(sp_planner_set(planner, (int32_t)settings[i][0], settings[i][1]), SP_OK);
    EXPECT_FAIL(sp_plan_batch(NULL, h.batch, &schedule), SP_ERR_INVALID, "planner is NULL");
    assert_int_equal(sp_plan_batch(planner, h.batch, &schedule), SP_OK);
    assert_string_equal(sp_error_message(), "planner is NULL");
    sp_schedule_destroy(schedule);
    sp_planner_destroy(planner);
    close_handles(&h);
}

static void a_planner_keeps_copies_of_its_inputs(void **state)
{
    handles h = open_handles("dp=2 pp=2 tp=8");
    sp_planner *planner;
    sp_schedule *schedule;

    (void)state;
    assert_int_equal(sp_planner_create(h.topology, h.model, h.device, NULL, &planner), SP_OK);
    sp_topology_destroy(h.topology);
    sp_model_destroy(h.model);
    sp_device_destroy(h.device);
    assert_int_equal(sp_plan_batch(planner, h.batch, &schedule), SP_OK);
    sp_batch_destroy(h.batch);
    sp_planner_destroy(planner);
    assert_int_equal(sp_schedule_check(schedule), SP_OK); /* outlives them all */
    sp_schedule_destroy(schedule);
}

static void planner_creation_survives_each_failed_allocation(void **state)
{
    handles h = open_handles("dp=2 pp=2 tp=8");
    failing_alloc memory;

    (void)state;
    for (int64_t n = 0;; n++) {
        sp_planner *planner = NULL;

        failing_alloc_init(&memory, n);
        if (sp_planner_create(h.topology, h.model, h.device, &memory.hooks, &planner) == SP_OK) {
            sp_planner_destroy(planner);
            assert_true(n > 0);
            break;
        }
        assert_string_equal(sp_error_message(), OUT_OF_MEMORY);
        assert_null(planner);
        assert_int_equal(memory.live, 0);
    }
    assert_int_equal(memory.live, 0);
    close_handles(&h);
}

/* Each allocation of planning fails in turn; the planner then plans as if nothing
 * had happened. */
static void survive_failures(const char *topology, int32_t key, int64_t value)
{
    handles h = open_handles(topology);
    uint64_t digest = 0;

    for (int64_t n = 0;; n++) {
        failing_alloc memory;
        sp_planner *planner;
        sp_schedule *schedule = NULL;
        sp_status status;
        int64_t before;

        failing_alloc_init(&memory, NEVER_FAIL);
        assert_int_equal(sp_planner_create(h.topology, h.model, h.device, &memory.hooks, &planner),
                         SP_OK);
        assert_int_equal(sp_planner_set(planner, key, value), SP_OK);
        before = memory.live;
        memory.fail_at = memory.asked + n;
        status = sp_plan_batch(planner, h.batch, &schedule);
        memory.fail_at = NEVER_FAIL;
        if (status == SP_OK) {
            assert_true(digest == 0 || digest == sp_schedule_digest(schedule));
            sp_schedule_destroy(schedule);
            sp_planner_destroy(planner);
            assert_int_equal(memory.live, 0);
            assert_true(n > 0);
            break;
        }
        assert_int_equal(status, SP_ERR_MEMORY);
        assert_null(schedule);
        assert_true(memory.live >= before); /* scratch stays with the planner */
        assert_int_equal(sp_plan_batch(planner, h.batch, &schedule), SP_OK);
        digest = digest == 0 ? sp_schedule_digest(schedule) : digest;
        assert_true(digest == sp_schedule_digest(schedule));
        sp_schedule_destroy(schedule);
        sp_planner_destroy(planner);
        assert_int_equal(memory.live, 0);
    }
    close_handles(&h);
}

static void planning_survives_each_failed_allocation(void **state)
{
    (void)state;
    for (int64_t policy = SP_POLICY_SLIMPACK; policy <= SP_POLICY_FIXED_PACK; policy++)
        survive_failures("dp=2 pp=2 cp=2 tp=8", SP_PLANNER_POLICY, policy);
    survive_failures("dp=4 pp=2 tp=8", SP_PLANNER_EFFORT, SP_EFFORT_THOROUGH);
    survive_failures("dp=4 pp=2 tp=8", SP_PLANNER_LOCKSTEP, 1);
    survive_failures("dp=4 pp=2 tp=8", SP_PLANNER_PIPELINE, SP_PIPELINE_ZERO_BUBBLE);
    survive_failures("dp=2 tp=8", SP_PLANNER_EXACT_NODES, 1000);
    survive_failures("dp=4 tp=8", SP_PLANNER_THREADS, 2);
}

/* The same of planning in chunks and of the replay, path and all. */
static void replays_survive_each_failed_allocation(void **state)
{
    handles h = open_handles("dp=4 pp=2 tp=8");
    sp_schedule *schedule = NULL;
    sp_planner *planner;
    failing_alloc memory;
    int64_t live, failures = 0;

    (void)state;
    failing_alloc_init(&memory, NEVER_FAIL);
    assert_int_equal(sp_model_set(h.model, SP_MODEL_VIRTUAL_STAGES, 2), SP_OK);
    assert_int_equal(sp_planner_create(h.topology, h.model, h.device, &memory.hooks, &planner),
                     SP_OK);
    do {
        memory.fail_at = memory.asked + failures++;
    } while (sp_plan_batch(planner, h.batch, &schedule) == SP_ERR_MEMORY);
    assert_non_null(schedule);
    assert_true(failures > 2);
    memory.fail_at = NEVER_FAIL;
    live = memory.live;
    for (int64_t n = 0;; n++) {
        sp_simulation *simulation = NULL;
        sp_status status;

        memory.fail_at = memory.asked + n;
        status = sp_simulate(schedule, h.model, h.device, &simulation);
        memory.fail_at = NEVER_FAIL;
        sp_simulation_destroy(simulation);
        assert_int_equal(memory.live, live);
        if (status == SP_OK) {
            assert_true(n > 5);
            break;
        }
        assert_int_equal(status, SP_ERR_MEMORY);
        assert_null(simulation);
    }
    sp_schedule_destroy(schedule);
    sp_planner_destroy(planner);
    assert_int_equal(memory.live, 0);
    close_handles(&h);
}

/* What a schedule itself takes: as many allocations in the tenth call as in the third. */
static void a_warm_call_allocates_the_schedule_alone(void **state)
{
    handles h = open_handles("dp=2 pp=2 tp=8");
    int64_t asked[10], live[10];
    failing_alloc memory;
    sp_planner *planner;

    (void)state;
    failing_alloc_init(&memory, NEVER_FAIL);
    assert_int_equal(sp_planner_create(h.topology, h.model, h.device, &memory.hooks, &planner),
                     SP_OK);
    for (int i = 0; i < 10; i++) {
        int64_t before = memory.asked, held = memory.live;
        sp_schedule *schedule;

        assert_int_equal(sp_plan_batch(planner, h.batch, &schedule), SP_OK);
        asked[i] = memory.asked - before;
        live[i] = memory.live - held;
        sp_schedule_destroy(schedule);
    }
    for (int i = 3; i < 10; i++) {
        assert_int_equal(asked[i], asked[2]);
        assert_int_equal(asked[i], live[i]); /* nothing taken and given back within the call */
    }
    sp_planner_destroy(planner);
    assert_int_equal(memory.live, 0);
    close_handles(&h);
}

/* The loop of a framework that gives each schedule back: batches of two sizes, and in
 * the end not one allocation. */
static void a_loop_that_recycles_allocates_nothing(void **state)
{
    handles h = open_handles("dp=2 pp=2 tp=8");
    const int64_t few[] = { 700, 300, 20, 4000, 1 };
    uint64_t digest[2] = { 0, 0 };
    failing_alloc memory;
    sp_planner *planner;
    sp_batch *other;

    (void)state;
    failing_alloc_init(&memory, NEVER_FAIL);
    assert_int_equal(sp_batch_create(few, 5, NULL, &other), SP_OK);
    assert_int_equal(sp_planner_create(h.topology, h.model, h.device, &memory.hooks, &planner),
                     SP_OK);
    for (int i = 0; i < 12; i++) {
        int64_t before = memory.asked;
        sp_schedule *schedule;

        assert_int_equal(sp_plan_batch(planner, i % 2 == 0 ? h.batch : other, &schedule), SP_OK);
        if (i < 2)
            digest[i] = sp_schedule_digest(schedule);
        assert_true(sp_schedule_digest(schedule) == digest[i % 2]);
        if (i >= 6)
            assert_int_equal(memory.asked, before);
        assert_int_equal(sp_schedule_check(schedule), SP_OK);
        sp_planner_recycle(planner, schedule);
    }
    sp_batch_destroy(other);
    sp_planner_destroy(planner);
    assert_int_equal(memory.live, 0);
    close_handles(&h);
}

/* More than it keeps, those of other hooks, and none at all. */
static void any_schedule_may_be_given_back(void **state)
{
    handles h = open_handles("dp=2 pp=2 tp=8");
    failing_alloc memory;
    sp_planner *planner, *other;
    sp_schedule *schedule[8];

    (void)state;
    failing_alloc_init(&memory, NEVER_FAIL);
    assert_int_equal(sp_planner_create(h.topology, h.model, h.device, &memory.hooks, &planner),
                     SP_OK);
    assert_int_equal(sp_planner_create(h.topology, h.model, h.device, NULL, &other), SP_OK);
    for (int i = 0; i < 8; i++)
        assert_int_equal(sp_plan_batch(i < 6 ? planner : other, h.batch, &schedule[i]), SP_OK);
    for (int i = 0; i < 7; i++)
        sp_planner_recycle(planner, schedule[i]);
    sp_planner_recycle(NULL, schedule[7]);
    sp_planner_recycle(planner, NULL);
    sp_planner_destroy(planner);
    assert_int_equal(memory.live, 0);
    sp_planner_destroy(other);
    close_handles(&h);
}

static void checking_and_simulating_survive_each_failed_allocation(void **state)
{
    handles h = open_handles("dp=2 pp=2 cp=2 tp=8");
    failing_alloc memory;
    sp_planner *planner;
    sp_schedule *schedule;

    (void)state;
    failing_alloc_init(&memory, NEVER_FAIL);
    assert_int_equal(sp_planner_create(h.topology, h.model, h.device, &memory.hooks, &planner),
                     SP_OK);
    assert_int_equal(sp_plan_batch(planner, h.batch, &schedule), SP_OK);
    for (int64_t n = 0, held = memory.live, done = 0; !done; n++) {
        memory.fail_at = memory.asked + n;
        done = sp_schedule_check(schedule) == SP_OK;
        assert_int_equal(memory.live, held);
    }
    for (int64_t n = 0, held = memory.live, done = 0; !done; n++) {
        sp_simulation *simulation = NULL;

        memory.fail_at = memory.asked + n;
        done = sp_simulate(schedule, h.model, h.device, &simulation) == SP_OK;
        assert_true(done == (simulation != NULL));
        sp_simulation_destroy(simulation);
        assert_int_equal(memory.live, held);
    }
    sp_schedule_destroy(schedule);
    sp_planner_destroy(planner);
    assert_int_equal(memory.live, 0);
    close_handles(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(null_arguments_are_named),
        cmocka_unit_test(a_call_that_succeeds_leaves_the_last_message),
        cmocka_unit_test(a_planner_keeps_copies_of_its_inputs),
        cmocka_unit_test(planner_creation_survives_each_failed_allocation),
        cmocka_unit_test(planning_survives_each_failed_allocation),
        cmocka_unit_test(replays_survive_each_failed_allocation),
        cmocka_unit_test(a_warm_call_allocates_the_schedule_alone),
        cmocka_unit_test(a_loop_that_recycles_allocates_nothing),
        cmocka_unit_test(any_schedule_may_be_given_back),
        cmocka_unit_test(checking_and_simulating_survive_each_failed_allocation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
