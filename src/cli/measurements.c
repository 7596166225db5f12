/*
 * measurements.c - reads measured slices: see measurements.h.
 *
 * A line keeps its first bytes only, and what comes after them is an error, so that
 * a line of any size costs no memory. Numbers are held against their bounds here,
 * where the line is known.
 */
#include "measurements.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "number.h"
#include "progress.h"
#include "source.h"

#define LINE_KEPT 256
#define FIELDS 4
#define MOST_MEASUREMENTS (1 << 26) /* their bytes fit any size_t */
#define BLANKS " \t\r\v\f"
#define SHORTEST 1e-18 /* seconds, as sp_model_fit() takes them */
#define LONGEST 1e15

static const char *const names[FIELDS] = { "start", "length", "forward_s", "backward_s" };

typedef struct reader {
    cli_source source;
    int64_t line_number;
    int64_t capacity;
    char text[LINE_KEPT]; /* the line without its comment */
    char *field[FIELDS];  /* within text, without blanks around */
    int overlong, nul;
    cli_measurements out;
} reader;

static int next_line(reader *r)
{
    size_t length = 0;
    int comment = 0;
    int c = cli_source_byte(&r->source);

    if (c == EOF)
        return 0;
    r->line_number++;
    r->overlong = r->nul = 0;
    for (; c != EOF && c != '\n'; c = cli_source_byte(&r->source)) {
        r->nul |= c == '\0';
        comment |= c == '#';
        if (comment)
            continue;
        if (length + 1 < LINE_KEPT)
            r->text[length++] = (char)c;
        else
            r->overlong = 1;
    }
    r->text[length] = '\0';
    return 1;
}

static char *trim(char *text)
{
    size_t length;

    text += strspn(text, BLANKS);
    for (length = strlen(text); length > 0 && strchr(BLANKS, text[length - 1]) != NULL; length--)
        continue;
    text[length] = '\0';
    return text;
}

/* Cuts the line at its commas and gives the number of fields. */
static int split(reader *r)
{
    char *rest = r->text;
    int fields = 0;

    while (rest != NULL) {
        char *field = rest;

        rest = strchr(rest, ',');
        if (rest != NULL)
            *rest++ = '\0';
        if (fields < FIELDS)
            r->field[fields] = trim(field);
        fields++;
    }
    return fields;
}

static int is_header(const reader *r)
{
    for (int i = 0; i < FIELDS; i++)
        if (strcmp(r->field[i], names[i]) != 0)
            return 0;
    return 1;
}

static int fail_line(const reader *r, const char *what)
{
    return cli_fail(CLI_DATA, "%s:%" PRId64 ": %s", r->source.input.name, r->line_number, what);
}

static int fail_field(const reader *r, int field, const char *what)
{
    return cli_fail(CLI_DATA, "%s:%" PRId64 ": %s: '%s' %s", r->source.input.name, r->line_number,
                    names[field], cli_show_text(r->field[field]).text, what);
}

static int read_whole(const reader *r, int field, int64_t minimum, int64_t *value)
{
    const char *text = r->field[field];
    int kind = cli_read_whole(text, strlen(text), value);

    if (kind == CLI_NOT_A_NUMBER || kind == CLI_NUMBER_FRACTION)
        return fail_field(r, field, "is not a whole number");
    if (kind == CLI_NUMBER_SMALL || (kind == CLI_NUMBER && *value < minimum))
        return fail_field(r, field, minimum == 0 ? "is below 0" : "is below 1");
    if (kind == CLI_NUMBER_LARGE || *value > INT32_MAX)
        return fail_field(r, field, "is above 2147483647");
    return CLI_OK;
}

/* Hexadecimal is nothing that a person writes for a time. */
static int read_seconds(const reader *r, int field, double *value)
{
    const char *text = r->field[field];
    char *end;

    *value = strtod(text, &end);
    if (end == text || *end != '\0' || strpbrk(text, "xX") != NULL)
        return fail_field(r, field, "is not a number of seconds");
    if (!(*value >= SHORTEST) || !(*value <= LONGEST)) /* what is no number is neither */
        return fail_field(r, field, "is outside 1e-18 to 1e15 seconds");
    return CLI_OK;
}

static int grow_whole(int64_t **array, int64_t capacity)
{
    int64_t *larger = realloc(*array, (size_t)capacity * sizeof *larger);

    if (larger == NULL)
        return cli_fail_memory();
    *array = larger;
    return CLI_OK;
}

static int grow_real(double **array, int64_t capacity)
{
    double *larger = realloc(*array, (size_t)capacity * sizeof *larger);

    if (larger == NULL)
        return cli_fail_memory();
    *array = larger;
    return CLI_OK;
}

/* Room for one more in every array. */
static int make_room(reader *r)
{
    cli_measurements *m = &r->out;
    int64_t larger = r->capacity == 0 ? 256 : r->capacity * 2;
    int64_t **whole[] = { &m->start, &m->length, &m->line };
    double **real[] = { &m->forward_s, &m->backward_s };
    int code = CLI_OK;

    if (m->count < r->capacity)
        return CLI_OK;
    if (m->count >= MOST_MEASUREMENTS)
        return fail_line(r, "more measurements than a fit takes");
    for (int i = 0; i < 3 && code == CLI_OK; i++)
        code = grow_whole(whole[i], larger);
    for (int i = 0; i < 2 && code == CLI_OK; i++)
        code = grow_real(real[i], larger);
    if (code == CLI_OK)
        r->capacity = larger;
    return code;
}

static int add(reader *r)
{
    cli_measurements *m = &r->out;
    int code = make_room(r);

    if (code == CLI_OK)
        code = read_whole(r, 0, 0, &m->start[m->count]);
    if (code == CLI_OK)
        code = read_whole(r, 1, 1, &m->length[m->count]);
    if (code == CLI_OK)
        code = read_seconds(r, 2, &m->forward_s[m->count]);
    if (code == CLI_OK)
        code = read_seconds(r, 3, &m->backward_s[m->count]);
    if (code == CLI_OK)
        m->line[m->count++] = r->line_number;
    return code;
}

/* The names may stand above the measurements once. */
static int take_line(reader *r, int *header)
{
    int fields;

    if (r->nul)
        return fail_line(r, "the line holds a NUL byte");
    if (r->overlong)
        return fail_line(r, "the line is too long for a measurement");
    if (r->text[strspn(r->text, BLANKS)] == '\0')
        return CLI_OK;
    fields = split(r);
    if (fields != FIELDS)
        return cli_fail(CLI_DATA,
                        "%s:%" PRId64 ": %d fields, not the 4 of start,length,forward_s,backward_s",
                        r->source.input.name, r->line_number, fields);
    if (!*header && r->out.count == 0 && is_header(r)) {
        *header = 1;
        return CLI_OK;
    }
    return add(r);
}

static int read_lines(reader *r)
{
    const unsigned char *chunk;
    size_t count;
    int header = 0;
    int code = CLI_OK;

    if ((chunk = cli_source_chunk(&r->source, &count)) != NULL && count >= 3 &&
        memcmp(chunk, "\xef\xbb\xbf", 3) == 0)
        cli_source_advance(&r->source, 3); /* a byte order mark, as spreadsheets write it */
    cli_progress_begin("reading", r->source.size);
    while (code == CLI_OK && next_line(r)) {
        code = take_line(r, &header);
        cli_progress_at(cli_source_taken(&r->source));
    }
    cli_progress_end();
    return code == CLI_OK ? cli_source_check(&r->source) : code;
}

int cli_measurements_read(const char *path, cli_measurements *out)
{
    reader r;
    int code;

    memset(&r, 0, sizeof r);
    code = cli_source_open(path, &r.source);
    if (code != CLI_OK)
        return code;
    r.out.name = r.source.input.name;
    code = read_lines(&r);
    cli_source_close(&r.source);
    if (code == CLI_OK)
        *out = r.out;
    else
        cli_measurements_free(&r.out);
    return code;
}

void cli_measurements_free(cli_measurements *measurements)
{
    free(measurements->start);
    free(measurements->length);
    free(measurements->line);
    free(measurements->forward_s);
    free(measurements->backward_s);
    memset(measurements, 0, sizeof *measurements);
}
