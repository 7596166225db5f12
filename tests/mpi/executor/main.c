/*
 * main.c - a small transformer trained by the plan, on real processes, against the same
 * model on whole samples in one.
 *
 *     mpirun -n 8 executor [--break keys|key-gradients|loss] FIRST COUNT
 *
 * Each seed is a random batch, topology and set of planner parameters. Every rank plans
 * for itself; ranks compare digests, run their ops, and compare the loss and every
 * gradient of their layers with the reference: 1e-9 relative, to the largest entry of
 * the weight. With --break something is left out, and the comparison has to notice.
 */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "executor.h"

#define MOST_SAMPLES 24
#define LAYERS 2 /* of a virtual stage */
#define TOLERANCE 1e-9

static const char *const topologies[] = {
    "dp=2 pp=4", "dp=4 pp=2", "pp=8", "dp=8", "dp=2 pp=2 cp=2", "cp=8", "dp=2 cp=4", "pp=2 cp=4",
    "pp=4 cp=2", "dp=4 cp=2", "dp=3 pp=2", "dp=2 cp=3", "dp=2 pp=3", "cp=5", "dp=7", "pp=2", "pp=4",
    "dp=2 pp=2", "dp=1",
};

typedef struct setup {
    const char *topology;
    int64_t samples, length[MOST_SAMPLES];
    long lengths[MOST_SAMPLES]; /* the same */
    int64_t chunks, zero_bubble, max_packs, alignment, policy, lockstep;
} setup;

static uint64_t next(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Few samples or many, with lengths 1 and 2 and one that replicas have to share among
 * them; most lengths are odd, so that no degree divides them. */
static setup make_setup(uint64_t seed)
{
    setup s = { .topology = topologies[seed % (sizeof topologies / sizeof *topologies)] };
    uint64_t x = seed;

    s.samples = 1 + (int64_t)(next(&x) % MOST_SAMPLES);
    for (int64_t i = 0; i < s.samples; i++)
        s.length[i] = 1 + (int64_t)(next(&x) % (2u << next(&x) % 6));
    if (next(&x) % 3 > 0)
        s.length[next(&x) % (uint64_t)s.samples] = 101 + (int64_t)(next(&x) % 200);
    for (int64_t i = 0; i < s.samples; i++)
        s.lengths[i] = (long)s.length[i];
    s.chunks = strstr(s.topology, "pp") != NULL && next(&x) % 3 == 0 ? 2 : 1;
    s.zero_bubble = next(&x) % 3 == 0;
    s.max_packs = 6 + (int64_t)(next(&x) % 12);
    s.alignment = (int64_t)1 << next(&x) % 4;
    s.policy = next(&x) % 6 == 0 ? SP_POLICY_BALANCED_PACK : SP_POLICY_SLIMPACK;
    s.lockstep = next(&x) % 5 == 0;
    return s;
}

static sp_schedule *plan(const setup *s, sp_topology *topology, int layers)
{
    sp_schedule *schedule;
    sp_planner *planner;
    sp_device *device;
    sp_model *shape;
    sp_batch *batch;

    must(sp_model_create("llama2-7b", NULL, &shape));
    must(sp_model_set(shape, SP_MODEL_LAYERS, layers));
    must(sp_model_set(shape, SP_MODEL_VIRTUAL_STAGES, s->chunks));
    must(sp_device_create("ideal", NULL, &device));
    must(sp_planner_create(topology, shape, device, NULL, &planner));
    if (s->policy == SP_POLICY_SLIMPACK) /* whole samples may need more */
        must(sp_planner_set(planner, SP_PLANNER_MAX_PACKS, s->max_packs));
    must(sp_planner_set(planner, SP_PLANNER_ALIGNMENT, s->alignment));
    must(sp_planner_set(planner, SP_PLANNER_PIPELINE, s->zero_bubble));
    must(sp_planner_set(planner, SP_PLANNER_POLICY, s->policy));
    must(sp_planner_set(planner, SP_PLANNER_LOCKSTEP, s->lockstep));
    must(sp_batch_create(s->length, s->samples, NULL, &batch));
    must(sp_plan_batch(planner, batch, &schedule));
    sp_batch_destroy(batch);
    sp_planner_destroy(planner);
    sp_device_destroy(device);
    sp_model_destroy(shape);
    return schedule;
}

/* Ranks that hold different plans must not start. */
static int agree(const sp_schedule *schedule, MPI_Comm world)
{
    uint64_t digest = sp_schedule_digest(schedule), least, most;

    MPI_Allreduce(&digest, &least, 1, MPI_UINT64_T, MPI_MIN, world);
    MPI_Allreduce(&digest, &most, 1, MPI_UINT64_T, MPI_MAX, world);
    return least == most;
}

/* Largest difference of two weights over the largest entry of the second. */
static double difference(const void *a, const void *b, size_t bytes)
{
    const double *x = a, *y = b;
    double off = 0, largest = 0;

    for (size_t i = 0; i < bytes / sizeof *x; i++) {
        if (!(fabs(x[i] - y[i]) <= off))
            off = fabs(x[i] - y[i]);
        largest = fmax(largest, fabs(y[i]));
    }
    return largest > 0 ? off / largest : off;
}

#define WORST(worst, a, b, field)                                            \
    do {                                                                     \
        double d_ = difference((a).field, (b).field, sizeof (a).field);      \
        if (!(d_ <= (worst)))                                                \
            (worst) = d_;                                                    \
    } while (0)

static double layer_difference(const layer *a, const layer *b)
{
    double worst = 0;

    WORST(worst, *a, *b, norm1);
    WORST(worst, *a, *b, wq);
    WORST(worst, *a, *b, wk);
    WORST(worst, *a, *b, wv);
    WORST(worst, *a, *b, wo);
    WORST(worst, *a, *b, norm2);
    WORST(worst, *a, *b, gate);
    WORST(worst, *a, *b, up);
    WORST(worst, *a, *b, down);
    return worst;
}

/* Of the loss and of all weights of this rank's stage. */
static double compare(const executor *e, const model *gradient, double loss)
{
    double worst = fabs(e->loss - loss) / loss;

    for (int v = e->x.at.pp; v < e->virtual_stages; v += e->x.degrees.pp)
        for (int l = v * e->layers; l < (v + 1) * e->layers; l++) {
            double d = layer_difference(&e->gradient->layer[l], &gradient->layer[l]);

            worst = d <= worst ? worst : d;
        }
    if (e->x.at.pp == 0)
        WORST(worst, e->gradient->ends, gradient->ends, embedding);
    if (e->x.at.pp == e->x.degrees.pp - 1) {
        WORST(worst, e->gradient->ends, gradient->ends, norm);
        WORST(worst, e->gradient->ends, gradient->ends, head);
    }
    return worst;
}

/* The layers of this rank's virtual stages need room in every sample that it meets. */
static void open_layers(executor *e, int samples)
{
    for (int v = e->x.at.pp; v < e->virtual_stages; v += e->x.degrees.pp)
        for (int l = v * e->layers; l < (v + 1) * e->layers; l++)
            for (int i = 0; i < samples; i++)
                sequence_open_layer(&e->sequences[i], l);
}

/* Runs a step on the ranks of world; returns the largest error of any. */
static double run(const setup *s, sp_topology *topology, MPI_Comm world, int broken, int *merges)
{
    sp_coordinates degrees = SP_COORDINATES_INIT;
    sp_stats stats = SP_STATS_INIT;
    executor e = { .layers = LAYERS, .broken = broken };
    sp_schedule *schedule;
    model *weights, *gradient;
    double worst, loss;

    must(sp_topology_degrees(topology, &degrees));
    e.virtual_stages = degrees.pp * (int)s->chunks;
    schedule = plan(s, topology, e.virtual_stages * LAYERS);
    if (!agree(schedule, world))
        return INFINITY;
    must(sp_schedule_stats(schedule, &stats));
    *merges += stats.merges > 0;
    e.scale = 1.0 / (double)stats.tokens;
    e.weights = weights = model_create(e.virtual_stages * LAYERS, 5);
    e.gradient = model_create(weights->layers, 0);
    e.sequences = sequences_create(s->lengths, (int)s->samples, weights->layers);
    exchange_open(&e.x, schedule, topology, world);
    open_layers(&e, (int)s->samples);
    executor_run(&e);

    gradient = model_create(weights->layers, 0);
    loss = reference_step(weights, gradient, s->lengths, (int)s->samples);
    worst = compare(&e, gradient, loss);
    MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_DOUBLE, MPI_MAX, world);
    exchange_close(&e.x);
    sequences_destroy(e.sequences, (int)s->samples);
    free(weights);
    free(gradient);
    free(e.gradient);
    sp_schedule_destroy(schedule);
    return worst;
}

/* A topology may take fewer ranks than there are; the others wait. */
static double run_seed(uint64_t seed, int broken, int *merges)
{
    setup s = make_setup(seed);
    sp_topology *topology;
    double worst = 0;
    MPI_Comm world;
    int rank;

    must(sp_topology_parse(s.topology, &topology));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank < sp_topology_size(topology) ? 0 : MPI_UNDEFINED, rank,
                   &world);
    if (world != MPI_COMM_NULL) {
        worst = run(&s, topology, world, broken, merges);
        MPI_Comm_free(&world);
    }
    MPI_Bcast(&worst, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (rank == 0 && !(worst <= TOLERANCE))
        printf("seed %" PRIu64 ", %s, %" PRId64 " samples: error %g\n", seed, s.topology,
               s.samples, worst);
    sp_topology_destroy(topology);
    return worst;
}

static int broken_by(const char *name)
{
    return strcmp(name, "keys") == 0            ? BREAK_KEYS
           : strcmp(name, "key-gradients") == 0 ? BREAK_KEY_GRADIENTS
                                                : BREAK_LOSS;
}

int main(int argc, char **argv)
{
    int breaks = argc == 5 && strcmp(argv[1], "--break") == 0, bad = 0, merges = 0, rank;
    double worst = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc != 3 && !breaks)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int i = 0; i < atoi(argv[argc - 1]); i++) {
        double d = run_seed(strtoull(argv[argc - 2], NULL, 10) + (uint64_t)i,
                            breaks ? broken_by(argv[2]) : BREAK_NOTHING, &merges);

        bad += !(d <= TOLERANCE);
        worst = d <= worst ? worst : d;
    }
    if (rank == 0)
        printf("%d steps, %d with shared samples: largest relative error %.2g, %d above %g\n",
               atoi(argv[argc - 1]), merges, worst, bad, TOLERANCE);
    if (rank == 0 && !breaks) {
        model *weights = model_create(2, 5);
        double error = reference_error(weights);

        printf("the reference against differences: %.2g\n", error);
        bad += !(error < 1e-6);
        free(weights);
    }
    MPI_Bcast(&bad, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return bad > 0;
}
