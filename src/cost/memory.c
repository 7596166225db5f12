/*
 * memory.c - bytes on a device: see memory.h.
 *
 * Weights take element_bytes a parameter, gradients 4 (accumulated in fp32),
 * Adam 12 (fp32 master weight and two moments), the latter over DP x CP ranks
 * when the optimiser is distributed (Rajbhandari et al., arXiv 1910.02054, 3.1).
 *
 * Activations that a layer saves for its backward with flash attention, in
 * elements per token: the inputs of both norms and of both blocks (4 * hidden),
 * Q, K, V and the attention output (2 * q + 2 * kv), and the MLP's inner values
 * (ffn for each matrix: gate, up and product when gated, else up and activation),
 * plus 4 bytes of softmax statistics a head. For a GPT this is 32 bytes times
 * hidden, against 34 in Korthikanti et al., arXiv 2205.05198, eq. 4, which counts
 * dropout masks. Selective recomputation drops the norm outputs and the
 * activation's output, full keeps the layer's input and the K and V that later
 * slices attend. With sequence parallelism all is spread over TP. The last stage
 * keeps 4 bytes of softmax for each token and vocabulary entry.
 */
#include "cost/memory.h"

#include <inttypes.h>

#include "base/status.h"

#define STATISTIC_BYTES 4

static int64_t value(const struct sp_model *m, int key)
{
    return sp__model_value(m, key);
}

/* Parameters of a stage, embeddings included. */
static sp__int128 stage_parameters(const struct sp_model *m, int64_t layers, int is_first,
                                   int is_last)
{
    sp__int128 hidden = value(m, SP_MODEL_HIDDEN);
    sp__int128 width = (sp__int128)value(m, SP_MODEL_HEAD_DIM) *
                       (2 * value(m, SP_MODEL_HEADS) + 2 * value(m, SP_MODEL_KV_HEADS));
    sp__int128 mlp = hidden * value(m, SP_MODEL_FFN_HIDDEN) * (value(m, SP_MODEL_GATED) ? 3 : 2);
    int64_t experts = value(m, SP_MODEL_EXPERTS);
    sp__int128 embedding = hidden * value(m, SP_MODEL_VOCAB);
    int shared = is_first && is_last && value(m, SP_MODEL_TIED_EMBEDDINGS) != 0;
    sp__int128 layer = hidden * width + mlp * experts + (experts > 1 ? hidden * experts : 0) +
                       2 * hidden;

    return layer * layers + embedding * (is_first + is_last - shared);
}

int64_t sp__own_parameters(const struct sp_model *m, const sp__shape *shape, int32_t chunks,
                           const int32_t *layers, int32_t s)
{
    int32_t pp = shape->degree[SP__PP], tp = shape->degree[SP__TP];
    sp__int128 all = stage_parameters(m, (int64_t)layers[s] * chunks, s == 0, s == pp - 1);
    sp__int128 own = (all + tp - 1) / tp;

    return own > INT64_MAX / 128 ? -1 : (int64_t)own;
}

int64_t sp__optimizer_sharers(const struct sp_model *m, const sp__shape *shape)
{
    return value(m, SP_MODEL_DISTRIBUTED_OPTIMIZER)
               ? (int64_t)shape->degree[SP__DP] * shape->degree[SP__CP] : 1;
}

static sp_status init_fixed(sp__stage_memory *out, const struct sp_model *m, const sp__shape *shape,
                            int64_t own, int32_t s)
{
    if (own < 0)
        return sp__fail(SP_ERR_OVERFLOW, "model: bytes of stage %" PRId32 " pass int64", s);
    out->weights = own * value(m, SP_MODEL_ELEMENT_BYTES);
    out->gradients = own * SP__GRADIENT_BYTES;
    out->optimizer = sp__ceil_div(own * SP__OPTIMIZER_BYTES, sp__optimizer_sharers(m, shape));
    out->fixed = out->weights + out->gradients + out->optimizer;
    return SP_OK;
}

/* Bytes that a layer saves of a token, before TP. */
static int64_t layer_token_bytes(const struct sp_model *m)
{
    int64_t hidden = value(m, SP_MODEL_HIDDEN);
    int64_t q = value(m, SP_MODEL_HEADS) * value(m, SP_MODEL_HEAD_DIM);
    int64_t kv = value(m, SP_MODEL_KV_HEADS) * value(m, SP_MODEL_HEAD_DIM);
    int64_t active = value(m, SP_MODEL_EXPERTS) > 1 ? value(m, SP_MODEL_EXPERTS_PER_TOKEN) : 1;
    int64_t ffn = value(m, SP_MODEL_FFN_HIDDEN) * active;
    int64_t inner = value(m, SP_MODEL_GATED) ? 3 : 2;
    int64_t elements = 4 * hidden + 2 * q + 2 * kv + inner * ffn;
    int64_t statistics = STATISTIC_BYTES * value(m, SP_MODEL_HEADS);

    if (value(m, SP_MODEL_RECOMPUTE) == SP_RECOMPUTE_FULL)
        return (hidden + 2 * kv) * value(m, SP_MODEL_ELEMENT_BYTES);
    if (value(m, SP_MODEL_RECOMPUTE) == SP_RECOMPUTE_SELECTIVE)
        elements -= 2 * hidden + ffn;
    return elements * value(m, SP_MODEL_ELEMENT_BYTES) + statistics;
}

static int64_t cached_bytes(const struct sp_model *m, int64_t layers, int32_t tp)
{
    int64_t heads = sp__ceil_div(value(m, SP_MODEL_KV_HEADS), tp);

    return 2 * heads * value(m, SP_MODEL_HEAD_DIM) * value(m, SP_MODEL_ELEMENT_BYTES) * layers;
}

/* K and V that a live token keeps among its activations. */
static int64_t own_kv_bytes(const struct sp_model *m)
{
    return 2 * value(m, SP_MODEL_KV_HEADS) * value(m, SP_MODEL_HEAD_DIM) *
           value(m, SP_MODEL_ELEMENT_BYTES);
}

sp_status sp__memory_init(sp__stage_memory *memory, const struct sp_model *m,
                          const sp__shape *shape, int32_t chunks, const int32_t *layers)
{
    int32_t pp = shape->degree[SP__PP], tp = shape->degree[SP__TP], stages = pp * chunks;

    for (int32_t u = 0; u < stages; u++) {
        sp__stage_memory *out = &memory[u];
        int64_t logits = u == stages - 1 ? STATISTIC_BYTES * value(m, SP_MODEL_VOCAB) : 0;

        *out = (sp__stage_memory){ 0 };
        if (u < pp)
            SP_TRY(init_fixed(out, m, shape, sp__own_parameters(m, shape, chunks, layers, u), u));
        out->token = sp__ceil_div(layer_token_bytes(m) * layers[u] + logits, tp);
        out->logits = sp__ceil_div(logits, tp);
        out->own_kv = own_kv_bytes(m) * layers[u] / tp;
        out->cached = cached_bytes(m, layers[u], tp);
    }
    return SP_OK;
}

/* Fixed bytes take a part of int64 below 2^61, as init_fixed() bounds them. */
sp_status sp__memory_check(const sp__stage_memory *memory, const sp__rates *rates, int64_t tokens)
{
    for (int32_t s = 0; s < rates->pp; s++) {
        sp__int128 each = 4 * (sp__int128)rates->hop_bytes;

        for (int32_t u = s; u < rates->stages; u += rates->pp)
            each += memory[u].token + 2 * (sp__int128)memory[u].cached;
        if (each * tokens > (sp__int128)1 << 61)
            return sp__fail(SP_ERR_OVERFLOW, "lengths: on stage %" PRId32 " the activations of %"
                            PRId64 " tokens pass 2^61 bytes", s, tokens);
    }
    return SP_OK;
}
