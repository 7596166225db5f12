/*
 * plan_step.c - the example of the README: plans one step and prints what rank 0 runs.
 */
#include <slimpack.h>
#include <stdio.h>

int main(void)
{
    const int64_t lengths[] = { 120000, 900, 4100, 512, 30000, 2200, 7000, 64 };
    sp_topology *topology;
    sp_model *model;
    sp_device *device;
    sp_planner *planner;
    sp_batch *batch;
    sp_schedule *schedule;

    if (sp_topology_parse("dp=4 tp=8 pp=4", &topology) != SP_OK ||
        sp_model_create("llama2-7b", NULL, &model) != SP_OK ||
        sp_device_create("h100", NULL, &device) != SP_OK ||
        sp_planner_create(topology, model, device, NULL, &planner) != SP_OK || /* once */
        sp_batch_create(lengths, 8, NULL, &batch) != SP_OK ||                  /* every step */
        sp_plan_batch(planner, batch, &schedule) != SP_OK) {
        fprintf(stderr, "%s\n", sp_error_message());
        return 1;
    }
    for (int32_t i = 0; i < sp_schedule_op_count(schedule); i++) {
        sp_op_view op = SP_OP_VIEW_INIT;
        sp_pack_view pack = SP_PACK_VIEW_INIT;

        sp_schedule_op(schedule, 0, i, &op);
        sp_schedule_pack(schedule, 0, op.pass, op.pack, &pack);
        printf("%c%d: %lld tokens in %d shards, then to rank %d\n", "FBW"[op.pass], (int)op.pack,
               (long long)pack.tokens, (int)pack.count, (int)op.send_rank);
    }
    sp_schedule_destroy(schedule);
    sp_batch_destroy(batch);
    sp_planner_destroy(planner);
    sp_device_destroy(device);
    sp_model_destroy(model);
    sp_topology_destroy(topology);
    return 0;
}
