/*
 * arena.c - scratch memory of a planner, given back all at once: see arena.h.
 */
#include "base/arena.h"

#define ALIGNMENT 64u
#define FIRST_CHUNK (64u * 1024u)

struct sp__chunk {
    sp__chunk *next;
    size_t size;     /* of data */
    size_t used;
    unsigned char *data; /* aligned */
};

void sp__arena_init(sp__arena *arena, const sp__alloc *alloc)
{
    arena->alloc = alloc;
    arena->chunk = NULL;
}

static void drop_chunks(sp__arena *arena)
{
    while (arena->chunk != NULL) {
        sp__chunk *next = arena->chunk->next;

        sp__free(arena->alloc, arena->chunk);
        arena->chunk = next;
    }
}

void sp__arena_destroy(sp__arena *arena)
{
    drop_chunks(arena);
}

static sp__chunk *add_chunk(sp__arena *arena, size_t size)
{
    unsigned char *memory;
    sp__chunk *chunk;
    size_t total;

    if (__builtin_add_overflow(size, sizeof *chunk + ALIGNMENT, &total) || total > PTRDIFF_MAX)
        return NULL;
    memory = sp__alloc_array(arena->alloc, (int64_t)total, 1);
    if (memory == NULL)
        return NULL;
    chunk = (sp__chunk *)(void *)memory;
    chunk->data = memory + sizeof *chunk;
    chunk->data += (ALIGNMENT - (uintptr_t)chunk->data % ALIGNMENT) % ALIGNMENT;
    chunk->size = size;
    chunk->used = 0;
    chunk->next = arena->chunk;
    arena->chunk = chunk;
    return chunk;
}

void *sp__arena_take(sp__arena *arena, int64_t count, size_t size)
{
    sp__chunk *chunk = arena->chunk;
    size_t bytes;
    void *ptr;

    if (count < 0 || __builtin_mul_overflow((size_t)count, size, &bytes) ||
        bytes > PTRDIFF_MAX - ALIGNMENT)
        return NULL;
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (chunk == NULL || chunk->size - chunk->used < bytes) {
        size_t doubled = chunk == NULL ? FIRST_CHUNK : chunk->size * 2;

        chunk = add_chunk(arena, doubled > bytes ? doubled : bytes);
        if (chunk == NULL)
            return NULL;
    }
    ptr = chunk->data + chunk->used;
    chunk->used += bytes;
    return ptr;
}

void sp__arena_reset(sp__arena *arena)
{
    size_t total = 0;

    if (arena->chunk == NULL)
        return;
    if (arena->chunk->next == NULL) {
        arena->chunk->used = 0;
        return;
    }
    for (sp__chunk *chunk = arena->chunk; chunk != NULL; chunk = chunk->next)
        total += chunk->size;
    drop_chunks(arena);
    /* Without memory now, the next step starts from an empty arena. */
    (void)add_chunk(arena, total);
}

sp__arena_mark sp__arena_here(const sp__arena *arena)
{
    sp__arena_mark mark = { arena->chunk, arena->chunk != NULL ? arena->chunk->used : 0 };

    return mark;
}

void sp__arena_rewind(sp__arena *arena, sp__arena_mark mark)
{
    /* A newer chunk stays, empty, as the one to take from: going back to the
     * old one would make the next take allocate again. */
    if (arena->chunk == mark.chunk && mark.chunk != NULL)
        arena->chunk->used = mark.used;
    else if (arena->chunk != NULL)
        arena->chunk->used = 0;
}
