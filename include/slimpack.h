/**
 * @file slimpack.h
 * @brief libslimpack: plans the steps of variable-length LLM training.
 *
 * A training framework hands over the lengths of a global batch and gets back,
 * for every rank, the slices of every forward and backward pack and the order
 * in which to run them:
 *
 * @code{.c}
 * sp_planner_create(topology, model, device, NULL, &planner);   // once
 * sp_batch_create(lengths, count, NULL, &batch);                // every step
 * sp_plan_batch(planner, batch, &schedule);
 * sp_schedule_op(schedule, my_rank, i, &op);                    // what to run
 * sp_schedule_pack(schedule, my_rank, op.pass, op.pack, &pack); // on which slices
 * @endcode
 *
 * The method is that of "SlimPack: Fine-Grained Asymmetric Packing for Balanced
 * and Efficient Variable-Length LLM Training" (arXiv 2509.26246).
 *
 * @par Words
 * A @e sample is one training sequence. A @e slice is a contiguous token range
 * of a sample. A @e pack (micro-pack) is a group of slices that one pipeline
 * stage runs as one forward or one backward unit. A @e replica is one
 * data-parallel index, a @e stage one pipeline index. A @e shard is the part of
 * a slice that one context-parallel rank computes. A @e merge is a set of
 * replicas that share one sample. An @e op is one pack run by one stage.
 *
 * @par Threads
 * A handle taken as @c const may be used by any number of threads at once. A
 * handle taken as non-const belongs to one thread for the length of the call.
 * Different handles share no state. A planner plans one batch at a time: keep
 * one per thread. A finished schedule or simulation never changes.
 *
 * @par Determinism
 * The same inputs give the same plan on every rank, thread count, compiler and
 * optimisation level: every decision is taken in integers.
 *
 * @par What the library never does
 * It never prints, exits, aborts, catches signals, reads the environment or
 * touches the locale. What is not in this header is not API.
 */
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

/**
 * @defgroup status Status and messages
 * Every fallible function returns an ::sp_status: ::SP_OK is 0, errors are
 * negative. Results go through the last parameters and are untouched on error.
 * Whether a call worked is its status; how good a plan is stands in its stats.
 *
 * Structs begin with @c struct_size, which the initialisers set. Wherever one is handed
 * over, allocator hooks included, a size below that of its first release is
 * ::SP_ERR_INVALID, and one that sets fields which this library does not know is
 * ::SP_ERR_ABI.
 * @{
 */

/** Result of a call: ::SP_OK or one of the negative SP_ERR values. */
typedef int32_t sp_status;

/** The statuses: value, name, meaning. One list serves the enum and
 * sp_status_name(). */
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

/** The values of ::sp_status. */
enum sp_status_code {
#define SP_STATUS_ENUM(name, value, text) name = value,
    SP_STATUS_MAP(SP_STATUS_ENUM)
#undef SP_STATUS_ENUM
    SP_STATUS_END_ = -1000 /**< Keeps the list open; never returned. */
};

/**
 * Name of a status, such as "SP_ERR_RANGE".
 * @param[in] status  Any value.
 * @return A static string, "SP_ERR_UNKNOWN" for a value this release lacks.
 */
SP_API const char *sp_status_name(sp_status status);

/**
 * What a status means, in one sentence.
 * @param[in] status  Any value.
 * @return A static string.
 */
SP_API const char *sp_status_text(sp_status status);

/**
 * The calling thread's last failure in words: argument, value and bound, in one line.
 * Control characters of a name that it repeats are shown as '?'. A successful call
 * leaves it as it is.
 * @return A string owned by the library, valid until this thread's next failing
 *         call. Empty before the first failure.
 */
SP_API const char *sp_error_message(void);

/** @} */

/**
 * @defgroup version Version and features
 * @{
 */

#define SP_VERSION_MAJOR 1 /**< Grows when the ABI breaks; the SONAME's number. */
#define SP_VERSION_MINOR 0 /**< Grows with new functions, keys and fields. */
#define SP_VERSION_PATCH 0 /**< Grows with corrections. */
/** The version as one number that grows: 1.2.3 is 10203. */
#define SP_VERSION (SP_VERSION_MAJOR * 10000 + SP_VERSION_MINOR * 100 + SP_VERSION_PATCH)

/**
 * Version of the library that runs, to compare with #SP_VERSION.
 * @return The number that #SP_VERSION had when the library was built.
 */
SP_API int32_t sp_version(void);

/**
 * The same as text, such as "1.0.0".
 * @return A static string.
 */
SP_API const char *sp_version_string(void);

/** @} */

/**
 * @defgroup allocator Allocator
 * Each handle uses the allocator that it was created with for all its memory.
 * @{
 */

/** Allocator hooks: @c alloc and @c free, or neither for the C library's. One of them
 * alone is ::SP_ERR_INVALID. */
typedef struct sp_allocator {
    size_t struct_size;                    /**< sizeof(sp_allocator). */
    void *(*alloc)(void *ctx, size_t size); /**< Memory of @p size > 0 bytes, aligned
                                                 as by malloc, or NULL. */
    void (*free)(void *ctx, void *ptr);    /**< Takes back what alloc gave; never NULL. */
    void *ctx;                             /**< Passed to both. */
} sp_allocator;

/** Initialiser of an ::sp_allocator that stands for malloc and free. */
#define SP_ALLOCATOR_INIT { sizeof(sp_allocator), NULL, NULL, NULL }

/** @} */

/**
 * @defgroup parameters Parameters by key
 * Planner, model and device are tuned by parameters: an int32 key, an int64
 * value. One table per handle holds each key's name, unit, bounds, default and
 * help; the same table answers the queries here, the command line's
 * @c --set and the documentation. New keys never break the ABI.
 * @{
 */

/** One row of a parameter table. Strings are static. */
typedef struct sp_param_info {
    size_t struct_size;  /**< Set before the call. */
    int32_t key;         /**< One of the SP_PLANNER_, SP_MODEL_ or SP_DEVICE_ keys. */
    int32_t reserved;    /**< 0. */
    const char *name;    /**< Name for people and for @c --set. */
    const char *unit;    /**< Unit, "" for a pure number. */
    const char *help;    /**< One line. */
    const char *values;  /**< Names of the values from @c minimum up, separated by
                              commas, or "" when the value is a number. */
    int64_t minimum;     /**< Smallest value. */
    int64_t maximum;     /**< Largest value. */
    int64_t fallback;    /**< Value of a new handle (a preset may set another). */
} sp_param_info;

/** Initialiser of an ::sp_param_info. */
#define SP_PARAM_INFO_INIT { sizeof(sp_param_info), 0, 0, NULL, NULL, NULL, NULL, 0, 0, 0 }

/** @} */

/**
 * @defgroup batch Batch
 * The lengths of one global batch.
 * @{
 */

/** The lengths of one global batch. Immutable. */
typedef struct sp_batch sp_batch;

/**
 * Make a batch of sample lengths. The lengths are copied.
 * @param[in]  lengths    [count] tokens of each sample, each >= 1.
 * @param[in]  count      Samples, 1 <= count <= 2^31 - 1.
 * @param[in]  allocator  Hooks, or NULL for malloc.
 * @param[out] out        The batch; free it with sp_batch_destroy().
 * @retval SP_OK            @p out is set.
 * @retval SP_ERR_INVALID   A pointer is NULL.
 * @retval SP_ERR_RANGE     @p count or a length is out of bounds; the message
 *                          names the index.
 * @retval SP_ERR_OVERFLOW  The sum of the lengths passes int64.
 * @retval SP_ERR_MEMORY    Out of memory.
 */
SP_API sp_status sp_batch_create(const int64_t *lengths, int64_t count,
                                 const sp_allocator *allocator, sp_batch **out);

/**
 * Free a batch.
 * @param[in] batch  May be NULL.
 */
SP_API void sp_batch_destroy(sp_batch *batch);

/**
 * Samples in a batch.
 * @param[in] batch  Not NULL.
 * @return >= 1.
 */
SP_API int64_t sp_batch_count(const sp_batch *batch);

/**
 * All tokens of a batch.
 * @param[in] batch  Not NULL.
 * @return >= 1.
 */
SP_API int64_t sp_batch_tokens(const sp_batch *batch);

/**
 * Longest sample of a batch, in tokens.
 * @param[in] batch  Not NULL.
 * @return >= 1.
 */
SP_API int64_t sp_batch_longest(const sp_batch *batch);

/** @} */

/**
 * @defgroup topology Topology
 * DP x TP x PP x CP devices and how global ranks are numbered.
 * @{
 */

/** Parallel degrees and rank order. Immutable. */
typedef struct sp_topology sp_topology;

/** Place of a rank along each dimension. */
typedef struct sp_coordinates {
    size_t struct_size; /**< Set before the call. */
    int32_t dp;         /**< Replica, 0 <= dp < DP. */
    int32_t tp;         /**< Tensor-parallel index, 0 <= tp < TP. */
    int32_t pp;         /**< Pipeline stage, 0 <= pp < PP. */
    int32_t cp;         /**< Context-parallel index, 0 <= cp < CP. */
} sp_coordinates;

/** Initialiser of ::sp_coordinates. */
#define SP_COORDINATES_INIT { sizeof(sp_coordinates), 0, 0, 0, 0 }

/**
 * Make a topology whose ranks are numbered in Megatron-LM's default order,
 * tp-cp-dp-pp (tp varies fastest).
 * @param[in]  dp,tp,pp,cp  Degrees, each >= 1; their product <= 2^31 - 1.
 * @param[in]  allocator    Hooks, or NULL for malloc.
 * @param[out] out          The topology; free it with sp_topology_destroy().
 * @retval SP_OK            @p out is set.
 * @retval SP_ERR_INVALID   @p out is NULL.
 * @retval SP_ERR_RANGE     A degree is below 1; the message names it.
 * @retval SP_ERR_OVERFLOW  The product of the degrees passes 2^31 - 1.
 * @retval SP_ERR_MEMORY    Out of memory.
 */
SP_API sp_status sp_topology_create(int32_t dp, int32_t tp, int32_t pp, int32_t cp,
                                    const sp_allocator *allocator, sp_topology **out);

/**
 * Make a topology from one line, such as "dp=8 pp=4 cp=2 tp=8" or
 * "dp=8 pp=4 order=tp-cp-pp-dp". Degrees that are not named are 1. @c order
 * lists the four dimensions, fastest first.
 * @param[in]  text  The line.
 * @param[out] out   The topology; free it with sp_topology_destroy().
 * @retval SP_OK            @p out is set.
 * @retval SP_ERR_INVALID   A pointer is NULL, or the line is malformed; the
 *                          message names the word.
 * @retval SP_ERR_NAME      A key is not a dimension.
 * @retval SP_ERR_RANGE     A degree is below 1 or above 2^31 - 1.
 * @retval SP_ERR_OVERFLOW  The product of the degrees passes 2^31 - 1.
 * @retval SP_ERR_MEMORY    Out of memory.
 */
SP_API sp_status sp_topology_parse(const char *text, sp_topology **out);

/**
 * Free a topology.
 * @param[in] topology  May be NULL.
 */
SP_API void sp_topology_destroy(sp_topology *topology);

/**
 * Number of ranks.
 * @param[in] topology  Not NULL.
 * @return DP * TP * PP * CP.
 */
SP_API int32_t sp_topology_size(const sp_topology *topology);

/**
 * Degrees of a topology.
 * @param[in]     topology  Topology.
 * @param[in,out] out       Set @c struct_size; receives DP, TP, PP and CP.
 * @retval SP_OK           @p out is filled.
 * @retval SP_ERR_INVALID  A pointer is NULL or @c struct_size is too small.
 */
SP_API sp_status sp_topology_degrees(const sp_topology *topology, sp_coordinates *out);

/**
 * Coordinates of a global rank.
 * @param[in]     topology  Topology.
 * @param[in]     rank      0 <= rank < sp_topology_size().
 * @param[in,out] out       Set @c struct_size; receives the coordinates.
 * @retval SP_OK           @p out is filled.
 * @retval SP_ERR_INVALID  A pointer is NULL or @c struct_size is too small.
 * @retval SP_ERR_RANGE    @p rank is out of bounds.
 */
SP_API sp_status sp_topology_coordinates(const sp_topology *topology, int32_t rank,
                                         sp_coordinates *out);

/**
 * Global rank at some coordinates: the inverse of sp_topology_coordinates().
 * @param[in]  topology  Topology.
 * @param[in]  at        Coordinates.
 * @param[out] rank      The rank.
 * @retval SP_OK           @p rank is set.
 * @retval SP_ERR_INVALID  A pointer is NULL or @c struct_size is too small.
 * @retval SP_ERR_RANGE    A coordinate is out of bounds; the message names it.
 */
SP_API sp_status sp_topology_rank(const sp_topology *topology, const sp_coordinates *at,
                                  int32_t *rank);

/** @} */

/**
 * @defgroup model Model
 * The shape of the transformer: what a token and a (query, key) pair cost.
 * @{
 */

/** Shape of a transformer and its training set-up. */
typedef struct sp_model sp_model;

/** Keys of a model. The table behind sp_model_param_info() describes each. */
enum sp_model_key {
    SP_MODEL_LAYERS = 1,            /**< Transformer layers. */
    SP_MODEL_HIDDEN = 2,            /**< Hidden size. */
    SP_MODEL_HEADS = 3,             /**< Query heads. */
    SP_MODEL_KV_HEADS = 4,          /**< Key and value heads (GQA). */
    SP_MODEL_HEAD_DIM = 5,          /**< Width of a head. */
    SP_MODEL_FFN_HIDDEN = 6,        /**< Width of the MLP (of one expert). */
    SP_MODEL_GATED = 7,             /**< 1: gated MLP (SwiGLU), three matrices. */
    SP_MODEL_VOCAB = 8,             /**< Vocabulary size. */
    SP_MODEL_TIED_EMBEDDINGS = 9,   /**< 1: input and output embedding share weights. */
    SP_MODEL_EXPERTS = 10,          /**< Experts per layer; 1 is a dense model. */
    SP_MODEL_EXPERTS_PER_TOKEN = 11, /**< Experts a token is routed to. */
    SP_MODEL_ELEMENT_BYTES = 12,    /**< Bytes of an activation element. */
    SP_MODEL_CAUSAL = 13,           /**< 1: causal attention; 0: bidirectional. */
    SP_MODEL_WINDOW = 14,           /**< Sliding window in tokens, 0 for none. */
    SP_MODEL_RECOMPUTE = 15,        /**< Activation recomputation, ::sp_recompute. */
    SP_MODEL_DISTRIBUTED_OPTIMIZER = 16, /**< 1: optimiser state is sharded over DP x CP. */
    SP_MODEL_VIRTUAL_STAGES = 17,   /**< Model chunks of each pipeline stage (interleaving):
                                         chunk c of stage s is virtual stage c * PP + s. They
                                         divide each stage's layers; above 1, PP is at least 2. */
    SP_MODEL_FORWARD_TOKEN_AS = 18, /**< Measured forward time of a layer for each token on a rank,
                                         attoseconds. Where it or the next is set, they stand for
                                         FLOPs and rates; sp_model_fit() sets all eight. */
    SP_MODEL_FORWARD_PAIR_AS = 19,  /**< The same for each (query, key) pair. */
    SP_MODEL_FORWARD_START_PS = 20, /**< The same for each pack, whatever it holds. */
    SP_MODEL_FORWARD_FLOOR_PS = 21, /**< Least time of a layer's forward. */
    SP_MODEL_BACKWARD_TOKEN_AS = 22, /**< As SP_MODEL_FORWARD_TOKEN_AS, backward. */
    SP_MODEL_BACKWARD_PAIR_AS = 23,  /**< As SP_MODEL_FORWARD_PAIR_AS, backward. */
    SP_MODEL_BACKWARD_START_PS = 24, /**< As SP_MODEL_FORWARD_START_PS, backward. */
    SP_MODEL_BACKWARD_FLOOR_PS = 25  /**< As SP_MODEL_FORWARD_FLOOR_PS, backward. */
};

/** Largest ::SP_MODEL_VIRTUAL_STAGES. */
#define SP_VIRTUAL_STAGES_MAX 64

/** Most tokens that shards are padded to multiples of. */
#define SP_PAD_MULTIPLE_MAX (1 << 20)

/** Values of ::SP_MODEL_RECOMPUTE. */
enum sp_recompute {
    SP_RECOMPUTE_NONE = 0,      /**< Every activation is kept. */
    SP_RECOMPUTE_SELECTIVE = 1, /**< Norm and activation-function outputs are recomputed. */
    SP_RECOMPUTE_FULL = 2       /**< Only layer inputs, K and V are kept; backward runs forward
                                     again. */
};

/**
 * Make a model from a preset.
 * @param[in]  preset     A name of sp_model_preset_name(), such as "llama2-7b".
 * @param[in]  allocator  Hooks, or NULL for malloc.
 * @param[out] out        The model; free it with sp_model_destroy().
 * @retval SP_OK           @p out is set.
 * @retval SP_ERR_INVALID  A pointer is NULL.
 * @retval SP_ERR_NAME     No preset has this name; the message suggests one, or lists all.
 * @retval SP_ERR_MEMORY   Out of memory.
 */
SP_API sp_status sp_model_create(const char *preset, const sp_allocator *allocator,
                                 sp_model **out);

/**
 * Free a model.
 * @param[in] model  May be NULL.
 */
SP_API void sp_model_destroy(sp_model *model);

/**
 * Name of a model preset.
 * @param[in] index  From 0 up.
 * @return A static string, NULL past the last.
 */
SP_API const char *sp_model_preset_name(int32_t index);

/**
 * Set a parameter of a model.
 * @param[in,out] model  Model; planners made earlier keep their own copy.
 * @param[in]     key    One of ::sp_model_key.
 * @param[in]     value  Within the bounds of sp_model_param_info().
 * @retval SP_OK           The value is set.
 * @retval SP_ERR_INVALID  @p model is NULL.
 * @retval SP_ERR_NAME     No parameter has this key.
 * @retval SP_ERR_RANGE    @p value is out of bounds.
 */
SP_API sp_status sp_model_set(sp_model *model, int32_t key, int64_t value);

/**
 * Read a parameter of a model.
 * @param[in]  model  Model.
 * @param[in]  key    One of ::sp_model_key.
 * @param[out] value  The value.
 * @retval SP_OK           @p value is set.
 * @retval SP_ERR_INVALID  A pointer is NULL.
 * @retval SP_ERR_NAME     No parameter has this key.
 */
SP_API sp_status sp_model_get(const sp_model *model, int32_t key, int64_t *value);

/**
 * Set how many layers each pipeline stage holds. Without it layers are spread
 * evenly, earlier stages taking the remainder.
 * @param[in,out] model   Model.
 * @param[in]     layers  [stages] layers of each stage, each >= 1. Copied.
 * @param[in]     stages  Stages, or 0 (with NULL) to return to the even spread.
 * @retval SP_OK           The spread is set. It is held against the topology's PP
 *                         and the layer count when a planner is made.
 * @retval SP_ERR_INVALID  A pointer is NULL, or @p layers is not though @p stages is 0.
 * @retval SP_ERR_RANGE    A count is below 1, the message names its stage; or @p stages is
 *                         below 0.
 * @retval SP_ERR_MEMORY   Out of memory.
 */
SP_API sp_status sp_model_set_stage_layers(sp_model *model, const int32_t *layers,
                                           int32_t stages);

/**
 * One row of the model's parameter table.
 * @param[in]     index  From 0 up.
 * @param[in,out] info   Set @c struct_size; receives the row.
 * @retval SP_OK           @p info is filled.
 * @retval SP_ERR_INVALID  @p info is NULL or its @c struct_size is too small.
 * @retval SP_ERR_RANGE    @p index is past the last row.
 */
SP_API sp_status sp_model_param_info(int32_t index, sp_param_info *info);

/**
 * Key of a model parameter by its name.
 * @param[in]  name  Name.
 * @param[out] key   The key.
 * @retval SP_OK           @p key is set.
 * @retval SP_ERR_INVALID  A pointer is NULL.
 * @retval SP_ERR_NAME     No parameter has this name; the message suggests one, or lists all where
 *                         they are few.
 */
SP_API sp_status sp_model_param_find(const char *name, int32_t *key);

/** What a fit found, as relative errors in parts per million. */
typedef struct sp_fit {
    size_t struct_size;        /**< Set before the call. */
    int64_t used;              /**< Measurements that shaped the fit. */
    int64_t outliers;          /**< Measurements that were left out. */
    int64_t mean_error_ppm;    /**< Mean absolute error of those used. */
    int64_t largest_error_ppm; /**< Largest absolute error of those used. */
} sp_fit;

/** Initialiser of an ::sp_fit. */
#define SP_FIT_INIT { sizeof(sp_fit), 0, 0, 0, 0 }

/** Fewest measurements that sp_model_fit() takes. */
#define SP_FIT_POINTS 4

/**
 * Fit a layer's costs to measured slices, and let the model use them instead of
 * FLOPs and rates: for each pass
 * `time = max(token * tokens + pair * pairs + start, floor)`, no coefficient below
 * 0, the least sum of squared relative errors. Measurements that lie far off are
 * found and left out. Sets the eight keys from ::SP_MODEL_FORWARD_TOKEN_AS on;
 * setting those to 0 returns to FLOPs. Fit on one rank and hand the values to all:
 * ranks whose models differ make different plans.
 * @param[in,out] model       Model; its attention mask counts the pairs, and without a
 *                            causal one a slice is taken for a whole sample.
 * @param[in]     layers      Layers that were run for each time, >= 1.
 * @param[in]     count       Measurements, >= ::SP_FIT_POINTS.
 * @param[in]     start       [count] first token of each slice within its sample, >= 0.
 * @param[in]     length      [count] tokens of each slice, >= 1.
 * @param[in]     forward_s   [count] seconds, > 0.
 * @param[in]     backward_s  [count] seconds, > 0.
 * @param[out]    error       [2 * count] relative errors, (fitted - measured) / measured:
 *                            [2 * i] of forward_s[i], [2 * i + 1] of backward_s[i]; may be
 *                            NULL.
 * @param[out]    outlier     [count] 1 for those left out, else 0; may be NULL.
 * @param[in,out] fit         Set @c struct_size; what was found. May be NULL.
 * @retval SP_OK            The model is changed and the outputs are set.
 * @retval SP_ERR_INVALID   A pointer is NULL, a time is no finite number, the slices
 *                          are too alike to tell tokens from pairs, or a pass comes
 *                          out without cost.
 * @retval SP_ERR_RANGE     An argument is out of bounds, a time outside 1e-18 to
 *                          1e15 s or @p count above 2^31 - 1; the message names
 *                          the index.
 * @retval SP_ERR_OVERFLOW  A slice ends past 2^31 - 1, or pairs or a coefficient do
 *                          not fit.
 * @retval SP_ERR_MEMORY    Out of memory.
 */
SP_API sp_status sp_model_fit(sp_model *model, int32_t layers, int64_t count,
                              const int64_t *start, const int64_t *length,
                              const double *forward_s, const double *backward_s, double *error,
                              int32_t *outlier, sp_fit *fit);

/** @} */

/**
 * @defgroup device Device
 * What one accelerator and its links achieve.
 * @{
 */

/** Achievable rates, overheads, memory and links of one accelerator. */
typedef struct sp_device sp_device;

/** Keys of a device. The table behind sp_device_param_info() describes each. */
enum sp_device_key {
    SP_DEVICE_LINEAR_FLOPS = 1,             /**< Linear layers, FLOP/s. */
    SP_DEVICE_ATTENTION_FORWARD_FLOPS = 2,  /**< Attention forward, FLOP/s. */
    SP_DEVICE_ATTENTION_BACKWARD_FLOPS = 3, /**< Attention backward, FLOP/s. */
    SP_DEVICE_HALF_RATE_TOKENS = 4, /**< Tokens at which a linear layer reaches half its rate. */
    SP_DEVICE_LAYER_FLOOR_PS = 5,   /**< Least time of a layer's forward; backward is twice it,
                                         with full recomputation three times. */
    SP_DEVICE_PACK_OVERHEAD_PS = 6, /**< Added to each pack that holds tokens. */
    SP_DEVICE_MEMORY_BYTES = 7,     /**< Memory; INT64_MAX is no limit. */
    SP_DEVICE_DEVICES_PER_NODE = 8, /**< Consecutive ranks that share a node. */
    SP_DEVICE_INTRA_BANDWIDTH = 9, /**< Bytes/s of a device inside a node; INT64_MAX: infinite. */
    SP_DEVICE_INTRA_LATENCY_PS = 10,  /**< Latency inside a node. */
    SP_DEVICE_INTER_BANDWIDTH = 11, /**< Bytes/s of a device between nodes; INT64_MAX: infinite. */
    SP_DEVICE_INTER_LATENCY_PS = 12,  /**< Latency between nodes. */
    SP_DEVICE_TP_EXPOSED_PERCENT = 13, /**< Share of tensor-parallel collectives that is not
                                            hidden behind the layers' own work. */
    SP_DEVICE_HEAD_FLOPS = 14,         /**< Vocabulary head, FLOP/s; 0 is the rate of the linear
                                            layers. Frameworks keep it in bf16 beside fp8 layers. */
    SP_DEVICE_PEAK_FLOPS = 15,         /**< What MFU is counted against, FLOP/s; 0 is the rate of
                                            the linear layers. Shapes no plan. */
    SP_DEVICE_MEMORY_BANDWIDTH = 16,   /**< Bytes/s that the optimiser step reads and writes;
                                            INT64_MAX: infinite. */
    SP_DEVICE_DP_OVERLAP_PERCENT = 17, /**< Share of the gradient reduction that may hide behind a
                                            stage's last op, and of the parameter gather that hides
                                            behind the next step. */
    SP_DEVICE_P2P_OVERLAP = 18,    /**< 1: a stage goes on while it sends; 0: it waits. */
    SP_DEVICE_P2P_CONTENTION = 19, /**< 1: what a stage sends queues on its link; 0: every message
                                        has the link to itself. */
    SP_DEVICE_CP_EXPOSED_PERCENT = 20, /**< Share of the exchange of K, V, dK and dV within a
                                            context-parallel or merge group that is not hidden. */
    SP_DEVICE_LAYER_PASSES = 21        /**< How often a layer's forward reads or writes a token's
                                            hidden state in memory outside matrix products and
                                            attention (norms, activations, residuals); backward
                                            twice as often. 0: the linear rate has it in. */
};

/**
 * Make a device from a preset.
 * @param[in]  preset     A name of sp_device_preset_name(), such as "h100" or "ideal".
 * @param[in]  allocator  Hooks, or NULL for malloc.
 * @param[out] out        The device; free it with sp_device_destroy().
 * @retval SP_OK           @p out is set.
 * @retval SP_ERR_INVALID  A pointer is NULL.
 * @retval SP_ERR_NAME     No preset has this name; the message suggests one, or lists all.
 * @retval SP_ERR_MEMORY   Out of memory.
 */
SP_API sp_status sp_device_create(const char *preset, const sp_allocator *allocator,
                                  sp_device **out);

/**
 * Free a device.
 * @param[in] device  May be NULL.
 */
SP_API void sp_device_destroy(sp_device *device);

/**
 * Name of a device preset.
 * @param[in] index  From 0 up.
 * @return A static string, NULL past the last.
 */
SP_API const char *sp_device_preset_name(int32_t index);

/**
 * Set a parameter of a device; as sp_model_set().
 * @param[in,out] device  Device; planners made earlier keep their own copy.
 * @param[in]     key     One of ::sp_device_key.
 * @param[in]     value   Within the bounds of sp_device_param_info().
 * @retval SP_OK           The value is set.
 * @retval SP_ERR_INVALID  @p device is NULL.
 * @retval SP_ERR_NAME     No parameter has this key.
 * @retval SP_ERR_RANGE    @p value is out of bounds.
 */
SP_API sp_status sp_device_set(sp_device *device, int32_t key, int64_t value);

/**
 * Read a parameter of a device; as sp_model_get().
 * @param[in]  device  Device.
 * @param[in]  key     One of ::sp_device_key.
 * @param[out] value   The value.
 * @retval SP_OK           @p value is set.
 * @retval SP_ERR_INVALID  A pointer is NULL.
 * @retval SP_ERR_NAME     No parameter has this key.
 */
SP_API sp_status sp_device_get(const sp_device *device, int32_t key, int64_t *value);

/**
 * One row of the device's parameter table; as sp_model_param_info().
 * @param[in]     index  From 0 up.
 * @param[in,out] info   Set @c struct_size; receives the row.
 * @retval SP_OK           @p info is filled.
 * @retval SP_ERR_INVALID  @p info is NULL or its @c struct_size is too small.
 * @retval SP_ERR_RANGE    @p index is past the last row.
 */
SP_API sp_status sp_device_param_info(int32_t index, sp_param_info *info);

/**
 * Key of a device parameter by its name; as sp_model_param_find().
 * @param[in]  name  Name.
 * @param[out] key   The key.
 * @retval SP_OK           @p key is set.
 * @retval SP_ERR_INVALID  A pointer is NULL.
 * @retval SP_ERR_NAME     No parameter has this name; the message suggests one, or lists all where
 *                         they are few.
 */
SP_API sp_status sp_device_param_find(const char *name, int32_t *key);

/** @} */

/**
 * @defgroup planner Planner
 * Holds topology, model, device and parameters, and all scratch memory of
 * planning: a warm call allocates the schedule alone.
 * @{
 */

/** Plans one batch after another. Belongs to one thread. */
typedef struct sp_planner sp_planner;
/** A finished plan. Immutable. */
typedef struct sp_schedule sp_schedule;

/** Keys of a planner. The table behind sp_planner_param_info() describes each. */
enum sp_planner_key {
    SP_PLANNER_POLICY = 1,          /**< Planning policy, ::sp_policy. */
    SP_PLANNER_EFFORT = 2,          /**< How long to search, ::sp_effort. */
    SP_PLANNER_THREADS = 3,         /**< Threads that plan; never changes the plan. */
    SP_PLANNER_MEMORY_BYTES = 4,    /**< Memory cap of a device; 0 takes the device's. */
    SP_PLANNER_MAX_PACK_TOKENS = 5, /**< Padded tokens of a pack on a rank; 0 is no cap. */
    SP_PLANNER_ALIGNMENT = 6,       /**< Slices start at multiples of this. */
    SP_PLANNER_PAD_MULTIPLE = 7,    /**< Shards are padded to multiples of this in a second
                                         offset table. */
    SP_PLANNER_SLICING = 8,         /**< 1: samples may be sliced; 0: whole samples only. */
    SP_PLANNER_OVERSIZE = 9,        /**< Sample above the cap without slicing, ::sp_oversize. */
    SP_PLANNER_KEEP_ORDER = 10,     /**< 1: samples of a replica run in input order. */
    SP_PLANNER_MAX_PACKS = 11,      /**< Most packs of a replica in one pass. */
    SP_PLANNER_PACK_GROUP = 12,     /**< Pack counts are multiples of this. */
    SP_PLANNER_LOCKSTEP = 13,       /**< 1: replicas run pack k together (sharded parameters). */
    SP_PLANNER_MERGES = 14,         /**< 1: a sample may be shared by replicas. */
    SP_PLANNER_MAX_MERGE_DEGREE = 15, /**< Most replicas that share a sample; 0 is DP. */
    SP_PLANNER_MAX_PACK_SAMPLES = 16, /**< Most samples in a pack; 0 is no limit. */
    SP_PLANNER_RUN_AHEAD = 17,      /**< How far a stage may run ahead of its backward, for each
                                         stage from it to the last, in units of the work of the
                                         largest forward pack: more packs where they are small.
                                         With several chunks of the first stage alone. */
    SP_PLANNER_FORWARD_PACKS = 18,  /**< Forward packs of a replica, kept or refused; 0 lets the
                                         planner choose. Empty packs may be among them. */
    SP_PLANNER_BACKWARD_PACKS = 19, /**< Backward packs, likewise. Policies that run both passes
                                         in the same packs take one count. */
    SP_PLANNER_SLICE_TOKENS = 20,   /**< Slice length of policy uniform-slice, a multiple of the
                                         alignment; 0 lets the planner choose. */
    SP_PLANNER_EXACT_NODES = 21,    /**< Nodes of a branch and bound that improves the assignment
                                         of a small batch and proves how good it is; 0 leaves it
                                         out. At most 1024 samples and 64 replicas. */
    SP_PLANNER_PIPELINE = 22,       /**< How a backward pack is run, ::sp_pipeline. */
    SP_PLANNER_QUEUE_DEPTH = 23     /**< Most batches that are submitted and not collected. */
};

/** Values of ::SP_PLANNER_POLICY. */
enum sp_policy {
    SP_POLICY_SLIMPACK = 0,      /**< Slices, asymmetric packs, merges: the method. */
    SP_POLICY_UNIFORM_SLICE = 1, /**< Slices of equal tokens, both passes in the same packs. */
    SP_POLICY_BALANCED_PACK = 2, /**< Whole samples, packs and replicas balanced by work, 1F1B. */
    SP_POLICY_FIXED_PACK = 3     /**< Whole samples, first-fit-decreasing bins as long as the
                                      longest sample, dealt in turn, 1F1B. */
};

/** Values of ::SP_PLANNER_EFFORT. */
enum sp_effort {
    SP_EFFORT_FAST = 0,     /**< Closed-form start only. */
    SP_EFFORT_BALANCED = 1, /**< A short search on the simulator. */
    SP_EFFORT_THOROUGH = 2  /**< A long search on the simulator. */
};

/** Values of ::SP_PLANNER_PIPELINE. With ::SP_MODEL_VIRTUAL_STAGES above 1 either
 * is interleaved. */
enum sp_pipeline {
    SP_PIPELINE_1F1B = 0,       /**< A backward pack is one op. */
    SP_PIPELINE_ZERO_BUBBLE = 1 /**< Two: ::SP_BACKWARD gives the gradients of the inputs, which
                                     the stage before waits for, ::SP_WEIGHT those of the weights,
                                     which nothing waits for and so fills bubbles (Qi et al.,
                                     arXiv 2401.10241). */
};

/** Values of ::SP_PLANNER_OVERSIZE. */
enum sp_oversize {
    SP_OVERSIZE_REFUSE = 0, /**< ::SP_ERR_INFEASIBLE, naming the sample. */
    SP_OVERSIZE_ALONE = 1   /**< Alone in a pack that is flagged ::SP_PACK_OVERSIZE. */
};

/**
 * Make a planner. Topology, model and device are copied.
 * @param[in]  topology   Topology.
 * @param[in]  model      Model; PP must not pass its layer count.
 * @param[in]  device     Device.
 * @param[in]  allocator  Hooks for the planner and its schedules, or NULL for
 *                        malloc. Must be callable until both are destroyed.
 * @param[out] out        The planner; free it with sp_planner_destroy().
 * @retval SP_OK            @p out is set.
 * @retval SP_ERR_INVALID   A pointer is NULL, or degrees and model contradict
 *                          each other (PP above the layers, TP that does not
 *                          divide the heads, layers per stage that do not add up).
 * @retval SP_ERR_OVERFLOW  A cost per token does not fit.
 * @retval SP_ERR_MEMORY    Out of memory.
 */
SP_API sp_status sp_planner_create(const sp_topology *topology, const sp_model *model,
                                   const sp_device *device, const sp_allocator *allocator,
                                   sp_planner **out);

/**
 * Free a planner, in whatever state; its schedules live on. Waits for the batch that
 * is being planned, drops all others. A forked process leaves what its parent's worker
 * used.
 * @param[in] planner  May be NULL.
 */
SP_API void sp_planner_destroy(sp_planner *planner);

/**
 * Set a parameter of a planner; as sp_model_set().
 * @param[in,out] planner  Planner.
 * @param[in]     key      One of ::sp_planner_key.
 * @param[in]     value    Within the bounds of sp_planner_param_info().
 * @retval SP_OK           The value is set.
 * @retval SP_ERR_INVALID  @p planner is NULL.
 * @retval SP_ERR_NAME     No parameter has this key.
 * @retval SP_ERR_RANGE    @p value is out of bounds.
 */
SP_API sp_status sp_planner_set(sp_planner *planner, int32_t key, int64_t value);

/**
 * Read a parameter of a planner; as sp_model_get().
 * @param[in]  planner  Planner.
 * @param[in]  key      One of ::sp_planner_key.
 * @param[out] value    The value.
 * @retval SP_OK           @p value is set.
 * @retval SP_ERR_INVALID  A pointer is NULL.
 * @retval SP_ERR_NAME     No parameter has this key.
 */
SP_API sp_status sp_planner_get(const sp_planner *planner, int32_t key, int64_t *value);

/**
 * One row of the planner's parameter table; as sp_model_param_info().
 * @param[in]     index  From 0 up.
 * @param[in,out] info   Set @c struct_size; receives the row.
 * @retval SP_OK           @p info is filled.
 * @retval SP_ERR_INVALID  @p info is NULL or its @c struct_size is too small.
 * @retval SP_ERR_RANGE    @p index is past the last row.
 */
SP_API sp_status sp_planner_param_info(int32_t index, sp_param_info *info);

/**
 * Key of a planner parameter by its name; as sp_model_param_find().
 * @param[in]  name  Name.
 * @param[out] key   The key.
 * @retval SP_OK           @p key is set.
 * @retval SP_ERR_INVALID  A pointer is NULL.
 * @retval SP_ERR_NAME     No parameter has this name; the message suggests one, or lists all where
 *                         they are few.
 */
SP_API sp_status sp_planner_param_find(const char *name, int32_t *key);

/**
 * Name of a policy, such as "slimpack".
 * @param[in] policy  From 0 up.
 * @return A static string, NULL past the last.
 */
SP_API const char *sp_policy_name(int32_t policy);

/**
 * Policy by its name.
 * @param[in]  name    Name.
 * @param[out] policy  One of ::sp_policy.
 * @retval SP_OK           @p policy is set.
 * @retval SP_ERR_INVALID  A pointer is NULL.
 * @retval SP_ERR_NAME     No policy has this name; the message suggests one.
 */
SP_API sp_status sp_policy_find(const char *name, int32_t *policy);

/**
 * Plan one step: the hot path. The batch may be destroyed afterwards.
 * @param[in,out] planner  Planner; usable afterwards whatever the result.
 * @param[in]     batch    Batch.
 * @param[out]    out      The schedule; free it with sp_schedule_destroy(). It does
 *                         not depend on the planner's life.
 * @retval SP_OK              @p out is set: a valid plan that keeps every limit.
 * @retval SP_ERR_INVALID     A pointer is NULL, or parameters contradict each other.
 * @retval SP_ERR_OVERFLOW    A sample has more than 2^31 - 1 tokens, or a cost or
 *                            an offset table would not fit its type.
 * @retval SP_ERR_INFEASIBLE  No plan keeps memory, token cap or pack limit; the
 *                            message says which and what would do.
 * @retval SP_ERR_MEMORY      Out of memory.
 */
SP_API sp_status sp_plan_batch(sp_planner *planner, const sp_batch *batch, sp_schedule **out);

/**
 * Hand over the batch of a coming step, to be planned by a thread of the planner's
 * own while this step runs. Batches are planned and collected in the order of their
 * submission, with the parameters that stand now. sp_plan_batch() may be called in
 * between; the planner's hooks are called from both threads.
 * @param[in,out] planner  Planner.
 * @param[in]     batch    Batch. Copied.
 * @retval SP_OK           The batch is queued.
 * @retval SP_ERR_INVALID  A pointer is NULL.
 * @retval SP_ERR_STATE    ::SP_PLANNER_QUEUE_DEPTH batches wait to be collected, or
 *                         this process was forked after the first submission.
 * @retval SP_ERR_SYSTEM   No thread could be started.
 * @retval SP_ERR_MEMORY   Out of memory.
 */
SP_API sp_status sp_planner_submit(sp_planner *planner, const sp_batch *batch);

/**
 * Take the plan of the oldest batch that was submitted and not collected; waits for
 * it when it is not ready. The plan is that of sp_plan_batch().
 * @param[in,out] planner  Planner.
 * @param[out]    out      The schedule; free it with sp_schedule_destroy().
 * @retval SP_OK           @p out is set.
 * @retval SP_ERR_INVALID  A pointer is NULL.
 * @retval SP_ERR_STATE    No batch is submitted, or this process was forked after the
 *                         first submission.
 * @return What sp_plan_batch() returned for that batch, with its message; the batch
 *         is collected then too.
 */
SP_API sp_status sp_planner_collect(sp_planner *planner, sp_schedule **out);

/**
 * Batches that can be collected without waiting.
 * @param[in] planner  Not NULL.
 * @return The count, 0 in a forked process.
 */
SP_API int32_t sp_planner_ready(const sp_planner *planner);

/**
 * Drop all batches that are submitted and not collected. Waits for the one that is
 * being planned.
 * @param[in,out] planner  Planner; usable afterwards.
 * @retval SP_OK           None is left.
 * @retval SP_ERR_INVALID  @p planner is NULL.
 * @retval SP_ERR_STATE    This process was forked after the first submission.
 */
SP_API sp_status sp_planner_cancel(sp_planner *planner);

/**
 * Give a schedule back to the planner that made it, instead of destroying it: a
 * coming plan is written into its memory. A loop that does so allocates nothing once
 * its plans have had their size. The planner keeps a few schedules and destroys the
 * rest, and those of other allocators. May be called while batches are planned.
 * @param[in,out] planner   Planner; NULL destroys the schedule.
 * @param[in]     schedule  May be NULL. Its views end here, as by sp_schedule_destroy().
 */
SP_API void sp_planner_recycle(sp_planner *planner, sp_schedule *schedule);

/** @} */

/**
 * @defgroup schedule Schedule
 * Queries are copy-free and constant-time. What they return is borrowed: every
 * pointer dies with the schedule.
 * @{
 */

/** One of ::sp_pass_code. */
typedef int32_t sp_pass;

/** Values of ::sp_pass. */
enum sp_pass_code {
    SP_FORWARD = 0, /**< Forward packs: slices of a sample by increasing start. */
    SP_BACKWARD = 1, /**< Backward packs: slices of a sample by decreasing start. */
    SP_WEIGHT = 2   /**< Op of a zero-bubble pipeline: the weight gradients of a backward pack.
                         Queries take it as ::SP_BACKWARD, so that they take what an op says. */
};

/** Bits of sp_pack_view::flags. */
enum sp_pack_flag {
    SP_PACK_EMPTY = 1,   /**< This rank has no tokens here; the pack is still run on every stage. */
    SP_PACK_OVERSIZE = 2 /**< Holds one whole sample above the token cap. */
};

/** What one rank computes of one pack: shards, ready for a varlen kernel. */
typedef struct sp_pack_view {
    size_t struct_size; /**< Set before the call. */
    int32_t count;      /**< Shards of this rank in the pack, >= 0. */
    int32_t merge;      /**< Index of the merge that shares the pack, or -1. */
    int32_t flags;      /**< Bits of ::sp_pack_flag. */
    int32_t max_seqlen_q; /**< Longest shard, tokens. */
    int32_t max_seqlen_k; /**< Longest prefix including the shard, tokens. */
    int32_t reserved;   /**< 0. */
    const int32_t *sample; /**< [count] index of the sample in the batch. */
    const int32_t *start;  /**< [count] first token of the shard within its sample. */
    const int32_t *cu_seqlens_q; /**< [count + 1] offsets of the shards' queries. */
    const int32_t *cu_seqlens_k; /**< [count + 1] offsets of the shards' keys: shard j
                                      attends its sample's tokens [0, start + length). */
    const int32_t *cu_seqlens_q_padded; /**< [count + 1] offsets with each shard padded to
                                      ::SP_PLANNER_PAD_MULTIPLE; the plain ones when that is 1. */
    int64_t tokens;        /**< Real tokens of this rank: cu_seqlens_q[count]. */
    int64_t padded_tokens; /**< cu_seqlens_q_padded[count]. */
    int64_t pack_tokens;   /**< Real tokens of the pack over all its ranks, those of a merge's
                                replicas included: over the batch's tokens, the weight in the
                                global mean loss of a mean over all these ranks. A mean over
                                this rank's alone weighs @c tokens. */
} sp_pack_view;

/** Initialiser of an ::sp_pack_view. */
#define SP_PACK_VIEW_INIT                                                        \
    { sizeof(sp_pack_view), 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, 0, 0, 0 }

/** All slices of one pack of one replica, before context parallelism. */
typedef struct sp_slice_view {
    size_t struct_size;    /**< Set before the call. */
    int32_t count;         /**< Slices in the pack, >= 0. */
    int32_t merge;         /**< Index of the merge that shares the pack, or -1. */
    const int32_t *sample; /**< [count] index of the sample in the batch. */
    const int32_t *start;  /**< [count] first token within the sample. */
    const int32_t *length; /**< [count] tokens. */
    int64_t tokens;        /**< Sum of the lengths. */
} sp_slice_view;

/** Initialiser of an ::sp_slice_view. */
#define SP_SLICE_VIEW_INIT { sizeof(sp_slice_view), 0, 0, NULL, NULL, NULL, 0 }

/** One op of a rank: which pack to run, and what to exchange before and after. For
 * each pair of ranks and each pass the order of sends is that of receives; with two
 * stages and several chunks both passes go from a rank to the other, and their
 * messages need a tag or a communicator for each pass. */
typedef struct sp_op_view {
    size_t struct_size;  /**< Set before the call. */
    sp_pass pass;        /**< ::SP_FORWARD, ::SP_BACKWARD or ::SP_WEIGHT. */
    int32_t pack;        /**< Pack of that pass; of ::SP_WEIGHT a backward pack. */
    int32_t merge;       /**< Index of the merge that shares the pack, or -1. */
    int32_t recv_rank;   /**< Rank to receive activations (forward) or gradients
                              (backward) from before the op, or -1. */
    int32_t send_rank;   /**< Rank to send to after the op, or -1. */
    int32_t chunk;       /**< Model chunk of the stage, 0 <= chunk < virtual stages. */
    int64_t recv_tokens; /**< Tokens to receive, 0 without a peer: sp_pack_view::tokens, the
                              rows of this rank's shards without padding. */
    int64_t send_tokens; /**< Tokens to send, 0 without a peer. */
    int64_t start_ps;    /**< Simulated start, picoseconds. */
    int64_t end_ps;      /**< Simulated end, picoseconds. */
} sp_op_view;

/** Initialiser of an ::sp_op_view. */
#define SP_OP_VIEW_INIT { sizeof(sp_op_view), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/** How the pipeline of a schedule runs. */
typedef struct sp_pipeline_view {
    size_t struct_size;     /**< Set before the call. */
    int32_t virtual_stages; /**< Model chunks of each stage. */
    int32_t pipeline;       /**< One of ::sp_pipeline. */
} sp_pipeline_view;

/** Initialiser of an ::sp_pipeline_view. */
#define SP_PIPELINE_VIEW_INIT { sizeof(sp_pipeline_view), 0, 0 }

/** What the simulator says of the device at one rank. */
typedef struct sp_stage_view {
    size_t struct_size;       /**< Set before the call. */
    int64_t static_bytes;     /**< Weights, gradients and optimiser state. */
    int64_t peak_bytes;       /**< Largest memory at any time, static part included. */
    int64_t peak_live_tokens; /**< Most tokens between their forward and their backward, or
                                   their weight gradients; counted once in each chunk. */
    int64_t busy_ps;          /**< Time spent in ops. */
} sp_stage_view;

/** Initialiser of an ::sp_stage_view. */
#define SP_STAGE_VIEW_INIT { sizeof(sp_stage_view), 0, 0, 0, 0 }

/** A sample shared by consecutive replicas. */
typedef struct sp_merge_view {
    size_t struct_size;    /**< Set before the call. */
    int32_t sample;        /**< Index of the sample in the batch. */
    int32_t first_replica; /**< First replica of the merge. */
    int32_t replicas;      /**< Replicas of the merge, >= 2. */
    int32_t reserved;      /**< 0. */
} sp_merge_view;

/** Initialiser of an ::sp_merge_view. */
#define SP_MERGE_VIEW_INIT { sizeof(sp_merge_view), 0, 0, 0, 0 }

/** How good a plan is. Shares are in parts per million. */
typedef struct sp_stats {
    size_t struct_size;       /**< Set before the call. */
    int64_t samples;          /**< Samples planned. */
    int64_t tokens;           /**< Tokens planned: the denominator of the global mean loss. */
    int64_t slices;           /**< Slices over all samples. */
    int64_t merges;           /**< Samples shared by replicas. */
    int64_t forward_packs;    /**< Forward packs of each replica. */
    int64_t backward_packs;   /**< Backward packs of each replica. */
    int64_t makespan_ps;      /**< Simulated time from the first op to the end of the last. */
    int64_t ideal_ps;         /**< Compute of the heaviest stage at full rate over DP x CP. */
    int64_t bound_ps;         /**< Proven lower bound of any plan's makespan in a pipeline that
                                   runs like this one, >= ideal_ps. */
    int64_t ratio_ppm;        /**< makespan / ideal: 1000000 has no loss at all. */
    int64_t bubble_ppm;       /**< Idle share of all devices over the makespan. */
    int64_t imbalance_dp_ppm; /**< Largest replica's work over the mean, less one, on the
                                   stage with the most. */
    int64_t imbalance_pp_ppm; /**< Largest stage's work over the mean, less one. */
    int64_t imbalance_cp_ppm; /**< Time lost to uneven CP ranks within packs. */
    int64_t imbalance_forward_ppm;  /**< Largest forward pack over the mean, less one. */
    int64_t imbalance_backward_ppm; /**< Largest backward pack over the mean, less one. */
    int64_t peak_bytes;       /**< Largest memory of any device. */
    int64_t peak_live_tokens; /**< Most live tokens of any device. */
    int64_t memory_bytes;     /**< The cap planned under, INT64_MAX for none. */
    int64_t load_ps;          /**< Largest replica's work as assigned, on the stage with the
                                   most. */
    int64_t load_bound_ps;    /**< Proven lower bound of load_ps over all assignments that policy
                                   and parameters allow; equal to it when
                                   ::SP_PLANNER_EXACT_NODES sufficed for a proof. */
    int64_t exact_nodes;      /**< Nodes that the exact assignment looked at. */
    int64_t step_ps;          /**< Makespan, then gradient reduction, optimiser step and
                                   parameter gather where they are not hidden. */
    int64_t tokens_per_s;     /**< tokens / step. */
    int64_t model_gflop;      /**< 10^9 FLOPs of the step: forward and twice that backward, causal
                                   pairs as attended, recomputation not counted. */
    int64_t device_gflops;    /**< model_gflop / step, per device: GFLOP/s. */
    int64_t mfu_ppm;          /**< device_gflops over ::SP_DEVICE_PEAK_FLOPS. */
} sp_stats;

/** Initialiser of ::sp_stats. */
#define SP_STATS_INIT                                                                \
    { sizeof(sp_stats), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,     \
      0, 0, 0, 0, 0 }

/**
 * Free a schedule.
 * @param[in] schedule  May be NULL.
 */
SP_API void sp_schedule_destroy(sp_schedule *schedule);

/**
 * Packs of each replica in one pass; the same on every rank.
 * @param[in] schedule  Not NULL.
 * @param[in] pass      One of ::sp_pass_code.
 * @return The count, -1 for another pass.
 */
SP_API int32_t sp_schedule_pack_count(const sp_schedule *schedule, sp_pass pass);

/**
 * Look at one pack of a rank's work without copying it. With the pairing of
 * @c cu_seqlens_q and @c cu_seqlens_k a causal varlen kernel that aligns its
 * mask to the bottom-right corner needs no other mask. Shards are listed in the
 * order to run.
 * @param[in]     schedule  Schedule.
 * @param[in]     rank      Global rank, 0 <= rank < sp_topology_size().
 * @param[in]     pass      One of ::sp_pass_code.
 * @param[in]     pack      0 <= pack < sp_schedule_pack_count().
 * @param[in,out] view      Set @c struct_size; the fields that fit are filled.
 * @retval SP_OK           @p view is filled.
 * @retval SP_ERR_INVALID  A pointer is NULL or @c struct_size is too small.
 * @retval SP_ERR_RANGE    @p rank, @p pass or @p pack is out of bounds.
 * @retval SP_ERR_STATE    @p schedule is a part that does not hold the replica.
 */
SP_API sp_status sp_schedule_pack(const sp_schedule *schedule, int32_t rank, sp_pass pass,
                                  int32_t pack, sp_pack_view *view);

/**
 * Look at all slices of a replica's pack, before they are split over CP ranks.
 * A pack of a merge shows the same slices in each of its replicas.
 * @param[in]     schedule  Schedule.
 * @param[in]     replica   0 <= replica < DP.
 * @param[in]     pass      One of ::sp_pass_code.
 * @param[in]     pack      0 <= pack < sp_schedule_pack_count().
 * @param[in,out] view      Set @c struct_size; the fields that fit are filled.
 * @retval SP_OK           @p view is filled.
 * @retval SP_ERR_INVALID  A pointer is NULL or @c struct_size is too small.
 * @retval SP_ERR_RANGE    @p replica, @p pass or @p pack is out of bounds.
 * @retval SP_ERR_STATE    @p schedule is a part that does not hold the replica.
 */
SP_API sp_status sp_schedule_pack_slices(const sp_schedule *schedule, int32_t replica,
                                         sp_pass pass, int32_t pack, sp_slice_view *view);

/**
 * The one block that holds every int32 array of a rank's packs, aligned to 64
 * bytes: copy it to the accelerator once and offset the views' pointers.
 * @param[in]  schedule  Schedule.
 * @param[in]  rank      Global rank.
 * @param[out] data      [bytes] the block. A rank without shards has one, too: the offset
 *                       tables of its empty packs.
 * @param[out] bytes     Its size.
 * @retval SP_OK           @p data and @p bytes are set.
 * @retval SP_ERR_INVALID  A pointer is NULL.
 * @retval SP_ERR_RANGE    @p rank is out of bounds.
 * @retval SP_ERR_STATE    @p schedule is a part that does not hold the replica.
 */
SP_API sp_status sp_schedule_block(const sp_schedule *schedule, int32_t rank,
                                   const void **data, size_t *bytes);

/**
 * Ops of each rank: on each of its virtual stages the forward packs and the
 * backward packs, the latter twice in a zero-bubble pipeline.
 * @param[in] schedule  Not NULL.
 * @return The count.
 */
SP_API int32_t sp_schedule_op_count(const sp_schedule *schedule);

/**
 * The index-th op of a rank, with its peers and token counts.
 * @param[in]     schedule  Schedule.
 * @param[in]     rank      Global rank.
 * @param[in]     index     0 <= index < sp_schedule_op_count().
 * @param[in,out] view      Set @c struct_size; the fields that fit are filled.
 * @retval SP_OK           @p view is filled.
 * @retval SP_ERR_INVALID  A pointer is NULL or @c struct_size is too small.
 * @retval SP_ERR_RANGE    @p rank or @p index is out of bounds.
 * @retval SP_ERR_STATE    @p schedule is a part that does not hold the replica.
 */
SP_API sp_status sp_schedule_op(const sp_schedule *schedule, int32_t rank, int32_t index,
                                sp_op_view *view);

/**
 * How the pipeline runs.
 * @param[in]     schedule  Schedule.
 * @param[in,out] view      Set @c struct_size; the fields that fit are filled.
 * @retval SP_OK           @p view is filled.
 * @retval SP_ERR_INVALID  A pointer is NULL or @c struct_size is too small.
 */
SP_API sp_status sp_schedule_pipeline(const sp_schedule *schedule, sp_pipeline_view *view);

/**
 * Memory and work of the device at a rank.
 * @param[in]     schedule  Schedule.
 * @param[in]     rank      Global rank.
 * @param[in,out] view      Set @c struct_size; the fields that fit are filled.
 * @retval SP_OK           @p view is filled.
 * @retval SP_ERR_INVALID  A pointer is NULL or @c struct_size is too small.
 * @retval SP_ERR_RANGE    @p rank is out of bounds.
 * @retval SP_ERR_STATE    @p schedule is a part that does not hold the replica.
 */
SP_API sp_status sp_schedule_stage(const sp_schedule *schedule, int32_t rank,
                                   sp_stage_view *view);

/**
 * Merges of a schedule.
 * @param[in] schedule  Not NULL.
 * @return The count, >= 0.
 */
SP_API int32_t sp_schedule_merge_count(const sp_schedule *schedule);

/**
 * One merge: its sample and its replicas.
 * @param[in]     schedule  Schedule.
 * @param[in]     merge     0 <= merge < sp_schedule_merge_count().
 * @param[in,out] view      Set @c struct_size; the fields that fit are filled.
 * @retval SP_OK           @p view is filled.
 * @retval SP_ERR_INVALID  A pointer is NULL or @c struct_size is too small.
 * @retval SP_ERR_RANGE    @p merge is out of bounds.
 */
SP_API sp_status sp_schedule_merge(const sp_schedule *schedule, int32_t merge,
                                   sp_merge_view *view);

/**
 * Sample lengths in input order.
 * @param[in] schedule  Not NULL.
 * @return [sp_stats::samples] tokens; borrowed.
 */
SP_API const int64_t *sp_schedule_lengths(const sp_schedule *schedule);

/**
 * How good the plan is.
 * @param[in]     schedule  Schedule.
 * @param[in,out] stats     Set @c struct_size; the fields that fit are filled.
 * @retval SP_OK           @p stats is filled.
 * @retval SP_ERR_INVALID  A pointer is NULL or @c struct_size is too small.
 */
SP_API sp_status sp_schedule_stats(const sp_schedule *schedule, sp_stats *stats);

/**
 * Eight bytes that ranks which planned independently compare before they start.
 * Covers topology with its order of ranks, lengths, padding, lockstep, merges, packs,
 * shards and ops with their times.
 * @param[in] schedule  Not NULL.
 * @return The digest; of a part that was decoded for one rank, the whole plan's. Time
 *         linear in the plan's size.
 */
SP_API uint64_t sp_schedule_digest(const sp_schedule *schedule);

/**
 * Verify the invariants of a plan, I1 to I8 of the documentation.
 * @param[in] schedule  Schedule.
 * @retval SP_OK             All hold.
 * @retval SP_ERR_INVALID    @p schedule is NULL.
 * @retval SP_ERR_STATE      @p schedule is one rank's part of a plan.
 * @retval SP_ERR_INVARIANT  One does not; the message starts with its name.
 * @retval SP_ERR_MEMORY     Out of memory.
 */
SP_API sp_status sp_schedule_check(const sp_schedule *schedule);

/** @} */

/**
 * @defgroup wire Plans as bytes
 * Carries a plan to ranks that did not make it: rank 0 plans, encodes and broadcasts,
 * the others decode. Bytes are little-endian, carry a version and a checksum, and are
 * the same wherever the plan is the same. Decoding trusts nothing: damaged or hostile
 * bytes give ::SP_ERR_FORMAT or ::SP_ERR_INVARIANT, are never read past their end, and
 * never make it allocate more than 4096 bytes for each of theirs.
 * @{
 */

#define SP_ALL_RANKS (-1) /**< Rank of sp_schedule_encode() and sp_schedule_decode(). */
#define SP_WIRE_VERSION 1 /**< Of the bytes; a library reads its own and earlier ones. */

/**
 * Write a schedule, or one rank's part of it, as bytes. Call it with no buffer to
 * learn the size.
 * @param[in]  schedule  Schedule.
 * @param[in]  rank      ::SP_ALL_RANKS, or a rank: then only the replicas that this
 *                       rank shares work with are written, its own and those of its
 *                       merges.
 * @param[out] buffer    [capacity] bytes, any alignment; NULL with capacity 0.
 * @param[in]  capacity  Bytes of @p buffer.
 * @param[out] size      Bytes written, or needed when @p buffer is NULL.
 * @retval SP_OK           @p size and the first bytes of @p buffer are set.
 * @retval SP_ERR_INVALID  A pointer is NULL.
 * @retval SP_ERR_RANGE    @p rank is out of bounds, or @p capacity too small.
 * @retval SP_ERR_STATE    @p schedule is a part that does not hold all of @p rank's.
 * @retval SP_ERR_MEMORY   Out of memory.
 */
SP_API sp_status sp_schedule_encode(const sp_schedule *schedule, int32_t rank, void *buffer,
                                    size_t capacity, size_t *size);

/**
 * Make a schedule of bytes that sp_schedule_encode() wrote. All invariants of a whole
 * plan are verified.
 *
 * With a rank the result is that rank's part, in memory that does not grow with DP:
 * it answers for the replicas that the rank shares work with, with the lengths, merges,
 * stats and digest of the whole plan; a query about another replica, as well as
 * sp_simulate() and sp_schedule_check(), is ::SP_ERR_STATE.
 * @param[in]  bytes      [size] as encoded, any alignment. Copied.
 * @param[in]  size       Bytes.
 * @param[in]  rank       ::SP_ALL_RANKS for all that the bytes hold, or a rank.
 * @param[in]  allocator  Memory hooks of the schedule, NULL for malloc and free.
 * @param[out] out        The schedule; free it with sp_schedule_destroy().
 * @retval SP_OK             @p out is set.
 * @retval SP_ERR_INVALID    A pointer is NULL.
 * @retval SP_ERR_RANGE      @p rank is no rank of the plan.
 * @retval SP_ERR_STATE      The bytes are a part that does not hold all of @p rank's.
 * @retval SP_ERR_FORMAT     The bytes are truncated, damaged, of another version or no
 *                           plan; the message says which, and where.
 * @retval SP_ERR_INVARIANT  They hold a plan that breaks an invariant.
 * @retval SP_ERR_OVERFLOW   Offsets do not fit int32.
 * @retval SP_ERR_MEMORY     Out of memory.
 */
SP_API sp_status sp_schedule_decode(const void *bytes, size_t size, int32_t rank,
                                    const sp_allocator *allocator, sp_schedule **out);

/** @} */

/**
 * @defgroup builder Builder
 * Makes a schedule from its parts, as a plan file or another planner lists them. A call
 * is taken whole or, where it fails, not at all: it may be made again.
 * @{
 */

/** Collects the parts of a schedule. Belongs to one thread. */
typedef struct sp_builder sp_builder;

/**
 * Start a schedule.
 * @param[in]  topology   Topology. Copied.
 * @param[in]  batch      Lengths. Copied.
 * @param[in]  allocator  Hooks for builder and schedule, or NULL for malloc.
 * @param[out] out        The builder; free it with sp_builder_destroy().
 * @retval SP_OK           @p out is set.
 * @retval SP_ERR_INVALID  A pointer is NULL.
 * @retval SP_ERR_MEMORY   Out of memory.
 */
SP_API sp_status sp_builder_create(const sp_topology *topology, const sp_batch *batch,
                                   const sp_allocator *allocator, sp_builder **out);

/**
 * Free a builder.
 * @param[in] builder  May be NULL.
 */
SP_API void sp_builder_destroy(sp_builder *builder);

/**
 * Set the slice alignment that I7 is held against; 1 until set.
 * @param[in,out] builder    Builder.
 * @param[in]     alignment  Tokens, >= 1.
 * @retval SP_OK           The value is set.
 * @retval SP_ERR_INVALID  @p builder is NULL.
 * @retval SP_ERR_RANGE    @p alignment is below 1.
 */
SP_API sp_status sp_builder_set_alignment(sp_builder *builder, int32_t alignment);

/**
 * Set what shards are padded to in ::sp_pack_view::cu_seqlens_q_padded, as
 * ::SP_PLANNER_PAD_MULTIPLE does for planned schedules; 1 until set.
 * @param[in,out] builder       Builder.
 * @param[in]     pad_multiple  Tokens, 1 to ::SP_PAD_MULTIPLE_MAX.
 * @retval SP_OK           The value is set.
 * @retval SP_ERR_INVALID  @p builder is NULL.
 * @retval SP_ERR_RANGE    @p pad_multiple is out of its range.
 */
SP_API sp_status sp_builder_set_pad_multiple(sp_builder *builder, int32_t pad_multiple);

/**
 * Set whether replicas run pack k of a pass together when the schedule is simulated, as
 * ::SP_PLANNER_LOCKSTEP does for planned schedules; 0 until set.
 * @param[in,out] builder   Builder.
 * @param[in]     lockstep  0 or 1.
 * @retval SP_OK           The value is set.
 * @retval SP_ERR_INVALID  @p builder is NULL.
 * @retval SP_ERR_RANGE    @p lockstep is neither.
 */
SP_API sp_status sp_builder_set_lockstep(sp_builder *builder, int32_t lockstep);

/**
 * Set how the pipeline runs: 1 virtual stage and ::SP_PIPELINE_1F1B until set.
 * @param[in,out] builder         Builder.
 * @param[in]     virtual_stages  Model chunks of each stage, 1 to ::SP_VIRTUAL_STAGES_MAX; 1
 *                                where PP is 1.
 * @param[in]     pipeline        One of ::sp_pipeline.
 * @retval SP_OK           The values are set.
 * @retval SP_ERR_INVALID  @p builder is NULL.
 * @retval SP_ERR_RANGE    An argument is out of bounds.
 */
SP_API sp_status sp_builder_set_pipeline(sp_builder *builder, int32_t virtual_stages,
                                         int32_t pipeline);

/**
 * Add a merge; merges are numbered from 0 in this order.
 * @param[in,out] builder        Builder.
 * @param[in]     sample         Index of the sample.
 * @param[in]     first_replica  First replica.
 * @param[in]     replicas       Replicas, >= 2.
 * @retval SP_OK           The merge is added.
 * @retval SP_ERR_INVALID  @p builder is NULL.
 * @retval SP_ERR_RANGE    An argument is out of bounds.
 * @retval SP_ERR_MEMORY   Out of memory.
 */
SP_API sp_status sp_builder_add_merge(sp_builder *builder, int32_t sample,
                                      int32_t first_replica, int32_t replicas);

/**
 * Append a pack to a replica's packs of one pass.
 * @param[in,out] builder  Builder.
 * @param[in]     replica  0 <= replica < DP.
 * @param[in]     pass     ::SP_FORWARD or ::SP_BACKWARD.
 * @param[in]     merge    Index of a merge added before, or -1.
 * @param[in]     count    Slices, 0 to (2^31 - 1) / 3.
 * @param[in]     slices   [3 * count] sample, start and length of each slice in turn.
 * @retval SP_OK           The pack is added.
 * @retval SP_ERR_INVALID  A pointer is NULL.
 * @retval SP_ERR_RANGE    An argument is out of bounds.
 * @retval SP_ERR_MEMORY   Out of memory.
 */
SP_API sp_status sp_builder_add_pack(sp_builder *builder, int32_t replica, sp_pass pass,
                                     int32_t merge, int32_t count, const int32_t *slices);

/**
 * Append the shards of one CP rank to the last pack added for a replica and pass.
 * @param[in,out] builder  Builder.
 * @param[in]     replica  0 <= replica < DP.
 * @param[in]     pass     ::SP_FORWARD or ::SP_BACKWARD.
 * @param[in]     cp       0 <= cp < CP.
 * @param[in]     count    Shards, >= 0; (2^31 - 1) / 5 of a rank's pack at most.
 * @param[in]     shards   [3 * count] sample, start and length of each shard in turn.
 * @retval SP_OK           The shards are added.
 * @retval SP_ERR_INVALID  A pointer is NULL.
 * @retval SP_ERR_RANGE    An argument is out of bounds.
 * @retval SP_ERR_STATE    The replica has no pack of this pass yet.
 * @retval SP_ERR_MEMORY   Out of memory.
 */
SP_API sp_status sp_builder_add_shards(sp_builder *builder, int32_t replica, sp_pass pass,
                                       int32_t cp, int32_t count, const int32_t *shards);

/**
 * Append an op to a stage of a replica.
 * @param[in,out] builder   Builder.
 * @param[in]     replica   0 <= replica < DP.
 * @param[in]     stage     0 <= stage < PP.
 * @param[in]     pass      ::SP_FORWARD, ::SP_BACKWARD or ::SP_WEIGHT.
 * @param[in]     pack      Pack of that pass, 0 to 2^22 - 1.
 * @param[in]     chunk     Model chunk of the stage, 0 <= chunk < ::SP_VIRTUAL_STAGES_MAX.
 * @param[in]     start_ps  Start, 0 <= start_ps <= end_ps.
 * @param[in]     end_ps    End.
 * @retval SP_OK           The op is added.
 * @retval SP_ERR_INVALID  @p builder is NULL.
 * @retval SP_ERR_RANGE    An argument is out of bounds.
 * @retval SP_ERR_MEMORY   Out of memory.
 */
SP_API sp_status sp_builder_add_op(sp_builder *builder, int32_t replica, int32_t stage,
                                   sp_pass pass, int32_t pack, int32_t chunk, int64_t start_ps,
                                   int64_t end_ps);

/**
 * Set the memory of a stage of a replica, and the cap of all (INT64_MAX: none).
 * @param[in,out] builder       Builder.
 * @param[in]     replica       0 <= replica < DP.
 * @param[in]     stage         0 <= stage < PP.
 * @param[in]     static_bytes  >= 0.
 * @param[in]     peak_bytes    >= static_bytes.
 * @param[in]     memory_bytes  Cap, >= 0; the last one given counts.
 * @retval SP_OK           The values are set.
 * @retval SP_ERR_INVALID  @p builder is NULL.
 * @retval SP_ERR_RANGE    An argument is out of bounds.
 */
SP_API sp_status sp_builder_set_memory(sp_builder *builder, int32_t replica, int32_t stage,
                                       int64_t static_bytes, int64_t peak_bytes,
                                       int64_t memory_bytes);

/**
 * Finish: verify the invariants and make the schedule. The builder stays as it
 * is. The schedule's stats hold what its parts tell: counts, makespan, memory.
 * @param[in]  builder  Builder.
 * @param[out] out      The schedule; free it with sp_schedule_destroy().
 * @retval SP_OK             @p out is set.
 * @retval SP_ERR_INVALID    A pointer is NULL.
 * @retval SP_ERR_INVARIANT  An invariant does not hold; the message starts with
 *                           its name, I1 to I8.
 * @retval SP_ERR_OVERFLOW   Offsets do not fit int32.
 * @retval SP_ERR_MEMORY     Out of memory.
 */
SP_API sp_status sp_builder_finish(const sp_builder *builder, sp_schedule **out);

/** @} */

/**
 * @defgroup simulation Simulation
 * Replays a plan under other costs: what if the model or the device changed.
 * @{
 */

/** Timeline of a schedule under a model and a device. Immutable. */
typedef struct sp_simulation sp_simulation;

/**
 * Simulate a schedule, its op order kept, under a model and a device.
 * @param[in]  schedule  Schedule. May be destroyed afterwards.
 * @param[in]  model     Model; its ::SP_MODEL_VIRTUAL_STAGES gives way to the schedule's.
 * @param[in]  device    Device.
 * @param[out] out       The simulation; free it with sp_simulation_destroy(). It
 *                       uses the schedule's allocator.
 * @retval SP_OK            @p out is set, whether the plan fits the memory or not.
 * @retval SP_ERR_INVALID   A pointer is NULL, or model and topology contradict
 *                          each other.
 * @retval SP_ERR_STATE     @p schedule is one rank's part of a plan.
 * @retval SP_ERR_OVERFLOW  A cost or time does not fit.
 * @retval SP_ERR_MEMORY    Out of memory.
 */
SP_API sp_status sp_simulate(const sp_schedule *schedule, const sp_model *model,
                             const sp_device *device, sp_simulation **out);

/**
 * Free a simulation.
 * @param[in] simulation  May be NULL.
 */
SP_API void sp_simulation_destroy(sp_simulation *simulation);

/**
 * Simulated times of the index-th op of a rank; as sp_schedule_op(), with this
 * simulation's times.
 * @param[in]  simulation  Simulation.
 * @param[in]  rank        Global rank.
 * @param[in]  index       0 <= index < sp_schedule_op_count().
 * @param[out] start_ps    Start.
 * @param[out] end_ps      End.
 * @retval SP_OK           Both are set.
 * @retval SP_ERR_INVALID  A pointer is NULL.
 * @retval SP_ERR_RANGE    @p rank or @p index is out of bounds.
 */
SP_API sp_status sp_simulation_op(const sp_simulation *simulation, int32_t rank, int32_t index,
                                  int64_t *start_ps, int64_t *end_ps);

/**
 * Memory and work of the device at a rank; as sp_schedule_stage().
 * @param[in]     simulation  Simulation.
 * @param[in]     rank        Global rank.
 * @param[in,out] view        Set @c struct_size; the fields that fit are filled.
 * @retval SP_OK           @p view is filled.
 * @retval SP_ERR_INVALID  A pointer is NULL or @c struct_size is too small.
 * @retval SP_ERR_RANGE    @p rank is out of bounds.
 */
SP_API sp_status sp_simulation_stage(const sp_simulation *simulation, int32_t rank,
                                     sp_stage_view *view);

/** Kinds of memory on a device: rows of sp_simulation_memory(). */
enum sp_memory_kind {
    SP_MEMORY_WEIGHTS = 0,     /**< Weights. */
    SP_MEMORY_GRADIENTS = 1,   /**< Gradients, fp32. */
    SP_MEMORY_OPTIMIZER = 2,   /**< fp32 weights and two moments (Adam). */
    SP_MEMORY_ACTIVATIONS = 3, /**< What live tokens keep for backward, K and V left out. */
    SP_MEMORY_KV = 4,          /**< K and V of live tokens, gathered ones included, each once:
                                    attention is taken to read them where they are. A copy of a
                                    pack's cu_seqlens_k[count] rows for one call is not counted. */
    SP_MEMORY_DKV = 5,         /**< dK and dV that are not complete yet. */
    SP_MEMORY_LOGITS = 6,      /**< Softmax of live tokens, on the last stage. */
    SP_MEMORY_BUFFERS = 7,     /**< What the stage receives and sends. */
    SP_MEMORY_KINDS = 8        /**< How many kinds there are. */
};

/**
 * Memory of a device over the step: bytes of each kind while each op runs. Their
 * sum is largest when it is sp_stage_view::peak_bytes.
 * @param[in]  simulation  Simulation.
 * @param[in]  rank        Global rank.
 * @param[out] bytes       [sp_schedule_op_count() * ::SP_MEMORY_KINDS] op-major.
 * @retval SP_OK           @p bytes is filled.
 * @retval SP_ERR_INVALID  A pointer is NULL.
 * @retval SP_ERR_RANGE    @p rank is out of bounds.
 */
SP_API sp_status sp_simulation_memory(const sp_simulation *simulation, int32_t rank,
                                      int64_t *bytes);

/** Where the time of a device goes. The first five add up to the makespan. */
typedef struct sp_device_view {
    size_t struct_size;       /**< Set before the call. */
    int64_t forward_ps;       /**< Forward ops, communication left out. */
    int64_t backward_ps;      /**< Backward ops, likewise. */
    int64_t weight_ps;        /**< Weight-gradient ops. */
    int64_t communication_ps; /**< Within ops: exchanges of K, V, dK, dV and the exposed share of
                                   tensor-parallel collectives; and sends that block the stage. */
    int64_t bubble_ps;        /**< Idle until the makespan, waiting for slower ranks of its ops
                                   included. */
    int64_t reduce_ps;        /**< Gradient reduction after the stage's ops, less what they hide. */
    int64_t optimizer_ps;     /**< Optimiser step. */
    int64_t gather_ps;        /**< Parameter gather, hidden part left out. */
    int64_t finish_ps;        /**< When all of it is done. */
    int64_t peak_ps;          /**< Start of the first op at which memory is largest. */
} sp_device_view;

/** Initialiser of an ::sp_device_view. */
#define SP_DEVICE_VIEW_INIT { sizeof(sp_device_view), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/**
 * Where the time of the device at a rank goes.
 * @param[in]     simulation  Simulation.
 * @param[in]     rank        Global rank.
 * @param[in,out] view        Set @c struct_size; the fields that fit are filled.
 * @retval SP_OK           @p view is filled.
 * @retval SP_ERR_INVALID  A pointer is NULL or @c struct_size is too small.
 * @retval SP_ERR_RANGE    @p rank is out of bounds.
 */
SP_API sp_status sp_simulation_device(const sp_simulation *simulation, int32_t rank,
                                      sp_device_view *view);

/** What an op of the critical path had to wait for last. */
enum sp_wait {
    SP_WAIT_NOTHING = 0, /**< It is the first. */
    SP_WAIT_STAGE = 1,   /**< The op before it on its stage, which is the one before on the path. */
    SP_WAIT_INPUT = 2    /**< Its input, from the op before on the path. */
};

/** One op of the critical path. */
typedef struct sp_path_view {
    size_t struct_size;  /**< Set before the call. */
    int32_t rank;        /**< Rank with TP and CP index 0. */
    int32_t op;          /**< Index of its op. */
    int32_t wait;        /**< One of ::sp_wait. */
    int32_t reserved;    /**< 0. */
    int64_t transfer_ps; /**< Between the end of the op before and the start: a hand-over, or 0. */
    int64_t start_ps;    /**< Start. */
    int64_t end_ps;      /**< End. */
} sp_path_view;

/** Initialiser of an ::sp_path_view. */
#define SP_PATH_VIEW_INIT { sizeof(sp_path_view), 0, 0, 0, 0, 0, 0, 0 }

/**
 * Ops of the critical path: a chain from the start of the step to the stage that
 * finishes last, each op starting when the one before it and its hand-over are
 * through. Their times, hand-overs and the reduction, optimiser step and gather of
 * that stage add up to sp_stats::step_ps.
 * @param[in] simulation  Not NULL.
 * @return The count, >= 1.
 */
SP_API int32_t sp_simulation_path_count(const sp_simulation *simulation);

/**
 * The index-th op of the critical path, from the start of the step.
 * @param[in]     simulation  Simulation.
 * @param[in]     index       0 <= index < sp_simulation_path_count().
 * @param[in,out] view        Set @c struct_size; the fields that fit are filled.
 * @retval SP_OK           @p view is filled.
 * @retval SP_ERR_INVALID  A pointer is NULL or @c struct_size is too small.
 * @retval SP_ERR_RANGE    @p index is out of bounds.
 */
SP_API sp_status sp_simulation_path(const sp_simulation *simulation, int32_t index,
                                    sp_path_view *view);

/**
 * Calibrate a device by measured steps: scales the chosen parameters so that
 * simulated steps come as close to the measured ones as they can, by the sum of
 * squared relative errors. Calibrate on one rank and hand the values to all.
 * @param[in,out] device      Device; where the search starts, and its result.
 * @param[in]     count       Measured steps, >= the number of keys.
 * @param[in]     schedules   [count] what was run.
 * @param[in]     models      [count] with which model.
 * @param[in]     measured_s  [count] seconds of each step, 1e-18 to 1e15.
 * @param[in]     key_count   Keys, >= 1.
 * @param[in]     keys        [key_count] of ::sp_device_key: rates, bandwidths, overheads,
 *                            latencies or shares, each above 0 and below INT64_MAX.
 * @param[out]    error       [count] relative errors, (simulated - measured) / measured;
 *                            may be NULL.
 * @param[in,out] fit         Set @c struct_size; what was found. May be NULL.
 * @retval SP_OK            The device is changed and the outputs are set.
 * @retval SP_ERR_INVALID   A pointer is NULL, a time is no finite number, there are
 *                          fewer steps than keys, a key stands for no amount or stands
 *                          there twice, or a model contradicts itself or its topology.
 * @retval SP_ERR_NAME      No parameter has a key.
 * @retval SP_ERR_RANGE     A time or count is out of bounds.
 * @retval SP_ERR_STATE     A schedule is one rank's part of a plan.
 * @retval SP_ERR_OVERFLOW  A simulated time does not fit.
 * @retval SP_ERR_MEMORY    Out of memory.
 */
SP_API sp_status sp_device_calibrate(sp_device *device, int32_t count,
                                     const sp_schedule *const *schedules,
                                     const sp_model *const *models, const double *measured_s,
                                     int32_t key_count, const int32_t *keys, double *error,
                                     sp_fit *fit);

/**
 * How good the plan is under these costs; as sp_schedule_stats().
 * @param[in]     simulation  Simulation.
 * @param[in,out] stats       Set @c struct_size; the fields that fit are filled.
 * @retval SP_OK           @p stats is filled.
 * @retval SP_ERR_INVALID  A pointer is NULL or @c struct_size is too small.
 */
SP_API sp_status sp_simulation_stats(const sp_simulation *simulation, sp_stats *stats);

/** @} */

#ifdef __cplusplus
}
#endif

#endif /* SLIMPACK_H */
