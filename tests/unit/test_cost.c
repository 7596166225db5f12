/*
 * test_cost.c - pairs, rates and memory of the cost floor, against sums written out.
 */
#include "cost/target.h"

#include "../support/expect.h"

static int64_t count_pairs(const sp__attention *a, int64_t start, int64_t length, int64_t sample)
{
    int64_t pairs = 0;

    for (int64_t q = start; q < start + length; q++)
        for (int64_t k = 0; k < sample; k++)
            pairs += !a->causal || (k <= q && q - k < a->window);
    return pairs;
}

static void pairs_are_those_of_a_double_loop(void **state)
{
    const sp__attention kinds[] = { { INT64_MAX, 1 }, { 1, 1 }, { 5, 1 }, { 16, 1 },
                                    { INT64_MAX, 0 } };

    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (int64_t sample = 1; sample <= 24; sample++)
            for (int64_t start = 0; start < sample; start++)
                for (int64_t length = 1; start + length <= sample; length++)
                    assert_int_equal(sp__pairs(&kinds[i], start, length, sample),
                                     count_pairs(&kinds[i], start, length, sample));
}

/* D4: the square of the length passes 2^31 and 2^32. */
static void pairs_of_long_samples_do_not_wrap(void **state)
{
    const sp__attention causal = { INT64_MAX, 1 };

    (void)state;
    assert_int_equal(sp__pairs(&causal, 0, 65536, 65536), INT64_C(2147516416));
    assert_int_equal(sp__pairs(&causal, 0, 2147483647, 2147483647), INT64_C(2305843008139952128));
}

typedef struct machine {
    sp_model *model;
    sp_device *device;
    sp_topology *topology;
    sp__target target;
    sp__alloc alloc;
} machine;

static machine open_machine(const char *topology, const char *model, const char *device)
{
    machine m;

    assert_int_equal(sp_topology_parse(topology, &m.topology), SP_OK);
    assert_int_equal(sp_model_create(model, NULL, &m.model), SP_OK);
    assert_int_equal(sp_device_create(device, NULL, &m.device), SP_OK);
    assert_int_equal(sp__alloc_init(&m.alloc, NULL), SP_OK);
    return m;
}

static void start_machine(machine *m)
{
    assert_int_equal(sp__target_init(&m->target, m->model, m->device, &m->topology->shape,
                                     &m->alloc), SP_OK);
}

static void close_machine(machine *m)
{
    sp__target_free(&m->target, &m->alloc);
    sp_topology_destroy(m->topology);
    sp_model_destroy(m->model);
    sp_device_destroy(m->device);
}

static int64_t cost(const machine *m, int32_t stage, int pass, int64_t tokens, int64_t pairs)
{
    sp__load load = { tokens, pairs, 0, 0 };

    return sp__load_cost(&m->target.rates, stage, pass, &load, 1, 0);
}

/* Coefficients are rounded to 2^-20 ps, and a pack is rounded up: within a few ps of
 * the formula for a million tokens. */
static void assert_near(int64_t value, int64_t expected)
{
    assert_in_range(value - expected + 8, 0, 16);
}

/* llama2-7b: 2 * (4 * 4096^2 + 3 * 4096 * 11008) = 404750336 FLOPs a token and layer,
 * 4 * 4096 a pair; eight layers a stage at 400 TFLOP/s. */
static void a_stage_of_llama2_7b_costs_its_flops(void **state)
{
    machine m = open_machine("pp=4", "llama2-7b", "ideal");
    const int64_t token = INT64_C(404750336) * 8, pair = 4 * 4096 * 8, head = 2 * 4096 * 32000;

    (void)state;
    start_machine(&m);
    assert_near(cost(&m, 0, SP_FORWARD, 1000000, 0), token * 1000000 / 400);
    assert_near(cost(&m, 0, SP_FORWARD, 1, 4000000), pair * 10000 + token / 400);
    assert_near(cost(&m, 3, SP_FORWARD, 1000000, 0), (token + head) * 2500);
    assert_near(cost(&m, 0, SP_BACKWARD, 1000000, 0), 2 * token * 2500);
    assert_near(cost(&m, 0, SP_BACKWARD, 1, 4000000) - cost(&m, 0, SP_BACKWARD, 1, 0),
                pair * 25000);
    close_machine(&m);
}

static void an_empty_pack_costs_nothing(void **state)
{
    machine m = open_machine("pp=2", "llama2-7b", "h100");

    (void)state;
    start_machine(&m);
    assert_int_equal(cost(&m, 0, SP_FORWARD, 0, 0), 0);
    close_machine(&m);
}

static void tensor_parallelism_divides_the_work(void **state)
{
    machine one = open_machine("pp=4", "llama2-7b", "ideal");
    machine eight = open_machine("pp=4 tp=8", "llama2-7b", "ideal");

    (void)state;
    start_machine(&one);
    start_machine(&eight);
    assert_near(cost(&one, 1, SP_FORWARD, 800000, 0), 8 * cost(&eight, 1, SP_FORWARD, 800000, 0));
    close_machine(&one);
    close_machine(&eight);
}

/* Half-rate: n tokens take the time of n + half_rate at full rate. */
static void the_half_rate_adds_a_constant_and_the_floor_is_least(void **state)
{
    machine m = open_machine("pp=4", "llama2-7b", "ideal");
    int64_t full;

    (void)state;
    start_machine(&m);
    full = cost(&m, 0, SP_FORWARD, 1128, 0);
    sp__target_free(&m.target, &m.alloc);
    assert_int_equal(sp_device_set(m.device, SP_DEVICE_HALF_RATE_TOKENS, 128), SP_OK);
    assert_int_equal(sp_device_set(m.device, SP_DEVICE_PACK_OVERHEAD_PS, 5000), SP_OK);
    start_machine(&m);
    assert_in_range(cost(&m, 0, SP_FORWARD, 1000, 0), full + 5000, full + 5001);
    sp__target_free(&m.target, &m.alloc);
    assert_int_equal(sp_device_set(m.device, SP_DEVICE_LAYER_FLOOR_PS, INT64_C(900000000)), SP_OK);
    start_machine(&m);
    assert_int_equal(cost(&m, 0, SP_FORWARD, 1, 1), INT64_C(900000000) * 8 + 5000);
    assert_int_equal(cost(&m, 0, SP_BACKWARD, 1, 1), INT64_C(900000000) * 16 + 5000);
    close_machine(&m);
}

static void full_recomputation_adds_a_forward_to_the_backward(void **state)
{
    machine m = open_machine("pp=4", "llama2-7b", "ideal");
    int64_t forward, backward;

    (void)state;
    start_machine(&m);
    forward = cost(&m, 0, SP_FORWARD, 1000000, 4000000);
    backward = cost(&m, 0, SP_BACKWARD, 1000000, 4000000);
    sp__target_free(&m.target, &m.alloc);
    assert_int_equal(sp_model_set(m.model, SP_MODEL_RECOMPUTE, SP_RECOMPUTE_FULL), SP_OK);
    start_machine(&m);
    assert_in_range(cost(&m, 0, SP_BACKWARD, 1000000, 4000000), forward + backward - 1,
                    forward + backward + 1);
    close_machine(&m);
}

static void experts_cost_the_active_ones_and_their_router(void **state)
{
    machine dense = open_machine("pp=1", "llama2-7b", "ideal");
    machine moe = open_machine("pp=1", "llama2-7b", "ideal");
    const int64_t mlp = 3 * INT64_C(4096) * 11008, router = 4096 * 8;

    (void)state;
    assert_int_equal(sp_model_set(moe.model, SP_MODEL_EXPERTS, 8), SP_OK);
    assert_int_equal(sp_model_set(moe.model, SP_MODEL_EXPERTS_PER_TOKEN, 2), SP_OK);
    start_machine(&dense);
    start_machine(&moe);
    assert_near(cost(&moe, 0, SP_FORWARD, 1000000, 0) - cost(&dense, 0, SP_FORWARD, 1000000, 0),
                2 * (mlp + router) * 32 * 2500);
    close_machine(&dense);
    close_machine(&moe);
}

/* An exchange moves K and V of all but a rank's own part: 2 * 32 heads * 128 * 2 bytes a
 * token and layer. */
static void an_exchange_takes_its_bytes_over_the_link(void **state)
{
    machine m = open_machine("cp=4", "llama2-7b", "ideal");
    sp__load load = { 250, 0, 1000, 2000 };
    int64_t alone, bytes = INT64_C(1000) * 32 * 2 * 32 * 128 * 2 * 3 / 4;

    (void)state;
    assert_int_equal(sp_device_set(m.device, SP_DEVICE_INTRA_BANDWIDTH, INT64_C(1000000000000)),
                     SP_OK);
    assert_int_equal(sp_device_set(m.device, SP_DEVICE_INTRA_LATENCY_PS, 7), SP_OK);
    start_machine(&m);
    alone = cost(&m, 0, SP_FORWARD, 250, 0);
    assert_int_equal(sp__load_cost(&m.target.rates, 0, SP_FORWARD, &load, 4, 0),
                     alone + bytes + 7 * 32);
    close_machine(&m);
}

static void weights_and_optimiser_are_counted(void **state)
{
    machine m = open_machine("dp=4 tp=2", "llama2-7b", "ideal");
    const int64_t layer = 4 * INT64_C(4096) * 4096 + 3 * INT64_C(4096) * 11008 + 2 * 4096;
    const int64_t parameters = 32 * layer + 2 * INT64_C(4096) * 32000;

    (void)state;
    start_machine(&m);
    assert_int_equal(m.target.memory[0].fixed, parameters / 2 * 6 + parameters / 2 * 12 / 4);
    close_machine(&m);
}

static void contradictions_are_named(void **state)
{
    static const int32_t layers[2] = { 16, 15 };
    machine m = open_machine("tp=3", "llama2-7b", "ideal");

    (void)state;
    EXPECT_FAIL(sp__target_init(&m.target, m.model, m.device, &m.topology->shape, &m.alloc),
                SP_ERR_INVALID, "topology tp: 3 does not divide the model's 32 heads");
    sp_topology_destroy(m.topology);
    assert_int_equal(sp_topology_parse("pp=2", &m.topology), SP_OK);
    assert_int_equal(sp_model_set_stage_layers(m.model, layers, 2), SP_OK);
    EXPECT_FAIL(sp__target_init(&m.target, m.model, m.device, &m.topology->shape, &m.alloc),
                SP_ERR_INVALID, "stage layers: they add up to 31, but the model has 32 layers");
    assert_int_equal(sp_model_set_stage_layers(m.model, layers, 1), SP_OK);
    EXPECT_FAIL(sp__target_init(&m.target, m.model, m.device, &m.topology->shape, &m.alloc),
                SP_ERR_INVALID,
                "stage layers are given for 1 stages, but the topology has pp 2");
    assert_int_equal(sp_model_set_stage_layers(m.model, NULL, 0), SP_OK);
    assert_int_equal(sp_model_set(m.model, SP_MODEL_KV_HEADS, 5), SP_OK);
    EXPECT_FAIL(sp__target_init(&m.target, m.model, m.device, &m.topology->shape, &m.alloc),
                SP_ERR_INVALID, "model kv_heads: 5 does not divide heads 32");
    close_machine(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_are_those_of_a_double_loop),
        cmocka_unit_test(pairs_of_long_samples_do_not_wrap),
        cmocka_unit_test(a_stage_of_llama2_7b_costs_its_flops),
        cmocka_unit_test(an_empty_pack_costs_nothing),
        cmocka_unit_test(tensor_parallelism_divides_the_work),
        cmocka_unit_test(the_half_rate_adds_a_constant_and_the_floor_is_least),
        cmocka_unit_test(full_recomputation_adds_a_forward_to_the_backward),
        cmocka_unit_test(experts_cost_the_active_ones_and_their_router),
        cmocka_unit_test(an_exchange_takes_its_bytes_over_the_link),
        cmocka_unit_test(weights_and_optimiser_are_counted),
        cmocka_unit_test(contradictions_are_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
