/*
 * broadcast_plan.c - rank 0 plans, all others receive the plan as bytes.
 *
 *     mpirun -n 8 broadcast_plan
 *
 * Planning once saves the other ranks' time, and they cannot disagree. Each decodes its
 * own part alone, whose memory does not grow with the number of replicas.
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

/* What only rank 0 does: plan the global batch and write the plan down. */
static unsigned char *plan(const char *topology, size_t *size)
{
    static const int64_t lengths[] = { 8192, 900, 4096, 77, 2048, 1200, 350, 16000, 1, 640 };
    sp_topology *cluster;
    sp_model *model;
    sp_device *device;
    sp_planner *planner;
    sp_batch *batch;
    sp_schedule *schedule;
    unsigned char *bytes;

    TRY(sp_topology_parse(topology, &cluster));
    TRY(sp_model_create("llama3-8b", NULL, &model));
    TRY(sp_device_create("h200", NULL, &device));
    TRY(sp_planner_create(cluster, model, device, NULL, &planner));
    TRY(sp_batch_create(lengths, sizeof lengths / sizeof *lengths, NULL, &batch));
    TRY(sp_plan_batch(planner, batch, &schedule));
    TRY(sp_schedule_encode(schedule, SP_ALL_RANKS, NULL, 0, size));
    bytes = malloc(*size);
    if (bytes == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    TRY(sp_schedule_encode(schedule, SP_ALL_RANKS, bytes, *size, size));
    sp_schedule_destroy(schedule);
    sp_batch_destroy(batch);
    sp_planner_destroy(planner);
    sp_device_destroy(device);
    sp_model_destroy(model);
    sp_topology_destroy(cluster);
    return bytes;
}

int main(int argc, char **argv)
{
    unsigned char *bytes = NULL;
    sp_schedule *schedule;
    uint64_t size = 0;
    size_t written = 0;
    int64_t tokens = 0, all = 0;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        bytes = plan("dp=4 pp=2", &written);
    size = written;
    MPI_Bcast(&size, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (rank != 0)
        bytes = malloc((size_t)size);
    if (bytes == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Bcast(bytes, (int)size, MPI_BYTE, 0, MPI_COMM_WORLD);

    TRY(sp_schedule_decode(bytes, (size_t)size, rank, NULL, &schedule));
    for (int32_t k = 0; k < sp_schedule_pack_count(schedule, SP_FORWARD); k++) {
        sp_pack_view pack = SP_PACK_VIEW_INIT;

        TRY(sp_schedule_pack(schedule, rank, SP_FORWARD, k, &pack));
        tokens += pack.tokens;
    }
    MPI_Reduce(&tokens, &all, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%" PRIu64 " bytes to each rank; both stages run %" PRId64 " tokens\n", size,
               all / 2);
    sp_schedule_destroy(schedule);
    free(bytes);
    MPI_Finalize();
    return 0;
}
