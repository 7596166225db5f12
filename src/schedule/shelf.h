/*
 * shelf.h - the memory of schedules that their user has given back.
 *
 * A training loop makes a schedule a step, of about the same size each time. Places
 * are taken and filled by one atomic exchange, so that a loop may give back while a
 * planner's own thread plans. What waits here never shapes a plan: every number of a
 * schedule is written anew.
 */
#ifndef SP_SCHEDULE_SHELF_H
#define SP_SCHEDULE_SHELF_H

#include <stdatomic.h>

#include "base/alloc.h"

#define SP__SHELF_PLACES 4

typedef struct sp__shelf {
    _Atomic(struct sp_schedule *) place[SP__SHELF_PLACES];
    atomic_int is_used; /* something has been put down */
} sp__shelf;

/* Memory of at least so many bytes, from a schedule that lay here; NULL without one.
 * A schedule that turns out too small is freed, for those to come will be. */
struct sp_schedule *sp__shelf_take(sp__shelf *shelf, size_t bytes);

/* Puts a schedule down, or destroys it when the shelf is full. */
void sp__shelf_put(sp__shelf *shelf, struct sp_schedule *schedule);

/* Destroys all that lies here. */
void sp__shelf_clear(sp__shelf *shelf);

#endif
