/*
 * test_params.c - one table of parameters serves bounds, queries and names.
 */
#include "base/params.h"

#include "../support/expect.h"

/* Keys 1 and 2 stand where they say, 9 does not. */
static const sp__param rows[] = {
    { 1, "speed", "m/s", "", -5, 5, 2, "how fast" },
    { 2, "mode", "", "off,on", 0, 1, 1, "whether it moves" },
    { 9, "weight", "kg", "", 1, INT64_MAX, INT64_C(1) << 40, "how heavy" },
};

static const sp__param_table table = { "cart parameter", rows, 3 };

static void a_key_is_found_in_its_place_and_elsewhere(void **state)
{
    (void)state;
    assert_int_equal(sp__param_row(&table, 1), 0);
    assert_int_equal(sp__param_row(&table, 2), 1);
    assert_int_equal(sp__param_row(&table, 9), 2);
    assert_int_equal(sp__param_row(&table, 3), -1);
    assert_int_equal(sp__param_row(&table, 0), -1);
    assert_int_equal(sp__param_row(&table, INT32_MIN), -1);
    assert_int_equal(sp__param_row(&table, INT32_MAX), -1);
}

static void values_start_from_the_fallbacks(void **state)
{
    int64_t values[3] = { 0 };

    (void)state;
    sp__param_defaults(&table, values);
    assert_int_equal(values[0], 2);
    assert_int_equal(values[1], 1);
    assert_true(values[2] == INT64_C(1) << 40);
}

static void a_value_within_its_bounds_is_set_and_read(void **state)
{
    int64_t values[3] = { 0 }, value = 0;

    (void)state;
    assert_int_equal(sp__param_set(&table, values, 1, -5), SP_OK);
    assert_int_equal(sp__param_get(&table, values, 1, &value), SP_OK);
    assert_int_equal(value, -5);
    assert_int_equal(sp__param_set(&table, values, 1, 5), SP_OK);
    assert_int_equal(sp__param_set(&table, values, 9, INT64_MAX), SP_OK);
    assert_int_equal(values[0], 5);
    assert_true(values[2] == INT64_MAX);
}

static void a_value_outside_its_bounds_changes_nothing(void **state)
{
    int64_t values[3] = { 2, 1, 1 };

    (void)state;
    EXPECT_FAIL(sp__param_set(&table, values, 1, -6), SP_ERR_RANGE,
                "cart parameter speed: -6 is below -5");
    EXPECT_FAIL(sp__param_set(&table, values, 2, 2), SP_ERR_RANGE,
                "cart parameter mode: 2 is above 1");
    EXPECT_FAIL(sp__param_set(&table, values, 9, INT64_MIN), SP_ERR_RANGE,
                "cart parameter weight: -9223372036854775808 is below 1");
    assert_int_equal(values[0], 2);
    assert_int_equal(values[1], 1);
    assert_int_equal(values[2], 1);
}

static void a_key_without_a_row_is_refused(void **state)
{
    int64_t values[3] = { 2, 1, 1 }, value = 77;

    (void)state;
    EXPECT_FAIL(sp__param_set(&table, values, 3, 1), SP_ERR_NAME,
                "no cart parameter has key 3; keys are 1 to 9");
    EXPECT_FAIL(sp__param_get(&table, values, -1, &value), SP_ERR_NAME,
                "no cart parameter has key -1; keys are 1 to 9");
    assert_int_equal(value, 77);
}

static void a_name_gives_its_key(void **state)
{
    int32_t key = 0;

    (void)state;
    assert_int_equal(sp__param_find(&table, "weight", &key), SP_OK);
    assert_int_equal(key, 9);
    EXPECT_FAIL(sp__param_find(&table, "wieght", &key), SP_ERR_NAME,
                "unknown cart parameter 'wieght'; did you mean 'weight'?");
    assert_int_equal(key, 9);
}

static void a_row_is_described_whole(void **state)
{
    sp_param_info info = SP_PARAM_INFO_INIT;

    (void)state;
    assert_int_equal(sp__param_describe(&table, 1, &info), SP_OK);
    assert_int_equal(info.struct_size, sizeof info);
    assert_int_equal(info.key, 2);
    assert_int_equal(info.reserved, 0);
    assert_string_equal(info.name, "mode");
    assert_string_equal(info.unit, "");
    assert_string_equal(info.help, "whether it moves");
    assert_string_equal(info.values, "off,on");
    assert_int_equal(info.minimum, 0);
    assert_int_equal(info.maximum, 1);
    assert_int_equal(info.fallback, 1);
}

static void a_row_past_the_last_leaves_the_struct_alone(void **state)
{
    sp_param_info info = SP_PARAM_INFO_INIT;

    (void)state;
    info.key = 77;
    EXPECT_FAIL(sp__param_describe(&table, 3, &info), SP_ERR_RANGE,
                "index: 3 is outside 0 to 2");
    EXPECT_FAIL(sp__param_describe(&table, -1, &info), SP_ERR_RANGE,
                "index: -1 is outside 0 to 2");
    assert_int_equal(info.key, 77);
    info.struct_size = 0;
    assert_int_equal(sp__param_describe(&table, 0, &info), SP_ERR_INVALID);
}

static void null_arguments_are_named(void **state)
{
    int64_t values[3] = { 2, 1, 1 };
    int32_t key;

    (void)state;
    EXPECT_FAIL(sp__param_get(&table, values, 1, NULL), SP_ERR_INVALID, "value is NULL");
    EXPECT_FAIL(sp__param_find(&table, NULL, &key), SP_ERR_INVALID, "name is NULL");
    EXPECT_FAIL(sp__param_find(&table, "mode", NULL), SP_ERR_INVALID, "key is NULL");
    EXPECT_FAIL(sp__param_describe(&table, 0, NULL), SP_ERR_INVALID, "info is NULL");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_is_found_in_its_place_and_elsewhere),
        cmocka_unit_test(values_start_from_the_fallbacks),
        cmocka_unit_test(a_value_within_its_bounds_is_set_and_read),
        cmocka_unit_test(a_value_outside_its_bounds_changes_nothing),
        cmocka_unit_test(a_key_without_a_row_is_refused),
        cmocka_unit_test(a_name_gives_its_key),
        cmocka_unit_test(a_row_is_described_whole),
        cmocka_unit_test(a_row_past_the_last_leaves_the_struct_alone),
        cmocka_unit_test(null_arguments_are_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
