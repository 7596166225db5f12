/*
 * alloc.h - memory through the caller's hooks.
 *
 * A handle copies its hooks at creation and uses nothing else. Sizes are
 * checked before they are multiplied: a product that would wrap is an
 * allocation that fails.
 */
#ifndef SP_BASE_ALLOC_H
#define SP_BASE_ALLOC_H

#include "slimpack.h"

typedef struct sp__alloc {
    void *(*alloc)(void *ctx, size_t size);
    void (*free)(void *ctx, void *ptr);
    void *ctx;
} sp__alloc;

/* Reads the caller's hooks, NULL standing for malloc and free. */
sp_status sp__alloc_init(sp__alloc *out, const sp_allocator *hooks);

/* Memory for count objects of size bytes, not cleared; NULL when it fails. Zero
 * objects still give a pointer that can be freed. */
void *sp__alloc_array(const sp__alloc *a, int64_t count, size_t size);

/* The same, cleared. */
void *sp__alloc_zeroed(const sp__alloc *a, int64_t count, size_t size);

/* Frees what the two above gave; NULL is fine. */
void sp__free(const sp__alloc *a, void *ptr);

/* Makes room for one more object in a growing array, doubling its capacity. The
 * array is untouched when it fails. */
sp_status sp__grow(const sp__alloc *a, void **array, int64_t *capacity, int64_t needed,
                   size_t size);

#endif
