/*
 * old_program.c - a program compiled against the header of release 1.0, to be run with
 * the library of today: structs have the sizes and constants the values of then.
 */
#include <inttypes.h>
#include <slimpack.h>
#include <stdio.h>
#include <string.h>

#define TRY(call)                                                       \
    do {                                                                \
        if ((call) != SP_OK) {                                          \
            fprintf(stderr, "%s: %s\n", #call, sp_error_message());     \
            return 1;                                                   \
        }                                                               \
    } while (0)

static int query(const sp_schedule *schedule)
{
    sp_pack_view pack = SP_PACK_VIEW_INIT;
    sp_slice_view slices = SP_SLICE_VIEW_INIT;
    sp_op_view op = SP_OP_VIEW_INIT;
    sp_stage_view stage = SP_STAGE_VIEW_INIT;
    sp_pipeline_view pipeline = SP_PIPELINE_VIEW_INIT;
    sp_stats stats = SP_STATS_INIT;
    int64_t tokens = 0;

    for (int32_t k = 0; k < sp_schedule_pack_count(schedule, SP_FORWARD); k++) {
        TRY(sp_schedule_pack(schedule, 0, SP_FORWARD, k, &pack));
        TRY(sp_schedule_pack_slices(schedule, 0, SP_FORWARD, k, &slices));
        tokens += pack.tokens;
    }
    TRY(sp_schedule_op(schedule, 0, 0, &op));
    TRY(sp_schedule_stage(schedule, 0, &stage));
    TRY(sp_schedule_pipeline(schedule, &pipeline));
    TRY(sp_schedule_stats(schedule, &stats));
    TRY(sp_schedule_check(schedule));
    if (op.pass != SP_FORWARD || op.pack != 0 || pipeline.virtual_stages != 1 ||
        stats.tokens != 6000 || stage.peak_bytes < stage.static_bytes || tokens < 1 ||
        stats.mfu_ppm < 1)
        return 1;
    printf("%" PRId64 " tokens\n", stats.tokens);
    return 0;
}

int main(void)
{
    const int64_t lengths[] = { 5000, 900, 100 };
    sp_param_info info = SP_PARAM_INFO_INIT;
    sp_device_view device_view = SP_DEVICE_VIEW_INIT;
    sp_path_view path = SP_PATH_VIEW_INIT;
    sp_topology *topology;
    sp_model *model;
    sp_device *device;
    sp_planner *planner;
    sp_batch *batch;
    sp_schedule *schedule, *copy;
    sp_simulation *simulation;
    unsigned char bytes[65536];
    size_t size;
    int failed;

    TRY(sp_topology_parse("dp=2 pp=2", &topology));
    TRY(sp_model_create("llama2-7b", NULL, &model));
    TRY(sp_device_create("h100", NULL, &device));
    TRY(sp_device_set(device, SP_DEVICE_MEMORY_BYTES, INT64_C(1) << 40));
    TRY(sp_planner_param_info(0, &info));
    TRY(sp_planner_create(topology, model, device, NULL, &planner));
    TRY(sp_planner_set(planner, SP_PLANNER_MAX_PACKS, 16));
    TRY(sp_batch_create(lengths, 3, NULL, &batch));
    TRY(sp_plan_batch(planner, batch, &schedule));
    TRY(sp_schedule_encode(schedule, SP_ALL_RANKS, bytes, sizeof bytes, &size));
    TRY(sp_schedule_decode(bytes, size, SP_ALL_RANKS, NULL, &copy));
    TRY(sp_simulate(copy, model, device, &simulation));
    TRY(sp_simulation_device(simulation, 0, &device_view));
    TRY(sp_simulation_path(simulation, 0, &path));
    failed = query(copy) || strcmp(info.name, "policy") != 0;
    sp_simulation_destroy(simulation);
    sp_schedule_destroy(copy);
    sp_planner_recycle(planner, schedule);
    sp_batch_destroy(batch);
    sp_planner_destroy(planner);
    sp_device_destroy(device);
    sp_model_destroy(model);
    sp_topology_destroy(topology);
    return failed;
}
