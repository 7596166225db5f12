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

/* A sentence to put back where a failure after it is no error after all: a call that
 * succeeds leaves the last message as it was. */
typedef struct sp__sentence {
    char text[512];
} sp__sentence;

sp__sentence sp__last_sentence(void);
void sp__put_back(const sp__sentence *sentence);

/* The sentence for an allocation that failed. */
sp_status sp__fail_memory(void);

/* The sentence for an argument that must not be NULL. */
sp_status sp__fail_null(const char *argument);

/* An analyser that looks at one file does not know that these never return SP_OK. */
#ifdef __clang_analyzer__
static inline sp_status sp__fails(sp_status status, ...)
{
    return status;
}
#define sp__fail sp__fails
#define sp__fail_memory() SP_ERR_MEMORY
#define sp__fail_null(argument) sp__fails(SP_ERR_INVALID, argument)
#endif

/* Leaves the caller with the same status when expression fails. */
#define SP_TRY(expression)                 \
    do {                                   \
        sp_status try_ = (expression);     \
        if (try_ != SP_OK)                 \
            return try_;                   \
    } while (0)

#endif
