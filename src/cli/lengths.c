/*
 * lengths.c - reads sample lengths: see lengths.h.
 *
 * The file goes by in blocks and a line keeps its first bytes only, so that a
 * line of any size costs no memory; reading a line stops where it can no longer
 * be a length. Longer samples than int32 holds are refused here, where their line
 * is known: no plan could hold them.
 */
#include "lengths.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "message.h"
#include "number.h"

#define LINE_KEPT 48
#define LONGEST INT32_MAX
#define MOST_LENGTHS INT32_MAX

/* The line being read, without comment and blanks around. */
typedef struct line {
    char text[LINE_KEPT];
    size_t length; /* 0: blank */
    int overlong;
    int nul;
} line;

typedef struct reader {
    cli_input input;
    int64_t line_number;
    int64_t seen; /* lengths so far, the skipped ones included */
    size_t at, filled;
    char block[65536];
} reader;

static int next_byte(reader *r)
{
    if (r->at == r->filled) {
        r->at = 0;
        r->filled = fread(r->block, 1, sizeof r->block, r->input.file);
        if (r->filled == 0)
            return EOF;
    }
    return (unsigned char)r->block[r->at++];
}

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
static int next_line(reader *r, line *l)
{
    int c = next_byte(r);
    int comment = 0;
    size_t position = 0;

    memset(l, 0, sizeof *l);
    if (c == EOF)
        return 0;
    r->line_number++;
    for (; c != EOF && c != '\n' && !l->nul && !l->overlong; c = next_byte(r)) {
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

static int fail_line(const reader *r, const line *l, const char *what)
{
    return cli_fail(CLI_DATA, "%s:%" PRId64 ": '%s%s' %s", r->input.name, r->line_number,
                    cli_show(l->text, l->length).text, l->overlong ? "..." : "", what);
}

/* The length on a line that is not blank. */
static int parse_line(const reader *r, const line *l, int64_t *value)
{
    int kind;

    if (l->nul)
        return cli_fail(CLI_DATA, "%s:%" PRId64 ": the line holds a NUL byte", r->input.name,
                        r->line_number);
    kind = l->overlong ? CLI_NOT_A_NUMBER : cli_read_whole(l->text, l->length, value);
    if (kind == CLI_NUMBER_SMALL || (kind == CLI_NUMBER && *value < 1))
        return fail_line(r, l, "is below 1, the shortest length");
    if (kind == CLI_NUMBER_LARGE || (kind == CLI_NUMBER && *value > LONGEST))
        return fail_line(r, l, "is above 2147483647, the longest length");
    if (kind == CLI_NUMBER_FRACTION)
        return fail_line(r, l, "is not a whole number of tokens");
    if (kind == CLI_NOT_A_NUMBER)
        return fail_line(r, l, "is not a length, a whole number from 1 to 2147483647");
    return CLI_OK;
}

static int append(const reader *r, cli_lengths *list, int64_t *capacity, int64_t value)
{
    if (list->count == MOST_LENGTHS)
        return cli_fail(CLI_DATA, "%s:%" PRId64 ": more than %d lengths; --batch takes a part",
                        r->input.name, r->line_number, MOST_LENGTHS);
    if (list->count == *capacity) {
        int64_t larger = *capacity == 0 ? 1024 : *capacity * 2;
        int64_t *values;

        /* Below 2^32 entries: the product fits size_t wherever 2^35 bytes do. */
        if ((uint64_t)larger > SIZE_MAX / sizeof *values)
            return cli_fail_memory();
        values = realloc(list->values, (size_t)larger * sizeof *values);
        if (values == NULL)
            return cli_fail_memory();
        list->values = values;
        *capacity = larger;
    }
    list->values[list->count++] = value;
    return CLI_OK;
}

static int read_lines(reader *r, int64_t skip, int64_t batch, cli_lengths *list)
{
    int64_t capacity = 0;
    line l;

    while ((batch == 0 || list->count < batch) && next_line(r, &l)) {
        int64_t value = 0;
        int code;

        if (l.length == 0 && !l.nul)
            continue;
        code = parse_line(r, &l, &value);
        if (code == CLI_OK && r->seen++ >= skip)
            code = append(r, list, &capacity, value);
        if (code != CLI_OK)
            return code;
    }
    if (ferror(r->input.file))
        return cli_fail(CLI_DATA, "%s: %s", r->input.name, strerror(errno));
    return CLI_OK;
}

/* Whether the file held what was asked for. */
static int check_count(const reader *r, int64_t skip, int64_t batch, int64_t count)
{
    const char *name = r->input.name;

    if (r->seen == 0)
        return cli_fail(CLI_DATA, "%s: no lengths: the file is empty or holds comments only", name);
    if (count < batch && skip > 0)
        return cli_fail(CLI_DATA,
                        "%s: --batch %" PRId64 " after --skip %" PRId64
                        ": only %" PRId64 " of the file's %" PRId64 " lengths are left",
                        name, batch, skip, count, r->seen);
    if (count < batch)
        return cli_fail(CLI_DATA, "%s: --batch %" PRId64 ": the file has only %" PRId64 " lengths",
                        name, batch, r->seen);
    if (count == 0)
        return cli_fail(CLI_DATA,
                        "%s: --skip %" PRId64 " leaves nothing of the file's %" PRId64 " lengths",
                        name, skip, r->seen);
    return CLI_OK;
}

int cli_lengths_read(const char *path, int64_t skip, int64_t batch, cli_lengths *out)
{
    cli_lengths list = { NULL, 0 };
    reader *r = calloc(1, sizeof *r);
    int code;

    if (r == NULL)
        return cli_fail_memory();
    code = cli_input_open(path, &r->input);
    if (code == CLI_OK) {
        code = read_lines(r, skip, batch, &list);
        if (code == CLI_OK)
            code = check_count(r, skip, batch, list.count);
        cli_input_close(&r->input);
    }
    free(r);
    if (code == CLI_OK)
        *out = list;
    else
        cli_lengths_free(&list);
    return code;
}

void cli_lengths_free(cli_lengths *lengths)
{
    free(lengths->values);
    lengths->values = NULL;
    lengths->count = 0;
}
