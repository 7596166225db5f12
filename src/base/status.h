/*
 * status.h - how a failure travels: a status for the program, a sentence for people.
 *
 * Every failing path ends in one sp__fail(), which keeps the sentence in the
 * calling thread and hands the status on. A sentence names the argument, the
 * value and the bound.
 */
#ifndef SP_BASE_STATUS_H
#define SP_BASE_STATUS_H

#include "slimpack.h"

/* Stores the sentence for sp_error_message() and returns status. */
sp_status sp__fail(sp_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The sentence for an allocation that failed. */
sp_status sp__fail_memory(void);

/* The sentence for an argument that must not be NULL. */
sp_status sp__fail_null(const char *argument);

/* Leaves the caller with the same status when expression fails. */
#define SP_TRY(expression)                 \
    do {                                   \
        sp_status try_ = (expression);     \
        if (try_ != SP_OK)                 \
            return try_;                   \
    } while (0)

#endif
