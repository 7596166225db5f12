/*
 * workers.c - independent jobs on several threads: see workers.h.
 *
 * Messages live in the thread that failed, so a worker's is copied and said again
 * by the caller's thread.
 */
#include "base/workers.h"

#include <pthread.h>
#include <stdio.h>

#include "base/status.h"

typedef struct share {
    sp__job job;
    void *context;
    sp__arena *arena;
    int32_t first, end;
    sp_status status;
    char message[512];
    pthread_t thread;
    int started;
} share;

static sp_status run_share(const share *s)
{
    for (int32_t i = s->first; i < s->end; i++)
        SP_TRY(s->job(s->context, i, s->arena));
    return SP_OK;
}

static void *thread_main(void *argument)
{
    share *s = argument;

    s->status = run_share(s);
    if (s->status != SP_OK)
        snprintf(s->message, sizeof s->message, "%s", sp_error_message());
    return NULL;
}

static sp_status collect(share *shares, int32_t count)
{
    sp_status status = shares[0].status;

    for (int32_t i = 1; i < count; i++) {
        share *s = &shares[i];

        if (s->started)
            pthread_join(s->thread, NULL);
        else
            thread_main(s);
        if (status == SP_OK && s->status != SP_OK)
            status = sp__fail(s->status, "%s", s->message);
    }
    return status;
}

static sp_status run_threads(const sp__workers *w, int32_t threads, int32_t jobs, sp__job job,
                             void *context, share *shares)
{
    for (int32_t i = 0; i < threads; i++)
        shares[i] = (share){ .job = job, .context = context, .arena = &w->arena[i],
                             .first = (int32_t)((int64_t)jobs * i / threads),
                             .end = (int32_t)((int64_t)jobs * (i + 1) / threads) };
    for (int32_t i = 1; i < threads; i++)
        shares[i].started = pthread_create(&shares[i].thread, NULL, thread_main, &shares[i]) == 0;
    shares[0].status = run_share(&shares[0]);
    return collect(shares, threads);
}

sp_status sp__run_jobs(const sp__workers *w, int32_t jobs, sp__job job, void *context)
{
    int32_t threads = w->threads < jobs ? w->threads : jobs;
    share all = { .job = job, .context = context, .arena = w->arena, .first = 0, .end = jobs };
    sp_status status;
    share *shares;

    if (threads <= 1)
        return run_share(&all);
    shares = sp__alloc_array(w->arena->alloc, threads, sizeof *shares);
    if (shares == NULL)
        return sp__fail_memory();
    status = run_threads(w, threads, jobs, job, context, shares);
    sp__free(w->arena->alloc, shares);
    return status;
}
