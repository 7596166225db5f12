/*
 * shelf.c - see shelf.h.
 */
#include "schedule/shelf.h"

#include "schedule/schedule.h"

struct sp_schedule *sp__shelf_take(sp__shelf *shelf, size_t bytes)
{
    for (int i = 0; i < SP__SHELF_PLACES; i++) {
        struct sp_schedule *s = atomic_exchange(&shelf->place[i], NULL);

        if (s != NULL && s->bytes >= bytes)
            return s;
        sp_schedule_destroy(s);
    }
    return NULL;
}

void sp__shelf_put(sp__shelf *shelf, struct sp_schedule *schedule)
{
    atomic_store(&shelf->is_used, 1);
    for (int i = 0; i < SP__SHELF_PLACES; i++) {
        struct sp_schedule *empty = NULL;

        if (atomic_compare_exchange_strong(&shelf->place[i], &empty, schedule))
            return;
    }
    sp_schedule_destroy(schedule);
}

void sp__shelf_clear(sp__shelf *shelf)
{
    for (int i = 0; i < SP__SHELF_PLACES; i++)
        sp_schedule_destroy(atomic_exchange(&shelf->place[i], NULL));
}
