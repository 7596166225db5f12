/*
 * step.c - a schedule and its times: see step.h.
 */
#include "step.h"

cli_step cli_step_of(const sp_topology *topology, const sp_schedule *schedule,
                     const sp_simulation *simulation)
{
    cli_step step = { topology, schedule, simulation, "", "", "", SP_COORDINATES_INIT, 0, 1, 0 };
    sp_pipeline_view pipeline = SP_PIPELINE_VIEW_INIT;

    sp_topology_degrees(topology, &step.degrees);
    sp_schedule_pipeline(schedule, &pipeline);
    step.ops = sp_schedule_op_count(schedule);
    step.chunks = pipeline.virtual_stages;
    step.pipeline = pipeline.pipeline;
    return step;
}

int32_t cli_step_rank(const cli_step *step, int32_t dp, int32_t pp, int32_t cp)
{
    sp_coordinates at = SP_COORDINATES_INIT;
    int32_t rank = 0;

    at.dp = dp;
    at.pp = pp;
    at.cp = cp;
    sp_topology_rank(step->topology, &at, &rank);
    return rank;
}

sp_op_view cli_step_op(const cli_step *step, int32_t rank, int32_t index)
{
    sp_op_view op = SP_OP_VIEW_INIT;

    sp_schedule_op(step->schedule, rank, index, &op);
    if (step->simulation != NULL)
        sp_simulation_op(step->simulation, rank, index, &op.start_ps, &op.end_ps);
    return op;
}

int64_t cli_step_tokens(const cli_step *step, int32_t dp, sp_pass pass, int32_t pack)
{
    int64_t tokens = 0;

    for (int32_t cp = 0; cp < step->degrees.cp; cp++) {
        sp_pack_view view = SP_PACK_VIEW_INIT;

        sp_schedule_pack(step->schedule, cli_step_rank(step, dp, 0, cp), cli_step_pack_pass(pass),
                         pack, &view);
        tokens += view.tokens;
    }
    return tokens;
}

sp_pass cli_step_pack_pass(sp_pass pass)
{
    return pass == SP_FORWARD ? SP_FORWARD : SP_BACKWARD;
}
