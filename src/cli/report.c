/*
 * report.c - `slimpack report PLAN.json`: a plan as a page, as a trace, or both.
 *
 * The plan is simulated as `slimpack simulate` does, so --model, --device and --set
 * show what if. A plan whose model or device no preset knows is shown with the times
 * of its file, without memory over time, unless a preset stands in. Both files are
 * opened before either is written, and appear when both are complete.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comparison.h"
#include "json.h"
#include "message.h"
#include "output.h"
#include "page.h"
#include "session.h"
#include "trace.h"
#include "verbs.h"

/* What the files are made from. */
typedef struct report {
    const cli_options *options;
    const cli_plan_file *plan;
    cli_costs costs;             /* of the simulation, if there is one */
    sp_simulation *simulation;   /* NULL: none */
    cli_comparison_row *rows;
    int count;
    char no_rows[640];
    cli_output html, trace;
} report;

static int is_named(const char *name, const char *(*name_at)(int32_t))
{
    for (int32_t i = 0; name_at(i) != NULL; i++)
        if (strcmp(name_at(i), name) == 0)
            return 1;
    return 0;
}

/* Whoever asks for other costs wants a simulation, and hears why there is none. */
static int is_simulated(const cli_options *o, const cli_plan_note *note)
{
    if (o->model != NULL || o->device != NULL || o->setting_count > 0)
        return 1;
    return is_named(note->model, sp_model_preset_name) &&
           is_named(note->device, sp_device_preset_name);
}

static int simulate(report *r)
{
    sp_status status;
    int code = cli_costs_open(r->options, r->plan->note.model, r->plan->note.device,
                              r->plan->note.memory_bytes, &r->costs);

    if (code != CLI_OK)
        return code;
    status = sp_simulate(r->plan->schedule, r->costs.model, r->costs.device, &r->simulation);
    return status == SP_OK ? CLI_OK : cli_fail_library(CLI_DATA, status, r->plan->input_name);
}

static sp_status configure(const report *r, sp_planner *planner)
{
    const cli_plan_note *n = &r->plan->note;
    sp_status status = sp_planner_set(planner, SP_PLANNER_ALIGNMENT, n->alignment);

    if (status == SP_OK)
        status = sp_planner_set(planner, SP_PLANNER_PAD_MULTIPLE, n->pad_multiple);
    if (status == SP_OK)
        status = sp_planner_set(planner, SP_PLANNER_LOCKSTEP, n->lockstep);
    if (status == SP_OK)
        status = sp_planner_set(planner, SP_PLANNER_PIPELINE, n->pipeline);
    return status;
}

/* The batch under every policy; where no planner can be made, the reason. */
static int compare(report *r)
{
    cli_session session = { r->costs, r->plan->topology, NULL, r->plan->batch,
                            r->plan->input_name };
    sp_status status = sp_model_set(r->costs.model, SP_MODEL_VIRTUAL_STAGES,
                                    r->plan->note.virtual_stages);
    int code = CLI_OK;

    if (status == SP_OK)
        status = sp_planner_create(session.topology, session.costs.model, session.costs.device,
                                   NULL, &session.planner);
    if (status == SP_OK)
        status = configure(r, session.planner);
    if (status == SP_OK)
        code = cli_comparison_run(&session, &r->rows, &r->count);
    else
        snprintf(r->no_rows, sizeof r->no_rows, "%s", sp_error_message());
    sp_planner_destroy(session.planner);
    return code;
}

static int prepare(report *r)
{
    const cli_plan_note *n = &r->plan->note;
    int code;

    if (!is_simulated(r->options, n)) {
        snprintf(r->no_rows, sizeof r->no_rows,
                 "no preset is named as the plan's model '%s' and device '%s'; give --model and "
                 "--device to simulate it under others",
                 cli_show_text(n->model).text, cli_show_text(n->device).text);
        return CLI_OK;
    }
    code = simulate(r);
    return code == CLI_OK && r->options->html != NULL ? compare(r) : code;
}

static cli_step make_step(const report *r)
{
    cli_step step = cli_step_of(r->plan->topology, r->plan->schedule, r->simulation);

    step.policy = r->plan->note.policy;
    step.model = r->simulation != NULL ? r->costs.model_name : r->plan->note.model;
    step.device = r->simulation != NULL ? r->costs.device_name : r->plan->note.device;
    return step;
}

static int write_page(report *r, const cli_step *step)
{
    sp_stats stats = SP_STATS_INIT;
    int64_t overlap = 1;
    cli_page page = { step, &r->plan->note, NULL, 0, r->rows, r->count,
                      r->no_rows[0] != '\0' ? r->no_rows : NULL };

    if (r->simulation != NULL) {
        sp_simulation_stats(r->simulation, &stats);
        sp_device_get(r->costs.device, SP_DEVICE_P2P_OVERLAP, &overlap);
        page.stats = &stats;
    }
    page.sends_block = overlap == 0;
    return cli_page_write(r->html.file, &page);
}

static int write_files(report *r)
{
    cli_step step = make_step(r);
    int code = CLI_OK;

    if (r->options->html != NULL)
        code = write_page(r, &step);
    if (code == CLI_OK && r->options->trace != NULL)
        code = cli_trace_write(r->trace.file, &step);
    if (code == CLI_OK && r->options->trace != NULL)
        code = cli_output_commit(&r->trace);
    if (code == CLI_OK && r->options->html != NULL)
        code = cli_output_commit(&r->html);
    return code;
}

static int report_plan(const cli_options *options, const cli_plan_file *plan)
{
    report r;
    int code;

    memset(&r, 0, sizeof r);
    r.options = options;
    r.plan = plan;
    code = prepare(&r);
    if (code == CLI_OK && options->html != NULL)
        code = cli_output_open(options->html, &r.html);
    if (code == CLI_OK && options->trace != NULL)
        code = cli_output_open(options->trace, &r.trace);
    if (code == CLI_OK)
        code = write_files(&r);
    cli_output_discard(&r.html);
    cli_output_discard(&r.trace);
    free(r.rows);
    sp_simulation_destroy(r.simulation);
    cli_costs_close(&r.costs);
    return code;
}

static int check_usage(const cli_options *o)
{
    if (o->argument == NULL)
        return cli_fail(CLI_USAGE, "report: PLAN.json is missing (- is standard input)");
    if (o->html == NULL && o->trace == NULL)
        return cli_fail(CLI_USAGE, "report: --html or --trace is missing");
    if (cli_output_same(o->html, o->trace))
        return cli_fail(CLI_USAGE, "report: --html and --trace are both '%s'",
                        cli_show_text(o->trace).text);
    return CLI_OK;
}

int cli_report(const cli_options *options)
{
    cli_plan_file plan;
    int code = check_usage(options);

    if (code == CLI_OK)
        code = cli_json_available();
    if (code == CLI_OK)
        code = cli_json_read_plan(options->argument, &plan);
    if (code != CLI_OK)
        return code;
    code = report_plan(options, &plan);
    cli_plan_file_close(&plan);
    return code;
}
