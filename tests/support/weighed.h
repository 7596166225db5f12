/*
 * weighed.h - allocator hooks that know how much memory is out, and was at most.
 *
 *     weighed m = WEIGHED_INIT(m);
 */
#ifndef TESTS_SUPPORT_WEIGHED_H
#define TESTS_SUPPORT_WEIGHED_H

#include <stddef.h>
#include <stdlib.h>

#include "slimpack.h"

typedef struct weighed {
    sp_allocator hooks;
    size_t live, most;
} weighed;

#define WEIGHED_INIT(m) { { sizeof(sp_allocator), weigh, unweigh, &(m) }, 0, 0 }

static inline void *weigh(void *ctx, size_t size)
{
    weighed *m = ctx;
    size_t *block = malloc(sizeof(max_align_t) + size);

    if (block == NULL)
        return NULL;
    *block = size;
    m->live += size;
    m->most = m->live > m->most ? m->live : m->most;
    return (char *)block + sizeof(max_align_t);
}

static inline void unweigh(void *ctx, void *ptr)
{
    weighed *m = ctx;
    size_t *block = (size_t *)(void *)((char *)ptr - sizeof(max_align_t));

    m->live -= *block;
    free(block);
}

#endif
