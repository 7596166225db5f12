/*
 * test_rates.c - what a pack costs on a stage, against FLOPs written out by hand.
 */
#include "cost/rates.h"

#include "../support/expect.h"

enum { STAGES = 4 };

typedef struct rates_case {
    sp_topology *topology;
    sp_model *model;
    sp_device *device;
    sp__stage_rates stage[STAGES];
    sp__rates rates;
} rates_case;

static rates_case open_case(const char *topology, const char *model, const char *device)
{
    rates_case c = { 0 };

    assert_int_equal(sp_topology_parse(topology, &c.topology), SP_OK);
    assert_int_equal(sp_model_create(model, NULL, &c.model), SP_OK);
    assert_int_equal(sp_device_create(device, NULL, &c.device), SP_OK);
    return c;
}

static sp_status fill(rates_case *c)
{
    int32_t layers[STAGES], pp = c->topology->shape.degree[SP__PP];
    sp_status status = sp__stage_layers(c->model, pp, 1, layers);

    c->rates.chunks = 1;
    for (int32_t s = 0; status == SP_OK && s < pp; s++)
        c->stage[s].layers = layers[s];
    return status == SP_OK ? sp__rates_init(&c->rates, c->stage, c->model, c->device,
                                            &c->topology->shape)
                           : status;
}

static void close_case(rates_case *c)
{
    sp_device_destroy(c->device);
    sp_model_destroy(c->model);
    sp_topology_destroy(c->topology);
}

/* FLOPs at the ideal device's 400 TFLOP/s are this many fixed point picoseconds. */
static int64_t at_400_tera(int64_t flops)
{
    return (int64_t)((((sp__int128)flops << SP__COST_BITS) + 200) / 400);
}

/* llama2-7b: 4 matrices of 4096 x 4096 and 3 of 4096 x 11008 in each of 32 layers,
 * a head of 4096 x 32000; two FLOPs for each weight. */
#define LAYER_FLOPS (INT64_C(2) * (4 * 4096 * 4096 + 3 * 4096 * 11008))
#define HEAD_FLOPS (INT64_C(2) * 4096 * 32000)
/* Two products of 32 heads of 128: two FLOPs for each of 4096 multiply-adds. */
#define PAIR_FLOPS (INT64_C(4) * 4096)

static void a_token_of_llama2_7b_costs_13_gigaflops(void **state)
{
    rates_case c = open_case("dp=1", "llama2-7b", "ideal");

    (void)state;
    assert_int_equal(LAYER_FLOPS * 32 + HEAD_FLOPS, 13214154752);
    assert_int_equal(fill(&c), SP_OK);
    assert_int_equal(c.stage[0].pass[SP_FORWARD].compute, at_400_tera(13214154752));
    assert_int_equal(c.stage[0].pass[SP_FORWARD].token, c.stage[0].pass[SP_FORWARD].compute);
    assert_int_equal(c.stage[0].pass[SP_FORWARD].pair, at_400_tera(PAIR_FLOPS * 32));
    close_case(&c);
}

static void backward_is_twice_linear_and_two_and_a_half_times_attention(void **state)
{
    rates_case c = open_case("dp=1", "llama2-7b", "ideal");

    (void)state;
    assert_int_equal(fill(&c), SP_OK);
    assert_int_equal(c.stage[0].pass[SP_BACKWARD].compute,
                     at_400_tera(2 * (LAYER_FLOPS * 32 + HEAD_FLOPS)));
    assert_int_equal(c.stage[0].pass[SP_BACKWARD].pair, at_400_tera(PAIR_FLOPS * 32 * 5 / 2));
    close_case(&c);
}

static void each_pass_of_attention_has_its_own_rate(void **state)
{
    rates_case c = open_case("dp=1", "llama2-7b", "ideal");

    (void)state;
    sp_device_set(c.device, SP_DEVICE_ATTENTION_FORWARD_FLOPS, INT64_C(200000000000000));
    sp_device_set(c.device, SP_DEVICE_ATTENTION_BACKWARD_FLOPS, INT64_C(100000000000000));
    assert_int_equal(fill(&c), SP_OK);
    assert_int_equal(c.stage[0].pass[SP_FORWARD].pair, at_400_tera(2 * PAIR_FLOPS * 32));
    assert_int_equal(c.stage[0].pass[SP_BACKWARD].pair, at_400_tera(4 * PAIR_FLOPS * 32 * 5 / 2));
    close_case(&c);
}

/* Layers run forward once more in the backward; the head does not. */
static void full_recomputation_adds_a_forward_of_the_layers(void **state)
{
    rates_case c = open_case("dp=1", "llama2-7b", "ideal");

    (void)state;
    sp_model_set(c.model, SP_MODEL_RECOMPUTE, SP_RECOMPUTE_FULL);
    sp_device_set(c.device, SP_DEVICE_LAYER_FLOOR_PS, 1000);
    assert_int_equal(fill(&c), SP_OK);
    assert_int_equal(c.stage[0].pass[SP_BACKWARD].compute,
                     at_400_tera(3 * LAYER_FLOPS * 32 + 2 * HEAD_FLOPS));
    assert_int_equal(c.stage[0].pass[SP_BACKWARD].pair, at_400_tera(PAIR_FLOPS * 32 * 7 / 2));
    assert_int_equal(c.stage[0].pass[SP_FORWARD].floor, 32 * 1000);
    assert_int_equal(c.stage[0].pass[SP_BACKWARD].floor, 32 * 3000);
    close_case(&c);
}

/* Attoseconds of a layer are 32 times as many of all; the head is not in them. */
static void measured_layers_cost_what_was_measured(void **state)
{
    rates_case c = open_case("dp=1", "llama2-7b", "ideal");
    const sp__rate *forward = &c.stage[0].pass[SP_FORWARD];

    (void)state;
    sp_model_set(c.model, SP_MODEL_FORWARD_TOKEN_AS, 2000000);
    sp_model_set(c.model, SP_MODEL_FORWARD_PAIR_AS, 1000000);
    sp_model_set(c.model, SP_MODEL_FORWARD_START_PS, 3);
    sp_model_set(c.model, SP_MODEL_FORWARD_FLOOR_PS, 11);
    assert_int_equal(fill(&c), SP_OK);
    assert_int_equal(forward->compute, (INT64_C(64) << SP__COST_BITS) + at_400_tera(HEAD_FLOPS));
    assert_int_equal(forward->pair, INT64_C(32) << SP__COST_BITS);
    assert_int_equal(forward->half, 96);
    assert_int_equal(forward->floor, 352);
    assert_int_equal(c.stage[0].pass[SP_BACKWARD].compute,
                     at_400_tera(2 * (LAYER_FLOPS * 32 + HEAD_FLOPS)));
    close_case(&c);
}

static void the_head_may_have_a_rate_of_its_own(void **state)
{
    rates_case c = open_case("dp=1", "llama2-7b", "ideal");

    (void)state;
    sp_device_set(c.device, SP_DEVICE_HEAD_FLOPS, INT64_C(200000000000000));
    assert_int_equal(fill(&c), SP_OK);
    assert_int_equal(c.stage[0].pass[SP_FORWARD].compute,
                     at_400_tera(LAYER_FLOPS * 32) + at_400_tera(2 * HEAD_FLOPS));
    assert_int_equal(c.stage[0].pass[SP_BACKWARD].compute,
                     at_400_tera(2 * LAYER_FLOPS * 32) + at_400_tera(4 * HEAD_FLOPS));
    close_case(&c);
}

static void chunks_divide_the_layers_of_each_stage(void **state)
{
    rates_case c = open_case("pp=4", "llama2-7b", "ideal");
    int32_t layers[4 * STAGES];

    (void)state;
    assert_int_equal(sp__stage_layers(c.model, 4, 2, layers), SP_OK);
    EXPECT_FAIL(sp__stage_layers(c.model, 4, 3, layers), SP_ERR_INVALID,
                "virtual_stages: 3 chunks do not divide the 8 layers of stage 0");
    EXPECT_FAIL(sp__stage_layers(c.model, 1, 2, layers), SP_ERR_INVALID,
                "virtual_stages: 2 chunks a stage need a pipeline of at least 2 stages, "
                "but pp is 1");
    close_case(&c);
}

static void only_the_last_stage_has_the_head(void **state)
{
    rates_case c = open_case("pp=4", "llama2-7b", "ideal");

    (void)state;
    assert_int_equal(fill(&c), SP_OK);
    for (int32_t s = 0; s < 4; s++) {
        assert_int_equal(c.stage[s].layers, 8);
        assert_int_equal(c.stage[s].pass[SP_FORWARD].compute,
                         at_400_tera(8 * LAYER_FLOPS + (s == 3 ? HEAD_FLOPS : 0)));
        assert_int_equal(c.stage[s].pass[SP_FORWARD].pair, at_400_tera(PAIR_FLOPS * 8));
    }
    close_case(&c);
}

static void layers_that_do_not_divide_go_to_the_first_stages(void **state)
{
    const int32_t given[3] = { 1, 30, 1 };
    rates_case c = open_case("pp=3", "llama2-7b", "ideal");
    int32_t layers[3];

    (void)state;
    assert_int_equal(sp__stage_layers(c.model, 3, 1, layers), SP_OK);
    assert_int_equal(layers[0], 11);
    assert_int_equal(layers[1], 11);
    assert_int_equal(layers[2], 10);
    assert_int_equal(sp_model_set_stage_layers(c.model, given, 3), SP_OK);
    assert_int_equal(sp__stage_layers(c.model, 3, 1, layers), SP_OK);
    assert_memory_equal(layers, given, sizeof given);
    close_case(&c);
}

static void tensor_parallelism_divides_the_work(void **state)
{
    rates_case one = open_case("tp=1", "llama2-7b", "ideal");
    rates_case eight = open_case("tp=8", "llama2-7b", "ideal");

    (void)state;
    assert_int_equal(fill(&one), SP_OK);
    assert_int_equal(fill(&eight), SP_OK);
    for (int pass = 0; pass < 2; pass++) {
        const sp__rate *a = &one.stage[0].pass[pass], *b = &eight.stage[0].pass[pass];

        assert_true(a->compute - 8 * b->compute <= 4 && 8 * b->compute - a->compute <= 4);
        assert_true(a->pair - 8 * b->pair <= 4 && 8 * b->pair - a->pair <= 4);
        assert_int_equal(b->token, b->compute); /* infinite links */
    }
    close_case(&one);
    close_case(&eight);
}

/* Four collectives a layer move (tp - 1) / tp of a token's 8192 bytes; a quarter of
 * their time shows. */
static void the_exposed_share_of_tensor_collectives_is_added(void **state)
{
    rates_case c = open_case("tp=2", "llama2-7b", "ideal");
    const sp__rate *f = &c.stage[0].pass[SP_FORWARD];

    (void)state;
    sp_device_set(c.device, SP_DEVICE_TP_EXPOSED_PERCENT, 25);
    sp_device_set(c.device, SP_DEVICE_INTRA_BANDWIDTH, INT64_C(1000000000000)); /* a byte a ps */
    sp_device_set(c.device, SP_DEVICE_INTRA_LATENCY_PS, 100);
    assert_int_equal(fill(&c), SP_OK);
    assert_int_equal(f->token - f->compute,
                     (INT64_C(4) * 32 * 8192 / 2 / 4) << SP__COST_BITS);
    assert_int_equal(f->fixed, 4 * 32 * 100 / 4);
    close_case(&c);
}

/* mixtral-8x7b: two of eight experts, and the router's 8 columns. */
static void experts_cost_what_is_active_and_the_router(void **state)
{
    const int64_t attention = INT64_C(2) * 4096 * 4096 + INT64_C(2) * 4096 * 1024;
    const int64_t mlp = INT64_C(3) * 4096 * 14336 * 2 + 4096 * 8;
    rates_case c = open_case("dp=1", "mixtral-8x7b", "ideal");

    (void)state;
    assert_int_equal(fill(&c), SP_OK);
    assert_int_equal(c.stage[0].pass[SP_FORWARD].compute,
                     at_400_tera(2 * (attention + mlp) * 32 + HEAD_FLOPS));
    close_case(&c);
}

/* Plain GPT: two MLP matrices of 4096 x 16384, a head of 51200. */
static void an_mlp_without_gate_has_two_matrices(void **state)
{
    rates_case c = open_case("dp=1", "gpt3-5b", "ideal");

    (void)state;
    assert_int_equal(fill(&c), SP_OK);
    assert_int_equal(c.stage[0].pass[SP_FORWARD].compute,
                     at_400_tera(INT64_C(2) * (4 * 4096 * 4096 + 2 * 4096 * 16384) * 24 +
                                 INT64_C(2) * 4096 * 51200));
    close_case(&c);
}

static void attention_follows_the_model(void **state)
{
    rates_case c = open_case("dp=1", "mistral-7b", "ideal");

    (void)state;
    assert_int_equal(fill(&c), SP_OK);
    assert_int_equal(c.rates.attention.window, 4096);
    assert_int_equal(c.rates.attention.causal, 1);
    sp_model_set(c.model, SP_MODEL_WINDOW, 0);
    sp_model_set(c.model, SP_MODEL_CAUSAL, 0);
    assert_int_equal(fill(&c), SP_OK);
    assert_true(c.rates.attention.window == INT64_MAX);
    assert_int_equal(c.rates.attention.causal, 0);
    close_case(&c);
}

/* A stage of round numbers: 2 ps a token, 1/2 ps a pair, 3 layers. */
static sp__stage_rates plain_stage(void)
{
    sp__stage_rates s = { .layers = 3, .kv_bytes = 100 };

    for (int pass = 0; pass < 2; pass++)
        s.pass[pass] = (sp__rate){ .token = INT64_C(2) << SP__COST_BITS,
                                   .pair = INT64_C(1) << (SP__COST_BITS - 1), .half = 7,
                                   .floor = 1000, .fixed = 11 };
    return s;
}

static sp__rates plain_rates(sp__stage_rates *stage)
{
    return (sp__rates){ .stage = stage, .stages = 1, .pp = 1, .chunks = 1, .cp = 1,
                        .exchange_percent = 100,
                        .attention = { INT64_MAX, 1 },
                        .intra = { INT64_MAX, 0 }, .inter = { INT64_MAX, 0 }, .hop_bytes = 8,
                        .devices_per_node = 8 };
}

static void a_pack_costs_its_sum_or_the_floor_and_the_overhead(void **state)
{
    sp__stage_rates stage = plain_stage();
    const sp__rates rates = plain_rates(&stage);
    sp__load load = { 0 };

    (void)state;
    assert_int_equal(sp__load_cost(&rates, 0, SP_FORWARD, &load, 1, 0), 0); /* no tokens, no op */
    load.tokens = 10;
    load.pairs = 55;
    assert_int_equal(sp__load_cost(&rates, 0, SP_FORWARD, &load, 1, 0), 1000 + 11);
    load.tokens = 600;
    load.pairs = 1001; /* 500.5 ps, rounded up */
    assert_int_equal(sp__load_cost(&rates, 0, SP_FORWARD, &load, 1, 0), 1200 + 501 + 7 + 11);
    stage.pass[SP_BACKWARD].floor = 2000;
    assert_int_equal(sp__load_cost(&rates, 0, SP_BACKWARD, &load, 1, 0), 2000 + 11);
}

/* At the half-rate tokens a linear layer takes twice its time. */
static void half_rate_doubles_the_time_at_its_tokens(void **state)
{
    rates_case c = open_case("dp=1", "llama2-7b", "ideal");
    const sp__load load = { .tokens = 128 };
    int64_t full;

    (void)state;
    assert_int_equal(fill(&c), SP_OK);
    full = sp__load_cost(&c.rates, 0, SP_FORWARD, &load, 1, 0);
    sp_device_set(c.device, SP_DEVICE_HALF_RATE_TOKENS, 128);
    assert_int_equal(fill(&c), SP_OK);
    assert_int_equal(c.stage[0].pass[SP_FORWARD].half, full);
    assert_int_equal(sp__load_cost(&c.rates, 0, SP_FORWARD, &load, 1, 0), 2 * full);
    close_case(&c);
}

static void a_device_gives_floor_and_overhead(void **state)
{
    rates_case c = open_case("pp=4", "llama2-7b", "ideal");

    (void)state;
    sp_device_set(c.device, SP_DEVICE_LAYER_FLOOR_PS, 1000);
    sp_device_set(c.device, SP_DEVICE_PACK_OVERHEAD_PS, 77);
    assert_int_equal(fill(&c), SP_OK);
    assert_int_equal(c.stage[1].pass[SP_FORWARD].floor, 8 * 1000);
    assert_int_equal(c.stage[1].pass[SP_BACKWARD].floor, 8 * 2000);
    assert_int_equal(c.stage[1].pass[SP_FORWARD].fixed, 77);
    assert_int_equal(c.stage[1].pass[SP_BACKWARD].fixed, 77);
    close_case(&c);
}

/* A group of 4 gathers 3/4 of 100 bytes for each token, one message a layer. */
static void an_exchange_takes_latency_and_its_share_of_the_bytes(void **state)
{
    sp__stage_rates stage = plain_stage();
    sp__rates rates = plain_rates(&stage);
    const sp__load load = { .tokens = 600, .context = 2400 };

    (void)state;
    rates.intra = (sp__link){ INT64_C(500000000000), 20 }; /* half a byte a ps */
    rates.inter = (sp__link){ INT64_C(100000000000), 50 };
    assert_int_equal(sp__exchange_time(&rates, 0, 2400, 4, 0), 3 * 20 + 2400 * 75 * 2);
    assert_int_equal(sp__exchange_time(&rates, 0, 2400, 4, 1), 3 * 50 + 2400 * 75 * 10);
    assert_int_equal(sp__exchange_time(&rates, 0, 2400, 1, 1), 0);
    assert_int_equal(sp__exchange_time(&rates, 0, 0, 4, 1), 0);
    assert_int_equal(sp__load_cost(&rates, 0, SP_FORWARD, &load, 4, 0),
                     1200 + 7 + 11 + 3 * 20 + 2400 * 75 * 2);
}

/* What the weights need lies on their rank. */
static void weight_gradients_exchange_nothing(void **state)
{
    sp__stage_rates stage = plain_stage();
    sp__rates rates = plain_rates(&stage);
    sp__load load = { .tokens = 100, .context = 2400 };

    (void)state;
    stage.kv_bytes = 100;
    rates.intra = (sp__link){ INT64_C(500000000000), 20 };
    stage.pass[SP_WEIGHT] = (sp__rate){ .token = INT64_C(3) << SP__COST_BITS, .fixed = 5 };
    assert_int_equal(sp__load_cost(&rates, 0, SP_WEIGHT, &load, 4, 0), 305);
}

static void a_message_takes_its_bytes_and_then_latency(void **state)
{
    sp__stage_rates stage = plain_stage();
    sp__rates rates = plain_rates(&stage);

    (void)state;
    assert_int_equal(sp__send_time(&rates, 1000, 0), 0);
    rates.intra = (sp__link){ INT64_C(500000000000), 20 };
    rates.inter = (sp__link){ INT64_MAX, 50 };
    assert_int_equal(sp__send_time(&rates, 1000, 0), 1000 * 8 * 2);
    assert_int_equal(sp__send_latency(&rates, 0), 20);
    assert_int_equal(sp__send_time(&rates, 1000, 1), 0);
    assert_int_equal(sp__send_latency(&rates, 1), 50);
    assert_int_equal(sp__send_time(&rates, 0, 0), 0);
}

static void nodes_are_runs_of_consecutive_ranks(void **state)
{
    sp__stage_rates stage = plain_stage();
    const sp__rates rates = plain_rates(&stage);

    (void)state;
    assert_false(sp__crosses_nodes(&rates, 0, 7));
    assert_true(sp__crosses_nodes(&rates, 7, 8));
    assert_false(sp__crosses_nodes(&rates, 8, 15));
}

/* What passes SP__LONGEST is told apart, never wrapped. */
static void a_cost_that_does_not_fit_is_minus_one(void **state)
{
    sp__stage_rates stage = plain_stage();
    sp__rates rates = plain_rates(&stage);
    sp__load load = { .tokens = SP__LONGEST / 2 + 1 };

    (void)state;
    assert_int_equal(sp__load_cost(&rates, 0, SP_FORWARD, &load, 1, 0), -1);
    load.tokens = SP__LONGEST / 2;
    assert_true(sp__load_cost(&rates, 0, SP_FORWARD, &load, 1, 0) > 0);
    rates.intra.bandwidth = 1;
    assert_int_equal(sp__send_time(&rates, INT64_MAX, 0), SP__LONGEST);
}

static void contradictions_are_named(void **state)
{
    static const int32_t short_by_one[2] = { 15, 16 };
    rates_case c = open_case("pp=2 tp=2", "llama2-7b", "ideal");
    int32_t layers[40];

    (void)state;
    EXPECT_FAIL(sp__stage_layers(c.model, 33, 1, layers), SP_ERR_INVALID,
                "topology pp: 33 stages are more than the model's 32 layers");
    sp_model_set_stage_layers(c.model, short_by_one, 2);
    EXPECT_FAIL(fill(&c), SP_ERR_INVALID,
                "stage layers: they add up to 31, but the model has 32 layers");
    EXPECT_FAIL(sp__stage_layers(c.model, 4, 1, layers), SP_ERR_INVALID,
                "stage layers are given for 2 stages, but the topology has pp 4");
    sp_model_set_stage_layers(c.model, NULL, 0);
    sp_model_set(c.model, SP_MODEL_HEADS, 33);
    sp_model_set(c.model, SP_MODEL_KV_HEADS, 3);
    EXPECT_FAIL(fill(&c), SP_ERR_INVALID,
                "topology tp: 2 does not divide the model's 33 heads");
    sp_model_set(c.model, SP_MODEL_KV_HEADS, 5);
    EXPECT_FAIL(fill(&c), SP_ERR_INVALID, "model kv_heads: 5 does not divide heads 33");
    sp_model_set(c.model, SP_MODEL_KV_HEADS, 33);
    sp_model_set(c.model, SP_MODEL_EXPERTS, 4);
    sp_model_set(c.model, SP_MODEL_EXPERTS_PER_TOKEN, 5);
    EXPECT_FAIL(fill(&c), SP_ERR_INVALID, "model experts_per_token: 5 is above experts 4");
    close_case(&c);
}

static void set_model(const rates_case *c, int32_t key, int64_t value)
{
    assert_int_equal(sp_model_set(c->model, key, value), SP_OK);
}

/* The largest values that parameters take, together: an error, never a wrapped number. */
static void costs_that_do_not_fit_are_refused(void **state)
{
    rates_case c = open_case("dp=1", "llama2-7b", "ideal");

    (void)state;
    assert_int_equal(sp_device_set(c.device, SP_DEVICE_LINEAR_FLOPS, 1000000000), SP_OK);
    EXPECT_FAIL(fill(&c), SP_ERR_OVERFLOW,
                "device linear_flops: at 1000000000 a stage takes more than 2^40 ps for "
                "each token");
    assert_int_equal(sp_device_set(c.device, SP_DEVICE_LINEAR_FLOPS, INT64_C(1) << 59), SP_OK);
    set_model(&c, SP_MODEL_LAYERS, 100000);
    set_model(&c, SP_MODEL_HIDDEN, 1 << 24);
    set_model(&c, SP_MODEL_FFN_HIDDEN, 1 << 26);
    EXPECT_FAIL(fill(&c), SP_ERR_OVERFLOW, "model: FLOPs per token of a stage pass 2^62");
    set_model(&c, SP_MODEL_EXPERTS, 65536);
    set_model(&c, SP_MODEL_EXPERTS_PER_TOKEN, 1024);
    set_model(&c, SP_MODEL_HEADS, 65536);
    set_model(&c, SP_MODEL_KV_HEADS, 65536);
    set_model(&c, SP_MODEL_HEAD_DIM, 65536);
    set_model(&c, SP_MODEL_VOCAB, 1 << 26);
    EXPECT_FAIL(fill(&c), SP_ERR_OVERFLOW, "model: FLOPs per token of a stage pass 2^62");
    close_case(&c);
}

/* The slowest links and the longest latencies do not wrap either. */
static void the_slowest_device_keeps_costs_positive(void **state)
{
    static const int32_t slow[] = { SP_DEVICE_HALF_RATE_TOKENS, SP_DEVICE_LAYER_FLOOR_PS,
                                    SP_DEVICE_PACK_OVERHEAD_PS, SP_DEVICE_INTRA_LATENCY_PS,
                                    SP_DEVICE_INTER_LATENCY_PS, SP_DEVICE_TP_EXPOSED_PERCENT };
    const sp__load load = { .tokens = INT32_MAX, .pairs = INT64_C(1) << 61,
                            .context = INT32_MAX };
    rates_case c = open_case("pp=2 tp=16", "llama2-7b", "ideal");

    (void)state;
    for (int32_t i = 0; i < 13; i++) {
        sp_param_info info = SP_PARAM_INFO_INIT;

        assert_int_equal(sp_device_param_info(i, &info), SP_OK);
        for (size_t j = 0; j < sizeof slow / sizeof *slow; j++)
            if (slow[j] == info.key)
                assert_int_equal(sp_device_set(c.device, info.key, info.maximum), SP_OK);
        if (info.key == SP_DEVICE_INTRA_BANDWIDTH || info.key == SP_DEVICE_INTER_BANDWIDTH)
            assert_int_equal(sp_device_set(c.device, info.key, info.minimum), SP_OK);
    }
    assert_int_equal(fill(&c), SP_OK);
    for (int pass = 0; pass < 2; pass++) {
        const sp__load one = { .tokens = 1, .pairs = 1, .context = 1 };
        int64_t cost = sp__load_cost(&c.rates, 0, pass, &load, 64, 1);

        assert_true(cost == -1 || cost > 0);
        assert_true(sp__load_cost(&c.rates, 0, pass, &one, 64, 1) > 0);
    }
    close_case(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_token_of_llama2_7b_costs_13_gigaflops),
        cmocka_unit_test(backward_is_twice_linear_and_two_and_a_half_times_attention),
        cmocka_unit_test(each_pass_of_attention_has_its_own_rate),
        cmocka_unit_test(full_recomputation_adds_a_forward_of_the_layers),
        cmocka_unit_test(measured_layers_cost_what_was_measured),
        cmocka_unit_test(the_head_may_have_a_rate_of_its_own),
        cmocka_unit_test(chunks_divide_the_layers_of_each_stage),
        cmocka_unit_test(only_the_last_stage_has_the_head),
        cmocka_unit_test(layers_that_do_not_divide_go_to_the_first_stages),
        cmocka_unit_test(tensor_parallelism_divides_the_work),
        cmocka_unit_test(the_exposed_share_of_tensor_collectives_is_added),
        cmocka_unit_test(experts_cost_what_is_active_and_the_router),
        cmocka_unit_test(an_mlp_without_gate_has_two_matrices),
        cmocka_unit_test(attention_follows_the_model),
        cmocka_unit_test(a_pack_costs_its_sum_or_the_floor_and_the_overhead),
        cmocka_unit_test(half_rate_doubles_the_time_at_its_tokens),
        cmocka_unit_test(a_device_gives_floor_and_overhead),
        cmocka_unit_test(an_exchange_takes_latency_and_its_share_of_the_bytes),
        cmocka_unit_test(weight_gradients_exchange_nothing),
        cmocka_unit_test(a_message_takes_its_bytes_and_then_latency),
        cmocka_unit_test(nodes_are_runs_of_consecutive_ranks),
        cmocka_unit_test(a_cost_that_does_not_fit_is_minus_one),
        cmocka_unit_test(contradictions_are_named),
        cmocka_unit_test(costs_that_do_not_fit_are_refused),
        cmocka_unit_test(the_slowest_device_keeps_costs_positive),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
