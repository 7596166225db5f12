/*
 * test_planner.c - the planner's handle: parameters, contradictions, errors that leave
 * everything as it was.
 */
#include <string.h>

#include "../support/expect.h"
#include "../support/failing_alloc.h"
#include "../support/planned.h"

typedef struct inputs {
    sp_topology *topology;
    sp_model *model;
    sp_device *device;
} inputs;

static inputs open_inputs(const char *topology)
{
    inputs in;

    assert_int_equal(sp_topology_parse(topology, &in.topology), SP_OK);
    assert_int_equal(sp_model_create("llama2-7b", NULL, &in.model), SP_OK);
    assert_int_equal(sp_device_create("h100", NULL, &in.device), SP_OK);
    return in;
}

static void close_inputs(inputs *in)
{
    sp_device_destroy(in->device);
    sp_model_destroy(in->model);
    sp_topology_destroy(in->topology);
}

static sp_planner *make(const char *topology)
{
    inputs in = open_inputs(topology);
    sp_planner *planner;

    assert_int_equal(sp_planner_create(in.topology, in.model, in.device, NULL, &planner), SP_OK);
    close_inputs(&in);
    return planner;
}

/* ---- parameters */

static void every_parameter_starts_at_its_fallback_and_keeps_its_bounds(void **state)
{
    sp_planner *planner = make("dp=2");

    (void)state;
    for (int32_t i = 0;; i++) {
        sp_param_info info = SP_PARAM_INFO_INIT;
        int64_t value;
        int32_t key;

        if (sp_planner_param_info(i, &info) != SP_OK) {
            assert_int_equal(i, 23);
            break;
        }
        assert_int_equal(info.key, i + 1);
        assert_int_equal(sp_planner_param_find(info.name, &key), SP_OK);
        assert_int_equal(key, info.key);
        assert_int_equal(sp_planner_get(planner, key, &value), SP_OK);
        assert_int_equal(value, info.fallback);
        for (int high = 0; high < 2; high++) {
            int64_t bound = high ? info.maximum : info.minimum;

            assert_int_equal(sp_planner_set(planner, key, bound), SP_OK);
            assert_int_equal(sp_planner_get(planner, key, &value), SP_OK);
            assert_int_equal(value, bound);
        }
        if (info.maximum < INT64_MAX)
            assert_int_equal(sp_planner_set(planner, key, info.maximum + 1), SP_ERR_RANGE);
        assert_int_equal(sp_planner_set(planner, key, info.minimum - 1), SP_ERR_RANGE);
        assert_int_equal(sp_planner_get(planner, key, &value), SP_OK);
        assert_int_equal(value, info.maximum); /* as before the failures */
    }
    sp_planner_destroy(planner);
}

static void keys_and_names_that_are_none_are_refused(void **state)
{
    sp_planner *planner = make("dp=2");
    int64_t value = 99;
    int32_t key = 98;

    (void)state;
    assert_int_equal(sp_planner_set(planner, 0, 1), SP_ERR_NAME);
    assert_int_equal(sp_planner_set(planner, 24, 1), SP_ERR_NAME);
    assert_int_equal(sp_planner_get(planner, -1, &value), SP_ERR_NAME);
    assert_int_equal(sp_planner_param_find("max_pak_tokens", &key), SP_ERR_NAME);
    assert_non_null(strstr(sp_error_message(), "max_pack_tokens")); /* what was meant */
    assert_int_equal(sp_planner_get(planner, SP_PLANNER_POLICY, NULL), SP_ERR_INVALID);
    EXPECT_FAIL(sp_planner_set(NULL, SP_PLANNER_POLICY, 0), SP_ERR_INVALID, "planner is NULL");
    EXPECT_FAIL(sp_planner_get(NULL, SP_PLANNER_POLICY, &value), SP_ERR_INVALID,
                "planner is NULL");
    assert_int_equal(value, 99);
    assert_int_equal(key, 98);
    sp_planner_destroy(planner);
}

static void policies_are_found_by_name(void **state)
{
    static const char *const names[] = { "slimpack", "uniform-slice", "balanced-pack",
                                         "fixed-pack" };
    int32_t policy = 77;

    (void)state;
    for (int32_t i = 0; i < 4; i++) {
        assert_string_equal(sp_policy_name(i), names[i]);
        assert_int_equal(sp_policy_find(names[i], &policy), SP_OK);
        assert_int_equal(policy, i);
    }
    assert_null(sp_policy_name(-1));
    assert_null(sp_policy_name(4));
    policy = 77;
    assert_int_equal(sp_policy_find("slimpak", &policy), SP_ERR_NAME);
    assert_non_null(strstr(sp_error_message(), "slimpack"));
    EXPECT_FAIL(sp_policy_find(NULL, &policy), SP_ERR_INVALID, "name is NULL");
    EXPECT_FAIL(sp_policy_find("slimpack", NULL), SP_ERR_INVALID, "policy is NULL");
    assert_int_equal(policy, 77);
}

/* ---- creation */

static void refuse_creation(const inputs *in, sp_status status, const char *sentence)
{
    sp_planner *const untouched = (sp_planner *)(void *)&status;
    sp_planner *planner = untouched;
    failing_alloc memory;

    failing_alloc_init(&memory, NEVER_FAIL);
    EXPECT_FAIL(sp_planner_create(in->topology, in->model, in->device, &memory.hooks, &planner),
                status, sentence);
    assert_ptr_equal(planner, untouched);
    assert_int_equal(memory.live, 0);
}

static void contradictions_of_model_and_topology_are_named(void **state)
{
    static const int32_t too_few[] = { 15, 16 };
    inputs in = open_inputs("pp=33");

    (void)state;
    refuse_creation(&in, SP_ERR_INVALID,
                    "topology pp: 33 stages are more than the model's 32 layers");
    close_inputs(&in);
    in = open_inputs("tp=3");
    refuse_creation(&in, SP_ERR_INVALID, "topology tp: 3 does not divide the model's 32 heads");
    close_inputs(&in);
    in = open_inputs("pp=2");
    assert_int_equal(sp_model_set_stage_layers(in.model, too_few, 2), SP_OK);
    refuse_creation(&in, SP_ERR_INVALID,
                    "stage layers: they add up to 31, but the model has 32 layers");
    close_inputs(&in);
    in = open_inputs("pp=4");
    assert_int_equal(sp_model_set_stage_layers(in.model, too_few, 2), SP_OK);
    refuse_creation(&in, SP_ERR_INVALID,
                    "stage layers are given for 2 stages, but the topology has pp 4");
    close_inputs(&in);
}

static void a_cost_that_does_not_fit_is_an_overflow(void **state)
{
    inputs in = open_inputs("dp=1");

    (void)state;
    assert_int_equal(sp_device_set(in.device, SP_DEVICE_LINEAR_FLOPS, 1000000000), SP_OK);
    refuse_creation(&in, SP_ERR_OVERFLOW,
                    "device linear_flops: at 1000000000 a stage takes more than 2^40 ps for "
                    "each token");
    close_inputs(&in);
}

/* ---- planning: what fails leaves the output and the planner as they were */

static uint64_t digest_of(sp_planner *planner, const sp_batch *batch)
{
    sp_schedule *schedule;
    uint64_t digest;

    if (sp_plan_batch(planner, batch, &schedule) != SP_OK)
        fail_msg("%s", sp_error_message());
    digest = sp_schedule_digest(schedule);
    sp_schedule_destroy(schedule);
    return digest;
}

static sp_batch *make_batch(const int64_t *lengths, int64_t count)
{
    sp_batch *batch;

    assert_int_equal(sp_batch_create(lengths, count, NULL, &batch), SP_OK);
    return batch;
}

static void refuse_batch(sp_planner *planner, const sp_batch *batch, sp_status status,
                         const char *sentence)
{
    sp_schedule *const untouched = (sp_schedule *)(void *)&status;
    sp_schedule *schedule = untouched;

    EXPECT_FAIL(sp_plan_batch(planner, batch, &schedule), status, sentence);
    assert_ptr_equal(schedule, untouched);
}

static const int64_t usual[] = { 70000, 300, 4000, 1200, 700, 5000, 64, 2500, 31, 800 };

enum { USUAL = sizeof usual / sizeof *usual };

static void batches_that_do_not_fit_leave_the_planner_usable(void **state)
{
    static const int64_t long_one[] = { 100, INT64_C(2147483648) };
    static const int64_t heavy[] = { INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX };
    sp_batch *good = make_batch(usual, USUAL), *too_long = make_batch(long_one, 2);
    sp_batch *too_heavy = make_batch(heavy, 5);
    sp_planner *planner = make("dp=2 pp=2 tp=8");
    uint64_t digest = digest_of(planner, good);

    (void)state;
    refuse_batch(planner, too_long, SP_ERR_OVERFLOW,
                 "lengths[1]: 2147483648 tokens are above 2147483647, the most that int32 "
                 "cu_seqlens hold");
    assert_true(digest_of(planner, good) == digest);
    refuse_batch(planner, too_heavy, SP_ERR_OVERFLOW,
                 "lengths[4]: attended pairs of the batch pass 2^63");
    assert_true(digest_of(planner, good) == digest);
    sp_planner_destroy(planner);
    sp_batch_destroy(too_heavy);
    sp_batch_destroy(too_long);
    sp_batch_destroy(good);
}

static void parameters_that_contradict_each_other_leave_the_planner_usable(void **state)
{
    sp_batch *batch = make_batch(usual, USUAL);
    sp_planner *planner = make("dp=2 pp=2 tp=8");
    uint64_t digest = digest_of(planner, batch);

    (void)state;
    sp_planner_set(planner, SP_PLANNER_PACK_GROUP, 6);
    sp_planner_set(planner, SP_PLANNER_MAX_PACKS, 5);
    refuse_batch(planner, batch, SP_ERR_INVALID, "pack_group: 6 is above max_packs 5");
    sp_planner_set(planner, SP_PLANNER_MAX_PACKS, 20);
    sp_planner_set(planner, SP_PLANNER_FORWARD_PACKS, 7);
    refuse_batch(planner, batch, SP_ERR_INVALID,
                 "forward_packs: 7 is no multiple of pack_group 6");
    sp_planner_set(planner, SP_PLANNER_FORWARD_PACKS, 0);
    sp_planner_set(planner, SP_PLANNER_BACKWARD_PACKS, 24);
    refuse_batch(planner, batch, SP_ERR_INVALID,
                 "backward_packs: 24 is above the 18 that max_packs and pack_group allow");
    sp_planner_set(planner, SP_PLANNER_BACKWARD_PACKS, 0);
    sp_planner_set(planner, SP_PLANNER_PACK_GROUP, 1);
    sp_planner_set(planner, SP_PLANNER_MAX_PACKS, 256);
    assert_true(digest_of(planner, batch) == digest);
    sp_planner_destroy(planner);
    sp_batch_destroy(batch);
}

static void a_pack_limit_that_tokens_pass_is_infeasible(void **state)
{
    sp_batch *batch = make_batch(usual, USUAL);
    sp_planner *planner = make("dp=1 tp=8");

    (void)state;
    sp_planner_set(planner, SP_PLANNER_MAX_PACKS, 2);
    sp_planner_set(planner, SP_PLANNER_MAX_PACK_TOKENS, 1024);
    assert_int_equal(sp_plan_batch(planner, batch, &(sp_schedule *){ NULL }), SP_ERR_INFEASIBLE);
    assert_memory_equal(sp_error_message(), "max_packs: a replica needs ", 27);
    sp_planner_destroy(planner);
    sp_batch_destroy(batch);
}

/* Reads the number behind the last "is" of the refusal. */
static int64_t smallest_cap(const char *message)
{
    const char *at = strstr(message, "the smallest cap that would do is ");
    int64_t cap = 0;

    assert_non_null(at);
    for (at += strlen("the smallest cap that would do is "); *at >= '0' && *at <= '9'; at++)
        cap = 10 * cap + (*at - '0');
    return cap;
}

/* A byte less than the cap that the refusal names is refused, the cap itself is not. */
static void a_refusal_names_a_cap_that_would_do(void **state)
{
    sp_batch *batch = make_batch(usual, USUAL);
    sp_planner *planner = make("dp=2 pp=2 tp=8");
    sp_schedule *schedule = NULL;
    sp_stats stats = SP_STATS_INIT;
    int64_t cap;

    (void)state;
    sp_planner_set(planner, SP_PLANNER_MEMORY_BYTES, 1);
    assert_int_equal(sp_plan_batch(planner, batch, &schedule), SP_ERR_INFEASIBLE);
    assert_null(schedule);
    cap = smallest_cap(sp_error_message());
    sp_planner_set(planner, SP_PLANNER_MEMORY_BYTES, cap - 1);
    assert_int_equal(sp_plan_batch(planner, batch, &schedule), SP_ERR_INFEASIBLE);
    assert_null(schedule);
    sp_planner_set(planner, SP_PLANNER_MEMORY_BYTES, cap);
    assert_int_equal(sp_plan_batch(planner, batch, &schedule), SP_OK);
    assert_int_equal(sp_schedule_stats(schedule, &stats), SP_OK);
    assert_true(stats.peak_bytes <= cap);
    assert_int_equal(stats.memory_bytes, cap);
    sp_schedule_destroy(schedule);
    sp_planner_destroy(planner);
    sp_batch_destroy(batch);
}

/* What came before leaves no trace in a plan. */
static void a_plan_does_not_depend_on_earlier_batches(void **state)
{
    static const int64_t other[] = { 5, 5, 90000, 12, 12, 12, 4096, 1, 777, 20000, 3, 3, 3 };
    sp_batch *a = make_batch(usual, USUAL), *b = make_batch(other, 13);

    (void)state;
    for (int64_t policy = SP_POLICY_SLIMPACK; policy <= SP_POLICY_FIXED_PACK; policy++) {
        sp_planner *warm = make("dp=2 pp=2 cp=2 tp=4"), *cold = make("dp=2 pp=2 cp=2 tp=4");

        sp_planner_set(warm, SP_PLANNER_POLICY, policy);
        sp_planner_set(cold, SP_PLANNER_POLICY, policy);
        digest_of(warm, a);
        digest_of(warm, b);
        assert_true(digest_of(warm, a) == digest_of(cold, a));
        assert_true(digest_of(warm, b) == digest_of(cold, b));
        sp_planner_destroy(warm);
        sp_planner_destroy(cold);
    }
    sp_batch_destroy(a);
    sp_batch_destroy(b);
}

/* A call that is warm for the largest batch is warm for all, whatever the policy:
 * all that it takes is still there when it returns, in the schedule. */
static void warm_calls_allocate_the_schedule_alone_for_every_policy(void **state)
{
    sp_batch *large = make_batch(usual, USUAL), *small = make_batch(usual, 4);
    inputs in = open_inputs("dp=2 pp=2 cp=2 tp=4");

    (void)state;
    for (int64_t policy = SP_POLICY_SLIMPACK; policy <= SP_POLICY_FIXED_PACK; policy++) {
        failing_alloc memory;
        sp_planner *planner;

        failing_alloc_init(&memory, NEVER_FAIL);
        assert_int_equal(sp_planner_create(in.topology, in.model, in.device, &memory.hooks,
                                           &planner), SP_OK);
        sp_planner_set(planner, SP_PLANNER_POLICY, policy);
        for (int i = 0; i < 8; i++) {
            int64_t asked = memory.asked, live = memory.live;
            sp_schedule *schedule;

            assert_int_equal(sp_plan_batch(planner, i % 2 ? small : large, &schedule), SP_OK);
            if (i >= 4)
                assert_int_equal(memory.asked - asked, memory.live - live);
            sp_schedule_destroy(schedule);
            if (i >= 4)
                assert_int_equal(memory.live, live);
        }
        sp_planner_destroy(planner);
        assert_int_equal(memory.live, 0);
    }
    close_inputs(&in);
    sp_batch_destroy(small);
    sp_batch_destroy(large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_parameter_starts_at_its_fallback_and_keeps_its_bounds),
        cmocka_unit_test(keys_and_names_that_are_none_are_refused),
        cmocka_unit_test(policies_are_found_by_name),
        cmocka_unit_test(contradictions_of_model_and_topology_are_named),
        cmocka_unit_test(a_cost_that_does_not_fit_is_an_overflow),
        cmocka_unit_test(batches_that_do_not_fit_leave_the_planner_usable),
        cmocka_unit_test(parameters_that_contradict_each_other_leave_the_planner_usable),
        cmocka_unit_test(a_pack_limit_that_tokens_pass_is_infeasible),
        cmocka_unit_test(a_refusal_names_a_cap_that_would_do),
        cmocka_unit_test(a_plan_does_not_depend_on_earlier_batches),
        cmocka_unit_test(warm_calls_allocate_the_schedule_alone_for_every_policy),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
