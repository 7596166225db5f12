/*
 * random_case.h - seeded random planning problems: the same seed, the same case.
 *
 * A case is a batch, a topology, model, device and planner parameters. It keeps
 * to what the API allows, so that planning may only fail for a limit that the
 * case sets. Uses its own generator and no floating point, so that a case is the
 * same on every machine.
 */
#ifndef TESTS_SUPPORT_RANDOM_CASE_H
#define TESTS_SUPPORT_RANDOM_CASE_H

#include "checker.h"

#define CASE_MOST_SAMPLES 512
#define CASE_MOST_SETTINGS 18

/* What a case may contain; bits of random_case_make(). */
enum case_kind {
    CASE_ANY = 0,
    CASE_IDEAL = 1,   /* device ideal only: no communication, no overhead */
    CASE_NO_CAPS = 2, /* nothing set that could make it infeasible */
    CASE_SMALL = 4,   /* few samples, replicas and packs */
    CASE_WIDE = 8     /* some of DP to 512, PP to 64, CP to 16, and of lengths to 2^40 */
};

typedef struct case_setting {
    int32_t key;
    int64_t value;
} case_setting;

typedef struct random_case {
    uint64_t seed;
    const char *lengths_kind;
    int64_t virtual_stages;
    int blocking_sends, queued_sends;
    const char *model, *device;
    char topology[96];    /* as sp_topology_parse() takes it */
    int64_t count;
    int64_t length[CASE_MOST_SAMPLES];
    int32_t settings;
    case_setting setting[CASE_MOST_SETTINGS];
    check_limits limits;  /* what the plan is to be held against */
    int has_cap;          /* a limit that may make the case infeasible */
} random_case;

/* The handles of a case, all of them or none. */
typedef struct case_handles {
    sp_topology *topology;
    sp_model *model;
    sp_device *device;
    sp_batch *batch;
    sp_planner *planner;
} case_handles;

/* Next number of a stream (splitmix64), and one below a bound. */
uint64_t random_next(uint64_t *state);
int64_t random_below(uint64_t *state, int64_t bound);

void random_case_make(uint64_t seed, int kinds, random_case *out);

/* Value of a planner parameter in the case, or other when it is not set. */
int64_t random_case_value(const random_case *c, int32_t key, int64_t other);

/* SP_OK, or the first status that was not. */
sp_status random_case_open(const random_case *c, case_handles *out);
void random_case_close(case_handles *h);

/* A planner more for the same case. */
sp_status random_case_planner(const random_case *c, const case_handles *h, sp_planner **out);

/* The case in words, on standard error. */
void random_case_print(const random_case *c);

#endif
