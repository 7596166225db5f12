/*
 * device.c - what an accelerator and its links achieve: one table of parameters
 * and the handle that keeps a value for each row.
 *
 * The bounds keep the arithmetic of the cost floor inside its types: no rate is
 * zero, and a second of latency in each of the most layers is still far from
 * the end of int64 in picoseconds.
 */
#include "input/device.h"

#include "base/names.h"
#include "base/status.h"

#define SLOWEST 1000000                      /* FLOP/s: below it no accelerator is */
#define FASTEST INT64_C(1000000000000000000) /* FLOP/s */
#define SECOND INT64_C(1000000000000)        /* in picoseconds */

/* The fallbacks are the preset h100's. */
static const sp__param rows[] = {
    { SP_DEVICE_LINEAR_FLOPS, "linear_flops", "FLOP/s", "", SLOWEST, FASTEST,
      INT64_C(650000000000000), "rate that large linear layers achieve" },
    { SP_DEVICE_ATTENTION_FORWARD_FLOPS, "attention_forward_flops", "FLOP/s", "", SLOWEST, FASTEST,
      INT64_C(480000000000000), "rate that attention achieves forward" },
    { SP_DEVICE_ATTENTION_BACKWARD_FLOPS, "attention_backward_flops", "FLOP/s", "", SLOWEST,
      FASTEST, INT64_C(400000000000000), "rate that attention achieves backward" },
    { SP_DEVICE_HALF_RATE_TOKENS, "half_rate_tokens", "tokens", "", 0, 1 << 20, 128,
      "tokens at which a linear layer reaches half its rate" },
    { SP_DEVICE_LAYER_FLOOR_PS, "layer_floor_ps", "ps", "", 0, SECOND, 40000000,
      "least time of a layer forward; backward is twice it, or thrice with full recompute" },
    { SP_DEVICE_PACK_OVERHEAD_PS, "pack_overhead_ps", "ps", "", 0, SECOND, 30000000,
      "time added to each pack that holds tokens" },
    { SP_DEVICE_MEMORY_BYTES, "memory_bytes", "bytes", "", 1, INT64_MAX, INT64_C(80000000000),
      "memory of a device; 2^63 - 1 is no limit" },
    { SP_DEVICE_DEVICES_PER_NODE, "devices_per_node", "", "", 1, INT32_MAX, 8,
      "consecutive ranks that share a node" },
    { SP_DEVICE_INTRA_BANDWIDTH, "intra_bandwidth", "bytes/s", "", 1, INT64_MAX,
      INT64_C(350000000000), "bandwidth of one device inside a node; 2^63 - 1 is infinite" },
    { SP_DEVICE_INTRA_LATENCY_PS, "intra_latency_ps", "ps", "", 0, SECOND, 5000000,
      "latency inside a node" },
    { SP_DEVICE_INTER_BANDWIDTH, "inter_bandwidth", "bytes/s", "", 1, INT64_MAX,
      INT64_C(45000000000), "bandwidth of one device between nodes; 2^63 - 1 is infinite" },
    { SP_DEVICE_INTER_LATENCY_PS, "inter_latency_ps", "ps", "", 0, SECOND, 10000000,
      "latency between nodes" },
    { SP_DEVICE_TP_EXPOSED_PERCENT, "tp_exposed_percent", "%", "", 0, 100, 25,
      "share of tensor-parallel collectives that is not hidden behind compute" },
    { SP_DEVICE_HEAD_FLOPS, "head_flops", "FLOP/s", "", 0, FASTEST, 0,
      "rate of the vocabulary head; 0 is linear_flops" },
    { SP_DEVICE_PEAK_FLOPS, "peak_flops", "FLOP/s", "", 0, FASTEST, INT64_C(989000000000000),
      "what MFU is counted against; 0 is linear_flops" },
    { SP_DEVICE_MEMORY_BANDWIDTH, "memory_bandwidth", "bytes/s", "", 1, INT64_MAX,
      INT64_C(2700000000000), "what the optimiser step reads and writes; 2^63 - 1 is infinite" },
    { SP_DEVICE_DP_OVERLAP_PERCENT, "dp_overlap_percent", "%", "", 0, 100, 100,
      "share of gradient reduction and parameter gather that may hide behind compute" },
    { SP_DEVICE_P2P_OVERLAP, "p2p_overlap", "", "no,yes", 0, 1, 1,
      "a stage goes on while it sends; no makes it wait" },
    { SP_DEVICE_P2P_CONTENTION, "p2p_contention", "", "no,yes", 0, 1, 0,
      "what a stage sends queues on its link" },
    { SP_DEVICE_CP_EXPOSED_PERCENT, "cp_exposed_percent", "%", "", 0, 100, 100,
      "share of the exchange of K, V, dK and dV that is not hidden behind compute" },
    { SP_DEVICE_LAYER_PASSES, "layer_passes", "", "", 0, 1 << 20, 0,
      "reads and writes of the hidden state in a layer's forward beside its products" },
};

_Static_assert(sizeof rows / sizeof *rows == SP__DEVICE_PARAMS, "one row for each key");

const sp__param_table sp__device_table = { "device parameter", rows, SP__DEVICE_PARAMS };

static const char *preset_at(const void *list, int32_t index)
{
    (void)list;
    return sp_device_preset_name(index);
}

sp_status sp_device_create(const char *preset, const sp_allocator *allocator, sp_device **out)
{
    sp_device *device;
    sp__alloc alloc;
    int32_t index;

    if (preset == NULL)
        return sp__fail_null("preset");
    if (out == NULL)
        return sp__fail_null("out");
    SP_TRY(sp__alloc_init(&alloc, allocator));
    SP_TRY(sp__name_find("device preset", preset, preset_at, NULL, &index));
    device = sp__alloc_zeroed(&alloc, 1, sizeof *device);
    if (device == NULL)
        return sp__fail_memory();
    device->alloc = alloc;
    device->preset = sp_device_preset_name(index);
    sp__device_preset_apply(index, device->values);
    *out = device;
    return SP_OK;
}

void sp_device_destroy(sp_device *device)
{
    sp__alloc alloc;

    if (device == NULL)
        return;
    alloc = device->alloc;
    sp__free(&alloc, device);
}

sp_status sp_device_set(sp_device *device, int32_t key, int64_t value)
{
    if (device == NULL)
        return sp__fail_null("device");
    return sp__param_set(&sp__device_table, device->values, key, value);
}

sp_status sp_device_get(const sp_device *device, int32_t key, int64_t *value)
{
    if (device == NULL)
        return sp__fail_null("device");
    return sp__param_get(&sp__device_table, device->values, key, value);
}

sp_status sp_device_param_info(int32_t index, sp_param_info *info)
{
    return sp__param_describe(&sp__device_table, index, info);
}

sp_status sp_device_param_find(const char *name, int32_t *key)
{
    return sp__param_find(&sp__device_table, name, key);
}
