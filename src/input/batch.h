/*
 * batch.h - the lengths of a global batch, as the floors above read them.
 */
#ifndef SP_INPUT_BATCH_H
#define SP_INPUT_BATCH_H

#include "base/alloc.h"

struct sp_batch {
    sp__alloc alloc;
    int32_t count;          /* >= 1 */
    int64_t tokens;         /* sum of the lengths */
    int64_t longest;
    int64_t lengths[];      /* [count], each >= 1 */
};

#endif
