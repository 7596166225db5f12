/*
 * consumer.c - a program of somebody else: built against the installed library, as C
 * and as C++. Plans a step and prints the tokens planned and the version that runs.
 */
#include <slimpack.h>
#include <stdio.h>

int main(void)
{
    const int64_t lengths[] = { 900, 4100, 512, 64 };
    sp_stats stats = SP_STATS_INIT;
    sp_topology *topology;
    sp_model *model;
    sp_device *device;
    sp_planner *planner;
    sp_batch *batch;
    sp_schedule *schedule;

    if (sp_version() != SP_VERSION || sp_topology_parse("dp=2 pp=2", &topology) != SP_OK ||
        sp_model_create("llama2-7b", NULL, &model) != SP_OK ||
        sp_device_create("ideal", NULL, &device) != SP_OK ||
        sp_planner_create(topology, model, device, NULL, &planner) != SP_OK ||
        sp_batch_create(lengths, 4, NULL, &batch) != SP_OK ||
        sp_plan_batch(planner, batch, &schedule) != SP_OK ||
        sp_schedule_stats(schedule, &stats) != SP_OK)
        return 1;
    printf("%d tokens by %s\n", (int)stats.tokens, sp_version_string());
    sp_schedule_destroy(schedule);
    sp_batch_destroy(batch);
    sp_planner_destroy(planner);
    sp_device_destroy(device);
    sp_model_destroy(model);
    sp_topology_destroy(topology);
    return 0;
}
