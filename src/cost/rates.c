/*
 * rates.c - what a pack costs on a stage: see rates.h.
 *
 * FLOPs per token and layer, forward: 2 for each weight that the token meets
 * (Kaplan et al., arXiv 2001.08361, 2.1), so
 *     2 * (hidden * (q + 2 * kv) + q * hidden + matrices * hidden * ffn * active)
 * with q = heads * head_dim, kv = kv_heads * head_dim, three matrices when gated;
 * a mixture of experts adds its router. Backward is twice that. Attention takes
 * 4 * q FLOPs a pair forward (two products of q multiply-adds) and 2.5 times as
 * much backward, where flash kernels compute the scores again (Dao,
 * arXiv 2307.08691, 4.1). Full recomputation adds one forward to the backward.
 * The vocabulary head costs 2 * hidden * vocab a token on the last stage.
 *
 * Of a backward, the weight gradients take what the forward's linear layers take
 * (one of the two products a weight); all else gives the gradients of the inputs.
 * Measured layers take the same: never more than was measured.
 */
#include "cost/rates.h"

#include <inttypes.h>

#include "base/status.h"

#define PS_PER_SECOND 1000000000000

/* Forward FLOPs of one stage, by what they grow with. */
typedef struct flops {
    sp__int128 layers;    /* linear, per token, of the layers */
    sp__int128 head;      /* per token */
    sp__int128 attention; /* per pair, all layers */
} flops;

static int64_t query_width(const struct sp_model *m)
{
    return sp__model_value(m, SP_MODEL_HEADS) * sp__model_value(m, SP_MODEL_HEAD_DIM);
}

static int64_t kv_width(const struct sp_model *m)
{
    return sp__model_value(m, SP_MODEL_KV_HEADS) * sp__model_value(m, SP_MODEL_HEAD_DIM);
}

static sp__int128 layer_weights(const struct sp_model *m)
{
    sp__int128 hidden = sp__model_value(m, SP_MODEL_HIDDEN);
    int64_t experts = sp__model_value(m, SP_MODEL_EXPERTS);
    int64_t active = sp__model_value(m, SP_MODEL_EXPERTS_PER_TOKEN);
    int64_t matrices = sp__model_value(m, SP_MODEL_GATED) ? 3 : 2;
    sp__int128 mlp = hidden * sp__model_value(m, SP_MODEL_FFN_HIDDEN) * matrices;

    if (experts > 1)
        mlp = mlp * active + hidden * experts;
    return hidden * (2 * query_width(m) + 2 * kv_width(m)) + mlp;
}

static flops stage_flops(const struct sp_model *m, int64_t layers, int is_last)
{
    flops f;

    f.layers = 2 * layer_weights(m) * layers;
    f.head = is_last ? (sp__int128)2 * sp__model_value(m, SP_MODEL_HIDDEN) *
                           sp__model_value(m, SP_MODEL_VOCAB) : 0;
    f.attention = (sp__int128)4 * query_width(m) * layers;
    return f;
}

void sp__model_flops(const struct sp_model *m, sp__int128 *token, sp__int128 *pair)
{
    flops f = stage_flops(m, sp__model_value(m, SP_MODEL_LAYERS), 1);

    *token = f.layers + f.head;
    *pair = f.attention;
}

/* FLOPs at a rate of the device shared by tp ranks, in fixed point picoseconds. */
static sp_status per_unit(sp__int128 flop, const struct sp_device *d, int key, int32_t tp,
                          int64_t *out)
{
    const sp__int128 most = (sp__int128)1 << 62;
    int64_t rate = sp__device_value(d, key);
    sp__int128 ps;

    if (flop > most)
        return sp__fail(SP_ERR_OVERFLOW, "model: FLOPs per token of a stage pass 2^62");
    ps = flop * PS_PER_SECOND;
    /* In two steps, since FLOPs, picoseconds and the fraction together would
     * pass 128 bits for the largest models. */
    if (ps <= ((sp__int128)1 << 105))
        ps = ((ps << SP__COST_BITS) + (sp__int128)rate * tp / 2) / ((sp__int128)rate * tp);
    else
        ps = (ps / ((sp__int128)rate * tp)) << SP__COST_BITS;
    if (ps > INT64_MAX / 8)
        return sp__fail(SP_ERR_OVERFLOW, "device %s: at %" PRId64 " a stage takes more than 2^40 "
                        "ps for each token", sp__device_table.rows[key - 1].name, rate);
    *out = (int64_t)ps;
    return SP_OK;
}

static sp_status check_chunks(int32_t pp, int32_t chunks, const int32_t *layers)
{
    if (chunks > 1 && pp == 1)
        return sp__fail(SP_ERR_INVALID, "virtual_stages: %" PRId32
                        " chunks a stage need a pipeline of at least 2 stages, but pp is 1",
                        chunks);
    for (int32_t s = 0; s < pp; s++)
        if (layers[s] % chunks != 0)
            return sp__fail(SP_ERR_INVALID, "virtual_stages: %" PRId32 " chunks do not divide the %"
                            PRId32 " layers of stage %" PRId32, chunks, layers[s], s);
    return SP_OK;
}

sp_status sp__stage_layers(const struct sp_model *m, int32_t pp, int32_t chunks, int32_t *layers)
{
    int64_t total = sp__model_value(m, SP_MODEL_LAYERS), sum = 0;

    if (pp > total)
        return sp__fail(SP_ERR_INVALID,
                        "topology pp: %" PRId32 " stages are more than the model's %" PRId64
                        " layers",
                        pp, total);
    if (m->stage_layers != NULL && m->stages != pp)
        return sp__fail(SP_ERR_INVALID, "stage layers are given for %" PRId32
                        " stages, but the topology has pp %" PRId32, m->stages, pp);
    for (int32_t s = 0; s < pp; s++) {
        layers[s] = m->stage_layers != NULL ? m->stage_layers[s]
                                            : (int32_t)(total / pp + (s < total % pp));
        sum += layers[s];
    }
    if (sum != total)
        return sp__fail(SP_ERR_INVALID, "stage layers: they add up to %" PRId64
                        ", but the model has %" PRId64 " layers", sum, total);
    SP_TRY(check_chunks(pp, chunks, layers));
    for (int32_t u = 0; u < pp * chunks; u++)
        layers[u] = u < pp ? layers[u] / chunks : layers[u - pp];
    return SP_OK;
}

/* A link's time for each token of a pack, in fixed point. */
static int64_t link_rate(const sp__link *link, int64_t bytes)
{
    sp__int128 ps;

    if (link->bandwidth == INT64_MAX)
        return 0;
    ps = ((sp__int128)bytes * PS_PER_SECOND << SP__COST_BITS) / link->bandwidth;
    return ps > INT64_MAX / 16 ? INT64_MAX / 16 : (int64_t)ps;
}

/* Tensor parallelism with sequence parallelism gathers and scatters a token's
 * hidden state twice in each direction of a layer, (tp - 1) / tp of it over the
 * wire (Korthikanti et al., arXiv 2205.05198, 4.2.2); the exposed share of that
 * adds to the layer's own time. */
static void add_tensor_parallel(sp__rate *rate, const sp__rates *rates, const struct sp_model *m,
                                const struct sp_device *d, const sp__shape *shape, int64_t layers)
{
    int64_t exposed = sp__device_value(d, SP_DEVICE_TP_EXPOSED_PERCENT);
    int32_t tp = shape->degree[SP__TP];
    int32_t span = (tp - 1) * shape->stride[SP__TP];
    const sp__link *link = sp__crosses_nodes(rates, 0, span) ? &rates->inter : &rates->intra;
    int64_t bytes = sp__mul_div(4 * layers * sp__model_value(m, SP_MODEL_HIDDEN) *
                                    sp__model_value(m, SP_MODEL_ELEMENT_BYTES), tp - 1, tp);

    if (tp == 1)
        return;
    rate->token += sp__mul_div_round(link_rate(link, bytes), exposed, 100);
    rate->fixed += sp__mul_div_round(4 * layers * link->latency, exposed, 100);
}

/* How often a pass runs the linear FLOPs of a forward: the weight gradients are one
 * of the backward's two products. */
static const int products[SP__RATES] = { 1, 2, 1, 1 };

/* Keys of a model's measured layers, by pass. */
typedef struct measured_keys {
    int token, pair, start, floor;
} measured_keys;

static const measured_keys measured[2] = {
    { SP_MODEL_FORWARD_TOKEN_AS, SP_MODEL_FORWARD_PAIR_AS, SP_MODEL_FORWARD_START_PS,
      SP_MODEL_FORWARD_FLOOR_PS },
    { SP_MODEL_BACKWARD_TOKEN_AS, SP_MODEL_BACKWARD_PAIR_AS, SP_MODEL_BACKWARD_START_PS,
      SP_MODEL_BACKWARD_FLOOR_PS },
};

static int is_measured(const struct sp_model *m, int pass)
{
    return sp__model_value(m, measured[pass].token) > 0 ||
           sp__model_value(m, measured[pass].pair) > 0;
}

/* Attoseconds a layer to fixed point picoseconds of a stage. */
static sp_status from_measured(const struct sp_model *m, int key, int64_t layers, int64_t *out)
{
    int64_t as = sp__model_value(m, key);
    sp__int128 ps = (((sp__int128)as * layers << SP__COST_BITS) + 500000) / 1000000;

    if (ps > INT64_MAX / 8)
        return sp__fail(SP_ERR_OVERFLOW,
                        "model %s: %" PRId64 " on %" PRId64 " layers passes 2^40 ps for each token",
                        sp__model_table.rows[key - 1].name, as, layers);
    *out = (int64_t)ps;
    return SP_OK;
}

/* What the layers of a stage cost as measured; recomputation was in the measurement. */
static sp_status measured_layers(sp__rate *rate, const struct sp_model *m, int64_t layers, int pass)
{
    const measured_keys *k = &measured[pass];

    SP_TRY(from_measured(m, k->token, layers, &rate->compute));
    SP_TRY(from_measured(m, k->pair, layers, &rate->pair));
    rate->half = sp__model_value(m, k->start) * layers;
    rate->floor = sp__model_value(m, k->floor) * layers;
    return SP_OK;
}

static int has_own_head(const struct sp_device *d)
{
    return sp__device_value(d, SP_DEVICE_HEAD_FLOPS) > 0;
}

/* Time that the layers of a stage spend on a token's hidden state outside their
 * products, bound by memory. */
static int64_t memory_bound(const struct sp_model *m, const struct sp_device *d, int64_t layers,
                            int32_t tp)
{
    sp__link memory = { sp__device_value(d, SP_DEVICE_MEMORY_BANDWIDTH), 0 };

    return link_rate(&memory, layers * sp__device_value(d, SP_DEVICE_LAYER_PASSES) *
                                  sp__model_value(m, SP_MODEL_HIDDEN) *
                                  sp__model_value(m, SP_MODEL_ELEMENT_BYTES) / tp);
}

/* What they cost by FLOPs and rates, the head included where it has no rate of its own. */
static sp_status counted_layers(sp__rate *rate, const struct sp_model *m, const struct sp_device *d,
                                const sp__shape *shape, const flops *f, int64_t layers, int pass)
{
    int again = pass == SP_BACKWARD && sp__model_value(m, SP_MODEL_RECOMPUTE) == SP_RECOMPUTE_FULL;
    int32_t tp = shape->degree[SP__TP];
    sp__int128 attention = pass == SP_FORWARD ? f->attention : f->attention * 5 / 2;
    int64_t recomputed = 0;
    sp__int128 head = has_own_head(d) ? 0 : f->head * products[pass];

    SP_TRY(per_unit(f->layers * (products[pass] + again) + head, d,
                    SP_DEVICE_LINEAR_FLOPS, tp, &rate->compute));
    SP_TRY(per_unit(attention, d, pass == SP_FORWARD ? SP_DEVICE_ATTENTION_FORWARD_FLOPS
                                                     : SP_DEVICE_ATTENTION_BACKWARD_FLOPS,
                    tp, &rate->pair));
    if (again)
        SP_TRY(per_unit(f->attention, d, SP_DEVICE_ATTENTION_FORWARD_FLOPS, tp, &recomputed));
    rate->pair += recomputed;
    rate->compute += (products[pass] + again) * memory_bound(m, d, layers, tp);
    rate->half =
        sp__fixed_cost(rate->compute, sp__device_value(d, SP_DEVICE_HALF_RATE_TOKENS), 0, 0);
    rate->floor = sp__device_value(d, SP_DEVICE_LAYER_FLOOR_PS) * layers * (products[pass] + again);
    return SP_OK;
}

static sp_status add_head(sp__rate *rate, const struct sp_device *d, const sp__shape *shape,
                          const flops *f, int pass)
{
    int64_t time = 0, half;

    SP_TRY(per_unit(f->head * products[pass], d,
                    has_own_head(d) ? SP_DEVICE_HEAD_FLOPS : SP_DEVICE_LINEAR_FLOPS,
                    shape->degree[SP__TP], &time));
    half = sp__fixed_cost(time, sp__device_value(d, SP_DEVICE_HALF_RATE_TOKENS), 0, 0);
    if (half < 0)
        return sp__fail(SP_ERR_OVERFLOW, "device half_rate_tokens: its time does not fit");
    rate->compute += time;
    rate->half += half;
    return SP_OK;
}

/* Forward or whole backward of a stage. */
static sp_status init_pass(sp__rate *rate, const sp__rates *rates, const struct sp_model *m,
                           const struct sp_device *d, const sp__shape *shape, const flops *f,
                           int64_t layers, int pass)
{
    if (is_measured(m, pass))
        SP_TRY(measured_layers(rate, m, layers, pass));
    else
        SP_TRY(counted_layers(rate, m, d, shape, f, layers, pass));
    if (rate->half < 0)
        return sp__fail(SP_ERR_OVERFLOW, "device half_rate_tokens: its time does not fit");
    if (is_measured(m, pass) || has_own_head(d))
        SP_TRY(add_head(rate, d, shape, f, pass));
    rate->token = rate->compute;
    rate->fixed = sp__device_value(d, SP_DEVICE_PACK_OVERHEAD_PS);
    add_tensor_parallel(rate, rates, m, d, shape, layers);
    return SP_OK;
}

/* Splits a stage's backward: what the forward's linear layers take is the weights'. */
static void split_backward(sp__stage_rates *stage, int64_t overhead)
{
    const sp__rate *f = &stage->pass[SP_FORWARD], *b = &stage->pass[SP_BACKWARD];
    sp__rate *w = &stage->pass[SP_WEIGHT], *i = &stage->pass[SP__INPUT];

    w->compute = w->token = sp__min(f->compute, b->compute);
    w->pair = 0;
    w->half = sp__min(f->half, b->half);
    w->floor = sp__min(f->floor, b->floor);
    w->fixed = overhead;
    *i = *b;
    i->compute -= w->compute;
    i->token -= w->token;
    i->half -= w->half;
    i->floor -= w->floor;
}

static sp_status check_model(const struct sp_model *m, const sp__shape *shape)
{
    int64_t heads = sp__model_value(m, SP_MODEL_HEADS);
    int64_t kv_heads = sp__model_value(m, SP_MODEL_KV_HEADS);
    int64_t experts = sp__model_value(m, SP_MODEL_EXPERTS);
    int64_t active = sp__model_value(m, SP_MODEL_EXPERTS_PER_TOKEN);
    int32_t tp = shape->degree[SP__TP];

    if (heads % kv_heads != 0)
        return sp__fail(SP_ERR_INVALID,
                        "model kv_heads: %" PRId64 " does not divide heads %" PRId64, kv_heads,
                        heads);
    if (active > experts)
        return sp__fail(SP_ERR_INVALID, "model experts_per_token: %" PRId64 " is above experts %"
                        PRId64, active, experts);
    if (heads % tp != 0)
        return sp__fail(SP_ERR_INVALID,
                        "topology tp: %" PRId32 " does not divide the model's %" PRId64 " heads",
                        tp, heads);
    return SP_OK;
}

static void init_links(sp__rates *rates, const struct sp_model *m, const struct sp_device *d,
                       const sp__shape *shape)
{
    rates->intra.bandwidth = sp__device_value(d, SP_DEVICE_INTRA_BANDWIDTH);
    rates->intra.latency = sp__device_value(d, SP_DEVICE_INTRA_LATENCY_PS);
    rates->inter.bandwidth = sp__device_value(d, SP_DEVICE_INTER_BANDWIDTH);
    rates->inter.latency = sp__device_value(d, SP_DEVICE_INTER_LATENCY_PS);
    rates->devices_per_node = (int32_t)sp__device_value(d, SP_DEVICE_DEVICES_PER_NODE);
    rates->hop_bytes = sp__ceil_div(sp__model_value(m, SP_MODEL_HIDDEN) *
                                    sp__model_value(m, SP_MODEL_ELEMENT_BYTES),
                                    shape->degree[SP__TP]);
    rates->blocking_sends = !sp__device_value(d, SP_DEVICE_P2P_OVERLAP);
    rates->exchange_percent = (int32_t)sp__device_value(d, SP_DEVICE_CP_EXPOSED_PERCENT);
    rates->queued_sends = sp__device_value(d, SP_DEVICE_P2P_CONTENTION) != 0;
}

/* K and V of a token on one rank; heads are spread over TP while there are enough. */
static int64_t kv_bytes_per_layer(const struct sp_model *m, int32_t tp)
{
    int64_t kv_heads = sp__model_value(m, SP_MODEL_KV_HEADS);

    return 2 * sp__ceil_div(kv_heads, tp) * sp__model_value(m, SP_MODEL_HEAD_DIM) *
           sp__model_value(m, SP_MODEL_ELEMENT_BYTES);
}

sp_status sp__rates_init(sp__rates *rates, sp__stage_rates *stage, const struct sp_model *m,
                         const struct sp_device *d, const sp__shape *shape)
{
    int64_t window = sp__model_value(m, SP_MODEL_WINDOW);
    int32_t pp = shape->degree[SP__PP];

    SP_TRY(check_model(m, shape));
    rates->stage = stage;
    rates->pp = pp;
    rates->stages = pp * rates->chunks;
    rates->cp = shape->degree[SP__CP];
    rates->attention.window = window > 0 ? window : INT64_MAX;
    rates->attention.causal = (int32_t)sp__model_value(m, SP_MODEL_CAUSAL);
    init_links(rates, m, d, shape);
    for (int32_t u = 0; u < rates->stages; u++) {
        int64_t layers = stage[u].layers;
        flops f = stage_flops(m, layers, u == rates->stages - 1);

        stage[u].kv_bytes = layers * kv_bytes_per_layer(m, shape->degree[SP__TP]);
        SP_TRY(init_pass(&stage[u].pass[SP_FORWARD], rates, m, d, shape, &f, layers, SP_FORWARD));
        SP_TRY(init_pass(&stage[u].pass[SP_BACKWARD], rates, m, d, shape, &f, layers, SP_BACKWARD));
        split_backward(&stage[u], sp__device_value(d, SP_DEVICE_PACK_OVERHEAD_PS));
    }
    return SP_OK;
}

/* Latency and transfer, saturated at a time that no plan can hold. */
static int64_t transfer(const sp__link *link, int64_t messages, sp__int128 bytes)
{
    sp__int128 time = (sp__int128)messages * link->latency;

    if (link->bandwidth != INT64_MAX)
        time += bytes * PS_PER_SECOND / link->bandwidth;
    return time > SP__LONGEST ? SP__LONGEST : (int64_t)time;
}

int64_t sp__exchange_time(const sp__rates *rates, int32_t stage, int64_t context, int32_t group,
                          int crosses_nodes)
{
    const sp__stage_rates *r = &rates->stage[stage];

    if (context == 0 || group == 1)
        return 0;
    return sp__mul_div(transfer(crosses_nodes ? &rates->inter : &rates->intra, r->layers,
                                (sp__int128)context * r->kv_bytes * (group - 1) / group),
                       rates->exchange_percent, 100);
}

int64_t sp__load_cost(const sp__rates *rates, int32_t stage, int pass, const sp__load *load,
                      int32_t group, int crosses_nodes)
{
    const sp__rate *r = &rates->stage[stage].pass[pass];
    int64_t compute;

    if (load->tokens == 0)
        return 0;
    compute = sp__fixed_cost(r->token, load->tokens, r->pair, load->pairs);
    if (compute < 0)
        return -1;
    compute = sp__max(compute + r->half, r->floor) + r->fixed;
    if (pass == SP_WEIGHT) /* its rank has all that it needs */
        return compute;
    return compute + sp__exchange_time(rates, stage, load->context, group, crosses_nodes);
}

int64_t sp__send_time(const sp__rates *rates, int64_t tokens, int crosses_nodes)
{
    sp__link link = crosses_nodes ? rates->inter : rates->intra;

    return transfer(&link, 0, (sp__int128)tokens * rates->hop_bytes);
}

int64_t sp__send_latency(const sp__rates *rates, int crosses_nodes)
{
    return crosses_nodes ? rates->inter.latency : rates->intra.latency;
}

/* With several chunks every stage of a pipeline receives and sends in both passes;
 * else the first and last lack one side of each. */
int64_t sp__buffer_bytes(const sp__rates *rates, int32_t stage, const int64_t *largest)
{
    int has_before = stage > 0 || rates->chunks > 1;
    int has_after = stage < rates->pp - 1 || rates->chunks > 1;

    return (has_before + has_after) * (largest[0] + largest[1]) * rates->hop_bytes;
}
