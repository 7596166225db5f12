/*
 * check.c - `slimpack check PLAN.json`: whether a plan keeps its invariants.
 *
 * Rebuilding the plan verifies I1 to I8. Beyond them the file must say of itself
 * what is true: its digest and makespan are held against its contents.
 */
#include <inttypes.h>
#include <stdio.h>

#include "json.h"
#include "message.h"
#include "unit.h"
#include "verbs.h"

/* What claims to be a lower bound. */
static int check_bound(const cli_plan_file *plan, const char *name, int64_t bound)
{
    if (bound <= plan->note.makespan_ps)
        return CLI_OK;
    return cli_fail(CLI_DATA, "%s: stats.%s: %" PRId64 " is above makespan_ps %" PRId64,
                    plan->input_name, name, bound, plan->note.makespan_ps);
}

static int check_claims(const cli_plan_file *plan, const sp_stats *stats, uint64_t digest)
{
    const cli_plan_note *note = &plan->note;

    if (note->makespan_ps != stats->makespan_ps)
        return cli_fail(CLI_DATA,
                        "%s: stats.makespan_ps: %" PRId64 ", but the last op ends at %" PRId64,
                        plan->input_name, note->makespan_ps, stats->makespan_ps);
    if (note->digest != digest)
        return cli_fail(CLI_DATA,
                        "%s: stats.digest: %016" PRIx64 ", but the contents give %016" PRIx64,
                        plan->input_name, note->digest, digest);
    if (check_bound(plan, "ideal_ps", note->ideal_ps) != CLI_OK)
        return CLI_DATA;
    return check_bound(plan, "bound_ps", note->bound_ps);
}

static void print_verdict(const cli_plan_file *plan, const sp_stats *stats, uint64_t digest)
{
    printf("%s: valid: %s samples, %s tokens, %s slices, %s merges, packs %" PRId64 "/%" PRId64
           ", makespan %s, digest %016" PRIx64 "\n",
           plan->input_name, cli_count(stats->samples).text, cli_count(stats->tokens).text,
           cli_count(stats->slices).text, cli_count(stats->merges).text, stats->forward_packs,
           stats->backward_packs, cli_time(stats->makespan_ps).text, digest);
}

static int check_plan(const cli_options *options, const cli_plan_file *plan)
{
    sp_stats stats = SP_STATS_INIT;
    uint64_t digest = sp_schedule_digest(plan->schedule);
    int code;

    sp_schedule_stats(plan->schedule, &stats);
    code = check_claims(plan, &stats, digest);
    if (code == CLI_OK && !options->quiet)
        print_verdict(plan, &stats, digest);
    return code;
}

int cli_check(const cli_options *options)
{
    cli_plan_file plan;
    int code;

    if (options->argument == NULL)
        return cli_fail(CLI_USAGE, "check: PLAN.json is missing (- is standard input)");
    code = cli_json_available();
    if (code == CLI_OK)
        code = cli_json_read_plan(options->argument, &plan);
    if (code != CLI_OK)
        return code;
    code = check_plan(options, &plan);
    cli_plan_file_close(&plan);
    return code;
}
