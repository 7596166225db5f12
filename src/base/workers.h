/*
 * workers.h - independent jobs on several threads, the same result on any number.
 *
 * Jobs 0 to n - 1 are split into runs of neighbours, one a thread; each thread has
 * an arena of its own, and what a job takes there stays until the owner resets
 * it. Of several failures the one of the lowest job is reported, as if they had
 * run in turn.
 */
#ifndef SP_BASE_WORKERS_H
#define SP_BASE_WORKERS_H

#include "base/arena.h"

#define SP__MAX_THREADS 256

typedef struct sp__workers {
    sp__arena *arena; /* [threads]; the first is the calling thread's */
    int32_t threads;  /* 1 to SP__MAX_THREADS */
} sp__workers;

typedef sp_status (*sp__job)(void *context, int32_t job, sp__arena *arena);

/* Runs all jobs and waits for them. A thread that cannot be started leaves its
 * jobs to the caller's. */
sp_status sp__run_jobs(const sp__workers *workers, int32_t jobs, sp__job job, void *context);

#endif
