/*
 * views.c - the self-consistency of a pack view: see views.h.
 *
 * Everything is recomputed from sample, start and cu_seqlens_q; the other fields
 * must agree.
 */
#include "views.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define REFUSE(...) return (snprintf(why, why_size, __VA_ARGS__), -1)

/* Whether an array lies within the block. */
static int in_block(const void *array, int64_t count, const view_block *block)
{
    uintptr_t from = (uintptr_t)array, base = (uintptr_t)block->data;

    return array != NULL && from >= base && from % sizeof(int32_t) == 0 &&
           from + (uintptr_t)count * sizeof(int32_t) <= base + block->bytes;
}

static int check_arrays(const sp_pack_view *v, const view_block *block, char *why, size_t why_size)
{
    if (v->count < 0)
        REFUSE("%" PRId32 " shards", v->count);
    if (block->data == NULL && v->count == 0 && v->cu_seqlens_q != NULL &&
        v->cu_seqlens_k != NULL && v->cu_seqlens_q_padded != NULL)
        return 0; /* a rank without shards has no block */
    if ((uintptr_t)block->data % 64 != 0)
        REFUSE("block is not aligned to 64 bytes");
    if (v->count > 0 && (!in_block(v->sample, v->count, block) ||
                         !in_block(v->start, v->count, block)))
        REFUSE("sample or start lies outside the rank's block");
    if (!in_block(v->cu_seqlens_q, (int64_t)v->count + 1, block) ||
        !in_block(v->cu_seqlens_k, (int64_t)v->count + 1, block) ||
        !in_block(v->cu_seqlens_q_padded, (int64_t)v->count + 1, block))
        REFUSE("an offset table lies outside the rank's block");
    if (v->cu_seqlens_q[0] != 0 || v->cu_seqlens_k[0] != 0 || v->cu_seqlens_q_padded[0] != 0)
        REFUSE("an offset table does not start with 0");
    return 0;
}

static int check_shard(const sp_pack_view *v, int32_t j, int64_t pad, char *why, size_t why_size)
{
    int64_t q = (int64_t)v->cu_seqlens_q[j + 1] - v->cu_seqlens_q[j];
    int64_t k = (int64_t)v->cu_seqlens_k[j + 1] - v->cu_seqlens_k[j];
    int64_t padded = (int64_t)v->cu_seqlens_q_padded[j + 1] - v->cu_seqlens_q_padded[j];

    if (q <= 0)
        REFUSE("shard %" PRId32 " has %" PRId64 " tokens", j, q);
    if (k != v->start[j] + q)
        REFUSE("shard %" PRId32 ": cu_seqlens_k grows by %" PRId64 ", start %" PRId32
               " + length %" PRId64 " is due", j, k, v->start[j], q);
    if (padded != (q + pad - 1) / pad * pad)
        REFUSE("shard %" PRId32 ": padded length %" PRId64 " for %" PRId64
               " tokens and multiple %" PRId64, j, padded, q, pad);
    return 0;
}

static int check_maxima(const sp_pack_view *v, char *why, size_t why_size)
{
    int32_t most_q = 0, most_k = 0;

    for (int32_t j = 0; j < v->count; j++) {
        int32_t q = v->cu_seqlens_q[j + 1] - v->cu_seqlens_q[j];
        int32_t k = v->cu_seqlens_k[j + 1] - v->cu_seqlens_k[j];

        most_q = q > most_q ? q : most_q;
        most_k = k > most_k ? k : most_k;
    }
    if (v->max_seqlen_q != most_q || v->max_seqlen_k != most_k)
        REFUSE("max_seqlen %" PRId32 ", %" PRId32 " where the tables say %" PRId32 ", %" PRId32,
               v->max_seqlen_q, v->max_seqlen_k, most_q, most_k);
    return 0;
}

static int check_sums(const sp_pack_view *v, char *why, size_t why_size)
{
    if (v->tokens != v->cu_seqlens_q[v->count])
        REFUSE("tokens %" PRId64 ", cu_seqlens_q ends at %" PRId32, v->tokens,
               v->cu_seqlens_q[v->count]);
    if (v->padded_tokens != v->cu_seqlens_q_padded[v->count])
        REFUSE("padded_tokens %" PRId64 ", its table ends at %" PRId32, v->padded_tokens,
               v->cu_seqlens_q_padded[v->count]);
    if (((v->flags & SP_PACK_EMPTY) != 0) != (v->tokens == 0))
        REFUSE("flags %" PRId32 " with %" PRId64 " tokens", v->flags, v->tokens);
    if ((v->flags & ~(SP_PACK_EMPTY | SP_PACK_OVERSIZE)) != 0)
        REFUSE("flags %" PRId32 " has unknown bits", v->flags);
    return 0;
}

int view_check(const sp_pack_view *v, const view_block *block, int64_t pad_multiple, char *why,
               size_t why_size)
{
    if (check_arrays(v, block, why, why_size) != 0)
        return -1;
    for (int32_t j = 0; j < v->count; j++)
        if (check_shard(v, j, pad_multiple, why, why_size) != 0)
            return -1;
    if (check_maxima(v, why, why_size) != 0)
        return -1;
    return check_sums(v, why, why_size);
}

static int equal_arrays(const int32_t *a, const int32_t *b, int64_t count)
{
    return a == b || count == 0 || memcmp(a, b, (size_t)count * sizeof *a) == 0;
}

int view_equal(const sp_pack_view *a, const sp_pack_view *b)
{
    return a->count == b->count && a->merge == b->merge && a->flags == b->flags &&
           a->max_seqlen_q == b->max_seqlen_q && a->max_seqlen_k == b->max_seqlen_k &&
           a->tokens == b->tokens && a->padded_tokens == b->padded_tokens &&
           a->pack_tokens == b->pack_tokens && equal_arrays(a->sample, b->sample, a->count) &&
           equal_arrays(a->start, b->start, a->count) &&
           equal_arrays(a->cu_seqlens_q, b->cu_seqlens_q, (int64_t)a->count + 1) &&
           equal_arrays(a->cu_seqlens_k, b->cu_seqlens_k, (int64_t)a->count + 1) &&
           equal_arrays(a->cu_seqlens_q_padded, b->cu_seqlens_q_padded, (int64_t)a->count + 1);
}
