/*
 * batch.c - the lengths of a global batch, checked once and copied.
 *
 * Takes the caller's array and gives an immutable handle of one allocation.
 * Every floor above leans on what is checked here: lengths are at least 1, and
 * their sum fits, so that any partial sum of tokens does.
 */
#include "input/batch.h"

#include <inttypes.h>
#include <string.h>

#include "base/arith.h"
#include "base/status.h"

static sp_status check_count(int64_t count)
{
    if (count < 1)
        return sp__fail(SP_ERR_RANGE, "count: %" PRId64 " is below 1", count);
    if (count > INT32_MAX)
        return sp__fail(SP_ERR_RANGE, "count: %" PRId64 " is above %" PRId32, count, INT32_MAX);
    return SP_OK;
}

/* Sum and longest of the lengths. */
static sp_status measure(const int64_t *lengths, int64_t count, int64_t *tokens, int64_t *longest)
{
    *tokens = 0;
    *longest = 0;
    for (int64_t i = 0; i < count; i++) {
        if (lengths[i] < 1)
            return sp__fail(SP_ERR_RANGE, "lengths[%" PRId64 "]: %" PRId64 " is below 1", i,
                            lengths[i]);
        if (sp__add_overflows(*tokens, lengths[i], tokens))
            return sp__fail(SP_ERR_OVERFLOW, "lengths: their sum passes %" PRId64 " at lengths[%"
                            PRId64 "]", INT64_MAX, i);
        *longest = sp__max(*longest, lengths[i]);
    }
    return SP_OK;
}

sp_status sp_batch_create(const int64_t *lengths, int64_t count, const sp_allocator *allocator,
                          sp_batch **out)
{
    int64_t tokens, longest;
    sp__alloc alloc;
    sp_batch *batch;

    if (lengths == NULL)
        return sp__fail_null("lengths");
    if (out == NULL)
        return sp__fail_null("out");
    SP_TRY(check_count(count));
    SP_TRY(sp__alloc_init(&alloc, allocator));
    SP_TRY(measure(lengths, count, &tokens, &longest));
    /* The head is a whole number of lengths long, as its last member is one. */
    batch = sp__alloc_array(&alloc, count + (int64_t)(sizeof *batch / sizeof *lengths),
                            sizeof *lengths);
    if (batch == NULL)
        return sp__fail_memory();
    batch->alloc = alloc;
    batch->count = (int32_t)count;
    batch->tokens = tokens;
    batch->longest = longest;
    memcpy(batch->lengths, lengths, (size_t)count * sizeof *lengths);
    *out = batch;
    return SP_OK;
}

void sp_batch_destroy(sp_batch *batch)
{
    sp__alloc alloc;

    if (batch == NULL)
        return;
    alloc = batch->alloc;
    sp__free(&alloc, batch);
}

int64_t sp_batch_count(const sp_batch *batch)
{
    return batch->count;
}

int64_t sp_batch_tokens(const sp_batch *batch)
{
    return batch->tokens;
}

int64_t sp_batch_longest(const sp_batch *batch)
{
    return batch->longest;
}
