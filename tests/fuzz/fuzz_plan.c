/*
 * fuzz_plan.c - plans of any batch, machine and parameters within the API's bounds.
 *
 * Bytes become a case: case.h.
 *
 * Invariants: planning ends in a plan or in a status that the header names; a plan
 * passes the independent checker with the limits that were set, and sp_schedule_check(),
 * survives being bytes, and is replayed with the times that it says.
 */
#include <inttypes.h>

#include "../support/checker.h"
#include "../support/round_trip.h"
#include "case.h"

static int64_t value(const fuzz_case *c, int32_t key)
{
    int64_t v = 0;

    REQUIRE(sp_planner_get(c->planner, key, &v) == SP_OK, "key %" PRId32, key);
    return v;
}

/* What the checker holds the plan against. */
static check_limits limits_of(const fuzz_case *c)
{
    int64_t policy = value(c, SP_PLANNER_POLICY);
    int packs_whole = policy == SP_POLICY_BALANCED_PACK || policy == SP_POLICY_FIXED_PACK;
    check_limits l = { value(c, SP_PLANNER_ALIGNMENT), value(c, SP_PLANNER_PAD_MULTIPLE),
                       value(c, SP_PLANNER_MAX_PACK_TOKENS), value(c, SP_PLANNER_MAX_PACKS),
                       value(c, SP_PLANNER_MAX_PACK_SAMPLES), value(c, SP_PLANNER_MAX_MERGE_DEGREE),
                       value(c, SP_PLANNER_PACK_GROUP), value(c, SP_PLANNER_MEMORY_BYTES),
                       { value(c, SP_PLANNER_FORWARD_PACKS), value(c, SP_PLANNER_BACKWARD_PACKS) },
                       0, value(c, SP_PLANNER_MERGES) == 0,
                       (int)value(c, SP_PLANNER_KEEP_ORDER), 1, 0 };

    l.whole_samples = packs_whole || value(c, SP_PLANNER_SLICING) == 0;
    if (l.memory_bytes == 0)
        sp_device_get(c->device, SP_DEVICE_MEMORY_BYTES, &l.memory_bytes);
    return l;
}

static void check_replay(const fuzz_case *c, const sp_schedule *schedule)
{
    sp_stats planned = SP_STATS_INIT, replayed = SP_STATS_INIT;
    sp_simulation *simulation;

    REQUIRE(sp_simulate(schedule, c->model, c->device, &simulation) == SP_OK, "%s",
            sp_error_message());
    sp_schedule_stats(schedule, &planned);
    sp_simulation_stats(simulation, &replayed);
    REQUIRE(planned.makespan_ps == replayed.makespan_ps && planned.ideal_ps == replayed.ideal_ps &&
            planned.step_ps == replayed.step_ps && planned.peak_bytes == replayed.peak_bytes,
            "makespan %" PRId64 " is replayed as %" PRId64, planned.makespan_ps,
            replayed.makespan_ps);
    sp_simulation_destroy(simulation);
}

static void check_plan_of(const fuzz_case *c, const sp_schedule *schedule)
{
    check_limits limits = limits_of(c);
    char why[400] = "";

    REQUIRE(check_schedule(schedule, c->topology, c->length, c->count, &limits, why,
                           sizeof why) == 0, "%s", why);
    REQUIRE(sp_schedule_check(schedule) == SP_OK, "%s", sp_error_message());
    REQUIRE(round_trip_check(schedule, c->topology,
                             (int32_t)(c->count % sp_topology_size(c->topology)), why,
                             sizeof why) == 0, "%s", why);
    check_replay(c, schedule);
}

static void plan(fuzz_case *c)
{
    sp_schedule *schedule = NULL;
    sp_status status = sp_plan_batch(c->planner, c->batch, &schedule);

    fuzz_message(status);
    REQUIRE((status == SP_OK) == (schedule != NULL), "%s", sp_status_name(status));
    REQUIRE(status == SP_OK || status == SP_ERR_INVALID || status == SP_ERR_OVERFLOW ||
            status == SP_ERR_INFEASIBLE, "%s: %s", sp_status_name(status), sp_error_message());
    if (status == SP_OK)
        check_plan_of(c, schedule);
    sp_schedule_destroy(schedule);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_bytes b = { data, size };
    fuzz_case c;
    sp_status status = case_open(&b, &c);

    fuzz_message(status);
    REQUIRE(status == SP_OK || status == SP_ERR_INVALID || status == SP_ERR_OVERFLOW, "%s: %s",
            sp_status_name(status), sp_error_message());
    if (status == SP_OK)
        plan(&c);
    case_close(&c);
    return 0;
}
