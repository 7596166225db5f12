/*
 * arena.h - scratch memory of a planner, given back all at once.
 *
 *     [ chunk ........used|free ] -> [ chunk ...full ] -> NULL
 *
 * A step takes what it needs and resets; the reset keeps one chunk as large as
 * all that the step used, so that the next step of that size allocates nothing.
 * Memory is aligned to 64 bytes and not cleared.
 */
#ifndef SP_BASE_ARENA_H
#define SP_BASE_ARENA_H

#include "base/alloc.h"

typedef struct sp__chunk sp__chunk;

typedef struct sp__arena {
    const sp__alloc *alloc; /* outlives the arena */
    sp__chunk *chunk;       /* newest first */
} sp__arena;

/* A place to return to: what was taken after it is free again. */
typedef struct sp__arena_mark {
    sp__chunk *chunk;
    size_t used;
} sp__arena_mark;

void sp__arena_init(sp__arena *arena, const sp__alloc *alloc);
void sp__arena_destroy(sp__arena *arena);

/* count objects of size bytes, NULL when memory or the product fails. */
void *sp__arena_take(sp__arena *arena, int64_t count, size_t size);

/* Everything taken is free again. */
void sp__arena_reset(sp__arena *arena);

sp__arena_mark sp__arena_here(const sp__arena *arena);
void sp__arena_rewind(sp__arena *arena, sp__arena_mark mark);

/* Takes count objects of the pointer's type, or leaves the caller with
 * SP_ERR_MEMORY. */
#define SP_TAKE(arena, pointer, count)                                        \
    do {                                                                      \
        (pointer) = sp__arena_take((arena), (count), sizeof *(pointer));      \
        if ((pointer) == NULL)                                                \
            return sp__fail_memory();                                         \
    } while (0)

#endif
