/*
 * rates.h - what a pack costs on a stage, in integer picoseconds.
 *
 * For a rank that holds a load of a pack:
 *
 *     compute = token * tokens + pair * pairs + half
 *     cost    = max(compute, floor) + fixed + exchange(context)
 *
 * and 0 for a pack without tokens. token and pair are fixed point with
 * SP__COST_BITS fractional bits; half is the constant that a linear layer's
 * half-rate adds: a layer of R FLOP/s that reaches half of it at t tokens runs
 * n tokens at R * n / (n + t), which takes the time of n + t tokens at full rate.
 * The FLOPs behind token and pair are those of "What a pack costs" in docs/simulator.md.
 */
#ifndef SP_COST_RATES_H
#define SP_COST_RATES_H

#include "base/arena.h"
#include "base/arith.h"
#include "cost/pairs.h"
#include "input/device.h"
#include "input/model.h"
#include "input/topology.h"

/* Longest time that an op may take. Anything longer is not computed but shown as
 * this, and the simulator reports it as an overflow: sums of two stay in int64. */
#define SP__LONGEST (INT64_MAX / 4)

/* What one rank holds of one pack. */
typedef struct sp__load {
    int64_t tokens;
    int64_t pairs;
    int64_t context; /* whole length of its slices that are split over ranks */
    int64_t cached;  /* tokens whose K and V, or dK and dV, it keeps beside its own */
} sp__load;

/* What an op may be, by its costs: sp_pass, and the backward of a zero-bubble
 * pipeline without its weight gradients. SP__INPUT and SP_WEIGHT add up to the
 * compute of SP_BACKWARD; collectives belong to SP__INPUT. */
#define SP__INPUT 3
#define SP__RATES 4

/* One pass on one virtual stage. */
typedef struct sp__rate {
    int64_t token;   /* fixed point ps per token, TP collectives included */
    int64_t pair;    /* fixed point ps per (query, key) pair */
    int64_t compute; /* token without the collectives: what the ideal counts */
    int64_t half;    /* ps */
    int64_t floor;   /* ps */
    int64_t fixed;   /* ps */
} sp__rate;

/* A link that a collective or a hand-over uses. */
typedef struct sp__link {
    int64_t bandwidth; /* bytes/s, INT64_MAX is infinite */
    int64_t latency;   /* ps */
} sp__link;

typedef struct sp__stage_rates {
    sp__rate pass[SP__RATES];
    int64_t layers;
    int64_t kv_bytes;   /* K and V of a token over the stage's layers on a rank */
} sp__stage_rates;

/* Virtual stage u = chunk * pp + stage; without interleaving it is the stage. */
typedef struct sp__rates {
    sp__stage_rates *stage; /* [stages] */
    int32_t stages;         /* virtual: pp * chunks */
    int32_t pp, chunks;
    int32_t cp;
    sp__attention attention;
    sp__link intra, inter;
    int64_t hop_bytes;      /* of a token's activations between stages, on a rank */
    int32_t devices_per_node;
    int32_t exchange_percent; /* of an exchange that is exposed */
    int32_t blocking_sends; /* a stage waits while it sends */
    int32_t queued_sends;   /* what a stage sends has one link for all */
} sp__rates;

/* Fills rates, whose chunks are set; the stage array is the caller's, [PP * chunks],
 * layers filled in. Fails when model, device and topology contradict each other or a
 * coefficient does not fit. */
sp_status sp__rates_init(sp__rates *rates, sp__stage_rates *stage, const struct sp_model *model,
                         const struct sp_device *device, const sp__shape *shape);

/* Layers of each virtual stage into layers [pp * chunks]; fails when they do not add
 * up or chunks do not divide them. */
sp_status sp__stage_layers(const struct sp_model *model, int32_t pp, int32_t chunks,
                           int32_t *layers);

/* Forward FLOPs of a whole model, the head included, for each token and pair. */
void sp__model_flops(const struct sp_model *model, sp__int128 *token, sp__int128 *pair);

/* Fixed point to picoseconds, for operands >= 0; -1 when the sum passes
 * SP__LONGEST. Rounded up, so that packs never cost less than the whole that the
 * ideal counts. */
static inline int64_t sp__fixed_cost(int64_t token, int64_t tokens, int64_t pair, int64_t pairs)
{
    sp__int128 sum = (sp__int128)token * tokens + (sp__int128)pair * pairs;

    sum = (sum + ((1 << SP__COST_BITS) - 1)) >> SP__COST_BITS;
    return sum > SP__LONGEST ? -1 : (int64_t)sum;
}

/* Time in which a group of ranks gathers K and V of context tokens (forward) or
 * scatters their dK and dV (backward) for all layers of a stage. */
int64_t sp__exchange_time(const sp__rates *rates, int32_t stage, int64_t context,
                          int32_t group, int crosses_nodes);

/* Cost of a load; group is the number of ranks that share its split slices. */
int64_t sp__load_cost(const sp__rates *rates, int32_t stage, int pass, const sp__load *load,
                      int32_t group, int crosses_nodes);

/* A pack's activations or gradients on their way to the neighbour stage: how long
 * they keep the link, and how much later they are there. */
int64_t sp__send_time(const sp__rates *rates, int64_t tokens, int crosses_nodes);
int64_t sp__send_latency(const sp__rates *rates, int crosses_nodes);

/* Bytes of a stage's send and receive buffers; largest [2] are the tokens of the
 * largest pack of each pass. */
int64_t sp__buffer_bytes(const sp__rates *rates, int32_t stage, const int64_t *largest);

/* Whether ranks first and last lie on different nodes. */
static inline int sp__crosses_nodes(const sp__rates *rates, int32_t first, int32_t last)
{
    return first / rates->devices_per_node != last / rates->devices_per_node;
}

#endif
