/*
 * explain.c - where the time and the memory of a simulated step go: see explain.h.
 *
 * What would shorten the step is not guessed from the critical path, which moves
 * when it is shortened: the plan is simulated again with each parameter of the
 * device 10 % better, and the gain is what the step then loses.
 */
#include "explain.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "message.h"
#include "summary.h"
#include "unit.h"

static const char *share(int64_t part, int64_t whole, cli_unit *text)
{
    *text = cli_percent(cli_ppm((double)part, (double)whole));
    return text->text;
}

/* Sums of all devices over the makespan, then what follows it on the slowest stage. */
static void print_devices(const cli_plan_file *plan, const sp_simulation *simulation,
                          const sp_stats *stats)
{
    sp_device_view all = SP_DEVICE_VIEW_INIT, last = SP_DEVICE_VIEW_INIT;
    int32_t ranks = sp_topology_size(plan->topology);
    double sum[5] = { 0, 0, 0, 0, 0 }, whole = (double)ranks * (double)stats->makespan_ps;
    cli_unit text[5];

    for (int32_t r = 0; r < ranks; r++) {
        sp_simulation_device(simulation, r, &all);
        sum[0] += (double)all.forward_ps;
        sum[1] += (double)all.backward_ps;
        sum[2] += (double)all.weight_ps;
        sum[3] += (double)all.communication_ps;
        sum[4] += (double)all.bubble_ps;
        if (all.finish_ps > last.finish_ps)
            last = all;
    }
    for (int i = 0; i < 5; i++)
        text[i] = cli_percent(cli_ppm(sum[i], whole));
    cli_summary_line("devices", "forward %s, backward %s, weights %s, communication %s, bubble %s",
                     text[0].text, text[1].text, text[2].text, text[3].text, text[4].text);
    cli_summary_line("after it", "gradient reduction %s, optimiser %s, gather %s",
                     cli_time(last.reduce_ps).text, cli_time(last.optimizer_ps).text,
                     cli_time(last.gather_ps).text);
}

static int32_t fullest_rank(const cli_plan_file *plan, const sp_simulation *simulation)
{
    int64_t most = -1;
    int32_t fullest = 0;

    for (int32_t r = 0; r < sp_topology_size(plan->topology); r++) {
        sp_stage_view stage = SP_STAGE_VIEW_INIT;

        sp_simulation_stage(simulation, r, &stage);
        if (stage.peak_bytes > most) {
            most = stage.peak_bytes;
            fullest = r;
        }
    }
    return fullest;
}

static int print_memory(const cli_plan_file *plan, const sp_simulation *simulation)
{
    static const char *const names[SP_MEMORY_KINDS] = {
        "weights", "gradients", "optimiser", "activations", "KV", "dKV", "logits", "buffers"
    };
    int32_t rank = fullest_rank(plan, simulation), ops = sp_schedule_op_count(plan->schedule);
    int64_t *bytes = calloc((size_t)ops * SP_MEMORY_KINDS, sizeof *bytes), most = -1;
    sp_device_view device = SP_DEVICE_VIEW_INIT;
    const int64_t *peak = bytes;

    if (bytes == NULL)
        return cli_fail_memory();
    sp_simulation_memory(simulation, rank, bytes);
    sp_simulation_device(simulation, rank, &device);
    for (int32_t i = 0; i < ops; i++) {
        int64_t sum = 0;

        for (int kind = 0; kind < SP_MEMORY_KINDS; kind++)
            sum += bytes[(int64_t)i * SP_MEMORY_KINDS + kind];
        if (sum > most) {
            most = sum;
            peak = bytes + (int64_t)i * SP_MEMORY_KINDS;
        }
    }
    cli_summary_line("fullest", "rank %" PRId32 " at %s", rank, cli_time(device.peak_ps).text);
    for (int kind = 0; kind < SP_MEMORY_KINDS; kind++)
        cli_summary_line("", "%-12s %s", names[kind], cli_bytes(peak[kind]).text);
    free(bytes);
    return CLI_OK;
}

static void print_path(const cli_plan_file *plan, const sp_simulation *simulation,
                       const sp_stats *stats)
{
    int64_t spent[3] = { 0, 0, 0 }, handed = 0, whole = stats->step_ps, rest = whole;
    int32_t count = sp_simulation_path_count(simulation);
    cli_unit text[5];

    for (int32_t i = 0; i < count; i++) {
        sp_path_view step = SP_PATH_VIEW_INIT;
        sp_op_view op = SP_OP_VIEW_INIT;

        sp_simulation_path(simulation, i, &step);
        sp_schedule_op(plan->schedule, step.rank, step.op, &op);
        spent[op.pass] += step.end_ps - step.start_ps;
        handed += step.transfer_ps;
        rest -= step.end_ps - step.start_ps + step.transfer_ps;
    }
    cli_summary_line("critical path", "%s ops: forward %s, backward %s, weights %s, hand-overs %s, "
                     "after them %s", cli_count(count).text, share(spent[0], whole, &text[0]),
                     share(spent[1], whole, &text[1]), share(spent[2], whole, &text[2]),
                     share(handed, whole, &text[3]), share(rest, whole, &text[4]));
}

/* What is better when it is larger, and what when it is smaller. */
typedef struct lever {
    int32_t key;
    int is_rate;
    const char *name;
} lever;

static const lever levers[] = {
    { SP_DEVICE_LINEAR_FLOPS, 1, "linear layers" },
    { SP_DEVICE_ATTENTION_FORWARD_FLOPS, 1, "attention forward" },
    { SP_DEVICE_ATTENTION_BACKWARD_FLOPS, 1, "attention backward" },
    { SP_DEVICE_HEAD_FLOPS, 1, "vocabulary head" },
    { SP_DEVICE_HALF_RATE_TOKENS, 0, "half-rate tokens" },
    { SP_DEVICE_LAYER_FLOOR_PS, 0, "layer floor" },
    { SP_DEVICE_PACK_OVERHEAD_PS, 0, "pack overhead" },
    { SP_DEVICE_INTRA_BANDWIDTH, 1, "links inside nodes" },
    { SP_DEVICE_INTER_BANDWIDTH, 1, "links between nodes" },
    { SP_DEVICE_MEMORY_BANDWIDTH, 1, "memory bandwidth" },
};

#define LEVERS ((int)(sizeof levers / sizeof *levers))

/* The step with one parameter 10 % better, the step as it is where that cannot be. */
static sp_status better_step(const cli_plan_file *plan, const cli_costs *costs, const lever *l,
                             int64_t *step_ps)
{
    sp_simulation *simulation = NULL;
    sp_stats stats = SP_STATS_INIT;
    int64_t value = 0;
    sp_status status = sp_device_get(costs->device, l->key, &value);

    if (status != SP_OK || value == 0 || value > INT64_MAX / 11)
        return status;
    status = sp_device_set(costs->device, l->key, l->is_rate ? value * 11 / 10 : value * 9 / 10);
    if (status == SP_OK)
        status = sp_simulate(plan->schedule, costs->model, costs->device, &simulation);
    if (status == SP_OK) {
        sp_simulation_stats(simulation, &stats);
        *step_ps = stats.step_ps;
        sp_simulation_destroy(simulation);
    }
    sp_device_set(costs->device, l->key, value);
    return status;
}

static int print_levers(const cli_plan_file *plan, const cli_costs *costs, const sp_stats *stats)
{
    const char *label = "10 % better";

    for (int i = 0; i < LEVERS; i++) {
        int64_t step = stats->step_ps, saved;
        sp_status status = better_step(plan, costs, &levers[i], &step);

        if (status == SP_ERR_MEMORY)
            return cli_fail_memory();
        if (status != SP_OK)
            return cli_fail_library(CLI_DATA, status, plan->input_name);
        saved = cli_ppm((double)(stats->step_ps - step), (double)stats->step_ps);
        if (saved < 500)
            continue; /* less than 0.05 % */
        cli_summary_line(label, "%-20s saves %s", levers[i].name, cli_percent(saved).text);
        label = "";
    }
    return CLI_OK;
}

int cli_explain(const cli_plan_file *plan, const cli_costs *costs, const sp_simulation *simulation,
                const sp_stats *stats)
{
    int code;

    putchar('\n');
    print_devices(plan, simulation, stats);
    print_path(plan, simulation, stats);
    code = print_memory(plan, simulation);
    return code == CLI_OK ? print_levers(plan, costs, stats) : code;
}
