/*
 * generate.c - `slimpack generate`: lengths drawn from a distribution.
 *
 * The same distribution, count and seed give the same lengths on every machine;
 * random.h says how. Lengths are at least 1 and at most MAX.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "message.h"
#include "number.h"
#include "random.h"
#include "verbs.h"

#define MOST_LENGTH INT32_MAX
#define SIGMA_PLACES 9
#define SIGMA_ONE 1000000000 /* 10^SIGMA_PLACES */
#define SIGMA_MOST 10

enum { FIELDS_MOST = 3 };

typedef struct distribution {
    int64_t low, high; /* uniform, constant: the range; lognormal: high is MAX */
    int64_t median;    /* 0 unless lognormal */
    uint64_t sigma;    /* Q32 */
} distribution;

/* The fields behind the colon, cut at the commas. */
typedef struct fields {
    char text[FIELDS_MOST][32];
    int count; /* FIELDS_MOST + 1: too many or too long */
} fields;

static void split_fields(const char *text, fields *out)
{
    out->count = 0;
    while (text != NULL) {
        size_t length = strcspn(text, ",");

        if (out->count >= FIELDS_MOST || length >= sizeof out->text[0]) {
            out->count = FIELDS_MOST + 1;
            return;
        }
        memcpy(out->text[out->count], text, length);
        out->text[out->count++][length] = '\0';
        text = text[length] == ',' ? text + length + 1 : NULL;
    }
}

static int parse_sigma(const char *text, uint64_t *sigma)
{
    int64_t value = 0;
    int kind = cli_read_decimal(text, strlen(text), SIGMA_PLACES, &value);
    uint64_t whole, part;

    if (kind == CLI_NOT_A_NUMBER || kind == CLI_NUMBER_FRACTION)
        return cli_fail(CLI_USAGE,
                        "--distribution SIGMA: '%s' is not a decimal number of up to %d places",
                        cli_show_text(text).text, SIGMA_PLACES);
    if (kind == CLI_NUMBER_LARGE || value > (int64_t)SIGMA_MOST * SIGMA_ONE)
        return cli_fail(CLI_USAGE, "--distribution SIGMA: %s is above %d",
                        cli_show_text(text).text, SIGMA_MOST);
    whole = (uint64_t)value / SIGMA_ONE;
    part = (uint64_t)value % SIGMA_ONE;
    *sigma = whole * CLI_Q32_ONE + part * CLI_Q32_ONE / SIGMA_ONE;
    return CLI_OK;
}

static int parse_lognormal(const fields *f, distribution *d)
{
    int code = cli_whole_in("--distribution MEDIAN", f->text[0], 1, MOST_LENGTH, &d->median);

    if (code == CLI_OK)
        code = parse_sigma(f->text[1], &d->sigma);
    d->low = 1;
    if (code == CLI_OK)
        code = cli_whole_in("--distribution MAX", f->text[2], 1, MOST_LENGTH, &d->high);
    return code;
}

static int parse_uniform(const fields *f, distribution *d)
{
    int code = cli_whole_in("--distribution MIN", f->text[0], 1, MOST_LENGTH, &d->low);

    if (code == CLI_OK)
        code = cli_whole_in("--distribution MAX", f->text[1], d->low, MOST_LENGTH, &d->high);
    return code;
}

static int parse_constant(const fields *f, distribution *d)
{
    int code = cli_whole_in("--distribution LENGTH", f->text[0], 1, MOST_LENGTH, &d->low);

    d->high = d->low;
    return code;
}

static const struct kind {
    const char *name;
    const char *fields;
    int count;
    int (*parse)(const fields *f, distribution *d);
} kinds[] = {
    { "lognormal", "MEDIAN,SIGMA,MAX", 3, parse_lognormal },
    { "uniform", "MIN,MAX", 2, parse_uniform },
    { "constant", "LENGTH", 1, parse_constant },
};

#define KINDS ((int)(sizeof kinds / sizeof kinds[0]))

static const char *kind_name(const void *list, int index)
{
    const struct kind *all = list;

    return index < KINDS ? all[index].name : NULL;
}

static int parse_distribution(const char *text, distribution *out)
{
    size_t length = strcspn(text, ":");
    char name[32];
    fields f;

    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : 31), text);
    split_fields(text[length] == ':' ? text + length + 1 : NULL, &f);
    for (int i = 0; i < KINDS; i++) {
        if (strcmp(kinds[i].name, name) != 0)
            continue;
        if (f.count != kinds[i].count)
            return cli_fail(CLI_USAGE, "--distribution: '%s' is not of the form %s:%s",
                            cli_show_text(text).text, kinds[i].name, kinds[i].fields);
        memset(out, 0, sizeof *out);
        return kinds[i].parse(&f, out);
    }
    return cli_fail_unknown("--distribution", "distribution", name, kind_name, kinds);
}

static int64_t draw(const distribution *d, cli_random *random)
{
    uint64_t magnitude;
    int negative = 0;

    if (d->median == 0)
        return d->low + (int64_t)cli_random_below(random, (uint64_t)(d->high - d->low) + 1);
    magnitude = cli_random_normal(random, &negative);
    return cli_scaled_exp(d->median, cli_q32_multiply(magnitude, d->sigma), negative, d->high);
}

/* Stops early when nobody takes the lengths; main reports it. */
int cli_generate(const cli_options *options)
{
    distribution d = { 0 };
    cli_random random;
    int code;

    if (options->distribution == NULL)
        return cli_fail(CLI_USAGE, "generate: --distribution is missing");
    if (options->count == 0)
        return cli_fail(CLI_USAGE, "generate: --count is missing");
    code = parse_distribution(options->distribution, &d);
    if (code != CLI_OK)
        return code;
    printf("# distribution: %s\n# count: %" PRId64 "\n# seed: %" PRId64 "\n",
           options->distribution, options->count, options->seed);
    cli_random_seed(&random, (uint64_t)options->seed);
    for (int64_t i = 0; i < options->count && !ferror(stdout); i++)
        printf("%" PRId64 "\n", draw(&d, &random));
    return CLI_OK;
}
