/*
 * planned.c - plans small batches for tests: see planned.h.
 */
#include "planned.h"

#include <string.h>

static int64_t setting(const plan_input *in, int32_t key, int64_t other)
{
    for (int i = 0; i < PLANNED_SETTINGS && in->set[i].key != 0; i++)
        if (in->set[i].key == key)
            return in->set[i].value;
    return other;
}

static void open_inputs(planned *p, const plan_input *in)
{
    assert_int_equal(sp_topology_parse(in->topology, &p->topology), SP_OK);
    assert_int_equal(sp_model_create(in->model != NULL ? in->model : "llama2-7b", NULL, &p->model),
                     SP_OK);
    assert_int_equal(sp_device_create(in->device != NULL ? in->device : "ideal", NULL, &p->device),
                     SP_OK);
    for (int i = 0; i < PLANNED_SETTINGS && in->set_model[i].key != 0; i++)
        assert_int_equal(sp_model_set(p->model, in->set_model[i].key, in->set_model[i].value),
                         SP_OK);
    for (int i = 0; i < PLANNED_SETTINGS && in->set_device[i].key != 0; i++)
        assert_int_equal(sp_device_set(p->device, in->set_device[i].key, in->set_device[i].value),
                         SP_OK);
    assert_int_equal(sp_batch_create(in->lengths, in->count, NULL, &p->batch), SP_OK);
}

planned try_to_plan(const plan_input *in)
{
    planned p = { .stats = SP_STATS_INIT };
    sp_schedule *const untouched = (sp_schedule *)(void *)&p;
    sp_schedule *schedule = untouched;

    open_inputs(&p, in);
    p.status = sp_planner_create(p.topology, p.model, p.device, NULL, &p.planner);
    if (p.status != SP_OK)
        return p;
    for (int i = 0; i < PLANNED_SETTINGS && in->set[i].key != 0; i++)
        assert_int_equal(sp_planner_set(p.planner, in->set[i].key, in->set[i].value), SP_OK);
    p.status = sp_plan_batch(p.planner, p.batch, &schedule);
    if (p.status == SP_OK) {
        p.schedule = schedule;
        assert_int_equal(sp_schedule_stats(schedule, &p.stats), SP_OK);
    } else {
        assert_ptr_equal(schedule, untouched);
    }
    return p;
}

static void judge(const planned *p, const plan_input *in)
{
    check_limits limits = CHECK_LIMITS_INIT;
    char why[400] = "";

    limits.alignment = setting(in, SP_PLANNER_ALIGNMENT, 16);
    limits.pad_multiple = setting(in, SP_PLANNER_PAD_MULTIPLE, 1);
    limits.max_pack_tokens = setting(in, SP_PLANNER_MAX_PACK_TOKENS, 0);
    limits.max_packs = setting(in, SP_PLANNER_MAX_PACKS, 256);
    limits.max_pack_samples = setting(in, SP_PLANNER_MAX_PACK_SAMPLES, 0);
    limits.pack_group = setting(in, SP_PLANNER_PACK_GROUP, 1);
    limits.exact_packs[SP_FORWARD] = setting(in, SP_PLANNER_FORWARD_PACKS, 0);
    limits.exact_packs[SP_BACKWARD] = setting(in, SP_PLANNER_BACKWARD_PACKS, 0);
    limits.whole_samples = setting(in, SP_PLANNER_SLICING, 1) == 0;
    limits.keep_order = (int)setting(in, SP_PLANNER_KEEP_ORDER, 0);
    limits.planned = 1;
    if (check_schedule(p->schedule, p->topology, in->lengths, in->count, &limits, why,
                       sizeof why) != 0)
        fail_msg("%s", why);
    assert_int_equal(sp_schedule_check(p->schedule), SP_OK);
}

planned plan_it(const plan_input *in)
{
    planned p = try_to_plan(in);

    if (p.status != SP_OK)
        fail_msg("%s: %s", sp_status_name(p.status), sp_error_message());
    judge(&p, in);
    return p;
}

void planned_free(planned *p)
{
    sp_schedule_destroy(p->schedule);
    sp_batch_destroy(p->batch);
    sp_planner_destroy(p->planner);
    sp_device_destroy(p->device);
    sp_model_destroy(p->model);
    sp_topology_destroy(p->topology);
    memset(p, 0, sizeof *p);
}

sp_pack_view pack_of(const planned *p, int32_t dp, int32_t cp, sp_pass pass, int32_t pack)
{
    sp_coordinates at = SP_COORDINATES_INIT;
    sp_pack_view view = SP_PACK_VIEW_INIT;
    int32_t rank;

    at.dp = dp;
    at.cp = cp;
    assert_int_equal(sp_topology_rank(p->topology, &at, &rank), SP_OK);
    assert_int_equal(sp_schedule_pack(p->schedule, rank, pass, pack, &view), SP_OK);
    return view;
}

sp_slice_view slices_of(const planned *p, int32_t dp, sp_pass pass, int32_t pack)
{
    sp_slice_view view = SP_SLICE_VIEW_INIT;

    assert_int_equal(sp_schedule_pack_slices(p->schedule, dp, pass, pack, &view), SP_OK);
    return view;
}

int32_t filled_packs(const planned *p, int32_t dp, sp_pass pass)
{
    int32_t filled = 0;

    for (int32_t k = 0; k < sp_schedule_pack_count(p->schedule, pass); k++)
        filled += slices_of(p, dp, pass, k).count > 0;
    return filled;
}

int64_t most_tokens(const planned *p)
{
    int64_t most = 0;

    for (int32_t rank = 0; rank < sp_topology_size(p->topology); rank++)
        for (sp_pass pass = 0; pass < 2; pass++)
            for (int32_t k = 0; k < sp_schedule_pack_count(p->schedule, pass); k++) {
                sp_pack_view view = SP_PACK_VIEW_INIT;

                assert_int_equal(sp_schedule_pack(p->schedule, rank, pass, k, &view), SP_OK);
                most = view.tokens > most ? view.tokens : most;
            }
    return most;
}
