/*
 * failing_alloc.c - allocator hooks that fail on demand: see failing_alloc.h.
 */
#include "failing_alloc.h"

#include <stdlib.h>
#include <string.h>

static void *counted_alloc(void *ctx, size_t size)
{
    failing_alloc *memory = ctx;
    void *ptr;

    if (memory->asked++ == memory->fail_at)
        return NULL;
    ptr = malloc(size);
    if (ptr == NULL)
        return NULL;
    memset(ptr, ALLOC_PATTERN, size);
    memory->live++;
    return ptr;
}

static void counted_free(void *ctx, void *ptr)
{
    failing_alloc *memory = ctx;

    memory->live--;
    free(ptr);
}

void failing_alloc_init(failing_alloc *memory, int64_t fail_at)
{
    memory->hooks.struct_size = sizeof memory->hooks;
    memory->hooks.alloc = counted_alloc;
    memory->hooks.free = counted_free;
    memory->hooks.ctx = memory;
    memory->fail_at = fail_at;
    memory->asked = 0;
    memory->live = 0;
}
