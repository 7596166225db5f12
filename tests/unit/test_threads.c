/*
 * test_threads.c - eight threads plan, query and destroy at once; const handles are
 * shared by all of them. ThreadSanitizer looks on in `make check-tsan`.
 */
#include <pthread.h>

#include "../support/expect.h"

enum { THREADS = 8, ROUNDS = 6 };

typedef struct shared {
    sp_topology *topology;
    sp_model *model;
    sp_device *device;
    sp_batch *batch;
    sp_schedule *schedule; /* read by all */
    uint64_t digest;
} shared;

static shared common;

/* Everything that a rank asks; the sum keeps the reads alive. */
static int64_t read_all(const sp_schedule *s)
{
    int64_t sum = 0;

    for (int32_t rank = 0; rank < sp_topology_size(common.topology); rank++)
        for (int32_t i = 0; i < sp_schedule_op_count(s); i++) {
            sp_op_view op = SP_OP_VIEW_INIT;
            sp_pack_view pack = SP_PACK_VIEW_INIT;

            if (sp_schedule_op(s, rank, i, &op) != SP_OK ||
                sp_schedule_pack(s, rank, op.pass, op.pack, &pack) != SP_OK)
                return -1;
            sum += pack.tokens + op.end_ps % 7;
        }
    return sum;
}

/* One round of a thread; 0 when something was not as it should be. */
static int run_round(sp_planner *planner, int round)
{
    sp_schedule *own = NULL;
    sp_simulation *simulation = NULL;
    int good;

    if (round % 2 == 0)
        good = sp_plan_batch(planner, common.batch, &own) == SP_OK;
    else
        good = sp_planner_submit(planner, common.batch) == SP_OK &&
               sp_planner_collect(planner, &own) == SP_OK;
    good = good && sp_schedule_digest(own) == common.digest;
    good = good && read_all(common.schedule) == read_all(own);
    good = good && sp_schedule_check(common.schedule) == SP_OK;
    good = good && sp_simulate(common.schedule, common.model, common.device, &simulation) == SP_OK;
    /* Messages are a thread's own. */
    good = good && sp_planner_set(planner, 999, 0) == SP_ERR_NAME;
    sp_simulation_destroy(simulation);
    sp_schedule_destroy(own);
    return good;
}

static void *run_thread(void *argument)
{
    int *good = argument;

    *good = 1;
    for (int round = 0; round < ROUNDS && *good; round++) {
        sp_planner *planner;

        if (sp_planner_create(common.topology, common.model, common.device, NULL, &planner) !=
            SP_OK)
            *good = 0;
        else {
            sp_planner_set(planner, SP_PLANNER_THREADS, 1 + round % 3);
            *good = run_round(planner, round);
            sp_planner_destroy(planner);
        }
    }
    return NULL;
}

static void threads_plan_and_read_at_once(void **state)
{
    const int64_t lengths[] = { 9000, 40, 1200, 3, 700, 5000, 64, 2500, 31, 800, 17, 400 };
    pthread_t thread[THREADS];
    int good[THREADS];
    sp_planner *planner;

    (void)state;
    assert_int_equal(sp_topology_create(4, 1, 2, 1, NULL, &common.topology), SP_OK);
    assert_int_equal(sp_model_create("llama2-7b", NULL, &common.model), SP_OK);
    assert_int_equal(sp_device_create("ideal", NULL, &common.device), SP_OK);
    assert_int_equal(sp_batch_create(lengths, 12, NULL, &common.batch), SP_OK);
    assert_int_equal(sp_planner_create(common.topology, common.model, common.device, NULL,
                                       &planner), SP_OK);
    assert_int_equal(sp_plan_batch(planner, common.batch, &common.schedule), SP_OK);
    common.digest = sp_schedule_digest(common.schedule);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, run_thread, &good[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        assert_true(good[i]);
    }
    sp_planner_destroy(planner);
    sp_schedule_destroy(common.schedule);
    sp_batch_destroy(common.batch);
    sp_device_destroy(common.device);
    sp_model_destroy(common.model);
    sp_topology_destroy(common.topology);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_plan_and_read_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
