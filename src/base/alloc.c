/*
 * alloc.c - memory through the caller's hooks: see alloc.h.
 */
#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

#include "base/abi.h"
#include "base/first.h"
#include "base/status.h"

static void *default_alloc(void *ctx, size_t size)
{
    (void)ctx;
    return malloc(size);
}

static void default_free(void *ctx, void *ptr)
{
    (void)ctx;
    free(ptr);
}

sp_status sp__alloc_init(sp__alloc *out, const sp_allocator *hooks)
{
    sp_allocator known = SP_ALLOCATOR_INIT;

    if (hooks != NULL)
        SP_TRY(sp__struct_in(&known, sizeof known, SP__FIRST_ALLOCATOR, hooks, "allocator"));
    if ((known.alloc == NULL) != (known.free == NULL))
        return sp__fail(SP_ERR_INVALID, "allocator: alloc and free must be set together");
    out->alloc = known.alloc != NULL ? known.alloc : default_alloc;
    out->free = known.free != NULL ? known.free : default_free;
    out->ctx = known.ctx;
    return SP_OK;
}

void *sp__alloc_array(const sp__alloc *a, int64_t count, size_t size)
{
    size_t bytes;

    if (count < 0 || __builtin_mul_overflow((size_t)count, size, &bytes) || bytes > PTRDIFF_MAX)
        return NULL;
    return a->alloc(a->ctx, bytes > 0 ? bytes : 1);
}

void *sp__alloc_zeroed(const sp__alloc *a, int64_t count, size_t size)
{
    void *ptr = sp__alloc_array(a, count, size);

    if (ptr != NULL)
        memset(ptr, 0, (size_t)count * size);
    return ptr;
}

void sp__free(const sp__alloc *a, void *ptr)
{
    if (ptr != NULL)
        a->free(a->ctx, ptr);
}

sp_status sp__grow(const sp__alloc *a, void **array, int64_t *capacity, int64_t needed, size_t size)
{
    int64_t larger = *capacity;
    void *moved;

    if (needed <= *capacity)
        return SP_OK;
    while (larger < needed)
        larger = larger < 8 ? 8 : larger > INT64_MAX / 2 ? needed : larger * 2;
    moved = sp__alloc_array(a, larger, size);
    if (moved == NULL)
        return sp__fail_memory();
    if (*array != NULL)
        memcpy(moved, *array, (size_t)*capacity * size);
    sp__free(a, *array);
    *array = moved;
    *capacity = larger;
    return SP_OK;
}
