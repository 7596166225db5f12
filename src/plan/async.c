/*
 * async.c - plans submitted batches in a thread of the planner's own.
 *
 * A ring of jobs: the caller adds at the tail and takes at the head, the worker moves
 * `planned` from head to tail.
 *
 *     head <= planned <= tail <= head + queue_depth
 *     [ planned, not collected ][ the worker's next, or being planned ][ waiting ]
 *
 * Only counters and the flags pass between the threads, under the lock; a job belongs
 * to the worker from its submission until planned has passed it, then to the caller.
 * The worker plans with scratch memory of its own and with the parameters that stood
 * when the batch was submitted, so the planner itself stays free. A process that was
 * forked has no worker: it says so instead of waiting for one.
 */
#include "plan/async.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"
#include "input/batch.h"

typedef struct job {
    sp_batch *batch;
    int64_t values[SP__PLANNER_PARAMS];
    sp_schedule *schedule;
    sp_status status;
    char message[sizeof(sp__sentence)]; /* of a failure: messages live in the thread that failed */
} job;

struct sp__async {
    struct sp_planner engine; /* the worker's own; the target is the planner's */
    pthread_mutex_t lock;
    pthread_cond_t submitted, finished;
    pthread_t thread;
    pid_t process;
    int64_t head, planned, tail;
    int stop;
    job ring[SP__QUEUE_MOST];
};

static job *job_at(struct sp__async *a, int64_t number)
{
    return &a->ring[number % SP__QUEUE_MOST];
}

static void run_job(struct sp__async *a, job *j)
{
    memcpy(a->engine.values, j->values, sizeof j->values);
    j->status = sp_plan_batch(&a->engine, j->batch, &j->schedule);
    if (j->status != SP_OK)
        snprintf(j->message, sizeof j->message, "%s", sp_error_message());
    sp_batch_destroy(j->batch);
    j->batch = NULL;
}

static void *work(void *argument)
{
    struct sp__async *a = argument;

    pthread_mutex_lock(&a->lock);
    while (!a->stop) {
        job *j = job_at(a, a->planned);

        if (a->planned == a->tail) {
            pthread_cond_wait(&a->submitted, &a->lock);
            continue;
        }
        pthread_mutex_unlock(&a->lock);
        run_job(a, j);
        pthread_mutex_lock(&a->lock);
        a->planned++;
        pthread_cond_broadcast(&a->finished);
    }
    pthread_mutex_unlock(&a->lock);
    return NULL;
}

/* Signals are the program's: none is delivered to a thread that it does not know. */
static int start_thread(struct sp__async *a)
{
    sigset_t all, before;
    int failed;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(&a->thread, NULL, work, a);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

static sp_status start(struct sp_planner *p)
{
    struct sp__async *a = sp__alloc_zeroed(&p->alloc, 1, sizeof *a);

    if (a == NULL)
        return sp__fail_memory();
    a->engine = *p;
    a->engine.async = NULL;
    for (int32_t i = 0; i < SP__MAX_THREADS; i++)
        sp__arena_init(&a->engine.arena[i], &a->engine.alloc);
    a->process = getpid();
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->submitted, NULL);
    pthread_cond_init(&a->finished, NULL);
    if (start_thread(a) != 0) {
        sp__free(&p->alloc, a);
        return sp__fail(SP_ERR_SYSTEM, "planner: no thread could be started");
    }
    p->async = a;
    return SP_OK;
}

static sp_status check_process(const struct sp__async *a)
{
    if (a != NULL && a->process != getpid())
        return sp__fail(SP_ERR_STATE, "planner: its worker is in the process that this one was "
                        "forked from; make a planner after the fork");
    return SP_OK;
}

static sp_status copy_batch(const struct sp_planner *p, const sp_batch *batch, sp_batch **out)
{
    sp_allocator hooks = { sizeof hooks, p->alloc.alloc, p->alloc.free, p->alloc.ctx };

    return sp_batch_create(batch->lengths, batch->count, &hooks, out);
}

sp_status sp_planner_submit(sp_planner *planner, const sp_batch *batch)
{
    int64_t depth;
    struct sp__async *a;
    sp_batch *copy;
    job *j;

    if (planner == NULL || batch == NULL)
        return sp__fail_null(planner == NULL ? "planner" : "batch");
    SP_TRY(check_process(planner->async));
    if (planner->async == NULL)
        SP_TRY(start(planner));
    a = planner->async;
    depth = sp__planner_value(planner, SP_PLANNER_QUEUE_DEPTH);
    if (a->tail - a->head >= depth) /* both are the caller's alone */
        return sp__fail(SP_ERR_STATE, "queue_depth: %" PRId64 " batches are submitted and not "
                        "collected, as many as it allows", a->tail - a->head);
    SP_TRY(copy_batch(planner, batch, &copy));
    j = job_at(a, a->tail);
    *j = (job){ .batch = copy };
    memcpy(j->values, planner->values, sizeof j->values);
    pthread_mutex_lock(&a->lock);
    a->tail++;
    pthread_cond_signal(&a->submitted);
    pthread_mutex_unlock(&a->lock);
    return SP_OK;
}

/* Waits until the batch at the head has been planned. */
static job *wait_for_head(struct sp__async *a)
{
    pthread_mutex_lock(&a->lock);
    while (a->planned == a->head)
        pthread_cond_wait(&a->finished, &a->lock);
    pthread_mutex_unlock(&a->lock);
    return job_at(a, a->head++);
}

sp_status sp_planner_collect(sp_planner *planner, sp_schedule **out)
{
    const job *j;

    if (planner == NULL || out == NULL)
        return sp__fail_null(planner == NULL ? "planner" : "out");
    SP_TRY(check_process(planner->async));
    if (planner->async == NULL || planner->async->head == planner->async->tail)
        return sp__fail(SP_ERR_STATE, "planner: no batch is submitted and not collected");
    j = wait_for_head(planner->async);
    if (j->status != SP_OK)
        return sp__fail(j->status, "%s", j->message);
    *out = j->schedule;
    return SP_OK;
}

int32_t sp_planner_ready(const sp_planner *planner)
{
    struct sp__async *a = planner->async;
    int32_t ready;

    if (a == NULL || a->process != getpid())
        return 0;
    pthread_mutex_lock(&a->lock);
    ready = (int32_t)(a->planned - a->head);
    pthread_mutex_unlock(&a->lock);
    return ready;
}

/* Takes back what waits, and lets the worker finish what it is at. */
static void drop_waiting(struct sp__async *a)
{
    pthread_mutex_lock(&a->lock);
    while (a->tail > a->planned + 1) {
        job *j = job_at(a, --a->tail);

        sp_batch_destroy(j->batch);
        j->batch = NULL;
    }
    while (a->planned < a->tail)
        pthread_cond_wait(&a->finished, &a->lock);
    pthread_mutex_unlock(&a->lock);
}

sp_status sp_planner_cancel(sp_planner *planner)
{
    struct sp__async *a;

    if (planner == NULL)
        return sp__fail_null("planner");
    a = planner->async;
    SP_TRY(check_process(a));
    if (a == NULL)
        return SP_OK;
    drop_waiting(a);
    while (a->head < a->tail)
        sp_schedule_destroy(job_at(a, a->head++)->schedule);
    return SP_OK;
}

static void end_thread(struct sp__async *a)
{
    drop_waiting(a);
    pthread_mutex_lock(&a->lock);
    a->stop = 1;
    pthread_cond_signal(&a->submitted);
    pthread_mutex_unlock(&a->lock);
    pthread_join(a->thread, NULL);
    pthread_mutex_destroy(&a->lock);
    pthread_cond_destroy(&a->submitted);
    pthread_cond_destroy(&a->finished);
}

/* In a forked process the lock may be held by a thread that is not there, and what the
 * worker was at is in no known state: that much of the copy of its memory is left. */
void sp__async_destroy(struct sp__async *a)
{
    sp__alloc alloc;

    if (a == NULL || a->process != getpid())
        return;
    end_thread(a);
    while (a->head < a->tail)
        sp_schedule_destroy(job_at(a, a->head++)->schedule);
    for (int32_t i = 0; i < SP__MAX_THREADS; i++)
        sp__arena_destroy(&a->engine.arena[i]);
    alloc = a->engine.alloc;
    sp__free(&alloc, a);
}
