/*
 * bench_5_published.c - simulated steps against throughput that NVIDIA published.
 *
 * Each table of published-throughput.tsv is one container on one machine: a few of the
 * device's numbers are fitted on at most three of its rows by sp_device_calibrate(),
 * the other rows are predicted. Beside it stands the best that one number can do: the
 * same FLOP/s on every row, fitted on the same rows.
 *
 * How the page counts: its FLOPs a token are 6 for each weight but the input embedding
 * and 12 * layers * hidden * length, as if attention were not causal (gpt3-175b: 782
 * TFLOPS over 726 tokens/s are 1077 GFLOP; 6 * 174.0e9 + 29.0e9 are 1073, with half of
 * the attention it would be 1058). Rows without tokens/s are turned back by that count.
 * They state no batch size: 4 Mi tokens are taken, what the smallest possible batch of
 * the last row has.
 */
#include "bench.h"

#define ROWS 16
#define LONG_BATCH (INT64_C(4) << 20)

typedef struct row {
    char table[16], model_name[32], words[4][16];
    long gpus, mbs, seq, tp, pp, cp, vp;
    double tflops, measured;
    int64_t samples;
    sp_model *model;
    sp_schedule *schedule;
} row;

static row rows[ROWS];
static int count;

static int64_t model_value(const row *r, int32_t key)
{
    int64_t value;

    bench_check(sp_model_get(r->model, key, &value));
    return value;
}

/* FLOPs of a token as the page counts them. */
static double page_flops(const row *r)
{
    double hidden = (double)model_value(r, SP_MODEL_HIDDEN);
    double layers = (double)model_value(r, SP_MODEL_LAYERS);
    double kv = (double)(model_value(r, SP_MODEL_KV_HEADS) * model_value(r, SP_MODEL_HEAD_DIM));
    double layer = hidden * (2 * hidden + 2 * kv) +
                   hidden * (double)model_value(r, SP_MODEL_FFN_HIDDEN) *
                       (model_value(r, SP_MODEL_GATED) ? 3 : 2);

    return 6 * (layers * layer + hidden * (double)model_value(r, SP_MODEL_VOCAB)) +
           12 * layers * hidden * (double)r->seq;
}

/* All samples alike, mbs of them a pack, 1F1B as Megatron-LM runs it. */
static void plan_row(row *r)
{
    int64_t dp = r->gpus / (r->tp * r->pp * r->cp), packs = r->samples / dp / r->mbs;
    int64_t *lengths = malloc((size_t)r->samples * sizeof *lengths);
    sp_topology *topology;
    sp_planner *planner;
    sp_device *device;
    sp_batch *batch;

    for (int64_t i = 0; i < r->samples; i++)
        lengths[i] = r->seq;
    bench_check(sp_topology_create((int32_t)dp, (int32_t)r->tp, (int32_t)r->pp, (int32_t)r->cp,
                                   NULL, &topology));
    bench_check(sp_device_create("h100", NULL, &device));
    bench_check(sp_device_set(device, SP_DEVICE_MEMORY_BYTES, INT64_MAX));
    bench_check(sp_planner_create(topology, r->model, device, NULL, &planner));
    bench_check(sp_planner_set(planner, SP_PLANNER_POLICY, SP_POLICY_BALANCED_PACK));
    bench_check(sp_planner_set(planner, SP_PLANNER_MAX_PACKS, 1 << 20));
    bench_check(sp_planner_set(planner, SP_PLANNER_FORWARD_PACKS, packs));
    bench_check(sp_planner_set(planner, SP_PLANNER_BACKWARD_PACKS, packs));
    bench_check(sp_batch_create(lengths, r->samples, NULL, &batch));
    bench_check(sp_plan_batch(planner, batch, &r->schedule));
    sp_batch_destroy(batch);
    sp_planner_destroy(planner);
    sp_device_destroy(device);
    sp_topology_destroy(topology);
    free(lengths);
}

static void open_row(row *r)
{
    bench_check(sp_model_create(r->model_name, NULL, &r->model));
    bench_check(sp_model_set(r->model, SP_MODEL_VIRTUAL_STAGES, r->vp));
    r->tflops = atof(r->words[3]);
    r->samples = r->words[0][0] == '-' ? LONG_BATCH / r->seq : atol(r->words[0]);
    r->measured = (double)(r->samples * r->seq) * page_flops(r) / (r->tflops * 1e12 *
                                                                   (double)r->gpus);
    if (r->words[2][0] != '-') /* the page's own tokens/s where it has them */
        r->measured = (double)(r->samples * r->seq) / (atof(r->words[2]) * (double)r->gpus);
    plan_row(r);
}

static void read_rows(void)
{
    FILE *file = data_open("published-throughput", ".tsv");
    char line[512];

    while (file != NULL && count < ROWS && fgets(line, sizeof line, file) != NULL) {
        row *r = &rows[count];

        if (sscanf(line, "%15s %31s %ld %15s %15s %ld %ld %ld %ld %ld %15s %15s", r->table,
                   r->model_name, &r->gpus, r->words[0], r->words[1], &r->seq, &r->tp, &r->pp,
                   &r->cp, &r->vp, r->words[2], r->words[3]) != 12)
            continue; /* a comment, or the heading */
        r->mbs = atol(r->words[1]);
        open_row(r);
        count++;
    }
    if (file != NULL)
        fclose(file);
}

/* Rows of a table, and those of them that are fitted on. */
typedef struct fitting {
    const char *table;
    int fitted[3];
    int32_t keys[3];
} fitting;

static double simulated(const row *r, const sp_device *device)
{
    sp_stats stats = SP_STATS_INIT;
    sp_simulation *s;

    bench_check(sp_simulate(r->schedule, r->model, device, &s));
    bench_check(sp_simulation_stats(s, &stats));
    sp_simulation_destroy(s);
    return (double)stats.step_ps / 1e12;
}

static int is_fitted(const fitting *f, int i)
{
    return i == f->fitted[0] || i == f->fitted[1] || i == f->fitted[2];
}

static void calibrate(const fitting *f, int first, sp_device *device, double *constant)
{
    const sp_schedule *schedules[3];
    const sp_model *models[3];
    double measured[3], error[3];

    *constant = 0;
    for (int i = 0; i < 3; i++) {
        const row *r = &rows[first + f->fitted[i]];

        schedules[i] = r->schedule;
        models[i] = r->model;
        measured[i] = r->measured;
        *constant += r->tflops / 3;
    }
    bench_check(sp_device_calibrate(device, 3, schedules, models, measured, 3, f->keys, error,
                                    NULL));
}

/* Mean absolute error on the rows of a table that were not fitted, in percent: of the
 * device, or of a constant where there is no device. */
static double error_of(const fitting *f, int first, const sp_device *device, double constant)
{
    double sum = 0;
    int held = 0;

    for (int i = first; i < count && strcmp(rows[i].table, f->table) == 0; i++) {
        const row *r = &rows[i];
        double said = device != NULL ? r->tflops * r->measured / simulated(r, device) : constant;

        if (is_fitted(f, i - first))
            continue;
        sum += said > r->tflops ? said / r->tflops - 1 : 1 - said / r->tflops;
        held++;
    }
    return 100 * sum / held;
}

static int first_of(const fitting *f)
{
    int first = 0;

    while (strcmp(rows[first].table, f->table) != 0)
        first++;
    return first;
}

static void print_keys(const fitting *f, const sp_device *device)
{
    sp_param_info info = SP_PARAM_INFO_INIT;
    int64_t value;

    printf("  fitted:");
    for (int k = 0; k < 3; k++) {
        bench_check(sp_device_param_info(f->keys[k] - 1, &info));
        bench_check(sp_device_get(device, f->keys[k], &value));
        printf(" %s=%" PRId64, info.name, value);
    }
    printf("\n");
}

static void report(const fitting *f, sp_device *device)
{
    int first = first_of(f);
    double constant;

    calibrate(f, first, device, &constant);
    printf("\npublished throughput, table %s: three numbers fitted on the rows marked *\n",
           f->table);
    printf("%-2s %-14s %5s %8s %9s %9s %7s %9s\n", "", "model", "gpus", "seq", "TFLOPS", "ours",
           "error", "constant");
    for (int i = first; i < count && strcmp(rows[i].table, f->table) == 0; i++) {
        const row *r = &rows[i];
        double mine = r->tflops * r->measured / simulated(r, device);

        printf("%-2s %-14s %5ld %8ld %9.0f %9.0f %+6.1f%% %+8.1f%%\n",
               is_fitted(f, i - first) ? "*" : "", r->model_name, r->gpus, r->seq, r->tflops, mine,
               100 * (mine / r->tflops - 1), 100 * (constant / r->tflops - 1));
    }
    print_keys(f, device);
    printf("  mean absolute error on the rows not fitted: %.1f %%, constant FLOP/s %.1f %%   "
           "target 6 %%%s\n", error_of(f, first, device, 0), error_of(f, first, NULL, constant),
           error_of(f, first, device, 0) > 6 ? ": missed" : "");
}

static sp_device *start(void);

/* The same for every choice of three rows, so that no choice is a lucky one. */
static void every_choice(const fitting *f)
{
    int first = first_of(f), rows_of = 0, choices = 0;
    double ours = 0, plain = 0;

    while (first + rows_of < count && strcmp(rows[first + rows_of].table, f->table) == 0)
        rows_of++;
    for (int a = 0; a < rows_of; a++)
        for (int b = a + 1; b < rows_of; b++)
            for (int c = b + 1; c < rows_of; c++) {
                fitting other = { f->table, { a, b, c }, { f->keys[0], f->keys[1], f->keys[2] } };
                sp_device *device = start();
                double constant;

                calibrate(&other, first, device, &constant);
                ours += error_of(&other, first, device, 0);
                plain += error_of(&other, first, NULL, constant);
                choices++;
                sp_device_destroy(device);
            }
    printf("  over all %d choices of three rows: %.1f %%, constant FLOP/s %.1f %%\n", choices,
           ours / choices, plain / choices);
}

/* FP8 linear layers under a bf16 head and bf16 attention. */
static sp_device *start(void)
{
    sp_device *device;

    bench_check(sp_device_create("h100", NULL, &device));
    bench_check(sp_device_set(device, SP_DEVICE_LINEAR_FLOPS, INT64_C(1100000000000000)));
    bench_check(sp_device_set(device, SP_DEVICE_LAYER_PASSES, 30));
    bench_check(sp_device_set(device, SP_DEVICE_HEAD_FLOPS, INT64_C(650000000000000)));
    return device;
}

int main(void)
{
    static const fitting fittings[] = {
        { "longseq", { 0, 2, 4 },
          { SP_DEVICE_LINEAR_FLOPS, SP_DEVICE_ATTENTION_BACKWARD_FLOPS,
            SP_DEVICE_INTRA_BANDWIDTH } },
        { "summary", { 1, 2, 4 },
          { SP_DEVICE_LINEAR_FLOPS, SP_DEVICE_LAYER_PASSES, SP_DEVICE_HEAD_FLOPS } },
    };

    if (!bench_has_data())
        return 0;
    read_rows();
    for (int i = 0; i < 2; i++) {
        sp_device *device = start();

        report(&fittings[i], device);
        sp_device_destroy(device);
        every_choice(&fittings[i]);
    }
    for (int i = 0; i < count; i++) {
        sp_schedule_destroy(rows[i].schedule);
        sp_model_destroy(rows[i].model);
    }
    return 0;
}
