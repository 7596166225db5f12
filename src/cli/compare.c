/*
 * compare.c - `slimpack compare FILE`: every policy side by side on one batch.
 *
 * A policy that has no plan says so in its row. The speed-up is over fixed-pack;
 * without a fixed-pack plan there is none.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "message.h"
#include "progress.h"
#include "session.h"
#include "summary.h"
#include "unit.h"
#include "verbs.h"

static int policy_count(void)
{
    int count = 0;

    while (sp_policy_name(count) != NULL)
        count++;
    return count;
}

static void run_policy(cli_session *session, int32_t policy, cli_comparison_row *row)
{
    cli_planned planned = cli_session_plan(session, policy);

    row->policy = sp_policy_name(policy);
    row->status = planned.status;
    row->plan_us = planned.plan_us;
    row->stats.struct_size = sizeof row->stats;
    if (planned.status == SP_OK)
        sp_schedule_stats(planned.schedule, &row->stats);
    else
        snprintf(row->reason, sizeof row->reason, "%s", sp_error_message());
    sp_schedule_destroy(planned.schedule);
}

static void print_header(void)
{
    printf("%-14s %10s %8s %9s %9s %13s %9s %12s %10s %10s\n", "policy", "makespan", "ratio",
           "speed-up", "bubble", "packs f/b", "slices", "live tokens", "memory", "planned in");
}

static void print_row(const cli_comparison_row *row, int64_t fixed_ps)
{
    const sp_stats *s = &row->stats;
    char packs[48];

    if (row->status != SP_OK) {
        printf("%-14s no plan: %s\n", row->policy, row->reason);
        return;
    }
    snprintf(packs, sizeof packs, "%" PRId64 "/%" PRId64, s->forward_packs, s->backward_packs);
    printf("%-14s %10s %8s %9s %9s %13s %9s %12s %10s %10s\n", row->policy,
           cli_time(s->makespan_ps).text, cli_ratio(s->ratio_ppm).text,
           cli_speed_up(fixed_ps, s->makespan_ps).text, cli_percent(s->bubble_ppm).text, packs,
           cli_count(s->slices).text, cli_count(s->peak_live_tokens).text,
           cli_bytes(s->peak_bytes).text, cli_time(row->plan_us * 1000000).text);
}

static void print_table(const cli_options *o, const cli_session *session,
                        const cli_comparison_row *rows, int count)
{
    int64_t fixed_ps = 0;

    cli_summary_line("batch", "%s samples, %s tokens, longest %s",
                     cli_count(sp_batch_count(session->batch)).text,
                     cli_count(sp_batch_tokens(session->batch)).text,
                     cli_count(sp_batch_longest(session->batch)).text);
    cli_summary_topology(o->dp, o->tp, o->pp, o->cp);
    cli_summary_line("model", "%s", session->costs.model_name);
    cli_summary_line("device", "%s", session->costs.device_name);
    putchar('\n');
    for (int i = 0; i < count; i++)
        if (i == SP_POLICY_FIXED_PACK && rows[i].status == SP_OK)
            fixed_ps = rows[i].stats.makespan_ps;
    print_header();
    for (int i = 0; i < count; i++)
        print_row(&rows[i], fixed_ps);
}

/* A comparison in which no policy has a plan has failed. */
static int verdict(const cli_session *session, const cli_comparison_row *rows, int count)
{
    for (int i = 0; i < count; i++)
        if (rows[i].status == SP_OK)
            return CLI_OK;
    return cli_fail(CLI_DATA, "%s: no policy has a plan", session->input_name);
}

static int report(const cli_options *o, const cli_session *session,
                  const cli_comparison_row *rows, int count)
{
    cli_plan_note note = { .dp = o->dp, .tp = o->tp, .pp = o->pp, .cp = o->cp };
    int to_stdout = o->json != NULL && strcmp(o->json, "-") == 0;
    int code = CLI_OK;

    note.model = session->costs.model_name;
    note.device = session->costs.device_name;
    if (o->json != NULL)
        code = cli_json_write_comparison(o->json, &note, rows, count);
    if (code == CLI_OK && !o->quiet && !to_stdout)
        print_table(o, session, rows, count);
    return code == CLI_OK ? verdict(session, rows, count) : code;
}

static int compare_session(const cli_options *o, cli_session *session)
{
    int count = policy_count();
    cli_comparison_row *rows = calloc((size_t)count, sizeof *rows);
    int code;

    if (rows == NULL)
        return cli_fail_memory();
    cli_progress_begin("comparing", count);
    for (int32_t i = 0; i < count; i++) {
        cli_progress_at(i);
        run_policy(session, i, &rows[i]);
    }
    cli_progress_end();
    code = report(o, session, rows, count);
    free(rows);
    return code;
}

int cli_compare(const cli_options *options)
{
    cli_session session;
    int code = CLI_OK;

    if (options->json != NULL)
        code = cli_json_available();
    if (code == CLI_OK)
        code = cli_session_open(options, &session);
    if (code != CLI_OK)
        return code;
    code = compare_session(options, &session);
    cli_session_close(&session);
    return code;
}
