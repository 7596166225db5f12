/*
 * options.h - the command line behind a verb, read into one struct.
 *
 * One table in options.c holds every option with the verbs that take it, its
 * bounds and its help: it serves the parser and the help texts.
 */
#ifndef SLIMPACK_CLI_OPTIONS_H
#define SLIMPACK_CLI_OPTIONS_H

#include <stdint.h>

#include "setting.h"

/* Verbs as bits, for the option table. */
enum cli_verb {
    CLI_PLAN = 1,
    CLI_COMPARE = 2,
    CLI_CHECK = 4,
    CLI_SIMULATE = 8,
    CLI_GENERATE = 16,
    CLI_PARAMS = 32,
    CLI_FIT = 64,
    CLI_REPORT = 128,
    CLI_LENGTHS = 256
};

#define CLI_NO_STEPS (-1)

typedef struct cli_options {
    const char *verb_name;
    int verb;               /* one bit of cli_verb */
    const char *argument;   /* the word that is no option, NULL when there is none */
    int64_t batch, skip;    /* batch 0: all */
    int64_t steps;          /* 0: to the end of the file; CLI_NO_STEPS: not given */
    int64_t bytes_per_token; /* 0: not given */
    const char *field;      /* of JSON lines, NULL: not given */
    int64_t dp, tp, pp, cp;
    const char *model, *device, *policy; /* NULL: not given */
    const char *json;       /* NULL: no JSON */
    const char *html, *trace; /* NULL: none */
    const char *distribution;
    int64_t count, seed;    /* count 0: not given */
    int64_t layers;         /* that were run for a measured time */
    int64_t memory_bytes;   /* 0: not given */
    int64_t quiet;
    cli_setting *settings;  /* [setting_count] */
    int setting_count;
    int64_t help;
} cli_options;

/* Reads the arguments behind the verb. Text is borrowed from `argv`. On an error
 * `out` is untouched. Free with cli_options_free(). */
int cli_options_parse(int verb, const char *verb_name, int argc, char **argv, cli_options *out);

void cli_options_free(cli_options *options);

/* Prints the options of a verb with their help. */
void cli_options_help(int verb);

#endif
