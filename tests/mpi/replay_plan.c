/*
 * replay_plan.c - runs a plan on real processes: messages are sent, compute sleeps.
 *
 *     mpirun -n RANKS replay_plan [--bench] FIRST COUNT
 *
 * Plans random batches of seeds FIRST to FIRST + COUNT - 1 on every rank, each rank
 * for itself, and runs its own ops: receive, sleep for as long as the op takes,
 * send. Shapes are never exchanged: counts come from the plan, and a message of
 * another size than the plan says ends the program. Replicas of a merge meet in a
 * barrier of their own. A plan that can deadlock does: the caller sets a time limit.
 * With --bench it says how far the step was from the simulated makespan.
 *
 * Reads its work only through the public queries of its rank.
 */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "slimpack.h"

#define MOST_TOKENS (1 << 17)

static const char *const topologies[] = { "dp=2 pp=4", "dp=4 pp=2", "dp=1 pp=8", "dp=8 pp=1",
                                          "dp=2 pp=2 cp=2" };

typedef struct job {
    sp_topology *topology;
    sp_schedule *schedule;
    sp_stats stats;
    MPI_Comm *meeting; /* [merges] */
    int32_t rank;
} job;

static void check(sp_status status)
{
    if (status == SP_OK)
        return;
    fprintf(stderr, "%s\n", sp_error_message());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static uint64_t next(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* A batch with a long tail, and one sample that replicas share now and then. */
static sp_batch *random_batch(uint64_t *s)
{
    int64_t lengths[24], count = 6 + (int64_t)(next(s) % 18);
    sp_batch *batch;

    for (int64_t i = 0; i < count; i++)
        lengths[i] = 1 + (int64_t)(next(s) % ((uint64_t)1 << (4 + next(s) % 8)));
    if (next(s) % 2 == 0)
        lengths[0] = 6000 + (int64_t)(next(s) % 6000);
    check(sp_batch_create(lengths, count, NULL, &batch));
    return batch;
}

/* Links cost little next to ops, as messages between processes of one machine do; op
 * times are then scaled to milliseconds. */
static void plan(job *j, uint64_t seed)
{
    uint64_t s = seed;
    const char *topology = topologies[next(&s) % (sizeof topologies / sizeof *topologies)];
    sp_batch *batch = random_batch(&s);
    sp_planner *planner;
    sp_device *device;
    sp_model *model;

    check(sp_topology_parse(topology, &j->topology));
    check(sp_model_create("llama2-7b", NULL, &model));
    check(sp_device_create("ideal", NULL, &device));
    if (strstr(topology, "pp=1") == NULL && next(&s) % 3 == 0)
        check(sp_model_set(model, SP_MODEL_VIRTUAL_STAGES, 2));
    check(sp_planner_create(j->topology, model, device, NULL, &planner));
    check(sp_planner_set(planner, SP_PLANNER_MAX_PACKS, 6 + (int64_t)(next(&s) % 6)));
    check(sp_planner_set(planner, SP_PLANNER_PIPELINE, next(&s) % 3 == 0));
    check(sp_plan_batch(planner, batch, &j->schedule));
    j->stats = (sp_stats)SP_STATS_INIT;
    check(sp_schedule_stats(j->schedule, &j->stats));
    sp_planner_destroy(planner);
    sp_device_destroy(device);
    sp_model_destroy(model);
    sp_batch_destroy(batch);
}

/* Ranks of the same stage in all replicas of a merge. */
static void open_meetings(job *j)
{
    int32_t merges = sp_schedule_merge_count(j->schedule);
    sp_coordinates at = SP_COORDINATES_INIT;

    check(sp_topology_coordinates(j->topology, j->rank, &at));
    j->meeting = malloc((size_t)(merges + 1) * sizeof *j->meeting);
    for (int32_t g = 0; g < merges; g++) {
        sp_merge_view m = SP_MERGE_VIEW_INIT;
        int inside;

        check(sp_schedule_merge(j->schedule, g, &m));
        inside = at.dp >= m.first_replica && at.dp < m.first_replica + m.replicas;
        MPI_Comm_split(MPI_COMM_WORLD, inside ? at.pp : MPI_UNDEFINED, j->rank, &j->meeting[g]);
    }
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void sleep_until(double time)
{
    double left = time - now();
    struct timespec t;

    if (left <= 0)
        return;
    t.tv_sec = (time_t)left;
    t.tv_nsec = (long)((left - (double)t.tv_sec) * 1e9);
    nanosleep(&t, NULL);
}

/* What a message is of: ops of both passes and all chunks go their own ways. The tag
 * is the virtual stage boundary that it crosses. */
static int tag_of(const job *j, const sp_op_view *op, int is_sent)
{
    sp_coordinates degrees = SP_COORDINATES_INIT, at = SP_COORDINATES_INIT;
    int stage;

    check(sp_topology_degrees(j->topology, &degrees));
    check(sp_topology_coordinates(j->topology, j->rank, &at));
    stage = op->chunk * degrees.pp + at.pp;
    if ((op->pass == SP_FORWARD) != is_sent)
        stage--;
    return 2 * stage + op->pass;
}

static void receive(const job *j, const sp_op_view *op, char *buffer)
{
    MPI_Status status;
    int count;

    if (op->recv_tokens == 0)
        return;
    MPI_Recv(buffer, (int)op->recv_tokens, MPI_CHAR, op->recv_rank, tag_of(j, op, 0),
             MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_CHAR, &count);
    if (count == op->recv_tokens)
        return;
    fprintf(stderr, "rank %" PRId32 ": %d tokens came, the plan says %" PRId64 "\n", j->rank, count,
            op->recv_tokens);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Milliseconds that the step is stretched to: the longest op takes 20 of them at most,
 * and an op of one rank 1 at least. Returns the seconds of a simulated picosecond. */
static double scale_of(const job *j)
{
    int64_t longest = 1;

    for (int32_t i = 0; i < sp_schedule_op_count(j->schedule); i++) {
        sp_op_view op = SP_OP_VIEW_INIT;

        check(sp_schedule_op(j->schedule, j->rank, i, &op));
        if (op.end_ps - op.start_ps > longest)
            longest = op.end_ps - op.start_ps;
    }
    MPI_Allreduce(MPI_IN_PLACE, &longest, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    return 0.020 / (double)longest;
}

/* Runs all ops of this rank; returns the seconds of the step. */
static double run(const job *j, char *buffer, double scale, MPI_Request *sent)
{
    int32_t ops = sp_schedule_op_count(j->schedule);
    double start;
    int sends = 0;

    MPI_Barrier(MPI_COMM_WORLD);
    start = now();
    for (int32_t i = 0; i < ops; i++) {
        sp_op_view op = SP_OP_VIEW_INIT;

        check(sp_schedule_op(j->schedule, j->rank, i, &op));
        receive(j, &op, buffer);
        if (op.merge >= 0 && op.pass != SP_WEIGHT)
            MPI_Barrier(j->meeting[op.merge]);
        sleep_until(now() + (double)(op.end_ps - op.start_ps) * scale);
        if (op.send_tokens > 0)
            MPI_Isend(buffer, (int)op.send_tokens, MPI_CHAR, op.send_rank, tag_of(j, &op, 1),
                      MPI_COMM_WORLD, &sent[sends++]);
    }
    MPI_Waitall(sends, sent, MPI_STATUSES_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    return now() - start;
}

/* Runs one seed; returns how much longer the step took than simulated. */
static double run_seed(int32_t rank, uint64_t seed, char *buffer)
{
    job j = { .rank = rank };
    MPI_Request *sent;
    double scale, took, simulated;

    plan(&j, seed);
    open_meetings(&j);
    sent = malloc((size_t)sp_schedule_op_count(j.schedule) * sizeof *sent);
    scale = scale_of(&j);
    simulated = (double)j.stats.makespan_ps * scale;
    took = run(&j, buffer, scale, sent);
    for (int32_t g = 0; g < sp_schedule_merge_count(j.schedule); g++)
        if (j.meeting[g] != MPI_COMM_NULL)
            MPI_Comm_free(&j.meeting[g]);
    free(j.meeting);
    free(sent);
    sp_schedule_destroy(j.schedule);
    sp_topology_destroy(j.topology);
    return took / simulated - 1;
}

int main(int argc, char **argv)
{
    static char buffer[MOST_TOKENS];
    int is_bench = argc > 1 && strcmp(argv[1], "--bench") == 0, rank, size;
    uint64_t first = argc > 2 + is_bench ? strtoull(argv[1 + is_bench], NULL, 10) : 1;
    int count = argc > 2 + is_bench ? atoi(argv[2 + is_bench]) : 5, within = 0;
    double sum = 0, most = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 8)
        return fprintf(stderr, "replay_plan: 8 ranks, not %d\n", size),
               MPI_Abort(MPI_COMM_WORLD, 2);
    for (int i = 0; i < count; i++) {
        double off = run_seed(rank, first + (uint64_t)i, buffer);

        sum += off;
        most = off > most ? off : most;
        within += off <= 0.05;
    }
    if (rank == 0 && is_bench)
        printf("%d plans on %d processes: step over simulated makespan +%.1f %% on average, "
               "+%.1f %% at most, %d within 5 %%\n", count, size, 100 * sum / count, 100 * most,
               within);
    else if (rank == 0)
        printf("[       OK ] %d_plans_run_to_their_end_on_%d_processes\n", count, size);
    MPI_Finalize();
    return 0;
}
