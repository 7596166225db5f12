/*
 * simulate.c - `slimpack simulate PLAN.json`: a plan under another model or device.
 *
 * Packs and op order stay, times and memory are found anew. Where --model and
 * --device are not given the plan's own presets serve, and its memory cap; what the plan was made
 * with by --set is not in its file and has to be given again.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "explain.h"
#include "json.h"
#include "message.h"
#include "retime.h"
#include "session.h"
#include "summary.h"
#include "unit.h"
#include "verbs.h"

static void print_pair(const char *label, const char *plan, const char *simulated)
{
    cli_summary_line(label, "%-14s %s", plan, simulated);
}

static void print_pairs(const cli_plan_note *n, const cli_costs *costs, const sp_stats *s)
{
    print_pair("", "plan", "simulated");
    print_pair("model", n->model, costs->model_name);
    print_pair("device", n->device, costs->device_name);
    print_pair("makespan", cli_time(n->makespan_ps).text, cli_time(s->makespan_ps).text);
    print_pair("ideal", cli_time(n->ideal_ps).text, cli_time(s->ideal_ps).text);
    print_pair("lower bound", cli_time(n->bound_ps).text, cli_time(s->bound_ps).text);
    print_pair("ratio", cli_ratio(cli_ppm((double)n->makespan_ps, (double)n->ideal_ps)).text,
               cli_ratio(s->ratio_ppm).text);
}

static void print_summary(const cli_plan_file *plan, const cli_costs *costs, const sp_stats *s)
{
    const cli_plan_note *n = &plan->note;

    cli_summary_line("batch", "%s samples, %s tokens, longest %s", cli_count(s->samples).text,
                     cli_count(s->tokens).text, cli_count(sp_batch_longest(plan->batch)).text);
    cli_summary_topology(n->dp, n->tp, n->pp, n->cp);
    cli_summary_line("policy", "%s", n->policy);
    cli_summary_pipeline(plan->schedule);
    cli_summary_packs(s);
    putchar('\n');
    print_pairs(n, costs, s);
    putchar('\n');
    cli_summary_step(s);
    cli_summary_line("bubble", "%s", cli_percent(s->bubble_ppm).text);
    cli_summary_imbalance(s);
    cli_summary_memory(s);
}

/* The file keeps the plan's planning time: a replay plans nothing. */
static int write_json(const char *path, const cli_plan_file *plan, const cli_costs *costs,
                      const sp_simulation *simulation, const sp_stats *stats)
{
    cli_plan_note note = plan->note;
    sp_schedule *retimed = NULL;
    int code = cli_retime(plan, simulation, &retimed);

    if (code != CLI_OK)
        return code;
    note.model = costs->model_name;
    note.device = costs->device_name;
    cli_note_stats(retimed, stats, &note);
    code = cli_json_write_plan(path, retimed, plan->topology, &note);
    sp_schedule_destroy(retimed);
    return code;
}

static int report(const cli_options *o, const cli_plan_file *plan, const cli_costs *costs,
                  const sp_simulation *simulation)
{
    sp_stats stats = SP_STATS_INIT;
    int to_stdout = o->json != NULL && strcmp(o->json, "-") == 0;
    int code = CLI_OK;

    sp_simulation_stats(simulation, &stats);
    if (o->json != NULL)
        code = write_json(o->json, plan, costs, simulation, &stats);
    if (code == CLI_OK && !o->quiet && !to_stdout)
        print_summary(plan, costs, &stats);
    if (code == CLI_OK && !o->quiet && !to_stdout)
        code = cli_explain(plan, costs, simulation, &stats);
    return code;
}

static int simulate_plan(const cli_options *o, const cli_plan_file *plan)
{
    sp_simulation *simulation = NULL;
    cli_costs costs;
    sp_status status;
    int code = cli_costs_open(o, plan->note.model, plan->note.device, plan->note.memory_bytes,
                              &costs);

    if (code != CLI_OK)
        return code;
    status = sp_simulate(plan->schedule, costs.model, costs.device, &simulation);
    if (status == SP_OK)
        code = report(o, plan, &costs, simulation);
    else
        code = cli_fail_library(CLI_DATA, status, plan->input_name);
    sp_simulation_destroy(simulation);
    cli_costs_close(&costs);
    return code;
}

int cli_simulate(const cli_options *options)
{
    cli_plan_file plan;
    int code;

    if (options->argument == NULL)
        return cli_fail(CLI_USAGE, "simulate: PLAN.json is missing (- is standard input)");
    code = cli_json_available();
    if (code == CLI_OK)
        code = cli_json_read_plan(options->argument, &plan);
    if (code != CLI_OK)
        return code;
    code = simulate_plan(options, &plan);
    cli_plan_file_close(&plan);
    return code;
}
