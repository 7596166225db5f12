/*
 * planner.c - the planner's handle and its parameter table: see planner.h.
 */
#include "plan/planner.h"

#include "base/names.h"
#include "base/status.h"
#include "plan/async.h"
#include "schedule/schedule.h"

static const sp__param rows[] = {
    { SP_PLANNER_POLICY, "policy", "", "slimpack,uniform-slice,balanced-pack,fixed-pack", 0, 3, 0,
      "how samples become packs" },
    { SP_PLANNER_EFFORT, "effort", "", "fast,balanced,thorough", 0, 2, 1,
      "how long to search on the simulator" },
    { SP_PLANNER_THREADS, "threads", "threads", "", 1, SP__MAX_THREADS, 1,
      "threads that plan; they never change the plan" },
    { SP_PLANNER_MEMORY_BYTES, "memory_bytes", "bytes", "", 0, INT64_MAX, 0,
      "memory cap of a device; 0 takes the device's" },
    { SP_PLANNER_MAX_PACK_TOKENS, "max_pack_tokens", "tokens", "", 0, INT32_MAX, 0,
      "most padded tokens of a pack on a rank; 0 is no cap" },
    { SP_PLANNER_ALIGNMENT, "alignment", "tokens", "", 1, 1 << 20, 16,
      "slices start at multiples of this" },
    { SP_PLANNER_PAD_MULTIPLE, "pad_multiple", "tokens", "", 1, SP_PAD_MULTIPLE_MAX, 1,
      "shards are padded to multiples of this in a second offset table" },
    { SP_PLANNER_SLICING, "slicing", "", "no,yes", 0, 1, 1,
      "samples may be sliced; no keeps them whole" },
    { SP_PLANNER_OVERSIZE, "oversize", "", "refuse,alone", 0, 1, 0,
      "what happens to a whole sample above max_pack_tokens" },
    { SP_PLANNER_KEEP_ORDER, "keep_order", "", "no,yes", 0, 1, 0,
      "samples of a replica run in input order" },
    { SP_PLANNER_MAX_PACKS, "max_packs", "packs", "", 1, 1 << 20, 256,
      "most packs of a replica in one pass" },
    { SP_PLANNER_PACK_GROUP, "pack_group", "packs", "", 1, 4096, 1,
      "pack counts are multiples of this" },
    { SP_PLANNER_LOCKSTEP, "lockstep", "", "no,yes", 0, 1, 0,
      "replicas run pack k together, as sharded parameters need" },
    { SP_PLANNER_MERGES, "merges", "", "no,yes", 0, 1, 1,
      "a sample may be shared by several replicas" },
    { SP_PLANNER_MAX_MERGE_DEGREE, "max_merge_degree", "replicas", "", 0, INT32_MAX, 0,
      "most replicas that share a sample; 0 is DP" },
    { SP_PLANNER_MAX_PACK_SAMPLES, "max_pack_samples", "samples", "", 0, INT32_MAX, 0,
      "most samples in a pack; 0 is no limit" },
    { SP_PLANNER_RUN_AHEAD, "run_ahead", "packs", "", 0, 1024, 2,
      "largest forward packs a stage may run ahead, for each stage from it to the last" },
    { SP_PLANNER_FORWARD_PACKS, "forward_packs", "packs", "", 0, 1 << 20, 0,
      "forward packs of a replica, kept or refused; 0 lets the planner choose" },
    { SP_PLANNER_BACKWARD_PACKS, "backward_packs", "packs", "", 0, 1 << 20, 0,
      "backward packs of a replica, kept or refused; 0 lets the planner choose" },
    { SP_PLANNER_SLICE_TOKENS, "slice_tokens", "tokens", "", 0, INT32_MAX, 0,
      "slice length of policy uniform-slice; 0 lets the planner choose" },
    { SP_PLANNER_EXACT_NODES, "exact_nodes", "nodes", "", 0, INT64_MAX, 0,
      "nodes of the exact assignment of a small batch; 0 leaves it out" },
    { SP_PLANNER_PIPELINE, "pipeline", "", "1f1b,zero-bubble", 0, 1, 0,
      "whether weight gradients are ops of their own, which fill bubbles" },
    { SP_PLANNER_QUEUE_DEPTH, "queue_depth", "batches", "", 1, SP__QUEUE_MOST, 2,
      "most batches that are submitted and not collected" },
};

const sp__param_table sp__planner_table = { "planner parameter", rows, SP__PLANNER_PARAMS };

static const char *const policy_names[] = { "slimpack", "uniform-slice", "balanced-pack",
                                            "fixed-pack" };

#define POLICIES ((int32_t)(sizeof policy_names / sizeof *policy_names))

const char *sp_policy_name(int32_t policy)
{
    return policy >= 0 && policy < POLICIES ? policy_names[policy] : NULL;
}

static const char *policy_at(const void *list, int32_t index)
{
    (void)list;
    return sp_policy_name(index);
}

sp_status sp_policy_find(const char *name, int32_t *policy)
{
    if (name == NULL)
        return sp__fail_null("name");
    if (policy == NULL)
        return sp__fail_null("policy");
    return sp__name_find("policy", name, policy_at, NULL, policy);
}

sp_status sp_planner_set(sp_planner *planner, int32_t key, int64_t value)
{
    if (planner == NULL)
        return sp__fail_null("planner");
    return sp__param_set(&sp__planner_table, planner->values, key, value);
}

sp_status sp_planner_get(const sp_planner *planner, int32_t key, int64_t *value)
{
    if (planner == NULL)
        return sp__fail_null("planner");
    return sp__param_get(&sp__planner_table, planner->values, key, value);
}

sp_status sp_planner_param_info(int32_t index, sp_param_info *info)
{
    return sp__param_describe(&sp__planner_table, index, info);
}

sp_status sp_planner_param_find(const char *name, int32_t *key)
{
    return sp__param_find(&sp__planner_table, name, key);
}

static sp_status check_arguments(const sp_topology *topology, const sp_model *model,
                                 const sp_device *device, sp_planner **out)
{
    if (topology == NULL)
        return sp__fail_null("topology");
    if (model == NULL)
        return sp__fail_null("model");
    if (device == NULL)
        return sp__fail_null("device");
    if (out == NULL)
        return sp__fail_null("out");
    return SP_OK;
}

sp_status sp_planner_create(const sp_topology *topology, const sp_model *model,
                            const sp_device *device, const sp_allocator *allocator,
                            sp_planner **out)
{
    sp__alloc alloc;
    sp_planner *p;
    sp_status status;

    SP_TRY(check_arguments(topology, model, device, out));
    SP_TRY(sp__alloc_init(&alloc, allocator));
    p = sp__alloc_zeroed(&alloc, 1, sizeof *p);
    if (p == NULL)
        return sp__fail_memory();
    p->alloc = alloc;
    p->shape = topology->shape;
    p->shelf = &p->given_back;
    p->device_memory = sp__device_value(device, SP_DEVICE_MEMORY_BYTES);
    sp__param_defaults(&sp__planner_table, p->values);
    for (int32_t i = 0; i < SP__MAX_THREADS; i++)
        sp__arena_init(&p->arena[i], &p->alloc);
    status = sp__target_init(&p->target, model, device, &p->shape,
                             (int32_t)sp__model_value(model, SP_MODEL_VIRTUAL_STAGES), &p->alloc);
    if (status != SP_OK) {
        sp__free(&alloc, p);
        return status;
    }
    *out = p;
    return SP_OK;
}

void sp_planner_destroy(sp_planner *planner)
{
    sp__alloc alloc;

    if (planner == NULL)
        return;
    alloc = planner->alloc;
    sp__async_destroy(planner->async);
    sp__shelf_clear(&planner->given_back);
    for (int32_t i = 0; i < SP__MAX_THREADS; i++)
        sp__arena_destroy(&planner->arena[i]);
    sp__target_free(&planner->target, &alloc);
    sp__free(&alloc, planner);
}

/* Memory goes back only to where it came from. */
static int is_from(const struct sp_planner *planner, const struct sp_schedule *schedule)
{
    const sp__alloc *a = &planner->alloc, *b = &schedule->alloc;

    return a->alloc == b->alloc && a->free == b->free && a->ctx == b->ctx;
}

void sp_planner_recycle(sp_planner *planner, sp_schedule *schedule)
{
    if (schedule == NULL)
        return;
    if (planner != NULL && is_from(planner, schedule))
        sp__shelf_put(planner->shelf, schedule);
    else
        sp_schedule_destroy(schedule);
}
