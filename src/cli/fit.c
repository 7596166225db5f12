/*
 * fit.c - `slimpack fit MEASUREMENTS.csv`: a layer's costs from measured slices.
 *
 * What --set takes comes first, one name=value a line and nothing else in such a
 * line, so that a script can pick them out; how well they fit follows.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "measurements.h"
#include "message.h"
#include "session.h"
#include "summary.h"
#include "unit.h"
#include "verbs.h"

/* What the library found, for each measurement and in all. */
typedef struct fitted {
    sp_fit fit;
    double *error; /* [2 * count] */
    int32_t *outlier;
} fitted;

/* In percent; what rounds to 0 has no sign. */
static double percent(double error)
{
    return error > -5e-5 && error < 5e-5 ? 0 : 100 * error;
}

static void print_values(const sp_model *model)
{
    sp_param_info info = SP_PARAM_INFO_INIT;

    for (int32_t i = 0; sp_model_param_info(i, &info) == SP_OK; i++) {
        int64_t value = 0;

        if (info.key < SP_MODEL_FORWARD_TOKEN_AS || info.key > SP_MODEL_BACKWARD_FLOOR_PS)
            continue;
        sp_model_get(model, info.key, &value);
        printf("%s=%" PRId64 "\n", info.name, value);
    }
}

static void print_summary(const cli_options *o, const cli_measurements *m, const cli_costs *costs,
                          const fitted *f)
{
    cli_summary_line("measurements", "%s of %" PRId64 " layer%s, %s used",
                     cli_count(m->count).text, o->layers, o->layers == 1 ? "" : "s",
                     cli_count(f->fit.used).text);
    cli_summary_line("model", "%s", costs->model_name);
    cli_summary_line("mean error", "%s", cli_percent(f->fit.mean_error_ppm).text);
    cli_summary_line("largest error", "%s", cli_percent(f->fit.largest_error_ppm).text);
    for (int64_t i = 0; i < m->count; i++)
        if (f->outlier[i])
            cli_summary_line("outlier", "line %" PRId64 ": forward %+.2f %%, backward %+.2f %%",
                             m->line[i], percent(f->error[2 * i]), percent(f->error[2 * i + 1]));
}

static void print_table(const cli_measurements *m, const fitted *f)
{
    printf("%8s %10s %10s %14s %10s %14s %10s\n", "line", "start", "length", "forward_s",
           "error", "backward_s", "error");
    for (int64_t i = 0; i < m->count; i++)
        printf("%8" PRId64 " %10" PRId64 " %10" PRId64 " %14.6g %+8.2f %% %14.6g %+8.2f %%%s\n",
               m->line[i], m->start[i], m->length[i], m->forward_s[i], percent(f->error[2 * i]),
               m->backward_s[i], percent(f->error[2 * i + 1]), f->outlier[i] ? "  outlier" : "");
}

static int fit(const cli_options *o, const cli_measurements *m, const cli_costs *costs, fitted *f)
{
    sp_status status = sp_model_fit(costs->model, (int32_t)o->layers, m->count, m->start,
                                    m->length, m->forward_s, m->backward_s, f->error, f->outlier,
                                    &f->fit);

    if (status != SP_OK)
        return cli_fail_library(CLI_DATA, status, m->name);
    print_values(costs->model);
    putchar('\n');
    print_summary(o, m, costs, f);
    putchar('\n');
    print_table(m, f);
    return CLI_OK;
}

static int fit_measurements(const cli_options *o, const cli_measurements *m)
{
    fitted f = { SP_FIT_INIT, NULL, NULL };
    cli_costs costs;
    int code = cli_costs_open(o, "llama2-7b", "h100", 0, &costs);

    if (code != CLI_OK)
        return code;
    f.error = calloc((size_t)m->count, 2 * sizeof *f.error);
    f.outlier = calloc((size_t)m->count, sizeof *f.outlier);
    if (f.error == NULL || f.outlier == NULL)
        code = cli_fail_memory();
    else
        code = fit(o, m, &costs, &f);
    free(f.error);
    free(f.outlier);
    cli_costs_close(&costs);
    return code;
}

int cli_fit(const cli_options *options)
{
    cli_measurements measurements;
    int code;

    if (options->argument == NULL)
        return cli_fail(CLI_USAGE, "fit: MEASUREMENTS.csv is missing (- is standard input)");
    code = cli_measurements_read(options->argument, &measurements);
    if (code != CLI_OK)
        return code;
    if (measurements.count == 0)
        code = cli_fail(CLI_DATA, "%s: no measurements: the file is empty or holds comments only",
                        measurements.name);
    else
        code = fit_measurements(options, &measurements);
    cli_measurements_free(&measurements);
    return code;
}
