/*
 * writer.c - fills the parts of a schedule in: see writer.h.
 *
 * Pieces are put in the order to run, so offsets are running sums; int32 is what
 * varlen kernels take, and a sum that passes it is an error, never a wrapped
 * number.
 */
#include "schedule/writer.h"

#include <inttypes.h>

#include "base/arith.h"
#include "base/status.h"

void sp__schedule_begin_pack(struct sp_schedule *s, int pass, int64_t pack, int32_t merge,
                             int64_t first)
{
    s->slice_first[pass][pack] = first;
    s->pack_merge[pass][pack] = merge;
    s->pack_tokens[pass][pack] = 0;
}

void sp__schedule_put_slice(struct sp_schedule *s, int pass, int64_t pack, int64_t at,
                            int32_t sample, int32_t start, int32_t length)
{
    s->sample[pass][at] = sample;
    s->start[pass][at] = start;
    s->length[pass][at] = length;
    s->pack_tokens[pass][pack] += length;
}

int64_t sp__schedule_begin_shards(struct sp_schedule *s, sp__shards *x, int64_t at, int32_t count)
{
    int32_t *p = s->pool + at;

    x->at = at;
    x->count = count;
    x->max_q = x->max_k = 0;
    x->flags = count == 0 ? SP_PACK_EMPTY : 0;
    p[2 * (int64_t)count] = 0;
    p[3 * (int64_t)count + 1] = 0;
    if (s->pad_multiple > 1)
        p[4 * (int64_t)count + 2] = 0;
    return at + sp__pool_ints(s->pad_multiple, count, 1);
}

static sp_status put_offset(int32_t *offsets, int32_t i, int64_t length, const char *table,
                            int32_t sample)
{
    if (length > INT32_MAX - offsets[i])
        return sp__fail(SP_ERR_OVERFLOW, "%s: %" PRId32 " + %" PRId64 " at sample %" PRId32
                        " is above 2147483647; use more packs or fewer tokens", table, offsets[i],
                        length, sample);
    offsets[i + 1] = offsets[i] + (int32_t)length;
    return SP_OK;
}

sp_status sp__schedule_put_shard(struct sp_schedule *s, sp__shards *x, int32_t i, int32_t sample,
                                 int32_t start, int32_t length)
{
    int32_t *p = s->pool + x->at;
    int64_t count = x->count;
    int64_t padded = sp__ceil_div(length, s->pad_multiple) * s->pad_multiple;

    p[i] = sample;
    p[count + i] = start;
    SP_TRY(put_offset(p + 2 * count, i, length, "cu_seqlens_q", sample));
    SP_TRY(put_offset(p + 3 * count + 1, i, (int64_t)start + length, "cu_seqlens_k", sample));
    if (s->pad_multiple > 1)
        SP_TRY(put_offset(p + 4 * count + 2, i, padded, "cu_seqlens_q_padded", sample));
    x->max_q = length > x->max_q ? length : x->max_q;
    x->max_k = start + length > x->max_k ? start + length : x->max_k;
    return SP_OK;
}
