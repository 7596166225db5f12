/*
 * failing_alloc.h - allocator hooks that fail on demand and count what is live.
 *
 * A sweep proves that a call survives each failure in turn:
 *
 *     for (int64_t n = 0;; n++) {
 *         failing_alloc_init(&memory, n);
 *         if (the_call(&memory.hooks) == SP_OK)
 *             break;
 *         // outputs untouched, memory.live == 0
 *     }
 *
 * Memory is handed out filled with a pattern, so that reading it uninitialised
 * does not look like zero.
 */
#ifndef TESTS_SUPPORT_FAILING_ALLOC_H
#define TESTS_SUPPORT_FAILING_ALLOC_H

#include <stdint.h>

#include "slimpack.h"

#define NEVER_FAIL INT64_C(-1)
#define ALLOC_PATTERN 0xa5

typedef struct failing_alloc {
    sp_allocator hooks; /* ctx is this struct: it must not move */
    int64_t fail_at;    /* allocation that fails, counted from 0; NEVER_FAIL for none */
    int64_t asked;      /* allocations asked for, the failed one included */
    int64_t live;       /* blocks given and not taken back */
} failing_alloc;

void failing_alloc_init(failing_alloc *memory, int64_t fail_at);

#endif
