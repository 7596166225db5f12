/*
 * agree_on_plan.c - every rank plans for itself; they compare digests before they start.
 *
 *     mpirun -n 8 agree_on_plan [LENGTH...]
 *
 * Planning is deterministic: nothing is sent but eight bytes a rank. Ranks that were
 * given different lengths would wait for each other for ever; here they find out.
 */
#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include <slimpack.h>

#define TRY(call)                                            \
    do {                                                     \
        if ((call) != SP_OK) {                               \
            fprintf(stderr, "%s\n", sp_error_message());     \
            MPI_Abort(MPI_COMM_WORLD, 1);                    \
        }                                                    \
    } while (0)

static sp_schedule *plan(const int64_t *lengths, int64_t count)
{
    sp_topology *cluster;
    sp_model *model;
    sp_device *device;
    sp_planner *planner;
    sp_batch *batch;
    sp_schedule *schedule;

    TRY(sp_topology_parse("dp=4 pp=2", &cluster));
    TRY(sp_model_create("llama3-8b", NULL, &model));
    TRY(sp_device_create("h200", NULL, &device));
    TRY(sp_planner_create(cluster, model, device, NULL, &planner));
    TRY(sp_batch_create(lengths, count, NULL, &batch));
    TRY(sp_plan_batch(planner, batch, &schedule));
    sp_batch_destroy(batch);
    sp_planner_destroy(planner);
    sp_device_destroy(device);
    sp_model_destroy(model);
    sp_topology_destroy(cluster);
    return schedule;
}

/* Whether all ranks hold the same plan: least and largest digest are one. */
static int agree(const sp_schedule *schedule)
{
    uint64_t digest = sp_schedule_digest(schedule), least, largest;

    MPI_Allreduce(&digest, &least, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&digest, &largest, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    return least == largest;
}

int main(int argc, char **argv)
{
    int64_t lengths[64] = { 8192, 900, 4096, 77 }, count = 4;
    sp_schedule *schedule;
    int rank, same;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 1; i < argc && i <= 64; i++, count = i - 1)
        lengths[i - 1] = strtoll(argv[i], NULL, 10);
    schedule = plan(lengths, count);
    same = agree(schedule);
    if (rank == 0 && same)
        printf("all ranks agree on %016" PRIx64 "\n", sp_schedule_digest(schedule));
    if (rank == 0 && !same)
        fprintf(stderr, "ranks disagree: compare lengths, model, device and parameters\n");
    sp_schedule_destroy(schedule);
    MPI_Finalize();
    return same ? 0 : 1;
}
