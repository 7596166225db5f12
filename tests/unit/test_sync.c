/*
 * test_sync.c - gradient reduction, optimiser step and parameter gather by hand.
 *
 * llama2-7b without a vocabulary on one stage: 32 layers of
 * 4 * 4096^2 + 3 * 4096 * 11008 + 2 * 4096 parameters.
 */
#include "../support/expect.h"
#include "cost/target.h"

#define PARAMETERS (INT64_C(32) * (4 * 4096 * 4096 + 3 * 4096 * 11008 + 2 * 4096))

/* A round machine: 10^12 bytes/s inside a node, 10^11 between, 10^13 of memory. */
static sp__sync sync_of(const char *topology, int distributed, int64_t overlap)
{
    sp_topology *t;
    sp_model *m;
    sp_device *d;
    sp__target target;
    sp__alloc alloc;
    sp__sync sync;

    assert_int_equal(sp__alloc_init(&alloc, NULL), SP_OK);
    assert_int_equal(sp_topology_parse(topology, &t), SP_OK);
    assert_int_equal(sp_model_create("llama2-7b", NULL, &m), SP_OK);
    assert_int_equal(sp_model_set(m, SP_MODEL_VOCAB, 0), SP_OK);
    assert_int_equal(sp_model_set(m, SP_MODEL_DISTRIBUTED_OPTIMIZER, distributed), SP_OK);
    assert_int_equal(sp_device_create("ideal", NULL, &d), SP_OK);
    assert_int_equal(sp_device_set(d, SP_DEVICE_INTRA_BANDWIDTH, INT64_C(1000000000000)), SP_OK);
    assert_int_equal(sp_device_set(d, SP_DEVICE_INTER_BANDWIDTH, INT64_C(100000000000)), SP_OK);
    assert_int_equal(sp_device_set(d, SP_DEVICE_INTRA_LATENCY_PS, 7), SP_OK);
    assert_int_equal(sp_device_set(d, SP_DEVICE_INTER_LATENCY_PS, 70), SP_OK);
    assert_int_equal(sp_device_set(d, SP_DEVICE_MEMORY_BANDWIDTH, INT64_C(10000000000000)), SP_OK);
    assert_int_equal(sp_device_set(d, SP_DEVICE_DP_OVERLAP_PERCENT, overlap), SP_OK);
    assert_int_equal(sp__target_init(&target, m, d, &t->shape, 1, &alloc), SP_OK);
    sync = target.sync[0];
    sp__target_free(&target, &alloc);
    sp_device_destroy(d);
    sp_model_destroy(m);
    sp_topology_destroy(t);
    return sync;
}

/* 4 bytes of gradient, 3 / 4 of them over the wire, and two latencies. */
static void a_distributed_optimizer_scatters_steps_on_its_share_and_gathers(void **state)
{
    sp__sync s = sync_of("dp=4", 1, 0);

    (void)state;
    assert_int_equal(s.reduce, 2 * 7 + PARAMETERS * 4 * 3 / 4);
    assert_int_equal(s.hidden, 0);
    assert_int_equal(s.optimizer, PARAMETERS / 4 * (4 + 24 + 2) / 10);
    assert_int_equal(s.gather, 2 * 7 + PARAMETERS * 2 * 3 / 4);
}

static void without_one_all_gradients_go_to_all(void **state)
{
    sp__sync s = sync_of("dp=4", 0, 0);

    (void)state;
    assert_int_equal(s.reduce, 2 * 7 + PARAMETERS * 4 * 2 * 3 / 4);
    assert_int_equal(s.optimizer, PARAMETERS * (4 + 24 + 2) / 10);
    assert_int_equal(s.gather, 0);
}

static void context_parallel_ranks_reduce_too_and_tensor_parallel_ones_share(void **state)
{
    sp__sync s = sync_of("dp=2 cp=2 tp=2", 1, 0);

    (void)state;
    assert_int_equal(s.reduce, 2 * 7 + PARAMETERS / 2 * 4 * 3 / 4);
}

/* Two nodes of eight. */
static void a_group_across_nodes_takes_the_link_between_them(void **state)
{
    sp__sync s = sync_of("dp=16", 1, 0);

    (void)state;
    assert_int_equal(s.reduce, 4 * 70 + PARAMETERS * 4 * 15 / 16 * 10);
}

static void what_overlaps_is_hidden(void **state)
{
    sp__sync s = sync_of("dp=4", 1, 25);

    (void)state;
    assert_int_equal(s.hidden, s.reduce / 4);
    assert_int_equal(s.gather,
                     2 * 7 + PARAMETERS * 2 * 3 / 4 - (2 * 7 + PARAMETERS * 2 * 3 / 4) / 4);
    s = sync_of("dp=4", 1, 100);
    assert_int_equal(s.hidden, s.reduce);
    assert_int_equal(s.gather, 0);
}

static void one_rank_has_nobody_to_reduce_with(void **state)
{
    sp__sync s = sync_of("dp=1", 1, 0);

    (void)state;
    assert_int_equal(s.reduce, 0);
    assert_int_equal(s.gather, 0);
    assert_true(s.optimizer > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_distributed_optimizer_scatters_steps_on_its_share_and_gathers),
        cmocka_unit_test(without_one_all_gradients_go_to_all),
        cmocka_unit_test(context_parallel_ranks_reduce_too_and_tensor_parallel_ones_share),
        cmocka_unit_test(a_group_across_nodes_takes_the_link_between_them),
        cmocka_unit_test(what_overlaps_is_hidden),
        cmocka_unit_test(one_rank_has_nobody_to_reduce_with),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
