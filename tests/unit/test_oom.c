/*
 * test_oom.c - a whole session in which each allocation fails in turn.
 *
 * The session calls every public function that allocates, through hooks that fail the
 * k-th time, for all k. The call that meets the failure says SP_ERR_MEMORY, its output is
 * untouched, all that was made can be destroyed, and nothing is left.
 */
#include <string.h>

#include "../support/expect.h"
#include "../support/failing_alloc.h"

enum { BYTES = 1 << 16 };

typedef struct session {
    const sp_allocator *hooks;
    sp_topology *topology, *parsed;
    sp_model *model;
    sp_device *device;
    sp_batch *batch;
    sp_planner *planner;
    sp_schedule *schedule, *collected, *decoded, *part, *built;
    sp_builder *builder;
    sp_simulation *simulation;
    unsigned char bytes[BYTES];
    size_t size;
} session;

#define TRY(call)                          \
    do {                                   \
        sp_status status_ = (call);        \
        if (status_ != SP_OK)              \
            return status_;                \
    } while (0)

static sp_status make_inputs(session *s)
{
    static const int64_t lengths[] = { 4000, 900, 100, 64, 7 };
    static const int32_t layers[] = { 15, 17 };

    TRY(sp_topology_create(2, 1, 2, 2, s->hooks, &s->topology));
    TRY(sp_model_create("llama2-7b", s->hooks, &s->model));
    TRY(sp_model_set_stage_layers(s->model, layers, 2));
    TRY(sp_device_create("h100", s->hooks, &s->device));
    TRY(sp_device_set(s->device, SP_DEVICE_MEMORY_BYTES, INT64_C(1) << 40));
    TRY(sp_batch_create(lengths, 5, s->hooks, &s->batch));
    TRY(sp_planner_create(s->topology, s->model, s->device, s->hooks, &s->planner));
    return sp_planner_set(s->planner, SP_PLANNER_MAX_PACKS, 8);
}

/* A batch that fails in the planner's thread fails where it is collected. */
static sp_status make_plans(session *s)
{
    TRY(sp_plan_batch(s->planner, s->batch, &s->schedule));
    TRY(sp_planner_submit(s->planner, s->batch));
    TRY(sp_planner_collect(s->planner, &s->collected));
    TRY(sp_planner_submit(s->planner, s->batch));
    TRY(sp_planner_cancel(s->planner));
    sp_planner_recycle(s->planner, s->collected);
    s->collected = NULL;
    return SP_OK;
}

static sp_status use_plan(session *s)
{
    TRY(sp_schedule_check(s->schedule));
    TRY(sp_schedule_encode(s->schedule, SP_ALL_RANKS, s->bytes, sizeof s->bytes, &s->size));
    TRY(sp_schedule_decode(s->bytes, s->size, SP_ALL_RANKS, s->hooks, &s->decoded));
    TRY(sp_schedule_decode(s->bytes, s->size, 1, s->hooks, &s->part));
    return sp_simulate(s->decoded, s->model, s->device, &s->simulation);
}

/* One sample whole on one device, forward and backward. */
static sp_status build_plan(session *s)
{
    static const int32_t slice[] = { 0, 0, 100 };
    static const int64_t lengths[] = { 100 };
    sp_topology *one = NULL;
    sp_batch *batch = NULL;
    sp_status status = sp_topology_create(1, 1, 1, 1, s->hooks, &one);

    if (status == SP_OK)
        status = sp_batch_create(lengths, 1, s->hooks, &batch);
    if (status == SP_OK)
        status = sp_builder_create(one, batch, s->hooks, &s->builder);
    for (sp_pass pass = SP_FORWARD; pass <= SP_BACKWARD && status == SP_OK; pass++) {
        status = sp_builder_add_pack(s->builder, 0, pass, -1, 1, slice);
        if (status == SP_OK)
            status = sp_builder_add_shards(s->builder, 0, pass, 0, 1, slice);
        if (status == SP_OK)
            status = sp_builder_add_op(s->builder, 0, 0, pass, 0, 0, 10 * pass, 10 * pass + 10);
    }
    if (status == SP_OK)
        status = sp_builder_set_memory(s->builder, 0, 0, 1, 2, 3);
    if (status == SP_OK)
        status = sp_builder_finish(s->builder, &s->built);
    sp_batch_destroy(batch);
    sp_topology_destroy(one);
    return status;
}

static sp_status run(session *s)
{
    TRY(make_inputs(s));
    TRY(make_plans(s));
    TRY(use_plan(s));
    return build_plan(s);
}

static void leave(session *s)
{
    sp_simulation_destroy(s->simulation);
    sp_builder_destroy(s->builder);
    sp_schedule_destroy(s->built);
    sp_schedule_destroy(s->part);
    sp_schedule_destroy(s->decoded);
    sp_schedule_destroy(s->collected);
    sp_schedule_destroy(s->schedule);
    sp_planner_destroy(s->planner);
    sp_batch_destroy(s->batch);
    sp_device_destroy(s->device);
    sp_model_destroy(s->model);
    sp_topology_destroy(s->topology);
}

/* What the worker of a cancelled batch asks for, nobody hears of. */
static void a_session_survives_each_failed_allocation(void **state)
{
    static session s;
    int64_t failures = 0;

    (void)state;
    for (int64_t n = 0, heard = 1; heard || n < 400; n++) {
        failing_alloc memory;
        sp_status status;

        failing_alloc_init(&memory, n);
        memset(&s, 0, sizeof s);
        s.hooks = &memory.hooks;
        status = run(&s);
        heard = status != SP_OK;
        assert_true(status == SP_OK || status == SP_ERR_MEMORY);
        if (heard)
            assert_string_equal(sp_error_message(), OUT_OF_MEMORY);
        failures += heard;
        leave(&s);
        assert_int_equal(memory.live, 0);
    }
    print_message("%d allocations failed\n", (int)failures);
    assert_true(failures > 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_survives_each_failed_allocation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
