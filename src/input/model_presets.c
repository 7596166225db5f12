/*
 * model_presets.c - shapes of well-known models, by name.
 *
 * A row holds the shape alone. How it is trained (element bytes, recomputation,
 * optimiser) keeps the parameter table's fallbacks. Shapes are those that the
 * models' authors published; where a configuration pads the vocabulary for
 * tensor parallelism, the published size before padding stands here.
 */
#include "input/model.h"

#define COLUMNS 12

typedef struct preset {
    const char *name;
    int32_t shape[COLUMNS];
} preset;

/* What the columns of a row are. */
static const int32_t columns[COLUMNS] = {
    SP_MODEL_LAYERS,  SP_MODEL_HIDDEN,          SP_MODEL_HEADS,
    SP_MODEL_KV_HEADS, SP_MODEL_HEAD_DIM,       SP_MODEL_FFN_HIDDEN,
    SP_MODEL_GATED,   SP_MODEL_VOCAB,           SP_MODEL_TIED_EMBEDDINGS,
    SP_MODEL_EXPERTS, SP_MODEL_EXPERTS_PER_TOKEN, SP_MODEL_WINDOW,
};

/*   name, { layers, hidden, heads, kv_heads, head_dim, ffn_hidden,
 *           gated, vocab, tied_embeddings, experts, experts_per_token, window } */
static const preset presets[] = {
    /* NVIDIA NeMo, GPTConfig5B; vocabulary as Megatron-LM pads GPT-2's 50257. */
    { "gpt3-5b", { 24, 4096, 32, 32, 128, 16384, 0, 51200, 1, 1, 1, 0 } },
    /* Brown et al., arXiv 2005.14165, table 2.1; vocabulary as above. */
    { "gpt3-175b", { 96, 12288, 96, 96, 128, 49152, 0, 51200, 1, 1, 1, 0 } },
    /* Touvron et al., arXiv 2307.09288, and the config.json of
     * meta-llama/Llama-2-7b-hf, -13b-hf and -70b-hf. */
    { "llama2-7b", { 32, 4096, 32, 32, 128, 11008, 1, 32000, 0, 1, 1, 0 } },
    { "llama2-13b", { 40, 5120, 40, 40, 128, 13824, 1, 32000, 0, 1, 1, 0 } },
    { "llama2-70b", { 80, 8192, 64, 8, 128, 28672, 1, 32000, 0, 1, 1, 0 } },
    /* Grattafiori et al., arXiv 2407.21783, table 3; vocabulary from the
     * config.json of meta-llama/Meta-Llama-3-8B. */
    { "llama3-8b", { 32, 4096, 32, 8, 128, 14336, 1, 128256, 0, 1, 1, 0 } },
    { "llama3-70b", { 80, 8192, 64, 8, 128, 28672, 1, 128256, 0, 1, 1, 0 } },
    { "llama3-405b", { 126, 16384, 128, 8, 128, 53248, 1, 128256, 0, 1, 1, 0 } },
    /* NVIDIA NeMo, Nemotron3Config22B (no model card describes the 22B; the
     * vocabulary is the family's), squared ReLU. */
    { "nemotron-22b", { 40, 6144, 48, 48, 128, 24576, 0, 256000, 0, 1, 1, 0 } },
    /* NVIDIA, arXiv 2406.11704, table 1, squared ReLU. */
    { "nemotron-340b", { 96, 18432, 96, 8, 192, 73728, 0, 256000, 0, 1, 1, 0 } },
    /* Jiang et al., arXiv 2310.06825, table 1. */
    { "mistral-7b", { 32, 4096, 32, 8, 128, 14336, 1, 32000, 0, 1, 1, 4096 } },
    /* Jiang et al., arXiv 2401.04088, table 1. */
    { "mixtral-8x7b", { 32, 4096, 32, 8, 128, 14336, 1, 32000, 0, 8, 2, 0 } },
    /* Qwen team, arXiv 2412.15115, and the config.json of Qwen/Qwen2.5-7B and -72B. */
    { "qwen2.5-7b", { 28, 3584, 28, 4, 128, 18944, 1, 152064, 0, 1, 1, 0 } },
    { "qwen2.5-72b", { 80, 8192, 64, 8, 128, 29568, 1, 152064, 0, 1, 1, 0 } },
    /* Qwen team, arXiv 2505.09388, table 2, and the config.json of
     * Qwen/Qwen3-30B-A3B and Qwen/Qwen3-235B-A22B. */
    { "qwen3-30b-a3b", { 48, 2048, 32, 4, 128, 768, 1, 151936, 0, 128, 8, 0 } },
    { "qwen3-235b-a22b", { 94, 4096, 64, 4, 128, 1536, 1, 151936, 0, 128, 8, 0 } },
};

#define PRESETS ((int32_t)(sizeof presets / sizeof *presets))

const char *sp_model_preset_name(int32_t index)
{
    return index >= 0 && index < PRESETS ? presets[index].name : NULL;
}

void sp__model_preset_apply(int32_t index, int64_t values[SP__MODEL_PARAMS])
{
    for (int i = 0; i < COLUMNS; i++)
        values[columns[i] - 1] = presets[index].shape[i];
}
