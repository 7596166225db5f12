/*
 * random_case.c - seeded random planning problems: see random_case.h.
 *
 * Small values come often and large ones seldom, since bugs live at the edges and
 * the time of a run is short: thousands of cases have to go through.
 */
#include "random_case.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

uint64_t random_next(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

int64_t random_below(uint64_t *state, int64_t bound)
{
    return (int64_t)(random_next(state) % (uint64_t)bound);
}

static int one_in(uint64_t *state, int64_t n)
{
    return random_below(state, n) == 0;
}

static int64_t pick(uint64_t *state, const int64_t *values, int64_t count)
{
    return values[random_below(state, count)];
}

#define PICK(state, ...)                                             \
    pick((state), (const int64_t[]){ __VA_ARGS__ },                  \
         (int64_t)(sizeof((const int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)))

/* Log-normal-like: a power of two whose exponent is a sum of uniform ones. */
static int64_t long_tailed(uint64_t *s)
{
    int64_t exponent = random_below(s, 6) + random_below(s, 6) + random_below(s, 6);
    int64_t base = (int64_t)1 << exponent;

    return base + random_below(s, base);
}

static int64_t around_power_of_two(uint64_t *s)
{
    int64_t n = ((int64_t)1 << (1 + random_below(s, 14))) - 1 + random_below(s, 3);

    return n > 0 ? n : 1;
}

static void fill_lengths(random_case *c, uint64_t *s)
{
    static const char *const kinds[] = { "long-tailed", "uniform", "constant", "ones",
                                         "one giant", "1 to 3", "powers of two, +-1" };
    int64_t kind = one_in(s, 3) ? 0 : random_below(s, 7);
    int64_t most = PICK(s, 10, 1000, 20000), same = 1 + random_below(s, 5000);

    c->lengths_kind = kinds[kind];
    for (int64_t i = 0; i < c->count; i++)
        c->length[i] = kind == 0 ? long_tailed(s)
                     : kind == 1 ? 1 + random_below(s, most)
                     : kind == 2 ? same
                     : kind == 3 ? 1
                     : kind == 4 || kind == 5 ? 1 + random_below(s, 3)
                                 : around_power_of_two(s);
    if (kind == 4)
        c->length[random_below(s, c->count)] = 1000 + random_below(s, 300000);
}

static int64_t model_value(const char *preset, int32_t key)
{
    int64_t value = 1;
    sp_model *model;

    if (sp_model_create(preset, NULL, &model) != SP_OK)
        return 1;
    sp_model_get(model, key, &value);
    sp_model_destroy(model);
    return value;
}

static void fill_machine(random_case *c, uint64_t *s, int kinds)
{
    static const char *const orders[] = { "", " order=tp-cp-pp-dp", " order=pp-dp-cp-tp",
                                          " order=cp-tp-dp-pp" };
    int64_t dp, tp, pp, cp;
    int32_t presets = 0;

    while (sp_model_preset_name(presets) != NULL)
        presets++;
    c->model = sp_model_preset_name((int32_t)random_below(s, presets));
    c->device = (kinds & CASE_IDEAL) != 0 || one_in(s, 2) ? "ideal" : "h100";
    dp = PICK(s, 1, 2, 2, 3, 4, 5, 8, 12);
    pp = PICK(s, 1, 1, 2, 2, 3, 4, 5, 8);
    cp = PICK(s, 1, 1, 1, 2, 3, 4);
    tp = PICK(s, 1, 1, 1, 2, 4, 8);
    if ((kinds & CASE_SMALL) != 0)
        dp = 1 + dp % 3;
    while (model_value(c->model, SP_MODEL_HEADS) % tp != 0)
        tp /= 2;
    if (pp > model_value(c->model, SP_MODEL_LAYERS))
        pp = 1;
    snprintf(c->topology, sizeof c->topology, "dp=%" PRId64 " tp=%" PRId64 " pp=%" PRId64 " cp=%"
             PRId64 "%s", dp, tp, pp, cp, orders[one_in(s, 2) ? random_below(s, 4) : 0]);
}

static void set(random_case *c, int32_t key, int64_t value)
{
    c->setting[c->settings++] = (case_setting){ key, value };
}

/* Counts that the user gives, for the policy that takes any. */
static void fill_exact_counts(random_case *c, uint64_t *s, int64_t groups, int64_t group)
{
    static const int32_t keys[2] = { SP_PLANNER_FORWARD_PACKS, SP_PLANNER_BACKWARD_PACKS };

    for (int pass = 0; pass < 2; pass++)
        if (random_case_value(c, SP_PLANNER_POLICY, 0) == SP_POLICY_SLIMPACK && one_in(s, 10)) {
            c->limits.exact_packs[pass] = group * (1 + random_below(s, groups));
            c->has_cap = c->has_cap || c->limits.exact_packs[pass] < 4;
            set(c, keys[pass], c->limits.exact_packs[pass]);
        }
}

static void fill_counts(random_case *c, uint64_t *s, int kinds)
{
    int64_t most = (kinds & CASE_SMALL) != 0 ? PICK(s, 4, 6, 8, 12) : PICK(s, 4, 8, 16, 32, 32, 64);
    int64_t group = one_in(s, 4) ? PICK(s, 2, 3, 4) : 1;

    if ((kinds & CASE_SMALL) == 0 && one_in(s, 20))
        most = 256;
    if ((kinds & CASE_NO_CAPS) == 0 && one_in(s, 20))
        most = 1 + random_below(s, 3);
    group = group > most ? 1 : group;
    set(c, SP_PLANNER_PACK_GROUP, group);
    c->limits.pack_group = group;
    fill_exact_counts(c, s, most / group, group);
    /* Policies that fill packs to a size may need more than are allowed. */
    if (random_case_value(c, SP_PLANNER_POLICY, 0) != SP_POLICY_SLIMPACK &&
        (kinds & CASE_NO_CAPS) != 0)
        most = 1 << 20;
    else if (random_case_value(c, SP_PLANNER_POLICY, 0) != SP_POLICY_SLIMPACK || most < 4)
        c->has_cap = 1;
    set(c, SP_PLANNER_MAX_PACKS, most);
    /* fixed-pack takes the packs that it gets, as what it stands for would. */
    if (random_case_value(c, SP_PLANNER_POLICY, 0) != SP_POLICY_FIXED_PACK)
        c->limits.max_packs = most;
}

static void fill_slicing(random_case *c, uint64_t *s)
{
    c->limits.alignment = PICK(s, 1, 1, 2, 3, 8, 16, 16, 64);
    c->limits.pad_multiple = one_in(s, 3) ? PICK(s, 2, 8, 16, 7) : 1;
    set(c, SP_PLANNER_ALIGNMENT, c->limits.alignment);
    set(c, SP_PLANNER_PAD_MULTIPLE, c->limits.pad_multiple);
    if (random_case_value(c, SP_PLANNER_POLICY, 0) == SP_POLICY_UNIFORM_SLICE && one_in(s, 2))
        set(c, SP_PLANNER_SLICE_TOKENS, c->limits.alignment * (1 + random_below(s, 512)));
    if (random_case_value(c, SP_PLANNER_POLICY, 0) != SP_POLICY_UNIFORM_SLICE && one_in(s, 6)) {
        set(c, SP_PLANNER_SLICING, 0);
        c->limits.whole_samples = 1;
    }
    if (one_in(s, 4)) {
        set(c, SP_PLANNER_MERGES, 0);
        c->limits.no_merges = 1;
    } else if (one_in(s, 3)) {
        c->limits.max_merge_degree = 2 + random_below(s, 3);
        set(c, SP_PLANNER_MAX_MERGE_DEGREE, c->limits.max_merge_degree);
    }
}

static void fill_policy(random_case *c, uint64_t *s)
{
    int64_t policy = one_in(s, 2) ? SP_POLICY_SLIMPACK : random_below(s, 4);

    set(c, SP_PLANNER_POLICY, policy);
    set(c, SP_PLANNER_EFFORT, one_in(s, 10) ? SP_EFFORT_THOROUGH : random_below(s, 2));
    set(c, SP_PLANNER_RUN_AHEAD, PICK(s, 0, 1, 2, 2, 3, 8, 1024));
    if (policy == SP_POLICY_BALANCED_PACK || policy == SP_POLICY_FIXED_PACK)
        c->limits.whole_samples = 1;
    if (one_in(s, 10)) {
        set(c, SP_PLANNER_KEEP_ORDER, 1);
        c->limits.keep_order = 1;
    }
    if (one_in(s, 10))
        set(c, SP_PLANNER_LOCKSTEP, 1);
}

static int64_t longest(const random_case *c)
{
    int64_t most = 0;

    for (int64_t i = 0; i < c->count; i++)
        most = c->length[i] > most ? c->length[i] : most;
    return most;
}

/* A token cap that is often near what the batch needs at least. */
static int64_t token_cap(const random_case *c, uint64_t *s)
{
    int64_t slots = random_case_value(c, SP_PLANNER_MAX_PACKS, 1), tokens = 0;

    for (int64_t i = 0; i < c->count; i++)
        tokens += c->length[i];
    return 1 + random_below(s, 2 * longest(c) + 64) + (one_in(s, 4) ? 0 : 2 * tokens / slots);
}

/* Limits that may leave no plan. The memory of a device is too little for most
 * models on so few ranks, so it is often lifted. */
static void fill_caps(random_case *c, uint64_t *s)
{
    if (one_in(s, 4)) {
        c->limits.max_pack_tokens = token_cap(c, s);
        set(c, SP_PLANNER_MAX_PACK_TOKENS, c->limits.max_pack_tokens);
        set(c, SP_PLANNER_OVERSIZE, random_below(s, 2));
    }
    if (one_in(s, 6)) {
        c->limits.max_pack_samples = 1 + random_below(s, 40);
        set(c, SP_PLANNER_MAX_PACK_SAMPLES, c->limits.max_pack_samples);
    }
    if (one_in(s, 8))
        c->limits.memory_bytes = PICK(s, 20, 80, 200, 1000) * 1000000000;
    else if (!one_in(s, 8))
        c->limits.memory_bytes = INT64_MAX;
    if (c->limits.memory_bytes > 0)
        set(c, SP_PLANNER_MEMORY_BYTES, c->limits.memory_bytes);
    if (c->limits.max_pack_tokens > 0 || c->limits.max_pack_samples > 0 ||
        c->limits.memory_bytes < INT64_MAX)
        c->has_cap = 1;
}

static int64_t divisor(uint64_t *s, int64_t layers, int64_t pp)
{
    int64_t v = PICK(s, 2, 2, 3, 4);

    return pp > 1 && layers % (pp * v) == 0 ? v : 1;
}

/* How the pipeline runs: from a stream of its own, so that older cases stay. */
static void fill_pipeline(random_case *c)
{
    uint64_t s = c->seed ^ 0x70697065u;
    int64_t pp = 1;

    sscanf(strstr(c->topology, "pp="), "pp=%" SCNd64, &pp);
    c->virtual_stages = one_in(&s, 4) ? divisor(&s, model_value(c->model, SP_MODEL_LAYERS), pp) : 1;
    if (one_in(&s, 4))
        set(c, SP_PLANNER_PIPELINE, SP_PIPELINE_ZERO_BUBBLE);
    c->blocking_sends = one_in(&s, 4);
    c->queued_sends = one_in(&s, 4);
    /* The order of interleaving goes round in groups of pp packs. */
    if (c->virtual_stages > 1 && random_case_value(c, SP_PLANNER_POLICY, 0) != SP_POLICY_SLIMPACK)
        c->has_cap = 1;
}

/* A length of any size that a batch takes, most of them beside a power of two. */
static int64_t any_length(uint64_t *s)
{
    int64_t power = INT64_C(1) << random_below(s, 41);
    int64_t n = one_in(s, 4) ? 1 + random_below(s, power) : power - 1 + random_below(s, 3);

    return n > 0 ? n : 1;
}

/* Few of them, since each is planned in up to max_packs slices. */
static void take_any_lengths(random_case *c, uint64_t *s)
{
    c->lengths_kind = "any to 2^40";
    c->count = 1 + random_below(s, c->count < 12 ? c->count : 12);
    for (int64_t i = 0; i < c->count; i++)
        c->length[i] = any_length(s);
    c->has_cap = 1; /* costs, offsets and samples have largest values */
}

static void take_degrees(random_case *c, uint64_t *s, int64_t most)
{
    int64_t layers = model_value(c->model, SP_MODEL_LAYERS);
    int64_t dp = PICK(s, 1, 16, 64, 100, 256, 512), pp = PICK(s, 1, 2, 7, 16, 32, 64);
    int64_t cp = PICK(s, 1, 1, 2, 5, 8, 16);

    pp = pp < layers ? pp : layers;
    while (dp * pp * cp > most) {
        int64_t *largest = dp >= pp && dp >= cp ? &dp : pp >= cp ? &pp : &cp;

        *largest = (*largest + 1) / 2;
    }
    c->virtual_stages = 1;
    snprintf(c->topology, sizeof c->topology, "dp=%" PRId64 " pp=%" PRId64 " cp=%" PRId64 " tp=1",
             dp, pp, cp);
}

/* Large clusters and lengths: from a stream of its own, after all else was chosen. */
static void widen(random_case *c)
{
    uint64_t s = c->seed ^ 0x77696465u;
    int64_t roll = random_below(&s, 4096);

    if (roll < 1024 && roll % 4 == 0)
        take_degrees(c, &s, roll < 4 ? 512 * 64 * 16 : roll < 128 ? 2048 : 256);
    if (roll < 1024 && roll % 4 != 0)
        take_any_lengths(c, &s);
}

void random_case_make(uint64_t seed, int kinds, random_case *c)
{
    const check_limits none = CHECK_LIMITS_INIT;
    uint64_t s = seed;

    memset(c, 0, sizeof *c);
    c->seed = seed;
    c->limits = none;
    c->limits.planned = 1;
    c->count = (kinds & CASE_SMALL) != 0 ? 1 + random_below(&s, 12)
                                         : 1 + random_below(&s, PICK(&s, 3, 20, 100, 100,
                                                                     CASE_MOST_SAMPLES));
    fill_lengths(c, &s);
    fill_machine(c, &s, kinds);
    fill_policy(c, &s);
    fill_counts(c, &s, kinds);
    fill_slicing(c, &s);
    if ((kinds & CASE_NO_CAPS) == 0)
        fill_caps(c, &s);
    else
        set(c, SP_PLANNER_MEMORY_BYTES, INT64_MAX);
    fill_pipeline(c);
    if ((kinds & CASE_WIDE) != 0)
        widen(c);
}

int64_t random_case_value(const random_case *c, int32_t key, int64_t other)
{
    for (int32_t i = 0; i < c->settings; i++)
        if (c->setting[i].key == key)
            return c->setting[i].value;
    return other;
}

sp_status random_case_planner(const random_case *c, const case_handles *h, sp_planner **out)
{
    sp_planner *planner;
    sp_status status = sp_planner_create(h->topology, h->model, h->device, NULL, &planner);

    if (status != SP_OK)
        return status;
    for (int32_t i = 0; i < c->settings && status == SP_OK; i++)
        status = sp_planner_set(planner, c->setting[i].key, c->setting[i].value);
    if (status == SP_OK)
        *out = planner;
    else
        sp_planner_destroy(planner);
    return status;
}

static sp_status open_inputs(const random_case *c, case_handles *h)
{
    sp_status status = sp_topology_parse(c->topology, &h->topology);

    if (status == SP_OK)
        status = sp_model_create(c->model, NULL, &h->model);
    if (status == SP_OK)
        status = sp_model_set(h->model, SP_MODEL_VIRTUAL_STAGES, c->virtual_stages);
    if (status == SP_OK)
        status = sp_device_create(c->device, NULL, &h->device);
    if (status == SP_OK)
        status = sp_device_set(h->device, SP_DEVICE_P2P_OVERLAP, !c->blocking_sends);
    if (status == SP_OK)
        status = sp_device_set(h->device, SP_DEVICE_P2P_CONTENTION, c->queued_sends);
    if (status == SP_OK)
        status = sp_batch_create(c->length, c->count, NULL, &h->batch);
    return status;
}

sp_status random_case_open(const random_case *c, case_handles *out)
{
    case_handles h = { NULL, NULL, NULL, NULL, NULL };
    sp_status status = open_inputs(c, &h);

    if (status == SP_OK)
        status = random_case_planner(c, &h, &h.planner);
    if (status == SP_OK)
        *out = h;
    else
        random_case_close(&h);
    return status;
}

void random_case_close(case_handles *h)
{
    sp_planner_destroy(h->planner);
    sp_batch_destroy(h->batch);
    sp_device_destroy(h->device);
    sp_model_destroy(h->model);
    sp_topology_destroy(h->topology);
}

static const char *setting_name(int32_t key)
{
    sp_param_info info = SP_PARAM_INFO_INIT;

    for (int32_t i = 0; sp_planner_param_info(i, &info) == SP_OK; i++)
        if (info.key == key)
            return info.name;
    return "?";
}

void random_case_print(const random_case *c)
{
    fprintf(stderr, "seed %" PRIu64 ": %s, model %s, device %s\n  ", c->seed, c->topology, c->model,
            c->device);
    for (int32_t i = 0; i < c->settings; i++)
        fprintf(stderr, "%s=%" PRId64 " ", setting_name(c->setting[i].key), c->setting[i].value);
    fprintf(stderr, "virtual_stages=%" PRId64 " blocking=%d queued=%d", c->virtual_stages,
            c->blocking_sends, c->queued_sends);
    fprintf(stderr, "\n  %" PRId64 " samples, %s:", c->count, c->lengths_kind);
    for (int64_t i = 0; i < c->count; i++)
        fprintf(stderr, " %" PRId64, c->length[i]);
    fprintf(stderr, "\n");
}
