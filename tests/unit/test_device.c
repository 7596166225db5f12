/*
 * test_device.c - what an accelerator achieves: presets and parameters.
 */
#include "input/device.h"

#include <string.h>

#include "../support/expect.h"
#include "../support/failing_alloc.h"

static sp_device *const untouched = (sp_device *)(void *)&untouched;

static int make(void **state)
{
    sp_device *device;

    if (sp_device_create("h100", NULL, &device) != SP_OK)
        return -1;
    *state = device;
    return 0;
}

static int drop(void **state)
{
    sp_device_destroy(*state);
    return 0;
}

static int64_t value_of(const sp_device *device, int32_t key)
{
    int64_t value = -1;

    assert_int_equal(sp_device_get(device, key, &value), SP_OK);
    return value;
}

static void every_preset_can_be_made_within_the_bounds(void **state)
{
    int32_t count = 0;

    (void)state;
    for (const char *name; (name = sp_device_preset_name(count)) != NULL; count++) {
        sp_device *device;

        assert_int_equal(sp_device_create(name, NULL, &device), SP_OK);
        assert_string_equal(device->preset, name);
        for (int32_t key = 1; key <= SP__DEVICE_PARAMS; key++)
            assert_int_equal(sp_device_set(device, key, value_of(device, key)), SP_OK);
        assert_true(value_of(device, SP_DEVICE_INTRA_BANDWIDTH) >=
                    value_of(device, SP_DEVICE_INTER_BANDWIDTH));
        sp_device_destroy(device);
    }
    assert_int_equal(count, 6);
    assert_null(sp_device_preset_name(-1));
    assert_null(sp_device_preset_name(INT32_MAX));
}

static void ideal_has_no_overhead_and_no_limit(void **state)
{
    static const int none[] = { SP_DEVICE_HALF_RATE_TOKENS, SP_DEVICE_LAYER_FLOOR_PS,
                                SP_DEVICE_PACK_OVERHEAD_PS, SP_DEVICE_INTRA_LATENCY_PS,
                                SP_DEVICE_INTER_LATENCY_PS };
    static const int unlimited[] = { SP_DEVICE_MEMORY_BYTES, SP_DEVICE_INTRA_BANDWIDTH,
                                     SP_DEVICE_INTER_BANDWIDTH };
    sp_device *device;

    (void)state;
    assert_int_equal(sp_device_create("ideal", NULL, &device), SP_OK);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_int_equal(value_of(device, none[i]), 0);
    for (size_t i = 0; i < sizeof unlimited / sizeof *unlimited; i++)
        assert_true(value_of(device, unlimited[i]) == INT64_MAX);
    sp_device_destroy(device);
}

/* The table's fallbacks are documented as the preset h100's. */
static void the_fallbacks_are_those_of_h100(void **state)
{
    sp_param_info info = SP_PARAM_INFO_INIT;

    for (int32_t i = 0; i < SP__DEVICE_PARAMS; i++) {
        assert_int_equal(sp_device_param_info(i, &info), SP_OK);
        assert_true(value_of(*state, info.key) == info.fallback);
    }
}

static void an_unknown_preset_is_answered_with_the_nearest(void **state)
{
    sp_device *device = untouched;

    (void)state;
    EXPECT_FAIL(sp_device_create("a100-80gb", NULL, &device), SP_ERR_NAME,
                "unknown device preset 'a100-80gb'; did you mean 'a100-80g'?");
    assert_ptr_equal(device, untouched);
}

static void a_value_is_set_within_its_bounds(void **state)
{
    EXPECT_FAIL(sp_device_set(*state, SP_DEVICE_LINEAR_FLOPS, 999999), SP_ERR_RANGE,
                "device parameter linear_flops: 999999 is below 1000000");
    EXPECT_FAIL(sp_device_set(*state, SP_DEVICE_INTER_BANDWIDTH, 0), SP_ERR_RANGE,
                "device parameter inter_bandwidth: 0 is below 1");
    EXPECT_FAIL(sp_device_set(*state, SP_DEVICE_LAYER_FLOOR_PS, INT64_C(1000000000001)),
                SP_ERR_RANGE,
                "device parameter layer_floor_ps: 1000000000001 is above 1000000000000");
    EXPECT_FAIL(sp_device_set(*state, 0, 1), SP_ERR_NAME,
                "no device parameter has key 0; keys are 1 to 21");
    assert_int_equal(value_of(*state, SP_DEVICE_LAYER_FLOOR_PS), 40000000);
    assert_int_equal(sp_device_set(*state, SP_DEVICE_MEMORY_BYTES, INT64_MAX), SP_OK);
    assert_true(value_of(*state, SP_DEVICE_MEMORY_BYTES) == INT64_MAX);
}

static void every_row_of_the_table_is_sound(void **state)
{
    sp_param_info info = SP_PARAM_INFO_INIT;

    (void)state;
    for (int32_t i = 0; i < SP__DEVICE_PARAMS; i++) {
        int32_t key;

        assert_int_equal(sp_device_param_info(i, &info), SP_OK);
        assert_int_equal(info.key, i + 1);
        assert_int_equal(sp_device_param_find(info.name, &key), SP_OK);
        assert_int_equal(key, info.key);
        assert_true(info.minimum <= info.fallback && info.fallback <= info.maximum);
        assert_true(strlen(info.help) > 0);
        assert_string_equal(info.values, info.maximum == 1 ? "no,yes" : "");
    }
    assert_int_equal(sp_device_param_info(SP__DEVICE_PARAMS, &info), SP_ERR_RANGE);
    assert_int_equal(sp_device_param_info(-1, &info), SP_ERR_RANGE);
}

static void a_parameter_is_found_by_its_name(void **state)
{
    int32_t key = 77;

    (void)state;
    assert_int_equal(sp_device_param_find("memory_bytes", &key), SP_OK);
    assert_int_equal(key, SP_DEVICE_MEMORY_BYTES);
    EXPECT_FAIL(sp_device_param_find("memory", &key), SP_ERR_NAME,
                "unknown device parameter 'memory'; did you mean 'memory_bytes'?");
    assert_int_equal(key, SP_DEVICE_MEMORY_BYTES);
}

static void null_arguments_are_named(void **state)
{
    sp_device *device = untouched;
    int64_t value;

    EXPECT_FAIL(sp_device_create(NULL, NULL, &device), SP_ERR_INVALID, "preset is NULL");
    EXPECT_FAIL(sp_device_create("h100", NULL, NULL), SP_ERR_INVALID, "out is NULL");
    EXPECT_FAIL(sp_device_set(NULL, SP_DEVICE_MEMORY_BYTES, 1), SP_ERR_INVALID, "device is NULL");
    EXPECT_FAIL(sp_device_get(NULL, SP_DEVICE_MEMORY_BYTES, &value), SP_ERR_INVALID,
                "device is NULL");
    EXPECT_FAIL(sp_device_get(*state, SP_DEVICE_MEMORY_BYTES, NULL), SP_ERR_INVALID,
                "value is NULL");
    EXPECT_FAIL(sp_device_param_info(0, NULL), SP_ERR_INVALID, "info is NULL");
    EXPECT_FAIL(sp_device_param_find(NULL, NULL), SP_ERR_INVALID, "name is NULL");
    assert_ptr_equal(device, untouched);
    sp_device_destroy(NULL);
}

static void an_allocation_that_fails_leaves_nothing(void **state)
{
    sp_device *device = untouched;
    failing_alloc memory;

    (void)state;
    failing_alloc_init(&memory, 0);
    EXPECT_FAIL(sp_device_create("h100", &memory.hooks, &device), SP_ERR_MEMORY, OUT_OF_MEMORY);
    assert_ptr_equal(device, untouched);
    failing_alloc_init(&memory, NEVER_FAIL);
    assert_int_equal(sp_device_create("h100", &memory.hooks, &device), SP_OK);
    assert_int_equal(memory.live, 1);
    sp_device_destroy(device);
    assert_int_equal(memory.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_preset_can_be_made_within_the_bounds),
        cmocka_unit_test(ideal_has_no_overhead_and_no_limit),
        cmocka_unit_test_setup_teardown(the_fallbacks_are_those_of_h100, make, drop),
        cmocka_unit_test(an_unknown_preset_is_answered_with_the_nearest),
        cmocka_unit_test_setup_teardown(a_value_is_set_within_its_bounds, make, drop),
        cmocka_unit_test(every_row_of_the_table_is_sound),
        cmocka_unit_test(a_parameter_is_found_by_its_name),
        cmocka_unit_test_setup_teardown(null_arguments_are_named, make, drop),
        cmocka_unit_test(an_allocation_that_fails_leaves_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
