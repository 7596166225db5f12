/*
 * costs.c - the cost of a pack on the ideal device: see costs.h.
 *
 * The formulas are those of the documentation: 2 FLOPs a token for every weight
 * that it meets, 4 * heads * head_dim a pair; backward twice and 2.5 times that;
 * full recomputation runs the layers' forward once more. The weights' part of a
 * backward is one product a weight, as many FLOPs as forward.
 */
#include "costs.h"

#define PS 1e12L

static long double model_value(const sp_model *model, int32_t key)
{
    int64_t value = 0;

    sp_model_get(model, key, &value);
    return (long double)value;
}

static long double device_value(const sp_device *device, int32_t key)
{
    int64_t value = 0;

    sp_device_get(device, key, &value);
    return (long double)value;
}

/* Forward FLOPs of a token in the linear layers of one transformer layer. */
static long double layer_flops(const sp_model *m)
{
    long double hidden = model_value(m, SP_MODEL_HIDDEN);
    long double head = model_value(m, SP_MODEL_HEAD_DIM);
    long double q = model_value(m, SP_MODEL_HEADS) * head;
    long double kv = model_value(m, SP_MODEL_KV_HEADS) * head;
    long double experts = model_value(m, SP_MODEL_EXPERTS);
    long double mlp = (model_value(m, SP_MODEL_GATED) > 0 ? 3 : 2) * hidden *
                      model_value(m, SP_MODEL_FFN_HIDDEN);

    if (experts > 1)
        mlp = mlp * model_value(m, SP_MODEL_EXPERTS_PER_TOKEN) + hidden * experts;
    return 2 * (hidden * q + hidden * 2 * kv + q * hidden + mlp);
}

static int64_t layers_of(const sp_model *m, int32_t stage, int32_t pp)
{
    int64_t layers = (int64_t)model_value(m, SP_MODEL_LAYERS);

    return layers / pp + (stage < layers % pp ? 1 : 0);
}

void cost_model_init(cost_model *m, stage_cost *stage, const sp_model *model,
                     const sp_device *device, int32_t pp, int32_t chunks, int32_t tp)
{
    long double linear_ps = PS / device_value(device, SP_DEVICE_LINEAR_FLOPS) / tp;
    long double forward_ps = PS / device_value(device, SP_DEVICE_ATTENTION_FORWARD_FLOPS) / tp;
    long double backward_ps = PS / device_value(device, SP_DEVICE_ATTENTION_BACKWARD_FLOPS) / tp;
    long double pair = 4 * model_value(model, SP_MODEL_HEADS) *
                       model_value(model, SP_MODEL_HEAD_DIM);
    int again = model_value(model, SP_MODEL_RECOMPUTE) == SP_RECOMPUTE_FULL;

    m->window = (int64_t)model_value(model, SP_MODEL_WINDOW);
    m->window = m->window > 0 ? m->window : INT64_MAX;
    m->causal = model_value(model, SP_MODEL_CAUSAL) > 0;
    m->stage = stage;
    for (int32_t s = 0; s < pp * chunks; s++) {
        long double layers = (long double)layers_of(model, s % pp, pp) / chunks;
        long double body = layers * layer_flops(model);
        long double head = s < pp * chunks - 1 ? 0 : 2 * model_value(model, SP_MODEL_HIDDEN) *
                                                model_value(model, SP_MODEL_VOCAB);

        stage[s].token[SP_FORWARD] = (body + head) * linear_ps;
        stage[s].token[SP_BACKWARD] = (2 * (body + head) + (again ? body : 0)) * linear_ps;
        stage[s].pair[SP_FORWARD] = layers * pair * forward_ps;
        stage[s].pair[SP_BACKWARD] = layers * pair *
                                     (2.5L * backward_ps + (again ? forward_ps : 0));
        stage[s].token[SP_WEIGHT] = stage[s].token[SP_FORWARD];
        stage[s].pair[SP_WEIGHT] = 0;
        stage[s].token[COST_INPUT] = stage[s].token[SP_BACKWARD] - stage[s].token[SP_WEIGHT];
        stage[s].pair[COST_INPUT] = stage[s].pair[SP_BACKWARD];
    }
}

/* Query p attends p + 1 keys, at most the window; the first growing queries have
 * fewer than the window. */
int64_t cost_pairs(const cost_model *m, const plain_piece *piece, int64_t sample_length)
{
    int64_t length = piece->length, start = piece->start, growing = length;

    if (!m->causal)
        return length * sample_length;
    if (m->window - start < growing)
        growing = m->window > start ? m->window - start : 0;
    return growing * start + growing * (growing + 1) / 2 +
           (growing < length ? (length - growing) * m->window : 0);
}

part_work cost_part(const cost_model *m, const plain_part *part, const int64_t *lengths)
{
    part_work work = { 0, 0 };

    for (int32_t i = 0; i < part->count; i++) {
        work.tokens += part->shard[i].length;
        work.pairs += cost_pairs(m, &part->shard[i], lengths[part->shard[i].sample]);
    }
    return work;
}

long double cost_time(const cost_model *m, int32_t stage, int pass, part_work work)
{
    return m->stage[stage].token[pass] * (long double)work.tokens +
           m->stage[stage].pair[pass] * (long double)work.pairs;
}
