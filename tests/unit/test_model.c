/*
 * test_model.c - the shape of a transformer: presets, parameters, stage layers.
 */
#include "input/model.h"

#include <string.h>

#include "../support/expect.h"
#include "../support/failing_alloc.h"
#include "base/arith.h"

static sp_model *const untouched = (sp_model *)(void *)&untouched;

static int make(void **state)
{
    sp_model *model;

    if (sp_model_create("llama2-7b", NULL, &model) != SP_OK)
        return -1;
    *state = model;
    return 0;
}

static int drop(void **state)
{
    sp_model_destroy(*state);
    return 0;
}

static int64_t value_of(const sp_model *model, int32_t key)
{
    int64_t value = -1;

    assert_int_equal(sp_model_get(model, key, &value), SP_OK);
    return value;
}

/* Parameters in millions, from the shape: a slip of one digit in a row shows. */
static int64_t millions(const sp_model *m)
{
    int64_t hidden = value_of(m, SP_MODEL_HIDDEN), dim = value_of(m, SP_MODEL_HEAD_DIM);
    int64_t heads = 2 * value_of(m, SP_MODEL_HEADS) + 2 * value_of(m, SP_MODEL_KV_HEADS);
    int64_t matrices = value_of(m, SP_MODEL_GATED) ? 3 : 2;
    int64_t mlp = hidden * value_of(m, SP_MODEL_FFN_HIDDEN) * matrices;
    int64_t layer = hidden * dim * heads + mlp * value_of(m, SP_MODEL_EXPERTS);
    int64_t embeddings = value_of(m, SP_MODEL_TIED_EMBEDDINGS) ? 1 : 2;

    return (layer * value_of(m, SP_MODEL_LAYERS) +
            embeddings * hidden * value_of(m, SP_MODEL_VOCAB)) / 1000000;
}

static void presets_have_as_many_parameters_as_published(void **state)
{
    static const struct {
        const char *name;
        int64_t millions; /* as the models' cards and reports give them, to three digits */
    } published[] = {
        { "gpt3-175b", 175000 },    { "llama2-7b", 6740 },      { "llama2-13b", 13000 },
        { "llama2-70b", 69000 },    { "llama3-8b", 8030 },      { "llama3-70b", 70600 },
        { "llama3-405b", 406000 },  { "nemotron-340b", 341000 }, { "mistral-7b", 7240 },
        { "mixtral-8x7b", 46700 },  { "qwen2.5-7b", 7610 },     { "qwen2.5-72b", 72700 },
        { "qwen3-30b-a3b", 30500 }, { "qwen3-235b-a22b", 235000 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        int64_t counted;
        sp_model *model;

        assert_int_equal(sp_model_create(published[i].name, NULL, &model), SP_OK);
        counted = millions(model);
        sp_model_destroy(model);
        /* Rounding, norms, biases and routers: within half a percent. */
        assert_in_range(counted * 1000 / published[i].millions, 995, 1005);
    }
}

static void every_preset_can_be_made_and_is_consistent(void **state)
{
    int32_t count = 0;

    (void)state;
    for (const char *name; (name = sp_model_preset_name(count)) != NULL; count++) {
        sp_model *model;

        assert_int_equal(sp_model_create(name, NULL, &model), SP_OK);
        assert_string_equal(model->preset, name);
        assert_int_equal(value_of(model, SP_MODEL_HEADS) % value_of(model, SP_MODEL_KV_HEADS), 0);
        assert_true(value_of(model, SP_MODEL_EXPERTS_PER_TOKEN) <=
                    value_of(model, SP_MODEL_EXPERTS));
        for (int32_t key = 1; key <= SP__MODEL_PARAMS; key++)
            assert_int_equal(sp_model_set(model, key, value_of(model, key)), SP_OK);
        sp_model_destroy(model);
    }
    assert_int_equal(count, 16);
    assert_null(sp_model_preset_name(-1));
    assert_null(sp_model_preset_name(INT32_MAX));
}

static void a_preset_sets_the_shape_and_keeps_the_other_fallbacks(void **state)
{
    static const int64_t expected[SP__MODEL_PARAMS] = { 48, 2048, 32,  4, 128, 768, 1, 151936,
                                                        0,  128,  8,   2, 1,   0,   0, 1,
                                                        1 };
    sp_model *model;

    (void)state;
    assert_int_equal(sp_model_create("qwen3-30b-a3b", NULL, &model), SP_OK);
    for (int32_t key = 1; key <= SP__MODEL_PARAMS; key++)
        assert_int_equal(value_of(model, key), expected[key - 1]);
    sp_model_destroy(model);
}

static void an_unknown_preset_is_answered_with_the_nearest(void **state)
{
    sp_model *model = untouched;

    (void)state;
    EXPECT_FAIL(sp_model_create("llama-2-7b", NULL, &model), SP_ERR_NAME,
                "unknown model preset 'llama-2-7b'; did you mean 'llama2-7b'?");
    assert_ptr_equal(model, untouched);
}

static void a_value_is_set_within_its_bounds_alone(void **state)
{
    EXPECT_FAIL(sp_model_set(*state, SP_MODEL_LAYERS, 0), SP_ERR_RANGE,
                "model parameter layers: 0 is below 1");
    EXPECT_FAIL(sp_model_set(*state, SP_MODEL_RECOMPUTE, 3), SP_ERR_RANGE,
                "model parameter recompute: 3 is above 2");
    EXPECT_FAIL(sp_model_set(*state, 26, 1), SP_ERR_NAME,
                "no model parameter has key 26; keys are 1 to 25");
    EXPECT_FAIL(sp_model_set(*state, SP_MODEL_VIRTUAL_STAGES, 65), SP_ERR_RANGE,
                "model parameter virtual_stages: 65 is above 64");
    assert_int_equal(value_of(*state, SP_MODEL_LAYERS), 32);
    assert_int_equal(sp_model_set(*state, SP_MODEL_LAYERS, 100000), SP_OK);
    assert_int_equal(value_of(*state, SP_MODEL_LAYERS), 100000);
}

/* heads 32 and kv_heads 5 contradict each other until heads is set too. */
static void values_that_do_not_suit_each_other_may_be_set_in_turn(void **state)
{
    assert_int_equal(sp_model_set(*state, SP_MODEL_KV_HEADS, 5), SP_OK);
    assert_int_equal(sp_model_set(*state, SP_MODEL_HEADS, 40), SP_OK);
    assert_int_equal(sp_model_set(*state, SP_MODEL_EXPERTS_PER_TOKEN, 8), SP_OK);
    assert_int_equal(sp_model_set(*state, SP_MODEL_EXPERTS, 64), SP_OK);
}

static int32_t commas(const char *text)
{
    int32_t count = 0;

    for (; *text != '\0'; text++)
        count += *text == ',';
    return count;
}

static void every_row_of_the_table_is_sound(void **state)
{
    sp_param_info info = SP_PARAM_INFO_INIT;

    (void)state;
    for (int32_t i = 0; i < SP__MODEL_PARAMS; i++) {
        int32_t key;

        assert_int_equal(sp_model_param_info(i, &info), SP_OK);
        assert_int_equal(info.key, i + 1);
        assert_int_equal(sp_model_param_find(info.name, &key), SP_OK);
        assert_int_equal(key, info.key);
        assert_true(info.minimum <= info.fallback && info.fallback <= info.maximum);
        assert_true(strlen(info.help) > 0);
        if (info.values[0] != '\0')
            assert_int_equal(commas(info.values), info.maximum - info.minimum);
    }
    assert_int_equal(sp_model_param_info(SP__MODEL_PARAMS, &info), SP_ERR_RANGE);
    assert_int_equal(sp_model_param_info(-1, &info), SP_ERR_RANGE);
}

static void a_parameter_is_found_by_its_name(void **state)
{
    int32_t key = 77;

    (void)state;
    assert_int_equal(sp_model_param_find("kv_heads", &key), SP_OK);
    assert_int_equal(key, SP_MODEL_KV_HEADS);
    EXPECT_FAIL(sp_model_param_find("hiden", &key), SP_ERR_NAME,
                "unknown model parameter 'hiden'; did you mean 'hidden'?");
    assert_int_equal(key, SP_MODEL_KV_HEADS);
}

static void stage_layers_are_copied_and_given_back(void **state)
{
    int32_t layers[] = { 10, 12, 10 };
    sp_model *model = *state;

    assert_int_equal(sp_model_set_stage_layers(model, layers, 3), SP_OK);
    layers[0] = 99;
    assert_int_equal(model->stages, 3);
    assert_int_equal(model->stage_layers[0], 10);
    assert_int_equal(model->stage_layers[2], 10);
    assert_int_equal(sp_model_set_stage_layers(model, layers, 1), SP_OK);
    assert_int_equal(model->stages, 1);
    assert_int_equal(model->stage_layers[0], 99);
    assert_int_equal(sp_model_set_stage_layers(model, NULL, 0), SP_OK);
    assert_int_equal(model->stages, 0);
    assert_null(model->stage_layers);
}

static void bad_stage_layers_leave_the_spread_as_it_is(void **state)
{
    const int32_t good[] = { 16, 16 }, bad[] = { 16, 16, 0 };
    sp_model *model = *state;

    assert_int_equal(sp_model_set_stage_layers(model, good, 2), SP_OK);
    EXPECT_FAIL(sp_model_set_stage_layers(model, bad, 3), SP_ERR_RANGE,
                "layers of stage 2: 0 is below 1");
    EXPECT_FAIL(sp_model_set_stage_layers(model, good, -1), SP_ERR_RANGE, "stages: -1 is below 0");
    EXPECT_FAIL(sp_model_set_stage_layers(model, NULL, 2), SP_ERR_INVALID, "layers is NULL");
    EXPECT_FAIL(sp_model_set_stage_layers(model, good, 0), SP_ERR_INVALID,
                "stages: 0, the even spread, takes no layers");
    assert_int_equal(model->stages, 2);
    assert_int_equal(model->stage_layers[1], 16);
}

static void null_arguments_are_named(void **state)
{
    int64_t value;
    sp_model *model = untouched;
    const int32_t layers[] = { 1 };

    EXPECT_FAIL(sp_model_create(NULL, NULL, &model), SP_ERR_INVALID, "preset is NULL");
    EXPECT_FAIL(sp_model_create("llama2-7b", NULL, NULL), SP_ERR_INVALID, "out is NULL");
    EXPECT_FAIL(sp_model_set(NULL, SP_MODEL_LAYERS, 1), SP_ERR_INVALID, "model is NULL");
    EXPECT_FAIL(sp_model_get(NULL, SP_MODEL_LAYERS, &value), SP_ERR_INVALID, "model is NULL");
    EXPECT_FAIL(sp_model_get(*state, SP_MODEL_LAYERS, NULL), SP_ERR_INVALID, "value is NULL");
    EXPECT_FAIL(sp_model_set_stage_layers(NULL, layers, 1), SP_ERR_INVALID, "model is NULL");
    EXPECT_FAIL(sp_model_param_info(0, NULL), SP_ERR_INVALID, "info is NULL");
    EXPECT_FAIL(sp_model_param_find("layers", NULL), SP_ERR_INVALID, "key is NULL");
    assert_ptr_equal(model, untouched);
    sp_model_destroy(NULL);
}

static void every_allocation_may_fail(void **state)
{
    const int32_t first[] = { 30, 2 }, second[] = { 16, 16 };
    sp_model *model = untouched;
    failing_alloc memory;

    (void)state;
    failing_alloc_init(&memory, 0);
    EXPECT_FAIL(sp_model_create("llama2-7b", &memory.hooks, &model), SP_ERR_MEMORY, OUT_OF_MEMORY);
    assert_ptr_equal(model, untouched);
    failing_alloc_init(&memory, 2);
    assert_int_equal(sp_model_create("llama2-7b", &memory.hooks, &model), SP_OK);
    assert_int_equal(sp_model_set_stage_layers(model, first, 2), SP_OK);
    EXPECT_FAIL(sp_model_set_stage_layers(model, second, 2), SP_ERR_MEMORY, OUT_OF_MEMORY);
    assert_int_equal(model->stage_layers[0], 30);
    assert_int_equal(sp_model_set_stage_layers(model, second, 2), SP_OK);
    sp_model_destroy(model);
    assert_int_equal(memory.live, 0);
}

static void a_copy_owns_its_memory_or_is_not_made(void **state)
{
    const int32_t layers[] = { 30, 2 };
    sp_model *model = *state, *copy = NULL;
    failing_alloc memory;

    assert_int_equal(sp_model_set_stage_layers(model, layers, 2), SP_OK);
    for (int64_t n = 0; copy == NULL; n++) {
        sp__alloc alloc;

        failing_alloc_init(&memory, n);
        assert_int_equal(sp__alloc_init(&alloc, &memory.hooks), SP_OK);
        copy = sp__model_copy(model, &alloc);
        assert_int_equal(memory.live, copy == NULL ? 0 : 2);
    }
    assert_int_equal(sp_model_set(model, SP_MODEL_HIDDEN, 8), SP_OK);
    assert_int_equal(sp_model_set_stage_layers(model, NULL, 0), SP_OK);
    assert_int_equal(value_of(copy, SP_MODEL_HIDDEN), 4096);
    assert_int_equal(copy->stage_layers[0], 30);
    assert_int_equal(copy->stages, 2);
    assert_string_equal(copy->preset, "llama2-7b");
    sp_model_destroy(copy);
    assert_int_equal(memory.live, 0);
}

/* What the cost floor multiplies in 64 bits must fit at the bounds: bytes that a
 * stage keeps of one token, and that tensor parallelism moves of one. */
static void the_bounds_keep_bytes_of_a_token_within_int64(void **state)
{
    int64_t most[SP__MODEL_PARAMS + 1], bytes;
    sp_param_info info = SP_PARAM_INFO_INIT;

    (void)state;
    for (int32_t i = 0; i < SP__MODEL_PARAMS; i++) {
        assert_int_equal(sp_model_param_info(i, &info), SP_OK);
        most[info.key] = info.maximum;
    }
    bytes = 4 * most[SP_MODEL_HIDDEN] +
            4 * most[SP_MODEL_HEADS] * most[SP_MODEL_HEAD_DIM] +
            3 * most[SP_MODEL_FFN_HIDDEN] * most[SP_MODEL_EXPERTS_PER_TOKEN];
    assert_false(sp__mul_overflows(bytes, most[SP_MODEL_ELEMENT_BYTES], &bytes));
    assert_false(sp__mul_overflows(bytes, most[SP_MODEL_LAYERS], &bytes));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(presets_have_as_many_parameters_as_published),
        cmocka_unit_test(every_preset_can_be_made_and_is_consistent),
        cmocka_unit_test(a_preset_sets_the_shape_and_keeps_the_other_fallbacks),
        cmocka_unit_test(an_unknown_preset_is_answered_with_the_nearest),
        cmocka_unit_test_setup_teardown(a_value_is_set_within_its_bounds_alone, make, drop),
        cmocka_unit_test_setup_teardown(values_that_do_not_suit_each_other_may_be_set_in_turn,
                                        make, drop),
        cmocka_unit_test(every_row_of_the_table_is_sound),
        cmocka_unit_test(a_parameter_is_found_by_its_name),
        cmocka_unit_test_setup_teardown(stage_layers_are_copied_and_given_back, make, drop),
        cmocka_unit_test_setup_teardown(bad_stage_layers_leave_the_spread_as_it_is, make, drop),
        cmocka_unit_test_setup_teardown(null_arguments_are_named, make, drop),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test_setup_teardown(a_copy_owns_its_memory_or_is_not_made, make, drop),
        cmocka_unit_test(the_bounds_keep_bytes_of_a_token_within_int64),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
