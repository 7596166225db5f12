/*
 * hash.h - the 64-bit digest of a plan: order-dependent, the same everywhere.
 *
 * Not for hash tables and not against an enemy: it tells ranks whether they
 * hold the same plan. Each word is mixed by the finaliser of splitmix64
 * (Steele, Lea and Flood, OOPSLA 2014).
 */
#ifndef SP_BASE_HASH_H
#define SP_BASE_HASH_H

#include <stdint.h>

static inline uint64_t sp__hash_word(uint64_t hash, uint64_t word)
{
    uint64_t z = (hash ^ word) + 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline uint64_t sp__hash_int32s(uint64_t hash, const int32_t *values, int64_t count)
{
    hash = sp__hash_word(hash, (uint64_t)count);
    for (int64_t i = 0; i < count; i++)
        hash = sp__hash_word(hash, (uint32_t)values[i]);
    return hash;
}

static inline uint64_t sp__hash_int64s(uint64_t hash, const int64_t *values, int64_t count)
{
    hash = sp__hash_word(hash, (uint64_t)count);
    for (int64_t i = 0; i < count; i++)
        hash = sp__hash_word(hash, (uint64_t)values[i]);
    return hash;
}

#endif
