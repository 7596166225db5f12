/*
 * test_calibrate.c - a device is found again from the steps that it makes.
 */
#include <math.h>

#include "../support/expect.h"
#include "../support/failing_alloc.h"
#include "../support/planned.h"

#define STEPS 4

/* Steps of different make: short and long samples, one stage and four. */
static const plan_input inputs[STEPS] = {
    { .topology = "dp=2 pp=2 cp=1 tp=2", .device = "h100", LENGTHS(300, 4000, 1200, 700, 5000) },
    { .topology = "dp=1 tp=8 cp=2 pp=1", .device = "h100", LENGTHS(60000, 50) },
    { .topology = "dp=4 tp=4 pp=1", .device = "h100", LENGTHS(64, 64, 64, 64, 31, 800) },
    { .topology = "dp=1 tp=4 pp=4", .device = "h100", LENGTHS(8000, 8000, 8000, 8000, 100, 20000) },
};

typedef struct measured {
    planned plan[STEPS];
    sp_model *model;
    const sp_schedule *schedules[STEPS];
    const sp_model *models[STEPS];
    double seconds[STEPS];
} measured;

static measured m;
static const int32_t keys[3] = { SP_DEVICE_LINEAR_FLOPS, SP_DEVICE_ATTENTION_BACKWARD_FLOPS,
                                 SP_DEVICE_PACK_OVERHEAD_PS };

static sp_device *device_of(int64_t linear, int64_t attention, int64_t overhead)
{
    sp_device *d;

    assert_int_equal(sp_device_create("h100", NULL, &d), SP_OK);
    assert_int_equal(sp_device_set(d, keys[0], linear), SP_OK);
    assert_int_equal(sp_device_set(d, keys[1], attention), SP_OK);
    assert_int_equal(sp_device_set(d, keys[2], overhead), SP_OK);
    return d;
}

static double step_on(const sp_device *d, int32_t i)
{
    sp_stats stats = SP_STATS_INIT;
    sp_simulation *s;

    assert_int_equal(sp_simulate(m.schedules[i], m.models[i], d, &s), SP_OK);
    assert_int_equal(sp_simulation_stats(s, &stats), SP_OK);
    sp_simulation_destroy(s);
    return (double)stats.step_ps / 1e12;
}

static int open_steps(void **state)
{
    sp_device *d;

    (void)state;
    if (sp_model_create("llama2-7b", NULL, &m.model) != SP_OK)
        return -1;
    for (int32_t i = 0; i < STEPS; i++) {
        m.plan[i] = plan_it(&inputs[i]);
        m.schedules[i] = m.plan[i].schedule;
        m.models[i] = m.model;
    }
    d = device_of(INT64_C(517000000000000), INT64_C(233000000000000), 61000000);
    for (int32_t i = 0; i < STEPS; i++)
        m.seconds[i] = step_on(d, i);
    sp_device_destroy(d);
    return 0;
}

static int close_steps(void **state)
{
    (void)state;
    for (int32_t i = 0; i < STEPS; i++)
        planned_free(&m.plan[i]);
    sp_model_destroy(m.model);
    return 0;
}

static double relative(const sp_device *d, int32_t key, double expected)
{
    int64_t value;

    assert_int_equal(sp_device_get(d, key, &value), SP_OK);
    return fabs((double)value / expected - 1);
}

static void a_device_is_found_again(void **state)
{
    sp_device *d = device_of(INT64_C(900000000000000), INT64_C(500000000000000), 20000000);
    sp_fit fit = SP_FIT_INIT;
    double error[STEPS];

    (void)state;
    assert_int_equal(sp_device_calibrate(d, STEPS, m.schedules, m.models, m.seconds, 3, keys,
                                         error, &fit), SP_OK);
    assert_true(relative(d, keys[0], 517e12) < 1e-3);
    assert_true(relative(d, keys[1], 233e12) < 1e-3);
    assert_true(relative(d, keys[2], 61e6) < 1e-3);
    assert_int_equal(fit.used, STEPS);
    assert_int_equal(fit.outliers, 0);
    assert_in_range(fit.largest_error_ppm, 0, 1000);
    for (int32_t i = 0; i < STEPS; i++)
        assert_true(fabs(error[i] - (step_on(d, i) / m.seconds[i] - 1)) < 1e-12);
    sp_device_destroy(d);
}

/* Half as long again everywhere is close to slower rates and a larger overhead; links
 * and floors stay as they are, and with them most of step 2. */
static void a_slower_machine_is_found_slower(void **state)
{
    sp_device *d = device_of(INT64_C(517000000000000), INT64_C(233000000000000), 61000000);
    double slower[STEPS];

    (void)state;
    for (int32_t i = 0; i < STEPS; i++)
        slower[i] = 1.5 * m.seconds[i];
    assert_int_equal(sp_device_calibrate(d, STEPS, m.schedules, m.models, slower, 3, keys, NULL,
                                         NULL), SP_OK);
    for (int32_t i = 0; i < STEPS; i++)
        assert_true(fabs(step_on(d, i) / slower[i] - 1) < (i == 2 ? 0.34 : 0.02));
    assert_true(relative(d, keys[0], 517e12 / 1.5) < 0.3);
    sp_device_destroy(d);
}

/* A percentage moves in whole steps, and no further than its bounds. */
static void a_share_is_found_within_its_bounds(void **state)
{
    const int32_t key[1] = { SP_DEVICE_TP_EXPOSED_PERCENT };
    sp_device *d = device_of(INT64_C(517000000000000), INT64_C(233000000000000), 61000000);
    double slow[1] = { 100 * m.seconds[0] };
    int64_t value;

    (void)state;
    assert_int_equal(sp_device_calibrate(d, 1, m.schedules, m.models, slow, 1, key, NULL, NULL),
                     SP_OK);
    assert_int_equal(sp_device_get(d, key[0], &value), SP_OK);
    assert_int_equal(value, 100);
    sp_device_destroy(d);
}

static void bad_input_is_named(void **state)
{
    sp_device *d = device_of(INT64_C(900000000000000), INT64_C(500000000000000), 20000000);
    const sp_schedule *missing[1] = { NULL };
    const int32_t twice[2] = { 1, 1 }, none[1] = { 99 }, no_amount[1] = { SP_DEVICE_P2P_OVERLAP };
    double bad[1] = { NAN };

    (void)state;
    EXPECT_FAIL(sp_device_calibrate(NULL, 1, m.schedules, m.models, m.seconds, 1, keys, NULL, NULL),
                SP_ERR_INVALID, "device is NULL");
    EXPECT_FAIL(sp_device_calibrate(d, 1, m.schedules, m.models, NULL, 1, keys, NULL, NULL),
                SP_ERR_INVALID, "measured_s is NULL");
    EXPECT_FAIL(sp_device_calibrate(d, 1, m.schedules, m.models, bad, 1, keys, NULL, NULL),
                SP_ERR_INVALID, "measured_s[0]: nan is no finite number");
    bad[0] = -1;
    EXPECT_FAIL(sp_device_calibrate(d, 1, m.schedules, m.models, bad, 1, keys, NULL, NULL),
                SP_ERR_RANGE, "measured_s[0]: -1 is not above 0");
    bad[0] = 1e-300; /* of which any simulated time is an infinite multiple */
    EXPECT_FAIL(sp_device_calibrate(d, 1, m.schedules, m.models, bad, 1, keys, NULL, NULL),
                SP_ERR_RANGE, "measured_s[0]: 1e-300 is below 1e-18");
    EXPECT_FAIL(sp_device_calibrate(d, 2, m.schedules, m.models, m.seconds, 3, keys, NULL, NULL),
                SP_ERR_INVALID, "count: 2 measured steps are fewer than 3 keys");
    EXPECT_FAIL(sp_device_calibrate(d, 1, missing, m.models, m.seconds, 1, keys, NULL, NULL),
                SP_ERR_INVALID, "schedules[0]: NULL");
    EXPECT_FAIL(sp_device_calibrate(d, 2, m.schedules, m.models, m.seconds, 2, twice, NULL, NULL),
                SP_ERR_INVALID, "keys[1]: linear_flops stands there twice");
    EXPECT_FAIL(sp_device_calibrate(d, 1, m.schedules, m.models, m.seconds, 1, none, NULL, NULL),
                SP_ERR_NAME, "keys[0]: no device parameter has key 99; keys are 1 to 21");
    EXPECT_FAIL(sp_device_calibrate(d, 1, m.schedules, m.models, m.seconds, 1, no_amount, NULL,
                                    NULL), SP_ERR_INVALID,
                "keys[0]: p2p_overlap of 1 is no amount that can be scaled");
    EXPECT_FAIL(sp_device_calibrate(d, 1, m.schedules, m.models, m.seconds, 0, keys, NULL, NULL),
                SP_ERR_RANGE, "key_count: 0 is outside 1 to 21");
    assert_true(relative(d, keys[0], 900e12) == 0);
    sp_device_destroy(d);
}

static void every_failed_allocation_leaves_the_device_as_it_is(void **state)
{
    (void)state;
    for (int64_t n = 0; n < 3; n++) {
        failing_alloc memory;
        sp_device *d;
        int64_t value;

        failing_alloc_init(&memory, n + 1);
        assert_int_equal(sp_device_create("h100", &memory.hooks, &d), SP_OK);
        EXPECT_FAIL(sp_device_calibrate(d, STEPS, m.schedules, m.models, m.seconds, 3, keys, NULL,
                                        NULL), SP_ERR_MEMORY, OUT_OF_MEMORY);
        assert_int_equal(sp_device_get(d, keys[0], &value), SP_OK);
        assert_int_equal(value, INT64_C(650000000000000));
        sp_device_destroy(d);
        assert_int_equal(memory.live, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_device_is_found_again),
        cmocka_unit_test(a_slower_machine_is_found_slower),
        cmocka_unit_test(a_share_is_found_within_its_bounds),
        cmocka_unit_test(bad_input_is_named),
        cmocka_unit_test(every_failed_allocation_leaves_the_device_as_it_is),
    };

    return cmocka_run_group_tests(tests, open_steps, close_steps);
}
