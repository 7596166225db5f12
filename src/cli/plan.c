/*
 * plan.c - `slimpack plan FILE`: plans one batch and says how good the plan is.
 *
 * The same batch is planned by fixed-pack too, the packing that most frameworks
 * do today, so that the summary says what the plan gains.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "message.h"
#include "output.h"
#include "session.h"
#include "steps.h"
#include "summary.h"
#include "trace.h"
#include "unit.h"
#include "verbs.h"

static void print_batch(const cli_options *o, const cli_session *session, int32_t policy)
{
    cli_summary_line("batch", "%s samples, %s tokens, longest %s",
                     cli_count(sp_batch_count(session->batch)).text,
                     cli_count(sp_batch_tokens(session->batch)).text,
                     cli_count(sp_batch_longest(session->batch)).text);
    cli_summary_topology(o->dp, o->tp, o->pp, o->cp);
    cli_summary_line("policy", "%s", sp_policy_name(policy));
    cli_summary_line("model", "%s", session->costs.model_name);
    cli_summary_line("device", "%s", session->costs.device_name);
}

static void print_quality(const sp_stats *stats, int64_t plan_us)
{
    cli_summary_packs(stats);
    cli_summary_line("makespan", "%s", cli_time(stats->makespan_ps).text);
    cli_summary_line("ideal", "%s", cli_time(stats->ideal_ps).text);
    cli_summary_line("lower bound", "%s", cli_time(stats->bound_ps).text);
    cli_summary_line("ratio", "%s of ideal", cli_ratio(stats->ratio_ppm).text);
    cli_summary_line("bubble", "%s", cli_percent(stats->bubble_ppm).text);
    cli_summary_imbalance(stats);
    cli_summary_memory(stats);
    cli_summary_line("planned in", "%s", cli_time(plan_us * 1000000).text);
}

static void print_baseline_stats(const sp_schedule *schedule, int64_t makespan_ps)
{
    sp_stats stats = SP_STATS_INIT;

    sp_schedule_stats(schedule, &stats);
    cli_summary_line("fixed-pack", "makespan %s, ratio %s, bubble %s, packs %s, memory %s, "
                     "live tokens %s",
                     cli_time(stats.makespan_ps).text, cli_ratio(stats.ratio_ppm).text,
                     cli_percent(stats.bubble_ppm).text, cli_count(stats.forward_packs).text,
                     cli_bytes(stats.peak_bytes).text, cli_count(stats.peak_live_tokens).text);
    cli_summary_line("speed-up", "%s over fixed-pack",
                     cli_speed_up(stats.makespan_ps, makespan_ps).text);
}

/* A baseline that has no plan is part of the answer, not a failure. */
static void print_baseline(cli_session *session, int64_t makespan_ps)
{
    cli_planned baseline = cli_session_plan(session, SP_POLICY_FIXED_PACK);

    putchar('\n');
    if (baseline.status == SP_OK)
        print_baseline_stats(baseline.schedule, makespan_ps);
    else
        cli_summary_line("fixed-pack", "no plan: %s", sp_error_message());
    sp_schedule_destroy(baseline.schedule);
}

static int write_json(const cli_options *o, const cli_session *session, int32_t policy,
                      const cli_planned *planned, const sp_stats *stats)
{
    cli_plan_note note = { .dp = o->dp, .tp = o->tp, .pp = o->pp, .cp = o->cp };

    note.policy = sp_policy_name(policy);
    note.model = session->costs.model_name;
    note.device = session->costs.device_name;
    note.alignment = cli_session_get(session, SP_PLANNER_ALIGNMENT);
    note.pad_multiple = cli_session_get(session, SP_PLANNER_PAD_MULTIPLE);
    note.lockstep = cli_session_get(session, SP_PLANNER_LOCKSTEP);
    note.plan_us = planned->plan_us;
    cli_note_stats(planned->schedule, stats, &note);
    return cli_json_write_plan(o->json, planned->schedule, session->topology, &note);
}

/* Simulated under the costs it was planned with a plan has the times it was given, and
 * its memory over time is known. */
static int trace_plan(const cli_session *session, int32_t policy, const sp_schedule *schedule,
                      FILE *file)
{
    sp_simulation *simulation = NULL;
    sp_status status = sp_simulate(schedule, session->costs.model, session->costs.device,
                                   &simulation);
    cli_step step = cli_step_of(session->topology, schedule, simulation);
    int code;

    if (status != SP_OK)
        return cli_fail_library(CLI_DATA, status, session->input_name);
    step.policy = sp_policy_name(policy);
    step.model = session->costs.model_name;
    step.device = session->costs.device_name;
    code = cli_trace_write(file, &step);
    sp_simulation_destroy(simulation);
    return code;
}

/* Both files are asked for before either is written. */
static int write_files(const cli_options *o, const cli_session *session, int32_t policy,
                       const cli_planned *planned, const sp_stats *stats)
{
    cli_output trace = { NULL, NULL, NULL, NULL };
    int code = o->trace != NULL ? cli_output_open(o->trace, &trace) : CLI_OK;

    if (code != CLI_OK)
        return code;
    if (o->trace != NULL)
        code = trace_plan(session, policy, planned->schedule, trace.file);
    if (code == CLI_OK && o->json != NULL)
        code = write_json(o, session, policy, planned, stats);
    if (code == CLI_OK && o->trace != NULL)
        return cli_output_commit(&trace);
    cli_output_discard(&trace);
    return code;
}

static int is_stdout(const char *path)
{
    return path != NULL && strcmp(path, "-") == 0;
}

static int report(const cli_options *o, cli_session *session, int32_t policy,
                  const cli_planned *planned)
{
    sp_stats stats = SP_STATS_INIT;
    int code;

    sp_schedule_stats(planned->schedule, &stats);
    code = write_files(o, session, policy, planned, &stats);
    if (code != CLI_OK || o->quiet || is_stdout(o->json) || is_stdout(o->trace))
        return code;
    print_batch(o, session, policy);
    cli_summary_pipeline(planned->schedule);
    print_quality(&stats, planned->plan_us);
    cli_summary_step(&stats);
    if (policy != SP_POLICY_FIXED_PACK)
        print_baseline(session, stats.makespan_ps);
    return CLI_OK;
}

static int plan_session(const cli_options *o, cli_session *session)
{
    int32_t policy = (int32_t)cli_session_get(session, SP_PLANNER_POLICY);
    cli_planned planned = cli_session_plan(session, policy);
    int code;

    /* Contradictory parameters are the command line's, all else is the data's. */
    if (planned.status != SP_OK)
        return cli_fail_library(planned.status == SP_ERR_INVALID ? CLI_USAGE : CLI_DATA,
                                planned.status, session->input_name);
    code = report(o, session, policy, &planned);
    sp_schedule_destroy(planned.schedule);
    return code;
}

int cli_plan(const cli_options *options)
{
    cli_session session;
    int code = CLI_OK;

    if (cli_output_same(options->json, options->trace))
        return cli_fail(CLI_USAGE, "plan: --json and --trace are both '%s'",
                        cli_show_text(options->trace).text);
    if (options->steps != CLI_NO_STEPS)
        return cli_plan_steps(options);
    if (options->json != NULL)
        code = cli_json_available();
    if (code == CLI_OK)
        code = cli_session_open(options, &session);
    if (code != CLI_OK)
        return code;
    code = plan_session(options, &session);
    cli_session_close(&session);
    return code;
}
