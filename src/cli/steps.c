/*
 * steps.c - plans one batch after another with one planner: see steps.h.
 *
 * A line is printed as soon as its step is planned, and nothing of a step is kept but
 * its counts in the quantiles: memory follows the batch, not the file. A batch that
 * the end of the file cuts short is left out, as training leaves it out, and said.
 */
#include "steps.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "message.h"
#include "progress.h"
#include "quantiles.h"
#include "session.h"
#include "summary.h"
#include "unit.h"

typedef struct steps {
    const cli_options *options;
    cli_session session;
    cli_lengths_reader *reader;
    cli_lengths lengths;
    cli_quantiles *ratios, *times; /* ppm; microseconds */
    int32_t policy;
    int64_t done;
    int64_t left_out;    /* lengths behind the last whole batch */
    int64_t tokens;
    double step_s;       /* sum of simulated steps */
} steps;

static void print_head(const steps *s)
{
    const cli_options *o = s->options;

    if (o->quiet)
        return;
    cli_summary_topology(o->dp, o->tp, o->pp, o->cp);
    cli_summary_line("policy", "%s", sp_policy_name(s->policy));
    cli_summary_line("model", "%s", s->session.costs.model_name);
    cli_summary_line("device", "%s", s->session.costs.device_name);
    printf("\n%8s %9s %14s %13s %8s %10s %10s %14s\n", "step", "samples", "tokens", "packs f/b",
           "ratio", "makespan", "planned in", "tokens/s");
}

static void print_step(const steps *s, const sp_stats *stats, int64_t plan_us)
{
    char packs[48];

    if (s->options->quiet)
        return;
    cli_progress_clear();
    snprintf(packs, sizeof packs, "%" PRId64 "/%" PRId64, stats->forward_packs,
             stats->backward_packs);
    printf("%8" PRId64 " %9s %14s %13s %8s %10s %10s %14s\n", s->done,
           cli_count(stats->samples).text, cli_count(stats->tokens).text, packs,
           cli_ratio(stats->ratio_ppm).text, cli_time(stats->makespan_ps).text,
           cli_time(plan_us * 1000000).text, cli_count(stats->tokens_per_s).text);
}

/* Nothing is printed before the first plan: it may fail. */
static void count_step(steps *s, const sp_stats *stats, int64_t plan_us)
{
    if (s->done++ == 0)
        print_head(s);
    s->tokens += stats->tokens;
    s->step_s += (double)stats->step_ps * 1e-12;
    cli_quantiles_add(s->ratios, stats->ratio_ppm);
    cli_quantiles_add(s->times, plan_us);
    print_step(s, stats, plan_us);
    cli_progress_at(s->done);
}

static void print_quantiles(const char *label, const cli_quantiles *q, int is_time)
{
    static const int percents[] = { 50, 90, 99, 100 };
    cli_unit text[4];

    for (int i = 0; i < 4; i++) {
        int64_t value = cli_quantiles_get(q, percents[i]);

        text[i] = is_time ? cli_time(value * 1000000) : cli_ratio(value);
    }
    cli_summary_line(label, "p50 %s, p90 %s, p99 %s, max %s", text[0].text, text[1].text,
                     text[2].text, text[3].text);
}

static void print_summary(const steps *s)
{
    if (s->options->quiet)
        return;
    putchar('\n');
    cli_summary_line("steps", "%s of %s samples", cli_count(s->done).text,
                     cli_count(s->options->batch).text);
    cli_summary_line("tokens", "%s", cli_count(s->tokens).text);
    print_quantiles("ratio", s->ratios, 0);
    print_quantiles("planned in", s->times, 1);
    if (s->step_s > 0)
        cli_summary_line("throughput", "%s tokens/s over all steps",
                         cli_count((int64_t)((double)s->tokens / s->step_s)).text);
    if (s->left_out > 0)
        cli_summary_line("left out", "the last %s length%s, less than a batch",
                         cli_count(s->left_out).text, s->left_out == 1 ? "" : "s");
}

static int fail_plan(const steps *s, sp_status status)
{
    char place[4200];

    snprintf(place, sizeof place, "%s: step %" PRId64, s->session.input_name, s->done + 1);
    return cli_fail_library(status == SP_ERR_INVALID ? CLI_USAGE : CLI_DATA, status, place);
}

static int plan_step(steps *s)
{
    sp_stats stats = SP_STATS_INIT;
    cli_planned planned;
    int code = cli_session_set_batch(&s->session, &s->lengths);

    if (code != CLI_OK)
        return code;
    planned = cli_session_plan(&s->session, s->policy);
    if (planned.status != SP_OK)
        return fail_plan(s, planned.status);
    sp_schedule_stats(planned.schedule, &stats);
    sp_schedule_destroy(planned.schedule);
    count_step(s, &stats, planned.plan_us);
    return CLI_OK;
}

/* The file ended before a batch was whole. */
static int end_early(steps *s)
{
    const cli_options *o = s->options;

    s->left_out = s->lengths.count;
    if (s->done == 0)
        return cli_lengths_check(s->reader, o->skip, o->batch, s->lengths.count);
    if (o->steps == 0)
        return CLI_OK;
    return cli_fail(CLI_DATA, "%s: --steps %" PRId64 ": the file ends after %" PRId64
                    " batches of %" PRId64 " and %" PRId64 " lengths", s->session.input_name,
                    o->steps, s->done, o->batch, s->left_out);
}

/* Stops early when nobody takes the lines; main reports it. */
static int run_steps(steps *s)
{
    const cli_options *o = s->options;
    int code = CLI_OK;

    while (code == CLI_OK && (o->steps == 0 || s->done < o->steps) && !ferror(stdout)) {
        code = cli_lengths_take(s->reader, o->batch, &s->lengths);
        if (code == CLI_OK && s->lengths.count < o->batch)
            return end_early(s);
        if (code == CLI_OK)
            code = plan_step(s);
    }
    return code;
}

static int run(steps *s)
{
    int code;

    s->ratios = cli_quantiles_create();
    s->times = cli_quantiles_create();
    if (s->ratios == NULL || s->times == NULL)
        return cli_fail_memory();
    s->policy = (int32_t)cli_session_get(&s->session, SP_PLANNER_POLICY);
    code = cli_lengths_open(s->options->argument, s->options->field, &s->reader);
    if (code != CLI_OK)
        return code;
    cli_progress_begin("planning", s->options->steps);
    code = cli_lengths_skip(s->reader, s->options->skip);
    if (code == CLI_OK)
        code = run_steps(s);
    cli_progress_end();
    if (code == CLI_OK)
        print_summary(s);
    return code;
}

int cli_plan_steps(const cli_options *options)
{
    steps s = { .options = options };
    int code;

    if (options->batch == 0)
        return cli_fail(CLI_USAGE, "plan: --steps needs --batch N, the samples of a step");
    if (options->json != NULL || options->trace != NULL)
        return cli_fail(CLI_USAGE, "plan: --%s writes one plan and --steps makes many; "
                        "--skip and --batch choose one", options->json != NULL ? "json" : "trace");
    code = cli_session_prepare(options, &s.session);
    if (code != CLI_OK)
        return code;
    code = run(&s);
    cli_lengths_close(s.reader);
    cli_lengths_free(&s.lengths);
    cli_quantiles_destroy(s.ratios);
    cli_quantiles_destroy(s.times);
    cli_session_close(&s.session);
    return code;
}
