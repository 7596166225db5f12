/*
 * lengths_text.c - lengths as text, one a line: see lengths_format.h.
 *
 * `#` starts a comment, blank lines are skipped, blanks around a length and CRLF
 * line ends are tolerated. A line keeps its first bytes only, so that a line of any
 * size costs no memory; reading a line stops where it can no longer be a length.
 */
#include "lengths_format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "number.h"

#define LINE_KEPT 48

/* The line being read, without comment and blanks around. */
typedef struct line {
    char text[LINE_KEPT];
    size_t length; /* 0: blank */
    int overlong;
    int nul;
    int64_t number;
} line;

static int is_blank(int c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* `position` counts from the line's first byte that is not blank. */
static void keep_byte(line *l, size_t position, int c)
{
    if (position < LINE_KEPT) {
        l->text[position] = (char)c;
        l->length = position + 1;
    } else {
        l->overlong = 1;
    }
}

/* Reads one line; 0 at the end of the file. */
static int next_line(cli_source *source, line *l)
{
    int c = cli_source_byte(source);
    int comment = 0;
    size_t position = 0;

    l->length = 0;
    l->overlong = l->nul = 0;
    if (c == EOF)
        return 0;
    l->number++;
    for (; c != EOF && c != '\n' && !l->nul && !l->overlong; c = cli_source_byte(source)) {
        l->nul = c == '\0';
        comment |= c == '#';
        if (comment || (is_blank(c) && position == 0))
            continue;
        if (is_blank(c) && position < LINE_KEPT)
            l->text[position] = (char)c;
        else if (!is_blank(c))
            keep_byte(l, position, c);
        position++;
    }
    return 1;
}

static int fail_line(const char *name, const line *l, const char *what)
{
    return cli_fail(CLI_DATA, "%s:%" PRId64 ": '%s%s' %s", name, l->number,
                    cli_show(l->text, l->length).text, l->overlong ? "..." : "", what);
}

/* The length on a line that is not blank. */
static int parse_line(const char *name, const line *l, int64_t *value)
{
    int64_t number = 0;
    int kind;

    if (l->nul)
        return cli_fail(CLI_DATA, "%s:%" PRId64 ": the line holds a NUL byte", name, l->number);
    kind = l->overlong ? CLI_NOT_A_NUMBER : cli_read_whole(l->text, l->length, &number);
    if (kind == CLI_NUMBER_SMALL)
        number = INT64_MIN;
    if (kind == CLI_NUMBER_LARGE)
        number = INT64_MAX;
    if (kind == CLI_NUMBER_FRACTION)
        return fail_line(name, l, "is not a whole number of tokens");
    if (kind == CLI_NOT_A_NUMBER)
        return fail_line(name, l, "is not a length, a whole number from 1 to 2147483647");
    if (cli_length_wrong(number) != NULL)
        return fail_line(name, l, cli_length_wrong(number));
    *value = number;
    return CLI_OK;
}

static int open_text(cli_lengths_reader *r)
{
    r->state = calloc(1, sizeof(line));
    return r->state != NULL ? CLI_OK : cli_fail_memory();
}

static int next_text(cli_lengths_reader *r, int64_t *value)
{
    line *l = r->state;

    while (next_line(&r->source, l))
        if (l->length > 0 || l->nul)
            return parse_line(r->source.input.name, l, value);
    return CLI_OK;
}

static void close_text(cli_lengths_reader *r)
{
    free(r->state);
}

const cli_format cli_format_text = { "text", "the file is empty or holds comments only",
                                     open_text, next_text, close_text };
