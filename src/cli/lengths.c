/*
 * lengths.c - lengths of a file as lists: see lengths.h.
 *
 * The formats give one length at a time; here they are skipped, gathered and held
 * against what was asked for.
 */
#include "lengths.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lengths_format.h"
#include "message.h"
#include "progress.h"

#define LONGEST INT32_MAX
#define MOST_LENGTHS INT32_MAX

const char *cli_length_wrong(int64_t value)
{
    if (value < 1)
        return "is below 1, the shortest length";
    return value > LONGEST ? "is above 2147483647, the longest length" : NULL;
}

uint32_t cli_le32(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

uint64_t cli_le64(const unsigned char *bytes)
{
    return (uint64_t)cli_le32(bytes) | (uint64_t)cli_le32(bytes + 4) << 32;
}

/* An empty file is of no format, and that it is empty is all there is to say. */
static int open_format(cli_lengths_reader *r)
{
    int is_empty = r->source.filled == 0;
    int code = cli_source_check(&r->source);

    if (code != CLI_OK)
        return code;
    r->format = cli_format_find(&r->source);
    if (r->format == NULL)
        return CLI_DATA;
    if (r->field != NULL && r->format != &cli_format_jsonl && !is_empty)
        return cli_fail(CLI_USAGE, "--field: %s holds %s, not JSON lines", r->source.input.name,
                        r->format->name);
    return r->format->open(r);
}

int cli_lengths_open(const char *path, const char *field, cli_lengths_reader **out)
{
    cli_lengths_reader *r = calloc(1, sizeof *r);
    int code;

    if (r == NULL)
        return cli_fail_memory();
    r->field = field;
    code = cli_source_open(path, &r->source);
    if (code != CLI_OK) {
        free(r);
        return code;
    }
    code = open_format(r);
    if (code == CLI_OK)
        *out = r;
    else
        cli_lengths_close(r);
    return code;
}

void cli_lengths_close(cli_lengths_reader *r)
{
    if (r == NULL)
        return;
    if (r->format != NULL)
        r->format->close(r);
    cli_source_close(&r->source);
    free(r);
}

/* A read that failed looks like the end of the file to a format that is read to it. */
static int next(cli_lengths_reader *r, int64_t *value)
{
    int code;

    *value = 0;
    code = r->format->next(r, value);
    if (code == CLI_OK && *value == 0)
        code = cli_source_check(&r->source);
    if (code == CLI_OK && *value > 0)
        r->seen++;
    if (r->watched)
        cli_progress_at(cli_source_taken(&r->source));
    return code;
}

int cli_lengths_skip(cli_lengths_reader *r, int64_t count)
{
    int64_t value = 1;
    int code = CLI_OK;

    while (count-- > 0 && code == CLI_OK && value > 0)
        code = next(r, &value);
    return code;
}

static int append(const cli_lengths_reader *r, cli_lengths *list, int64_t value)
{
    if (list->count == MOST_LENGTHS)
        return cli_fail(CLI_DATA, "%s: more than %d lengths; --batch takes a part",
                        r->source.input.name, MOST_LENGTHS);
    if (list->count == list->capacity) {
        int64_t larger = list->capacity == 0 ? 1024 : list->capacity * 2;
        int64_t *values;

        /* Below 2^32 entries: the product fits size_t wherever 2^35 bytes do. */
        if ((uint64_t)larger > SIZE_MAX / sizeof *values)
            return cli_fail_memory();
        values = realloc(list->values, (size_t)larger * sizeof *values);
        if (values == NULL)
            return cli_fail_memory();
        list->values = values;
        list->capacity = larger;
    }
    list->values[list->count++] = value;
    return CLI_OK;
}

int cli_lengths_take(cli_lengths_reader *r, int64_t count, cli_lengths *list)
{
    list->count = 0;
    while (count == 0 || list->count < count) {
        int64_t value = 0;
        int code = next(r, &value);

        if (code != CLI_OK || value == 0)
            return code;
        code = append(r, list, value);
        if (code != CLI_OK)
            return code;
    }
    return CLI_OK;
}

int64_t cli_lengths_seen(const cli_lengths_reader *r)
{
    return r->seen;
}

int cli_lengths_check(const cli_lengths_reader *r, int64_t skip, int64_t batch, int64_t count)
{
    const char *name = r->source.input.name;

    if (r->seen == 0)
        return cli_fail(CLI_DATA, "%s: no lengths: %s", name, r->format->empty);
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

static int read_list(cli_lengths_reader *r, int64_t skip, int64_t batch, cli_lengths *list)
{
    int code;

    r->watched = 1;
    cli_progress_begin("reading", r->source.size);
    code = cli_lengths_skip(r, skip);
    if (code == CLI_OK)
        code = cli_lengths_take(r, batch, list);
    cli_progress_end();
    return code == CLI_OK ? cli_lengths_check(r, skip, batch, list->count) : code;
}

int cli_lengths_read(const char *path, const char *field, int64_t skip, int64_t batch,
                     cli_lengths *out)
{
    cli_lengths list = { NULL, 0, 0 };
    cli_lengths_reader *r = NULL;
    int code = cli_lengths_open(path, field, &r);

    if (code == CLI_OK)
        code = read_list(r, skip, batch, &list);
    cli_lengths_close(r);
    if (code == CLI_OK)
        *out = list;
    else
        cli_lengths_free(&list);
    return code;
}

void cli_lengths_free(cli_lengths *lengths)
{
    free(lengths->values);
    memset(lengths, 0, sizeof *lengths);
}
