/*
 * main.c - the slimpack program: takes the verb, hands over, gives the exit code.
 *
 * 0 is success, 1 what data or system refuse, 2 a command line that makes no
 * sense. Standard output is flushed and checked last, so that a full disk or a
 * closed pipe is an error and never a silent loss.
 */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 /* sigaction, SIGXFSZ */
#endif

#include <signal.h>
#include <stdio.h>
#include <string.h>

#ifdef SP_HAVE_JANSSON
#include <jansson.h>
#endif

#include "message.h"
#include "options.h"
#include "output.h"
#include "progress.h"
#include "verbs.h"

typedef struct verb_row {
    const char *name;
    int verb;
    const char *argument;
    const char *help;
    int (*run)(const cli_options *options);
} verb_row;

static const verb_row verbs[] = {
    { "plan", CLI_PLAN, "FILE", "plan one batch and print how good the plan is", cli_plan },
    { "compare", CLI_COMPARE, "FILE", "plan one batch by every policy, side by side",
      cli_compare },
    { "check", CLI_CHECK, "PLAN.json", "verify the invariants of a plan", cli_check },
    { "simulate", CLI_SIMULATE, "PLAN.json", "replay a plan under another model or device",
      cli_simulate },
    { "report", CLI_REPORT, "PLAN.json", "show a plan as a page, or as a trace for Perfetto",
      cli_report },
    { "fit", CLI_FIT, "MEASUREMENTS.csv", "find a layer's costs from measured slices", cli_fit },
    { "generate", CLI_GENERATE, "", "draw sample lengths from a distribution", cli_generate },
    { "lengths", CLI_LENGTHS, "DIR|FILE", "print lengths as text, of a file or of a tree's files",
      cli_lengths_verb },
    { "params", CLI_PARAMS, "[planner|model|device]", "list all parameters and presets",
      cli_params },
};

#define VERBS ((int)(sizeof verbs / sizeof verbs[0]))

static void print_usage(FILE *file)
{
    fprintf(file, "usage: slimpack VERB [OPTION]...\n\n");
    for (int i = 0; i < VERBS; i++)
        fprintf(file, "  %-9s %-23s %s\n", verbs[i].name, verbs[i].argument, verbs[i].help);
    fprintf(file, "\n"
                  "  help VERB                         options of a verb\n"
                  "  --version                         version and features\n");
}

static void print_general_help(void)
{
    printf("slimpack - plans the steps of variable-length LLM training\n\n");
    print_usage(stdout);
    printf("\n"
           "FILE holds sample lengths in tokens: text with one a line, where # starts a comment\n"
           "and blank lines are skipped, a NumPy array (.npy), the index of a Megatron-LM\n"
           "dataset (.idx) or JSON lines (--field NAME); its contents say which. - is standard\n"
           "input. MEASUREMENTS.csv holds a slice a line: start,length,forward_s,backward_s.\n"
           "Exit status: 0 success, 1 data or infeasible, 2 usage.\n");
}

static void print_verb_help(const verb_row *row)
{
    printf("usage: slimpack %s%s%s [OPTION]...\n\n%s\n\n", row->name,
           row->argument[0] != '\0' ? " " : "", row->argument, row->help);
    cli_options_help(row->verb);
}

static void print_version(void)
{
    printf("slimpack %d.%d.%d\n", SP_VERSION_MAJOR, SP_VERSION_MINOR, SP_VERSION_PATCH);
    printf("library: libslimpack %s\n", sp_version_string());
#ifdef SP_HAVE_JANSSON
    printf("JSON: jansson %s\n", JANSSON_VERSION);
#else
    printf("JSON: none\n");
#endif
}

static const char *word_name(const void *list, int index)
{
    const verb_row *rows = list;

    if (index < VERBS)
        return rows[index].name;
    return index == VERBS ? "help" : NULL;
}

static const verb_row *find_verb(const char *name)
{
    for (int i = 0; i < VERBS; i++)
        if (strcmp(verbs[i].name, name) == 0)
            return &verbs[i];
    cli_fail_unknown(NULL, name[0] == '-' ? "option" : "verb", name, word_name, verbs);
    return NULL;
}

static int run_help(int argc, char **argv)
{
    const verb_row *row;

    if (argc == 0) {
        print_general_help();
        return CLI_OK;
    }
    row = find_verb(argv[0]);
    if (row == NULL)
        return CLI_USAGE;
    print_verb_help(row);
    return CLI_OK;
}

static int run_verb(const char *name, int argc, char **argv)
{
    const verb_row *row = find_verb(name);
    cli_options options;
    int code;

    if (row == NULL)
        return CLI_USAGE;
    code = cli_options_parse(row->verb, row->name, argc, argv, &options);
    if (code != CLI_OK)
        return code;
    cli_progress_allow(options.quiet != 0);
    if (options.help)
        print_verb_help(row);
    else
        code = row->run(&options);
    cli_options_free(&options);
    return code;
}

static int run(int argc, char **argv)
{
    if (argc < 2) {
        print_usage(stderr);
        return CLI_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        print_version();
        return CLI_OK;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0)
        return run_help(argc - 2, argv + 2);
    return run_verb(argv[1], argc - 2, argv + 2);
}

/* A closed pipe or a file that may not grow is to come back as an error from the
 * write, not to kill the program half-way through a file. */
static void ignore_write_signals(void)
{
    struct sigaction ignore;

    memset(&ignore, 0, sizeof ignore);
    ignore.sa_handler = SIG_IGN;
    sigemptyset(&ignore.sa_mask);
    sigaction(SIGPIPE, &ignore, NULL);
#ifdef SIGXFSZ
    sigaction(SIGXFSZ, &ignore, NULL);
#endif
}

int main(int argc, char **argv)
{
    int code;

    ignore_write_signals();
    cli_output_guard();
    code = run(argc, argv);
    return code != CLI_OK ? code : cli_flush_standard_output();
}
