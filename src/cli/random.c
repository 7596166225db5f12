/*
 * random.c - random numbers in integers: see random.h.
 *
 * Bits: splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number
 * generators", 2014). Normal variates: Karney, "Sampling exactly from the normal
 * distribution" (2016), which compares uniform numbers and computes nothing; with
 * 32 bits a number it is exact to 2^-32. e^-t as a chance: von Neumann's falling
 * runs (1951), whose length is even with probability e^-t.
 */
#include "random.h"

#define LN2_Q32 2977044472u /* 2^32 * ln 2 */

void cli_random_seed(cli_random *random, uint64_t seed)
{
    random->state = seed;
}

uint64_t cli_random_next(cli_random *random)
{
    uint64_t z = random->state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Draws from the top part of the range that is no multiple of the bound are thrown
 * away: they would favour the small numbers. */
uint64_t cli_random_below(cli_random *random, uint64_t bound)
{
    uint64_t excess = (UINT64_MAX % bound + 1) % bound;
    uint64_t draw;

    do
        draw = cli_random_next(random);
    while (draw > UINT64_MAX - excess);
    return draw % bound;
}

static uint64_t uniform_q32(cli_random *random)
{
    return cli_random_next(random) >> 32;
}

/* True with probability e^-t, t in Q32 and at most one: the run t > u1 > u2 > ...
 * has an even number of u. */
static int chance_exp_part(cli_random *random, uint64_t t)
{
    int even = 1;

    for (;;) {
        uint64_t u = uniform_q32(random);

        if (u >= t)
            return even;
        t = u;
        even = !even;
    }
}

/* True with probability e^-t for any t. */
static int chance_exp(cli_random *random, uint64_t t)
{
    for (; t > CLI_Q32_ONE; t -= CLI_Q32_ONE)
        if (!chance_exp_part(random, CLI_Q32_ONE))
            return 0;
    return chance_exp_part(random, t);
}

/* The whole part k of the magnitude, with probability in proportion to e^(-k^2/2). */
static uint64_t normal_whole_part(cli_random *random)
{
    for (;;) {
        uint64_t k = 0;

        while (chance_exp(random, CLI_Q32_ONE / 2))
            k++;
        if (k < 2 || chance_exp(random, k * (k - 1) * (CLI_Q32_ONE / 2)))
            return k;
    }
}

/* A fraction x behind k is kept with probability e^(-x(2k + x)/2). */
uint64_t cli_random_normal(cli_random *random, int *negative)
{
    for (;;) {
        uint64_t k = normal_whole_part(random);
        uint64_t x = uniform_q32(random);

        if (chance_exp(random, cli_q32_multiply(x, 2 * k * CLI_Q32_ONE + x) / 2)) {
            *negative = (int)(cli_random_next(random) >> 63);
            return k * CLI_Q32_ONE + x;
        }
    }
}

uint64_t cli_q32_multiply(uint64_t a, uint64_t b)
{
    uint64_t a_whole = a >> 32, a_part = a & (CLI_Q32_ONE - 1);
    uint64_t b_whole = b >> 32, b_part = b & (CLI_Q32_ONE - 1);

    return (a_whole * b_whole << 32) + a_whole * b_part + a_part * b_whole +
           (a_part * b_part >> 32);
}

/* e^x for 0 <= x < ln 2 by its series; the terms vanish in Q32 by the 14th. */
static uint64_t exp_series(uint64_t x)
{
    uint64_t sum = CLI_Q32_ONE;
    uint64_t term = CLI_Q32_ONE;

    for (uint64_t i = 1; term > 0; i++) {
        term = cli_q32_multiply(term, x) / i;
        sum += term;
    }
    return sum;
}

/* x = n ln 2 + r: the series serves for r, a shift for n. For a negative x,
 * r is taken up to the next multiple, so that it stays positive. */
int64_t cli_scaled_exp(int64_t median, uint64_t x, int negative, int64_t most)
{
    uint64_t n = x / LN2_Q32 + (uint64_t)(negative && x % LN2_Q32 > 0);
    uint64_t r = negative ? n * LN2_Q32 - x : x % LN2_Q32;
    uint64_t product = (uint64_t)median * exp_series(r); /* below 2^31 * 2^33 */
    uint64_t shift = negative ? 32 + n : 32 - n;
    uint64_t value;

    if (!negative && n >= 32)
        return most;
    if (shift >= 64)
        return 1;
    value = (product >> shift) + (product >> (shift - 1) & 1);
    if (value < 1)
        return 1;
    return value > (uint64_t)most ? most : (int64_t)value;
}
