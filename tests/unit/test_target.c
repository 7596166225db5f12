/*
 * test_target.c - the machine of a plan: rates and memory together, or nothing.
 */
#include "cost/target.h"

#include <string.h>

#include "../support/expect.h"
#include "../support/failing_alloc.h"

typedef struct inputs {
    sp_topology *topology;
    sp_model *model;
    sp_device *device;
} inputs;

static int open_inputs(void **state)
{
    static inputs in;

    if (sp_topology_parse("dp=2 tp=4 pp=3", &in.topology) != SP_OK ||
        sp_model_create("llama3-8b", NULL, &in.model) != SP_OK ||
        sp_device_create("h100", NULL, &in.device) != SP_OK)
        return -1;
    *state = &in;
    return 0;
}

static int close_inputs(void **state)
{
    inputs *in = *state;

    sp_device_destroy(in->device);
    sp_model_destroy(in->model);
    sp_topology_destroy(in->topology);
    return 0;
}

static sp_status init(const inputs *in, failing_alloc *memory, sp__target *target)
{
    sp__alloc alloc;

    assert_int_equal(sp__alloc_init(&alloc, &memory->hooks), SP_OK);
    return sp__target_init(target, in->model, in->device, &in->topology->shape, 1, &alloc);
}

static void drop(failing_alloc *memory, sp__target *target)
{
    sp__alloc alloc;

    assert_int_equal(sp__alloc_init(&alloc, &memory->hooks), SP_OK);
    sp__target_free(target, &alloc);
}

/* The parts are those that their own functions give. */
static void a_target_holds_rates_and_memory_of_every_stage(void **state)
{
    const inputs *in = *state;
    const int32_t layers[3] = { 11, 11, 10 };
    sp__stage_rates stage[3] = { { .layers = 11 }, { .layers = 11 }, { .layers = 10 } };
    sp__stage_memory bytes[3];
    failing_alloc memory;
    sp__rates rates;
    sp__target t;

    failing_alloc_init(&memory, NEVER_FAIL);
    assert_int_equal(init(in, &memory, &t), SP_OK);
    rates.chunks = 1;
    assert_int_equal(sp__rates_init(&rates, stage, in->model, in->device, &in->topology->shape),
                     SP_OK);
    assert_int_equal(sp__memory_init(bytes, in->model, &in->topology->shape, 1, layers), SP_OK);
    assert_int_equal(t.rates.stages, 3);
    assert_ptr_equal(t.rates.stage, t.stage);
    assert_memory_equal(t.stage, stage, sizeof stage);
    assert_memory_equal(t.memory, bytes, sizeof bytes);
    drop(&memory, &t);
    assert_int_equal(memory.live, 0);
}

static void every_failed_allocation_leaves_nothing(void **state)
{
    failing_alloc memory;
    sp__target t;

    for (int64_t n = 0;; n++) {
        failing_alloc_init(&memory, n);
        if (init(*state, &memory, &t) == SP_OK) {
            drop(&memory, &t);
            assert_int_equal(memory.live, 0);
            assert_int_equal(n, 4);
            return;
        }
        assert_string_equal(sp_error_message(), OUT_OF_MEMORY);
        assert_int_equal(memory.live, 0);
    }
}

static void a_contradiction_leaves_nothing(void **state)
{
    static const int32_t layers[2] = { 16, 16 };
    inputs *in = *state;
    failing_alloc memory;
    sp__target t;

    failing_alloc_init(&memory, NEVER_FAIL);
    assert_int_equal(sp_model_set_stage_layers(in->model, layers, 2), SP_OK);
    EXPECT_FAIL(init(in, &memory, &t), SP_ERR_INVALID,
                "stage layers are given for 2 stages, but the topology has pp 3");
    assert_int_equal(memory.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_target_holds_rates_and_memory_of_every_stage,
                                        open_inputs, close_inputs),
        cmocka_unit_test_setup_teardown(every_failed_allocation_leaves_nothing, open_inputs,
                                        close_inputs),
        cmocka_unit_test_setup_teardown(a_contradiction_leaves_nothing, open_inputs, close_inputs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
