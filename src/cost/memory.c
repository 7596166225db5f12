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
 * activation's output, full keeps the layer's input alone. With sequence
 * parallelism all is spread over TP. The last stage keeps 4 bytes of softmax for
 * each token and vocabulary entry.
 */
#include "cost/memory.h"

#include <inttypes.h>

#include "base/status.h"

#define GRADIENT_BYTES 4
#define OPTIMISER_BYTES 12
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

static int64_t static_bytes(const struct sp_model *m, const sp__shape *shape, sp__int128 parameters)
{
    sp__int128 sharers = value(m, SP_MODEL_DISTRIBUTED_OPTIMIZER)
                             ? (sp__int128)shape->degree[SP__DP] * shape->degree[SP__CP] : 1;
    sp__int128 own = (parameters + shape->degree[SP__TP] - 1) / shape->degree[SP__TP];
    sp__int128 bytes = own * (value(m, SP_MODEL_ELEMENT_BYTES) + GRADIENT_BYTES) +
                       (own * OPTIMISER_BYTES + sharers - 1) / sharers;

    return bytes > INT64_MAX / 4 ? -1 : (int64_t)bytes;
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
        return hidden * value(m, SP_MODEL_ELEMENT_BYTES);
    if (value(m, SP_MODEL_RECOMPUTE) == SP_RECOMPUTE_SELECTIVE)
        elements -= 2 * hidden + ffn;
    return elements * value(m, SP_MODEL_ELEMENT_BYTES) + statistics;
}

static int64_t cached_bytes(const struct sp_model *m, int64_t layers, int32_t tp)
{
    int64_t heads = sp__ceil_div(value(m, SP_MODEL_KV_HEADS), tp);

    return 2 * heads * value(m, SP_MODEL_HEAD_DIM) * value(m, SP_MODEL_ELEMENT_BYTES) * layers;
}

sp_status sp__memory_init(sp__stage_memory *memory, const struct sp_model *m,
                          const sp__shape *shape, const int32_t *layers)
{
    int32_t pp = shape->degree[SP__PP], tp = shape->degree[SP__TP];

    for (int32_t s = 0; s < pp; s++) {
        sp__stage_memory *out = &memory[s];
        int64_t logits = s == pp - 1 ? STATISTIC_BYTES * value(m, SP_MODEL_VOCAB) : 0;

        out->fixed = static_bytes(m, shape, stage_parameters(m, layers[s], s == 0, s == pp - 1));
        if (out->fixed < 0)
            return sp__fail(SP_ERR_OVERFLOW, "model: bytes of stage %" PRId32 " pass int64", s);
        out->token = sp__ceil_div(layer_token_bytes(m) * layers[s] + logits, tp);
        out->cached = cached_bytes(m, layers[s], tp);
    }
    return SP_OK;
}
