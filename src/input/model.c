/*
 * model.c - the shape of a transformer: one table of parameters and the handle
 * that keeps a value for each row.
 *
 * The bounds keep the arithmetic of the cost floor inside its types: weights of
 * a layer stay below 2^69 in 128 bits, what a layer keeps of one token below
 * 2^41 bytes. Each value is held against its own bounds alone here; whether the
 * values suit one another is asked when they meet a topology, so that they may
 * be set in any order.
 */
#include "input/model.h"

#include <inttypes.h>
#include <string.h>

#include "base/names.h"
#include "base/status.h"

#define MOST_LAYERS 100000
#define MOST_HEADS 65536
#define MOST_WIDTH (1 << 26) /* of the MLP, and of the vocabulary */
#define MOST_UNIT INT64_C(1000000000000000000) /* of a token or pair: a second in attoseconds */
#define MOST_START INT64_C(1000000000000)      /* of a pack: a second in picoseconds */

/* The fallbacks are the shape of llama2-7b. */
static const sp__param rows[] = {
    { SP_MODEL_LAYERS, "layers", "", "", 1, MOST_LAYERS, 32, "transformer layers" },
    { SP_MODEL_HIDDEN, "hidden", "", "", 1, 1 << 24, 4096, "hidden size" },
    { SP_MODEL_HEADS, "heads", "", "", 1, MOST_HEADS, 32, "query heads" },
    { SP_MODEL_KV_HEADS, "kv_heads", "", "", 1, MOST_HEADS, 32,
      "key and value heads; divides heads" },
    { SP_MODEL_HEAD_DIM, "head_dim", "", "", 1, 65536, 128, "width of a head" },
    { SP_MODEL_FFN_HIDDEN, "ffn_hidden", "", "", 0, MOST_WIDTH, 11008,
      "width of the MLP, of one expert where there are several" },
    { SP_MODEL_GATED, "gated", "", "no,yes", 0, 1, 1,
      "whether the MLP is gated (SwiGLU), with three matrices instead of two" },
    { SP_MODEL_VOCAB, "vocab", "", "", 0, MOST_WIDTH, 32000, "vocabulary size" },
    { SP_MODEL_TIED_EMBEDDINGS, "tied_embeddings", "", "no,yes", 0, 1, 0,
      "whether input and output embedding share their weights" },
    { SP_MODEL_EXPERTS, "experts", "", "", 1, 65536, 1, "experts per layer; 1 is a dense model" },
    { SP_MODEL_EXPERTS_PER_TOKEN, "experts_per_token", "", "", 1, 1024, 1,
      "experts that a token is routed to" },
    { SP_MODEL_ELEMENT_BYTES, "element_bytes", "bytes", "", 1, 8, 2,
      "size of a weight and of an activation element" },
    { SP_MODEL_CAUSAL, "causal", "", "no,yes", 0, 1, 1,
      "whether a token attends only to itself and those before it" },
    { SP_MODEL_WINDOW, "window", "tokens", "", 0, INT64_C(1) << 40, 0,
      "sliding window of the attention; 0 is none" },
    { SP_MODEL_RECOMPUTE, "recompute", "", "none,selective,full", SP_RECOMPUTE_NONE,
      SP_RECOMPUTE_FULL, SP_RECOMPUTE_NONE, "activations that backward computes again" },
    { SP_MODEL_DISTRIBUTED_OPTIMIZER, "distributed_optimizer", "", "no,yes", 0, 1, 1,
      "whether the optimiser's state is sharded over DP x CP" },
    { SP_MODEL_VIRTUAL_STAGES, "virtual_stages", "", "", 1, SP_VIRTUAL_STAGES_MAX, 1,
      "model chunks of each pipeline stage; above 1 the pipeline is interleaved" },
    { SP_MODEL_FORWARD_TOKEN_AS, "forward_token_as", "as", "", 0, MOST_UNIT, 0,
      "measured forward time of a layer for each token; 0: from FLOPs" },
    { SP_MODEL_FORWARD_PAIR_AS, "forward_pair_as", "as", "", 0, MOST_UNIT, 0,
      "measured forward time of a layer for each pair; 0: from FLOPs" },
    { SP_MODEL_FORWARD_START_PS, "forward_start_ps", "ps", "", 0, MOST_START, 0,
      "measured forward time of a layer for each pack" },
    { SP_MODEL_FORWARD_FLOOR_PS, "forward_floor_ps", "ps", "", 0, MOST_START, 0,
      "measured least time of a layer's forward" },
    { SP_MODEL_BACKWARD_TOKEN_AS, "backward_token_as", "as", "", 0, MOST_UNIT, 0,
      "measured backward time of a layer for each token; 0: from FLOPs" },
    { SP_MODEL_BACKWARD_PAIR_AS, "backward_pair_as", "as", "", 0, MOST_UNIT, 0,
      "measured backward time of a layer for each pair; 0: from FLOPs" },
    { SP_MODEL_BACKWARD_START_PS, "backward_start_ps", "ps", "", 0, MOST_START, 0,
      "measured backward time of a layer for each pack" },
    { SP_MODEL_BACKWARD_FLOOR_PS, "backward_floor_ps", "ps", "", 0, MOST_START, 0,
      "measured least time of a layer's backward" },
};

_Static_assert(sizeof rows / sizeof *rows == SP__MODEL_PARAMS, "one row for each key");

const sp__param_table sp__model_table = { "model parameter", rows, SP__MODEL_PARAMS };

static const char *preset_at(const void *list, int32_t index)
{
    (void)list;
    return sp_model_preset_name(index);
}

sp_status sp_model_create(const char *preset, const sp_allocator *allocator, sp_model **out)
{
    sp_model *model;
    sp__alloc alloc;
    int32_t index;

    if (preset == NULL)
        return sp__fail_null("preset");
    if (out == NULL)
        return sp__fail_null("out");
    SP_TRY(sp__alloc_init(&alloc, allocator));
    SP_TRY(sp__name_find("model preset", preset, preset_at, NULL, &index));
    model = sp__alloc_zeroed(&alloc, 1, sizeof *model);
    if (model == NULL)
        return sp__fail_memory();
    model->alloc = alloc;
    model->preset = sp_model_preset_name(index);
    sp__param_defaults(&sp__model_table, model->values);
    sp__model_preset_apply(index, model->values);
    *out = model;
    return SP_OK;
}

void sp_model_destroy(sp_model *model)
{
    sp__alloc alloc;

    if (model == NULL)
        return;
    alloc = model->alloc;
    sp__free(&alloc, model->stage_layers);
    sp__free(&alloc, model);
}

sp_status sp_model_set(sp_model *model, int32_t key, int64_t value)
{
    if (model == NULL)
        return sp__fail_null("model");
    return sp__param_set(&sp__model_table, model->values, key, value);
}

sp_status sp_model_get(const sp_model *model, int32_t key, int64_t *value)
{
    if (model == NULL)
        return sp__fail_null("model");
    return sp__param_get(&sp__model_table, model->values, key, value);
}

sp_status sp_model_param_info(int32_t index, sp_param_info *info)
{
    return sp__param_describe(&sp__model_table, index, info);
}

sp_status sp_model_param_find(const char *name, int32_t *key)
{
    return sp__param_find(&sp__model_table, name, key);
}

static sp_status check_stage_layers(const int32_t *layers, int32_t stages)
{
    if (stages < 0)
        return sp__fail(SP_ERR_RANGE, "stages: %" PRId32 " is below 0", stages);
    if (layers == NULL && stages > 0)
        return sp__fail_null("layers");
    if (layers != NULL && stages == 0)
        return sp__fail(SP_ERR_INVALID, "stages: 0, the even spread, takes no layers");
    for (int32_t s = 0; s < stages; s++)
        if (layers[s] < 1)
            return sp__fail(SP_ERR_RANGE, "layers of stage %" PRId32 ": %" PRId32 " is below 1", s,
                            layers[s]);
    return SP_OK;
}

/* A copy of the stages' layers, which are at least one. */
static int32_t *copy_layers(const sp__alloc *alloc, const int32_t *layers, int32_t stages)
{
    int32_t *copy = sp__alloc_array(alloc, stages, sizeof *copy);

    if (copy != NULL)
        memcpy(copy, layers, (size_t)stages * sizeof *copy);
    return copy;
}

sp_status sp_model_set_stage_layers(sp_model *model, const int32_t *layers, int32_t stages)
{
    int32_t *copy = NULL;

    if (model == NULL)
        return sp__fail_null("model");
    SP_TRY(check_stage_layers(layers, stages));
    if (stages > 0) {
        copy = copy_layers(&model->alloc, layers, stages);
        if (copy == NULL)
            return sp__fail_memory();
    }
    sp__free(&model->alloc, model->stage_layers);
    model->stage_layers = copy;
    model->stages = stages;
    return SP_OK;
}

struct sp_model *sp__model_copy(const struct sp_model *from, const sp__alloc *alloc)
{
    struct sp_model *copy = sp__alloc_array(alloc, 1, sizeof *copy);

    if (copy == NULL)
        return NULL;
    *copy = *from;
    copy->alloc = *alloc;
    if (from->stage_layers == NULL)
        return copy;
    copy->stage_layers = copy_layers(alloc, from->stage_layers, from->stages);
    if (copy->stage_layers == NULL) {
        sp__free(alloc, copy);
        return NULL;
    }
    return copy;
}
