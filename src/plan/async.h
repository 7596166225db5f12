/*
 * async.h - batches that a planner plans while its caller does other things.
 */
#ifndef SP_PLAN_ASYNC_H
#define SP_PLAN_ASYNC_H

#include "plan/planner.h"

#define SP__QUEUE_MOST 64

/* Ends the worker and frees all that it holds; NULL is fine. */
void sp__async_destroy(struct sp__async *async);

#endif
