/*
 * comparison.c - one batch planned by every policy: see comparison.h.
 *
 * All policies use one planner, one after another: nothing but the policy differs.
 */
#include "comparison.h"

#include <stdio.h>
#include <stdlib.h>

#include "message.h"
#include "progress.h"

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

int cli_comparison_run(cli_session *session, cli_comparison_row **rows, int *count)
{
    int policies = policy_count();
    cli_comparison_row *list = calloc((size_t)policies + 1, sizeof *list);

    if (list == NULL)
        return cli_fail_memory();
    cli_progress_begin("comparing", policies);
    for (int32_t i = 0; i < policies; i++) {
        cli_progress_at(i);
        run_policy(session, i, &list[i]);
    }
    cli_progress_end();
    *rows = list;
    *count = policies;
    return CLI_OK;
}
