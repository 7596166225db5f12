/*
 * arith.h - integers that never wrap: checked sums, 128-bit intermediates and
 * the fixed point that costs are computed in.
 *
 * All planning arithmetic is integer, so that every rank takes the same
 * decisions whatever its compiler. A result that does not fit is reported to
 * the caller, never a wrapped number.
 */
#ifndef SP_BASE_ARITH_H
#define SP_BASE_ARITH_H

#include <stdint.h>

/* gcc and clang have it on every 64-bit target that we build for. */
__extension__ typedef __int128 sp__int128;

/* Fractional bits of a coefficient in picoseconds per token or per pair: a
 * rounding error of 2^-21 ps a pair is 1 ps in two million pairs. */
#define SP__COST_BITS 20

static inline int sp__add_overflows(int64_t a, int64_t b, int64_t *sum)
{
    return __builtin_add_overflow(a, b, sum);
}

static inline int sp__mul_overflows(int64_t a, int64_t b, int64_t *product)
{
    return __builtin_mul_overflow(a, b, product);
}

/* a * b / c for c > 0 and operands >= 0, rounded down, saturated at INT64_MAX. */
static inline int64_t sp__mul_div(int64_t a, int64_t b, int64_t c)
{
    sp__int128 q = (sp__int128)a * b / c;

    return q > INT64_MAX ? INT64_MAX : (int64_t)q;
}

/* The same, rounded to the nearest. */
static inline int64_t sp__mul_div_round(int64_t a, int64_t b, int64_t c)
{
    sp__int128 q = ((sp__int128)a * b + c / 2) / c;

    return q > INT64_MAX ? INT64_MAX : (int64_t)q;
}

/* Least common multiple of two numbers in 1 to 2^31. */
static inline int64_t sp__lcm(int64_t a, int64_t b)
{
    int64_t x = a, y = b;

    while (y != 0) {
        int64_t rest = x % y;

        x = y;
        y = rest;
    }
    return a / x * b;
}

static inline int64_t sp__ceil_div(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

static inline int64_t sp__min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t sp__max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Parts per million by which part exceeds whole; INT64_MAX saturates. */
static inline int64_t sp__excess_ppm(int64_t part, int64_t whole)
{
    return whole > 0 ? sp__mul_div(part, 1000000, whole) - 1000000 : 0;
}

#endif
