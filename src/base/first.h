/*
 * first.h - how large each struct that crosses the border was in its first release.
 *
 * A caller that was compiled then passes that size for ever, so it stays the least that
 * is accepted when fields are appended: each entry names the last field of the first
 * release, and is never changed once that release is out.
 */
#ifndef SP_BASE_FIRST_H
#define SP_BASE_FIRST_H

#include <stddef.h>

#include "slimpack.h"

#define SP__UP_TO(type, field) (offsetof(type, field) + sizeof((type *)NULL)->field)

#define SP__FIRST_ALLOCATOR SP__UP_TO(sp_allocator, ctx)
#define SP__FIRST_PARAM_INFO SP__UP_TO(sp_param_info, fallback)
#define SP__FIRST_COORDINATES SP__UP_TO(sp_coordinates, cp)
#define SP__FIRST_FIT SP__UP_TO(sp_fit, largest_error_ppm)
#define SP__FIRST_PACK_VIEW SP__UP_TO(sp_pack_view, pack_tokens)
#define SP__FIRST_SLICE_VIEW SP__UP_TO(sp_slice_view, tokens)
#define SP__FIRST_OP_VIEW SP__UP_TO(sp_op_view, end_ps)
#define SP__FIRST_PIPELINE_VIEW SP__UP_TO(sp_pipeline_view, pipeline)
#define SP__FIRST_STAGE_VIEW SP__UP_TO(sp_stage_view, busy_ps)
#define SP__FIRST_MERGE_VIEW SP__UP_TO(sp_merge_view, reserved)
#define SP__FIRST_DEVICE_VIEW SP__UP_TO(sp_device_view, peak_ps)
#define SP__FIRST_PATH_VIEW SP__UP_TO(sp_path_view, end_ps)
#define SP__FIRST_STATS SP__UP_TO(sp_stats, mfu_ppm)

#endif
