/*
 * random.h - random numbers that are the same on every machine.
 *
 * Integers only: no libm, no floating point, so that neither the compiler nor
 * the processor has a say. Reals are in Q32, 2^32 for one.
 */
#ifndef SLIMPACK_CLI_RANDOM_H
#define SLIMPACK_CLI_RANDOM_H

#include <stdint.h>

#define CLI_Q32_ONE ((uint64_t)1 << 32)

typedef struct cli_random {
    uint64_t state;
} cli_random;

void cli_random_seed(cli_random *random, uint64_t seed);

/* 64 random bits. */
uint64_t cli_random_next(cli_random *random);

/* Evenly from 0 to bound - 1; bound >= 1. */
uint64_t cli_random_below(cli_random *random, uint64_t bound);

/* Magnitude of a standard normal variate in Q32, its sign in *negative. */
uint64_t cli_random_normal(cli_random *random, int *negative);

/* Product of two Q32 numbers; both and the product below 2^64. */
uint64_t cli_q32_multiply(uint64_t a, uint64_t b);

/* median * e^x to the nearest integer, between 1 and most; x is sign and
 * magnitude in Q32, median and most are below 2^31. */
int64_t cli_scaled_exp(int64_t median, uint64_t x, int negative, int64_t most);

#endif
