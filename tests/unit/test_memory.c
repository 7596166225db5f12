/*
 * test_memory.c - bytes of a device, against llama2-7b written out by hand.
 */
#include "cost/memory.h"

#include "../support/expect.h"

/* Attention's four matrices, the MLP's three, two norms. */
#define LAYER_PARAMETERS (INT64_C(4) * 4096 * 4096 + INT64_C(3) * 4096 * 11008 + 2 * 4096)
#define EMBEDDING (INT64_C(4096) * 32000)

/* What a layer keeps of a token, in elements: four of hidden width, q, output, k, v,
 * three of the MLP's; two bytes each, and four a head. */
#define LAYER_TOKEN_BYTES (INT64_C(2) * (4 * 4096 + 4 * 4096 + 3 * 11008) + 4 * 32)

enum { STAGES = 4 };

/* Fills memory of llama2-7b, changed by key and value unless key is 0. */
static void fill(const char *topology, int32_t key, int64_t value, sp__stage_memory *memory)
{
    sp_topology *t;
    sp_model *m;
    int32_t layers[STAGES];

    assert_int_equal(sp_topology_parse(topology, &t), SP_OK);
    assert_int_equal(sp_model_create("llama2-7b", NULL, &m), SP_OK);
    assert_int_equal(sp_model_set(m, SP_MODEL_DISTRIBUTED_OPTIMIZER, 0), SP_OK);
    assert_int_equal(sp_model_set(m, SP_MODEL_RECOMPUTE, SP_RECOMPUTE_NONE), SP_OK);
    if (key != 0)
        assert_int_equal(sp_model_set(m, key, value), SP_OK);
    assert_int_equal(sp__stage_layers(m, t->shape.degree[SP__PP], 1, layers), SP_OK);
    assert_int_equal(sp__memory_init(memory, m, &t->shape, 1, layers), SP_OK);
    sp_model_destroy(m);
    sp_topology_destroy(t);
}

/* 2 bytes of weight, 4 of gradient, 12 of Adam. */
static void a_parameter_takes_18_bytes(void **state)
{
    sp__stage_memory m[STAGES];

    (void)state;
    fill("dp=8", 0, 0, m);
    assert_int_equal(m[0].fixed, 18 * (32 * LAYER_PARAMETERS + 2 * EMBEDDING));
}

static void the_ends_of_the_pipeline_hold_the_embeddings(void **state)
{
    sp__stage_memory m[STAGES];

    (void)state;
    fill("pp=4", 0, 0, m);
    assert_int_equal(m[0].fixed, 18 * (8 * LAYER_PARAMETERS + EMBEDDING));
    assert_int_equal(m[1].fixed, 18 * (8 * LAYER_PARAMETERS));
    assert_int_equal(m[2].fixed, m[1].fixed);
    assert_int_equal(m[3].fixed, m[0].fixed);
}

/* Tied weights are one matrix only where one stage holds both ends. */
static void tied_embeddings_are_shared_on_a_single_stage(void **state)
{
    sp__stage_memory m[STAGES];

    (void)state;
    fill("dp=1", SP_MODEL_TIED_EMBEDDINGS, 1, m);
    assert_int_equal(m[0].fixed, 18 * (32 * LAYER_PARAMETERS + EMBEDDING));
    fill("pp=2", SP_MODEL_TIED_EMBEDDINGS, 1, m);
    assert_int_equal(m[1].fixed, 18 * (16 * LAYER_PARAMETERS + EMBEDDING));
}

static void a_distributed_optimiser_is_spread_over_dp_and_cp(void **state)
{
    const int64_t parameters = 32 * LAYER_PARAMETERS + 2 * EMBEDDING;
    sp__stage_memory m[STAGES];

    (void)state;
    fill("dp=4 cp=2", SP_MODEL_DISTRIBUTED_OPTIMIZER, 1, m);
    assert_int_equal(m[0].fixed, 6 * parameters + (12 * parameters + 7) / 8);
}

static void a_live_token_keeps_its_activations_and_the_last_stage_its_logits(void **state)
{
    sp__stage_memory m[STAGES];

    (void)state;
    fill("pp=4", 0, 0, m);
    assert_int_equal(m[0].token, 8 * LAYER_TOKEN_BYTES);
    assert_int_equal(m[3].token, 8 * LAYER_TOKEN_BYTES + 4 * 32000);
}

static void recomputation_keeps_less(void **state)
{
    sp__stage_memory m[STAGES];

    (void)state;
    fill("pp=2", SP_MODEL_RECOMPUTE, SP_RECOMPUTE_SELECTIVE, m);
    assert_int_equal(m[0].token, 16 * (LAYER_TOKEN_BYTES - 2 * (2 * 4096 + 11008)));
    fill("pp=2", SP_MODEL_RECOMPUTE, SP_RECOMPUTE_FULL, m);
    /* The layer's input, and the K and V that later slices attend. */
    assert_int_equal(m[0].token, 16 * 2 * (4096 + 2 * 4096));
}

static void keys_and_values_are_cached_in_every_layer(void **state)
{
    sp__stage_memory m[STAGES];

    (void)state;
    fill("pp=2", 0, 0, m);
    assert_int_equal(m[0].cached, 16 * 2 * 4096 * 2);
    fill("pp=2", SP_MODEL_KV_HEADS, 8, m);
    assert_int_equal(m[0].cached, 16 * 2 * 8 * 128 * 2);
}

/* Two key heads on eight ranks: each rank still holds one. */
static void tensor_parallelism_divides_all_but_a_last_head(void **state)
{
    sp__stage_memory m[STAGES];

    (void)state;
    fill("tp=8", 0, 0, m);
    assert_int_equal(m[0].fixed, 18 * (32 * LAYER_PARAMETERS + 2 * EMBEDDING) / 8);
    assert_int_equal(m[0].token, (32 * LAYER_TOKEN_BYTES + 4 * 32000) / 8);
    assert_int_equal(m[0].cached, 32 * 2 * 4096 * 2 / 8);
    fill("tp=8", SP_MODEL_KV_HEADS, 2, m);
    assert_int_equal(m[0].cached, 32 * 2 * 128 * 2);
}

/* What a stage's chunks keep of a token, with two copies of K and V gathered and four
 * buffers, times tokens, up to 2^61. */
static void activations_are_bounded_by_what_sums_hold(void **state)
{
    const sp__stage_memory m[] = { { .token = 100, .cached = 6 }, { .token = 10 },
                                   { .token = 100, .cached = 8 }, { .token = 10 } };
    const sp__rates rates = { .pp = 2, .stages = 4, .chunks = 2, .hop_bytes = 7 };
    const int64_t most = (INT64_C(1) << 61) / (200 + 2 * 14 + 4 * 7);

    (void)state;
    assert_int_equal(sp__memory_check(m, &rates, most), SP_OK);
    EXPECT_FAIL(sp__memory_check(m, &rates, most + 1), SP_ERR_OVERFLOW, "lengths: on stage 0 the "
                "activations of 9007199254740993 tokens pass 2^61 bytes");
}

static void bytes_that_do_not_fit_are_refused(void **state)
{
    static const int32_t layers[1] = { 100000 };
    sp__stage_memory memory[1];
    sp_topology *t;
    sp_model *m;

    (void)state;
    assert_int_equal(sp_topology_create(1, 1, 1, 1, NULL, &t), SP_OK);
    assert_int_equal(sp_model_create("llama2-7b", NULL, &m), SP_OK);
    assert_int_equal(sp_model_set(m, SP_MODEL_LAYERS, 100000), SP_OK);
    assert_int_equal(sp_model_set(m, SP_MODEL_HIDDEN, 1 << 24), SP_OK);
    assert_int_equal(sp_model_set(m, SP_MODEL_FFN_HIDDEN, 1 << 26), SP_OK);
    EXPECT_FAIL(sp__memory_init(memory, m, &t->shape, 1, layers), SP_ERR_OVERFLOW,
                "model: bytes of stage 0 pass int64");
    sp_model_destroy(m);
    sp_topology_destroy(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_parameter_takes_18_bytes),
        cmocka_unit_test(the_ends_of_the_pipeline_hold_the_embeddings),
        cmocka_unit_test(tied_embeddings_are_shared_on_a_single_stage),
        cmocka_unit_test(a_distributed_optimiser_is_spread_over_dp_and_cp),
        cmocka_unit_test(a_live_token_keeps_its_activations_and_the_last_stage_its_logits),
        cmocka_unit_test(recomputation_keeps_less),
        cmocka_unit_test(keys_and_values_are_cached_in_every_layer),
        cmocka_unit_test(tensor_parallelism_divides_all_but_a_last_head),
        cmocka_unit_test(activations_are_bounded_by_what_sums_hold),
        cmocka_unit_test(bytes_that_do_not_fit_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
