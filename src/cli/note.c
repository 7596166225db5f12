/*
 * note.c - what a plan file says beside its schedule, out of a schedule and into one.
 */
#include "json.h"

void cli_note_stats(const sp_schedule *schedule, const sp_stats *stats, cli_plan_note *note)
{
    sp_pipeline_view pipeline = SP_PIPELINE_VIEW_INIT;

    note->makespan_ps = stats->makespan_ps;
    note->ideal_ps = stats->ideal_ps;
    note->bound_ps = stats->bound_ps;
    note->memory_bytes = stats->memory_bytes;
    sp_schedule_pipeline(schedule, &pipeline);
    note->virtual_stages = pipeline.virtual_stages;
    note->pipeline = pipeline.pipeline;
    note->digest = sp_schedule_digest(schedule);
}

sp_status cli_note_shape(const cli_plan_note *note, sp_builder *builder)
{
    sp_status status = sp_builder_set_alignment(builder, (int32_t)note->alignment);

    if (status == SP_OK)
        status = sp_builder_set_pad_multiple(builder, (int32_t)note->pad_multiple);
    if (status == SP_OK)
        status = sp_builder_set_lockstep(builder, (int32_t)note->lockstep);
    if (status == SP_OK)
        status = sp_builder_set_pipeline(builder, (int32_t)note->virtual_stages,
                                         (int32_t)note->pipeline);
    return status;
}
