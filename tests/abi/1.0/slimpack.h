#ifndef SLIMPACK_H
#define SLIMPACK_H
#include <stddef.h>
#include <stdint.h>
#if defined(__GNUC__)
#define SP_API __attribute__((visibility("default")))
#else
#define SP_API
#endif
#ifdef __cplusplus
extern "C" {
#endif
typedef int32_t sp_status;
#define SP_STATUS_MAP(X)                                                        \
    X(SP_OK, 0, "success")                                                      \
    X(SP_ERR_INVALID, -1, "an argument is NULL, malformed or contradictory")    \
    X(SP_ERR_RANGE, -2, "a value is outside its bounds")                        \
    X(SP_ERR_MEMORY, -3, "the allocator returned NULL")                         \
    X(SP_ERR_OVERFLOW, -4, "a count, offset or cost would not fit its type")    \
    X(SP_ERR_INFEASIBLE, -5, "no plan keeps the limits that were set")          \
    X(SP_ERR_NAME, -6, "no preset, parameter or policy has this name")          \
    X(SP_ERR_ABI, -7, "a struct sets fields that this library does not know")   \
    X(SP_ERR_INVARIANT, -8, "a plan breaks one of its invariants")              \
    X(SP_ERR_STATE, -9, "the handle is not in a state that allows the call")    \
    X(SP_ERR_SYSTEM, -10, "the operating system refused a resource")            \
    X(SP_ERR_FORMAT, -11, "bytes are damaged, or of a format that is not read here")
enum sp_status_code {
#define SP_STATUS_ENUM(name, value, text) name = value,
    SP_STATUS_MAP(SP_STATUS_ENUM)
#undef SP_STATUS_ENUM
    SP_STATUS_END_ = -1000
};
SP_API const char *sp_status_name(sp_status status);
SP_API const char *sp_status_text(sp_status status);
SP_API const char *sp_error_message(void);
#define SP_VERSION_MAJOR 1
#define SP_VERSION_MINOR 0
#define SP_VERSION_PATCH 0
#define SP_VERSION (SP_VERSION_MAJOR * 10000 + SP_VERSION_MINOR * 100 + SP_VERSION_PATCH)
SP_API int32_t sp_version(void);
SP_API const char *sp_version_string(void);
typedef struct sp_allocator {
    size_t struct_size;
    void *(*alloc)(void *ctx, size_t size);
    void (*free)(void *ctx, void *ptr);
    void *ctx;
} sp_allocator;
#define SP_ALLOCATOR_INIT { sizeof(sp_allocator), NULL, NULL, NULL }
typedef struct sp_param_info {
    size_t struct_size;
    int32_t key;
    int32_t reserved;
    const char *name;
    const char *unit;
    const char *help;
    const char *values;
    int64_t minimum;
    int64_t maximum;
    int64_t fallback;
} sp_param_info;
#define SP_PARAM_INFO_INIT { sizeof(sp_param_info), 0, 0, NULL, NULL, NULL, NULL, 0, 0, 0 }
typedef struct sp_batch sp_batch;
SP_API sp_status sp_batch_create(const int64_t *lengths, int64_t count,
                                 const sp_allocator *allocator, sp_batch **out);
SP_API void sp_batch_destroy(sp_batch *batch);
SP_API int64_t sp_batch_count(const sp_batch *batch);
SP_API int64_t sp_batch_tokens(const sp_batch *batch);
SP_API int64_t sp_batch_longest(const sp_batch *batch);
typedef struct sp_topology sp_topology;
typedef struct sp_coordinates {
    size_t struct_size;
    int32_t dp;
    int32_t tp;
    int32_t pp;
    int32_t cp;
} sp_coordinates;
#define SP_COORDINATES_INIT { sizeof(sp_coordinates), 0, 0, 0, 0 }
SP_API sp_status sp_topology_create(int32_t dp, int32_t tp, int32_t pp, int32_t cp,
                                    const sp_allocator *allocator, sp_topology **out);
SP_API sp_status sp_topology_parse(const char *text, sp_topology **out);
SP_API void sp_topology_destroy(sp_topology *topology);
SP_API int32_t sp_topology_size(const sp_topology *topology);
SP_API sp_status sp_topology_degrees(const sp_topology *topology, sp_coordinates *out);
SP_API sp_status sp_topology_coordinates(const sp_topology *topology, int32_t rank,
                                         sp_coordinates *out);
SP_API sp_status sp_topology_rank(const sp_topology *topology, const sp_coordinates *at,
                                  int32_t *rank);
typedef struct sp_model sp_model;
enum sp_model_key {
    SP_MODEL_LAYERS = 1,
    SP_MODEL_HIDDEN = 2,
    SP_MODEL_HEADS = 3,
    SP_MODEL_KV_HEADS = 4,
    SP_MODEL_HEAD_DIM = 5,
    SP_MODEL_FFN_HIDDEN = 6,
    SP_MODEL_GATED = 7,
    SP_MODEL_VOCAB = 8,
    SP_MODEL_TIED_EMBEDDINGS = 9,
    SP_MODEL_EXPERTS = 10,
    SP_MODEL_EXPERTS_PER_TOKEN = 11,
    SP_MODEL_ELEMENT_BYTES = 12,
    SP_MODEL_CAUSAL = 13,
    SP_MODEL_WINDOW = 14,
    SP_MODEL_RECOMPUTE = 15,
    SP_MODEL_DISTRIBUTED_OPTIMIZER = 16,
    SP_MODEL_VIRTUAL_STAGES = 17,
    SP_MODEL_FORWARD_TOKEN_AS = 18,
    SP_MODEL_FORWARD_PAIR_AS = 19,
    SP_MODEL_FORWARD_START_PS = 20,
    SP_MODEL_FORWARD_FLOOR_PS = 21,
    SP_MODEL_BACKWARD_TOKEN_AS = 22,
    SP_MODEL_BACKWARD_PAIR_AS = 23,
    SP_MODEL_BACKWARD_START_PS = 24,
    SP_MODEL_BACKWARD_FLOOR_PS = 25
};
#define SP_VIRTUAL_STAGES_MAX 64
#define SP_PAD_MULTIPLE_MAX (1 << 20)
enum sp_recompute {
    SP_RECOMPUTE_NONE = 0,
    SP_RECOMPUTE_SELECTIVE = 1,
    SP_RECOMPUTE_FULL = 2
};
SP_API sp_status sp_model_create(const char *preset, const sp_allocator *allocator,
                                 sp_model **out);
SP_API void sp_model_destroy(sp_model *model);
SP_API const char *sp_model_preset_name(int32_t index);
SP_API sp_status sp_model_set(sp_model *model, int32_t key, int64_t value);
SP_API sp_status sp_model_get(const sp_model *model, int32_t key, int64_t *value);
SP_API sp_status sp_model_set_stage_layers(sp_model *model, const int32_t *layers,
                                           int32_t stages);
SP_API sp_status sp_model_param_info(int32_t index, sp_param_info *info);
SP_API sp_status sp_model_param_find(const char *name, int32_t *key);
typedef struct sp_fit {
    size_t struct_size;
    int64_t used;
    int64_t outliers;
    int64_t mean_error_ppm;
    int64_t largest_error_ppm;
} sp_fit;
#define SP_FIT_INIT { sizeof(sp_fit), 0, 0, 0, 0 }
#define SP_FIT_POINTS 4
SP_API sp_status sp_model_fit(sp_model *model, int32_t layers, int64_t count,
                              const int64_t *start, const int64_t *length,
                              const double *forward_s, const double *backward_s, double *error,
                              int32_t *outlier, sp_fit *fit);
typedef struct sp_device sp_device;
enum sp_device_key {
    SP_DEVICE_LINEAR_FLOPS = 1,
    SP_DEVICE_ATTENTION_FORWARD_FLOPS = 2,
    SP_DEVICE_ATTENTION_BACKWARD_FLOPS = 3,
    SP_DEVICE_HALF_RATE_TOKENS = 4,
    SP_DEVICE_LAYER_FLOOR_PS = 5,
    SP_DEVICE_PACK_OVERHEAD_PS = 6,
    SP_DEVICE_MEMORY_BYTES = 7,
    SP_DEVICE_DEVICES_PER_NODE = 8,
    SP_DEVICE_INTRA_BANDWIDTH = 9,
    SP_DEVICE_INTRA_LATENCY_PS = 10,
    SP_DEVICE_INTER_BANDWIDTH = 11,
    SP_DEVICE_INTER_LATENCY_PS = 12,
    SP_DEVICE_TP_EXPOSED_PERCENT = 13,
    SP_DEVICE_HEAD_FLOPS = 14,
    SP_DEVICE_PEAK_FLOPS = 15,
    SP_DEVICE_MEMORY_BANDWIDTH = 16,
    SP_DEVICE_DP_OVERLAP_PERCENT = 17,
    SP_DEVICE_P2P_OVERLAP = 18,
    SP_DEVICE_P2P_CONTENTION = 19,
    SP_DEVICE_CP_EXPOSED_PERCENT = 20,
    SP_DEVICE_LAYER_PASSES = 21
};
SP_API sp_status sp_device_create(const char *preset, const sp_allocator *allocator,
                                  sp_device **out);
SP_API void sp_device_destroy(sp_device *device);
SP_API const char *sp_device_preset_name(int32_t index);
SP_API sp_status sp_device_set(sp_device *device, int32_t key, int64_t value);
SP_API sp_status sp_device_get(const sp_device *device, int32_t key, int64_t *value);
SP_API sp_status sp_device_param_info(int32_t index, sp_param_info *info);
SP_API sp_status sp_device_param_find(const char *name, int32_t *key);
typedef struct sp_planner sp_planner;
typedef struct sp_schedule sp_schedule;
enum sp_planner_key {
    SP_PLANNER_POLICY = 1,
    SP_PLANNER_EFFORT = 2,
    SP_PLANNER_THREADS = 3,
    SP_PLANNER_MEMORY_BYTES = 4,
    SP_PLANNER_MAX_PACK_TOKENS = 5,
    SP_PLANNER_ALIGNMENT = 6,
    SP_PLANNER_PAD_MULTIPLE = 7,
    SP_PLANNER_SLICING = 8,
    SP_PLANNER_OVERSIZE = 9,
    SP_PLANNER_KEEP_ORDER = 10,
    SP_PLANNER_MAX_PACKS = 11,
    SP_PLANNER_PACK_GROUP = 12,
    SP_PLANNER_LOCKSTEP = 13,
    SP_PLANNER_MERGES = 14,
    SP_PLANNER_MAX_MERGE_DEGREE = 15,
    SP_PLANNER_MAX_PACK_SAMPLES = 16,
    SP_PLANNER_RUN_AHEAD = 17,
    SP_PLANNER_FORWARD_PACKS = 18,
    SP_PLANNER_BACKWARD_PACKS = 19,
    SP_PLANNER_SLICE_TOKENS = 20,
    SP_PLANNER_EXACT_NODES = 21,
    SP_PLANNER_PIPELINE = 22,
    SP_PLANNER_QUEUE_DEPTH = 23
};
enum sp_policy {
    SP_POLICY_SLIMPACK = 0,
    SP_POLICY_UNIFORM_SLICE = 1,
    SP_POLICY_BALANCED_PACK = 2,
    SP_POLICY_FIXED_PACK = 3
};
enum sp_effort {
    SP_EFFORT_FAST = 0,
    SP_EFFORT_BALANCED = 1,
    SP_EFFORT_THOROUGH = 2
};
enum sp_pipeline {
    SP_PIPELINE_1F1B = 0,
    SP_PIPELINE_ZERO_BUBBLE = 1
};
enum sp_oversize {
    SP_OVERSIZE_REFUSE = 0,
    SP_OVERSIZE_ALONE = 1
};
SP_API sp_status sp_planner_create(const sp_topology *topology, const sp_model *model,
                                   const sp_device *device, const sp_allocator *allocator,
                                   sp_planner **out);
SP_API void sp_planner_destroy(sp_planner *planner);
SP_API sp_status sp_planner_set(sp_planner *planner, int32_t key, int64_t value);
SP_API sp_status sp_planner_get(const sp_planner *planner, int32_t key, int64_t *value);
SP_API sp_status sp_planner_param_info(int32_t index, sp_param_info *info);
SP_API sp_status sp_planner_param_find(const char *name, int32_t *key);
SP_API const char *sp_policy_name(int32_t policy);
SP_API sp_status sp_policy_find(const char *name, int32_t *policy);
SP_API sp_status sp_plan_batch(sp_planner *planner, const sp_batch *batch, sp_schedule **out);
SP_API sp_status sp_planner_submit(sp_planner *planner, const sp_batch *batch);
SP_API sp_status sp_planner_collect(sp_planner *planner, sp_schedule **out);
SP_API int32_t sp_planner_ready(const sp_planner *planner);
SP_API sp_status sp_planner_cancel(sp_planner *planner);
SP_API void sp_planner_recycle(sp_planner *planner, sp_schedule *schedule);
typedef int32_t sp_pass;
enum sp_pass_code {
    SP_FORWARD = 0,
    SP_BACKWARD = 1,
    SP_WEIGHT = 2
};
enum sp_pack_flag {
    SP_PACK_EMPTY = 1,
    SP_PACK_OVERSIZE = 2
};
typedef struct sp_pack_view {
    size_t struct_size;
    int32_t count;
    int32_t merge;
    int32_t flags;
    int32_t max_seqlen_q;
    int32_t max_seqlen_k;
    int32_t reserved;
    const int32_t *sample;
    const int32_t *start;
    const int32_t *cu_seqlens_q;
    const int32_t *cu_seqlens_k;
    const int32_t *cu_seqlens_q_padded;
    int64_t tokens;
    int64_t padded_tokens;
    int64_t pack_tokens;
} sp_pack_view;
#define SP_PACK_VIEW_INIT                                                        \
    { sizeof(sp_pack_view), 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, 0, 0, 0 }
typedef struct sp_slice_view {
    size_t struct_size;
    int32_t count;
    int32_t merge;
    const int32_t *sample;
    const int32_t *start;
    const int32_t *length;
    int64_t tokens;
} sp_slice_view;
#define SP_SLICE_VIEW_INIT { sizeof(sp_slice_view), 0, 0, NULL, NULL, NULL, 0 }
typedef struct sp_op_view {
    size_t struct_size;
    sp_pass pass;
    int32_t pack;
    int32_t merge;
    int32_t recv_rank;
    int32_t send_rank;
    int32_t chunk;
    int64_t recv_tokens;
    int64_t send_tokens;
    int64_t start_ps;
    int64_t end_ps;
} sp_op_view;
#define SP_OP_VIEW_INIT { sizeof(sp_op_view), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }
typedef struct sp_pipeline_view {
    size_t struct_size;
    int32_t virtual_stages;
    int32_t pipeline;
} sp_pipeline_view;
#define SP_PIPELINE_VIEW_INIT { sizeof(sp_pipeline_view), 0, 0 }
typedef struct sp_stage_view {
    size_t struct_size;
    int64_t static_bytes;
    int64_t peak_bytes;
    int64_t peak_live_tokens;
    int64_t busy_ps;
} sp_stage_view;
#define SP_STAGE_VIEW_INIT { sizeof(sp_stage_view), 0, 0, 0, 0 }
typedef struct sp_merge_view {
    size_t struct_size;
    int32_t sample;
    int32_t first_replica;
    int32_t replicas;
    int32_t reserved;
} sp_merge_view;
#define SP_MERGE_VIEW_INIT { sizeof(sp_merge_view), 0, 0, 0, 0 }
typedef struct sp_stats {
    size_t struct_size;
    int64_t samples;
    int64_t tokens;
    int64_t slices;
    int64_t merges;
    int64_t forward_packs;
    int64_t backward_packs;
    int64_t makespan_ps;
    int64_t ideal_ps;
    int64_t bound_ps;
    int64_t ratio_ppm;
    int64_t bubble_ppm;
    int64_t imbalance_dp_ppm;
    int64_t imbalance_pp_ppm;
    int64_t imbalance_cp_ppm;
    int64_t imbalance_forward_ppm;
    int64_t imbalance_backward_ppm;
    int64_t peak_bytes;
    int64_t peak_live_tokens;
    int64_t memory_bytes;
    int64_t load_ps;
    int64_t load_bound_ps;
    int64_t exact_nodes;
    int64_t step_ps;
    int64_t tokens_per_s;
    int64_t model_gflop;
    int64_t device_gflops;
    int64_t mfu_ppm;
} sp_stats;
#define SP_STATS_INIT                                                                \
    { sizeof(sp_stats), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,     \
      0, 0, 0, 0, 0 }
SP_API void sp_schedule_destroy(sp_schedule *schedule);
SP_API int32_t sp_schedule_pack_count(const sp_schedule *schedule, sp_pass pass);
SP_API sp_status sp_schedule_pack(const sp_schedule *schedule, int32_t rank, sp_pass pass,
                                  int32_t pack, sp_pack_view *view);
SP_API sp_status sp_schedule_pack_slices(const sp_schedule *schedule, int32_t replica,
                                         sp_pass pass, int32_t pack, sp_slice_view *view);
SP_API sp_status sp_schedule_block(const sp_schedule *schedule, int32_t rank,
                                   const void **data, size_t *bytes);
SP_API int32_t sp_schedule_op_count(const sp_schedule *schedule);
SP_API sp_status sp_schedule_op(const sp_schedule *schedule, int32_t rank, int32_t index,
                                sp_op_view *view);
SP_API sp_status sp_schedule_pipeline(const sp_schedule *schedule, sp_pipeline_view *view);
SP_API sp_status sp_schedule_stage(const sp_schedule *schedule, int32_t rank,
                                   sp_stage_view *view);
SP_API int32_t sp_schedule_merge_count(const sp_schedule *schedule);
SP_API sp_status sp_schedule_merge(const sp_schedule *schedule, int32_t merge,
                                   sp_merge_view *view);
SP_API const int64_t *sp_schedule_lengths(const sp_schedule *schedule);
SP_API sp_status sp_schedule_stats(const sp_schedule *schedule, sp_stats *stats);
SP_API uint64_t sp_schedule_digest(const sp_schedule *schedule);
SP_API sp_status sp_schedule_check(const sp_schedule *schedule);
#define SP_ALL_RANKS (-1)
#define SP_WIRE_VERSION 1
SP_API sp_status sp_schedule_encode(const sp_schedule *schedule, int32_t rank, void *buffer,
                                    size_t capacity, size_t *size);
SP_API sp_status sp_schedule_decode(const void *bytes, size_t size, int32_t rank,
                                    const sp_allocator *allocator, sp_schedule **out);
typedef struct sp_builder sp_builder;
SP_API sp_status sp_builder_create(const sp_topology *topology, const sp_batch *batch,
                                   const sp_allocator *allocator, sp_builder **out);
SP_API void sp_builder_destroy(sp_builder *builder);
SP_API sp_status sp_builder_set_alignment(sp_builder *builder, int32_t alignment);
SP_API sp_status sp_builder_set_pad_multiple(sp_builder *builder, int32_t pad_multiple);
SP_API sp_status sp_builder_set_lockstep(sp_builder *builder, int32_t lockstep);
SP_API sp_status sp_builder_set_pipeline(sp_builder *builder, int32_t virtual_stages,
                                         int32_t pipeline);
SP_API sp_status sp_builder_add_merge(sp_builder *builder, int32_t sample,
                                      int32_t first_replica, int32_t replicas);
SP_API sp_status sp_builder_add_pack(sp_builder *builder, int32_t replica, sp_pass pass,
                                     int32_t merge, int32_t count, const int32_t *slices);
SP_API sp_status sp_builder_add_shards(sp_builder *builder, int32_t replica, sp_pass pass,
                                       int32_t cp, int32_t count, const int32_t *shards);
SP_API sp_status sp_builder_add_op(sp_builder *builder, int32_t replica, int32_t stage,
                                   sp_pass pass, int32_t pack, int32_t chunk, int64_t start_ps,
                                   int64_t end_ps);
SP_API sp_status sp_builder_set_memory(sp_builder *builder, int32_t replica, int32_t stage,
                                       int64_t static_bytes, int64_t peak_bytes,
                                       int64_t memory_bytes);
SP_API sp_status sp_builder_finish(const sp_builder *builder, sp_schedule **out);
typedef struct sp_simulation sp_simulation;
SP_API sp_status sp_simulate(const sp_schedule *schedule, const sp_model *model,
                             const sp_device *device, sp_simulation **out);
SP_API void sp_simulation_destroy(sp_simulation *simulation);
SP_API sp_status sp_simulation_op(const sp_simulation *simulation, int32_t rank, int32_t index,
                                  int64_t *start_ps, int64_t *end_ps);
SP_API sp_status sp_simulation_stage(const sp_simulation *simulation, int32_t rank,
                                     sp_stage_view *view);
enum sp_memory_kind {
    SP_MEMORY_WEIGHTS = 0,
    SP_MEMORY_GRADIENTS = 1,
    SP_MEMORY_OPTIMIZER = 2,
    SP_MEMORY_ACTIVATIONS = 3,
    SP_MEMORY_KV = 4,
    SP_MEMORY_DKV = 5,
    SP_MEMORY_LOGITS = 6,
    SP_MEMORY_BUFFERS = 7,
    SP_MEMORY_KINDS = 8
};
SP_API sp_status sp_simulation_memory(const sp_simulation *simulation, int32_t rank,
                                      int64_t *bytes);
typedef struct sp_device_view {
    size_t struct_size;
    int64_t forward_ps;
    int64_t backward_ps;
    int64_t weight_ps;
    int64_t communication_ps;
    int64_t bubble_ps;
    int64_t reduce_ps;
    int64_t optimizer_ps;
    int64_t gather_ps;
    int64_t finish_ps;
    int64_t peak_ps;
} sp_device_view;
#define SP_DEVICE_VIEW_INIT { sizeof(sp_device_view), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }
SP_API sp_status sp_simulation_device(const sp_simulation *simulation, int32_t rank,
                                      sp_device_view *view);
enum sp_wait {
    SP_WAIT_NOTHING = 0,
    SP_WAIT_STAGE = 1,
    SP_WAIT_INPUT = 2
};
typedef struct sp_path_view {
    size_t struct_size;
    int32_t rank;
    int32_t op;
    int32_t wait;
    int32_t reserved;
    int64_t transfer_ps;
    int64_t start_ps;
    int64_t end_ps;
} sp_path_view;
#define SP_PATH_VIEW_INIT { sizeof(sp_path_view), 0, 0, 0, 0, 0, 0, 0 }
SP_API int32_t sp_simulation_path_count(const sp_simulation *simulation);
SP_API sp_status sp_simulation_path(const sp_simulation *simulation, int32_t index,
                                    sp_path_view *view);
SP_API sp_status sp_device_calibrate(sp_device *device, int32_t count,
                                     const sp_schedule *const *schedules,
                                     const sp_model *const *models, const double *measured_s,
                                     int32_t key_count, const int32_t *keys, double *error,
                                     sp_fit *fit);
SP_API sp_status sp_simulation_stats(const sp_simulation *simulation, sp_stats *stats);
#ifdef __cplusplus
}
#endif
#endif
