/*
 * device_presets.c - rates, memory and links of well-known accelerators, by name.
 *
 * These are starting values, to be replaced by measurements of the machine at
 * hand: what bf16 training may reach, not what data sheets call peak. A linear
 * layer is taken at about two thirds of the dense peak, attention at what flash
 * kernels report for long sequences, links at about three quarters of their
 * nominal bandwidth in one direction, memory at what is left to a program and at
 * about four fifths of its bandwidth.
 * `ideal` is the limit that plans are judged against: no floor, no overhead, no
 * half-rate, no communication and no memory limit.
 */
#include "input/device.h"

#define TERA INT64_C(1000000000000)
#define GIGA INT64_C(1000000000)
#define MICROSECOND INT64_C(1000000) /* in picoseconds */
#define NONE INT64_MAX               /* no limit */
#define EXPOSED 25                   /* % of TP collectives, with overlapped GEMMs */
#define OVERLAP 100, 1, 0, 100, 0    /* reductions and sends overlap, exchanges do not;
                                      * linear rates have the rest of a layer in */

typedef struct preset {
    const char *name;
    int64_t values[SP__DEVICE_PARAMS];
} preset;

/*   name,
 *   { linear, attention forward, attention backward (FLOP/s), half-rate tokens,
 *     floor of a layer, overhead of a pack, memory, devices of a node,
 *     bandwidth and latency inside a node, bandwidth and latency between nodes,
 *     exposed share of TP collectives, head (0: as linear), dense bf16 peak,
 *     memory bandwidth, overlap } */
static const preset presets[] = {
    /* A100 SXM: dense peak 312 TFLOP/s, NVLink 3 with 300 GB/s a direction, one
     * 200 Gb/s port a device; FlashAttention-2 (arXiv 2307.08691). */
    { "a100-40g",
      { 240 * TERA, 180 * TERA, 150 * TERA, 128, 50 * MICROSECOND, 30 * MICROSECOND, 40 * GIGA, 8,
        240 * GIGA, 5 * MICROSECOND, 22 * GIGA, 10 * MICROSECOND, EXPOSED,
        0, 312 * TERA, 1200 * GIGA, OVERLAP } },
    { "a100-80g",
      { 240 * TERA, 180 * TERA, 150 * TERA, 128, 50 * MICROSECOND, 30 * MICROSECOND, 80 * GIGA, 8,
        240 * GIGA, 5 * MICROSECOND, 22 * GIGA, 10 * MICROSECOND, EXPOSED,
        0, 312 * TERA, 1600 * GIGA, OVERLAP } },
    /* H100 SXM: dense peak 989 TFLOP/s, NVLink 4 with 450 GB/s a direction, one
     * 400 Gb/s port a device; FlashAttention-3 (arXiv 2407.08608). */
    { "h100",
      { 650 * TERA, 480 * TERA, 400 * TERA, 128, 40 * MICROSECOND, 30 * MICROSECOND, 80 * GIGA, 8,
        350 * GIGA, 5 * MICROSECOND, 45 * GIGA, 10 * MICROSECOND, EXPOSED,
        0, 989 * TERA, 2700 * GIGA, OVERLAP } },
    /* H200: an H100 with more memory. */
    { "h200",
      { 650 * TERA, 480 * TERA, 400 * TERA, 128, 40 * MICROSECOND, 30 * MICROSECOND, 141 * GIGA, 8,
        350 * GIGA, 5 * MICROSECOND, 45 * GIGA, 10 * MICROSECOND, EXPOSED,
        0, 989 * TERA, 3900 * GIGA, OVERLAP } },
    /* B200: dense peak 2250 TFLOP/s, NVLink 5 with 900 GB/s a direction; 192 GB,
     * of which 180 are usable. */
    { "b200",
      { 1500 * TERA, 1000 * TERA, 850 * TERA, 128, 40 * MICROSECOND, 30 * MICROSECOND, 180 * GIGA,
        8, 750 * GIGA, 5 * MICROSECOND, 45 * GIGA, 10 * MICROSECOND, EXPOSED,
        0, 2250 * TERA, 6400 * GIGA, OVERLAP } },
    { "ideal",
      { 400 * TERA, 400 * TERA, 400 * TERA, 0, 0, 0, NONE, 8, NONE, 0, NONE, 0, 0, 0, 0, NONE,
        OVERLAP } },
};

#define PRESETS ((int32_t)(sizeof presets / sizeof *presets))

const char *sp_device_preset_name(int32_t index)
{
    return index >= 0 && index < PRESETS ? presets[index].name : NULL;
}

void sp__device_preset_apply(int32_t index, int64_t values[SP__DEVICE_PARAMS])
{
    for (int i = 0; i < SP__DEVICE_PARAMS; i++)
        values[i] = presets[index].values[i];
}
