/*
 * options.c - reads the command line behind a verb: see options.h.
 *
 * Options and the one argument come in any order; `--name value` and
 * `--name=value` are the same, the last of equal options counts and `--` ends
 * them. "-" is an argument: standard input.
 */
#include "options.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "number.h"
#include "output.h"

#define BATCH_VERBS (CLI_PLAN | CLI_COMPARE)
#define INPUT_VERBS (BATCH_VERBS | CLI_LENGTHS)
#define JSON_VERBS (BATCH_VERBS | CLI_SIMULATE)
#define COST_VERBS (JSON_VERBS | CLI_REPORT)
#define MODEL_VERBS (COST_VERBS | CLI_FIT)
#define ALL_VERBS (MODEL_VERBS | CLI_CHECK | CLI_GENERATE | CLI_PARAMS | CLI_LENGTHS)
#define DEGREE_MOST INT32_MAX
#define GB_PLACES 9 /* a GB is 10^9 bytes */

enum option_kind { KIND_WHOLE, KIND_TEXT, KIND_FLAG, KIND_SETTING, KIND_MEMORY, KIND_STEPS };

typedef struct option_row {
    const char *name;
    const char *value; /* what stands behind it in the help, NULL for a flag */
    int verbs;
    int kind;
    size_t offset; /* of the field in cli_options */
    int64_t minimum, maximum;
    const char *help;
} option_row;

#define FIELD(name) offsetof(cli_options, name)
#define NO_FIELD 0

static const option_row rows[] = {
    { "--batch", "N", INPUT_VERBS, KIND_WHOLE, FIELD(batch), 1, INT32_MAX,
      "take N lengths after the first --skip (default: all)" },
    { "--skip", "N", INPUT_VERBS, KIND_WHOLE, FIELD(skip), 0, INT64_MAX,
      "pass over the first N lengths (default 0)" },
    { "--field", "NAME", INPUT_VERBS, KIND_TEXT, FIELD(field), 0, 0,
      "field of JSON lines that holds or has the length; a.b is b within a" },
    { "--steps", "K", CLI_PLAN, KIND_STEPS, FIELD(steps), 0, INT64_MAX,
      "plan K batches of --batch lengths, one after the other; 0 or all: to the file's end" },
    { "--bytes-per-token", "N", CLI_LENGTHS, KIND_WHOLE, FIELD(bytes_per_token), 1, 1048576,
      "of a directory's files, to count their tokens by their sizes (default 4)" },
    { "--dp", "D", BATCH_VERBS, KIND_WHOLE, FIELD(dp), 1, DEGREE_MOST,
      "data-parallel degree (default 1)" },
    { "--tp", "T", BATCH_VERBS, KIND_WHOLE, FIELD(tp), 1, DEGREE_MOST,
      "tensor-parallel degree (default 1)" },
    { "--pp", "P", BATCH_VERBS, KIND_WHOLE, FIELD(pp), 1, DEGREE_MOST,
      "pipeline-parallel degree (default 1)" },
    { "--cp", "C", BATCH_VERBS, KIND_WHOLE, FIELD(cp), 1, DEGREE_MOST,
      "context-parallel degree (default 1)" },
    { "--model", "NAME", MODEL_VERBS, KIND_TEXT, FIELD(model), 0, 0,
      "model preset (default llama2-7b; simulate and report: the plan's)" },
    { "--device", "NAME", COST_VERBS, KIND_TEXT, FIELD(device), 0, 0,
      "device preset (default h100; simulate and report: the plan's)" },
    { "--set", "NAME=VALUE", MODEL_VERBS, KIND_SETTING, NO_FIELD, 0, 0,
      "set a parameter; may be repeated (see slimpack params)" },
    { "--layers", "N", CLI_FIT, KIND_WHOLE, FIELD(layers), 1, INT32_MAX,
      "layers that were run for each measured time (default 1)" },
    { "--policy", "NAME", CLI_PLAN, KIND_TEXT, FIELD(policy), 0, 0,
      "planning policy (default slimpack)" },
    { "--memory-gb", "G", BATCH_VERBS, KIND_MEMORY, FIELD(memory_bytes), 1, INT64_MAX,
      "memory cap of a device in GB of 10^9 bytes, such as 79.5 (default: the device's)" },
    { "--json", "OUT", JSON_VERBS, KIND_TEXT, FIELD(json), 0, 0,
      "write the result as JSON; - is standard output, then nothing else is printed" },
    { "--html", "OUT", CLI_REPORT, KIND_TEXT, FIELD(html), 0, 0,
      "write one page for a browser, all in one file; - is standard output" },
    { "--trace", "OUT", CLI_PLAN | CLI_REPORT, KIND_TEXT, FIELD(trace), 0, 0,
      "write the timeline as Chrome trace events, for Perfetto; - is standard output" },
    { "--quiet", NULL, JSON_VERBS | CLI_CHECK, KIND_FLAG, FIELD(quiet), 0, 0,
      "print no summary" },
    { "--distribution", "D", CLI_GENERATE, KIND_TEXT, FIELD(distribution), 0, 0,
      "lognormal:MEDIAN,SIGMA,MAX or uniform:MIN,MAX or constant:LENGTH" },
    { "--count", "N", CLI_GENERATE, KIND_WHOLE, FIELD(count), 1, INT32_MAX,
      "how many lengths" },
    { "--seed", "S", CLI_GENERATE, KIND_WHOLE, FIELD(seed), 0, INT64_MAX,
      "seed of the random numbers (default 1)" },
    { "--help", NULL, ALL_VERBS, KIND_FLAG, FIELD(help), 0, 0,
      "print this help" },
};

#define ROWS ((int)(sizeof rows / sizeof rows[0]))

/* Names of the options that a verb takes, for suggestions. */
static const char *option_name(const void *list, int index)
{
    const int *verb = list;

    for (int i = 0; i < ROWS; i++)
        if ((rows[i].verbs & *verb) != 0 && index-- == 0)
            return rows[i].name;
    return NULL;
}

static int find_row(const char *name, size_t length, const cli_options *options,
                    const option_row **row)
{
    char copy[64];

    if (length == 2 && memcmp(name, "-h", 2) == 0)
        return find_row("--help", strlen("--help"), options, row);
    for (int i = 0; i < ROWS; i++) {
        if (strlen(rows[i].name) != length || memcmp(rows[i].name, name, length) != 0)
            continue;
        if ((rows[i].verbs & options->verb) == 0)
            return cli_fail(CLI_USAGE, "%s is not an option of %s", rows[i].name,
                            options->verb_name);
        *row = &rows[i];
        return CLI_OK;
    }
    snprintf(copy, sizeof copy, "%.*s", length < sizeof copy ? (int)length : 63, name);
    return cli_fail_unknown(options->verb_name, "option", copy, option_name, &options->verb);
}

static int read_memory(const option_row *row, const char *text, int64_t *bytes)
{
    int64_t value = 0;
    int kind = cli_read_decimal(text, strlen(text), GB_PLACES, &value);

    if (kind == CLI_NOT_A_NUMBER)
        return cli_fail(CLI_USAGE, "%s: '%s' is not a decimal number such as 79.5", row->name,
                        cli_show_text(text).text);
    if (kind == CLI_NUMBER_FRACTION)
        return cli_fail(CLI_USAGE, "%s: %s is not a whole number of bytes (at most %d decimals)",
                        row->name, cli_show_text(text).text, GB_PLACES);
    if (kind == CLI_NUMBER_LARGE)
        return cli_fail(CLI_USAGE, "%s: %s is above 9223372036.854775807", row->name,
                        cli_show_text(text).text);
    if (value < row->minimum)
        return cli_fail(CLI_USAGE, "%s: %s is below 0.000000001", row->name,
                        cli_show_text(text).text);
    *bytes = value;
    return CLI_OK;
}

/* What is no parameter of anything, but an option that takes the same words. */
static int refuse_option(const char *text)
{
    static const char *const names[] = { "dp", "tp", "pp", "cp", "model", "device" };
    size_t length = strcspn(text, "=");

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && memcmp(names[i], text, length) == 0)
            return cli_fail(CLI_USAGE, "--set: '%s' is no parameter; use --%s", names[i],
                            cli_show_text(text).text);
    return CLI_OK;
}

static int add_setting(const char *text, cli_options *options)
{
    int plans = (options->verb & BATCH_VERBS) != 0;
    int first = plans ? CLI_TABLE_PLANNER : CLI_TABLE_MODEL;
    cli_setting setting;
    int code = refuse_option(text);

    if (code == CLI_OK)
        code = cli_setting_parse(text, first, &setting);
    if (code != CLI_OK)
        return code;
    if (options->verb == CLI_COMPARE && setting.table == CLI_TABLE_PLANNER &&
        setting.key == SP_PLANNER_POLICY)
        return cli_fail(CLI_USAGE, "--set %s: compare runs every policy", text);
    if (options->verb == CLI_FIT && setting.table == CLI_TABLE_DEVICE)
        return cli_fail(CLI_USAGE, "--set %s: fit takes the model's parameters alone",
                        cli_show_text(text).text);
    options->settings[options->setting_count++] = setting;
    return CLI_OK;
}

static int store(const option_row *row, const char *text, cli_options *options)
{
    char *field = (char *)options + row->offset;

    switch (row->kind) {
    case KIND_WHOLE:
        return cli_whole_in(row->name, text, row->minimum, row->maximum, (int64_t *)(void *)field);
    case KIND_STEPS:
        text = strcmp(text, "all") == 0 ? "0" : text;
        return cli_whole_in(row->name, text, row->minimum, row->maximum, (int64_t *)(void *)field);
    case KIND_MEMORY:
        return read_memory(row, text, (int64_t *)(void *)field);
    case KIND_SETTING:
        return add_setting(text, options);
    case KIND_FLAG:
        *(int64_t *)(void *)field = 1;
        return CLI_OK;
    default:
        if (text[0] == '\0')
            return cli_fail(CLI_USAGE, "%s: the value is empty", row->name);
        *(const char **)(void *)field = text;
        return CLI_OK;
    }
}

/* Whether a word is an option, and not the value that was forgotten before it. */
static int is_option(const char *word)
{
    for (int i = 0; i < ROWS; i++)
        if (strcmp(rows[i].name, word) == 0)
            return 1;
    return 0;
}

/* Reads the option at argv[*at] and moves *at past it and its value. */
static int read_option(int argc, char **argv, int *at, cli_options *options)
{
    const char *word = argv[(*at)++];
    const char *equals = strchr(word, '=');
    const char *text = equals != NULL ? equals + 1 : NULL;
    const option_row *row = NULL;
    int code = find_row(word, equals != NULL ? (size_t)(equals - word) : strlen(word), options,
                        &row);

    if (row == NULL)
        return code;
    if (row->value == NULL && text != NULL)
        return cli_fail(CLI_USAGE, "%s takes no value", row->name);
    if (row->value != NULL && text == NULL) {
        if (*at == argc)
            return cli_fail(CLI_USAGE, "%s: its value %s is missing", row->name, row->value);
        text = argv[(*at)++];
        if (is_option(text))
            return cli_fail(CLI_USAGE, "%s: its value %s is missing before %s", row->name,
                            row->value, text);
    }
    return store(row, text != NULL ? text : "", options);
}

static int read_argument(const char *word, cli_options *options)
{
    if (options->verb == CLI_GENERATE)
        return cli_fail(CLI_USAGE, "%s: unexpected argument '%s'", options->verb_name,
                        cli_show_text(word).text);
    if (options->argument != NULL)
        return cli_fail(CLI_USAGE, "%s: unexpected argument '%s' after '%s'", options->verb_name,
                        cli_show_text(word).text, cli_show_text(options->argument).text);
    options->argument = word;
    return CLI_OK;
}

static int read_all(int argc, char **argv, cli_options *options)
{
    int code = CLI_OK;
    int only_arguments = 0;

    for (int at = 0; at < argc && code == CLI_OK;) {
        const char *word = argv[at];

        if (!only_arguments && strcmp(word, "--") == 0) {
            only_arguments = 1;
            at++;
        } else if (!only_arguments && word[0] == '-' && word[1] != '\0') {
            code = read_option(argc, argv, &at, options);
        } else {
            code = read_argument(word, options);
            at++;
        }
    }
    return code;
}

/* Standard output by another name is no file to put something else in the place of, and
 * a slip of the hand must not cost the input. */
static int check_outputs(cli_options *options)
{
    const char **const outputs[] = { &options->json, &options->html, &options->trace };
    static const char *const names[] = { "json", "html", "trace" };

    for (int i = 0; i < 3; i++) {
        if (*outputs[i] == NULL)
            continue;
        if (cli_output_is_standard(*outputs[i]))
            *outputs[i] = "-";
        else if (cli_output_same(*outputs[i], options->argument))
            return cli_fail(CLI_USAGE, "--%s: '%s' is what is read", names[i],
                            cli_show_text(*outputs[i]).text);
    }
    return CLI_OK;
}

int cli_options_parse(int verb, const char *verb_name, int argc, char **argv, cli_options *out)
{
    cli_options options = { .verb = verb, .verb_name = verb_name, .seed = 1, .layers = 1,
                            .steps = CLI_NO_STEPS };
    int code;

    options.dp = options.tp = options.pp = options.cp = 1;
    /* As many settings as words at most. */
    options.settings = calloc((size_t)argc + 1, sizeof *options.settings);
    if (options.settings == NULL)
        return cli_fail_memory();
    code = read_all(argc, argv, &options);
    if (code == CLI_OK)
        code = check_outputs(&options);
    if (code == CLI_OK)
        *out = options;
    else
        cli_options_free(&options);
    return code;
}

void cli_options_free(cli_options *options)
{
    free(options->settings);
    options->settings = NULL;
    options->setting_count = 0;
}

void cli_options_help(int verb)
{
    for (int i = 0; i < ROWS; i++) {
        char left[40];

        if ((rows[i].verbs & verb) == 0)
            continue;
        snprintf(left, sizeof left, "%s%s%s", rows[i].name, rows[i].value != NULL ? " " : "",
                 rows[i].value != NULL ? rows[i].value : "");
        printf("  %-19s  %s\n", left, rows[i].help);
    }
}
