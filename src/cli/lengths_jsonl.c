/*
 * lengths_jsonl.c - lengths as a field of JSON lines, one object a line: see
 * lengths_format.h.
 *
 * A number is the length; of a string its characters (Unicode code points) count, of
 * an array its elements. A line is parsed as a whole, so lines are bounded: memory
 * follows the longest line, never the file.
 */
#include "lengths_format.h"

#include "json.h"
#include "json_walk.h"
#include "message.h"

#ifdef SP_HAVE_JANSSON

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST_LINE 67108864 /* 64 MiB */
#define FIELDS_SHOWN 6

typedef struct lines {
    char *text;
    size_t length, capacity;
    int64_t number;
    char **keys;    /* [key_count] of the path, within path */
    size_t key_count;
    char *path;
} lines;

static int fail_line(const cli_lengths_reader *r, const char *what)
{
    const lines *l = r->state;

    return cli_fail(CLI_DATA, "%s:%" PRId64 ": %s", r->source.input.name, l->number, what);
}

static int reserve(lines *l, size_t length)
{
    size_t larger = l->capacity > 0 ? l->capacity : 4096;
    char *text;

    if (length <= l->capacity)
        return CLI_OK;
    while (larger < length)
        larger *= 2;
    text = realloc(l->text, larger);
    if (text == NULL)
        return cli_fail_memory();
    l->text = text;
    l->capacity = larger;
    return CLI_OK;
}

static int append(cli_lengths_reader *r, const unsigned char *bytes, size_t count)
{
    lines *l = r->state;
    int code;

    if (count > LONGEST_LINE - l->length)
        return cli_fail(CLI_DATA, "%s:%" PRId64 ": the line is longer than %d bytes",
                        r->source.input.name, l->number, LONGEST_LINE);
    code = reserve(l, l->length + count);
    if (code == CLI_OK && count > 0)
        memcpy(l->text + l->length, bytes, count);
    l->length += count;
    return code;
}

/* Takes a line without its end; `*there` is 0 at the end of the file. */
static int take_line(cli_lengths_reader *r, int *there)
{
    lines *l = r->state;
    const unsigned char *end = NULL;
    size_t count;

    l->length = 0;
    l->number++;
    *there = 0;
    while (end == NULL) {
        const unsigned char *bytes = cli_source_chunk(&r->source, &count);
        size_t part;
        int code;

        if (count == 0)
            return cli_source_check(&r->source);
        *there = 1;
        end = memchr(bytes, '\n', count);
        part = end != NULL ? (size_t)(end - bytes) : count;
        code = append(r, bytes, part);
        if (code != CLI_OK)
            return code;
        cli_source_advance(&r->source, part + (end != NULL));
    }
    return CLI_OK;
}

static int is_blank_line(const lines *l)
{
    for (size_t i = 0; i < l->length; i++)
        if (l->text[i] != ' ' && (l->text[i] < '\t' || l->text[i] > '\r'))
            return 0;
    return 1;
}

static int parse_line(const cli_lengths_reader *r, json_t **object)
{
    const lines *l = r->state;
    json_error_t error;
    char what[96];

    /* jansson would end there. */
    if (memchr(l->text, '\0', l->length) != NULL)
        return fail_line(r, "the line holds a NUL byte");
    cli_json_parse_begins();
    *object = json_loadb(l->text, l->length, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL |
                         JSON_DECODE_ANY, &error);
    cli_json_parse_ends();
    if (*object != NULL && json_is_object(*object))
        return CLI_OK;
    if (*object != NULL) {
        json_decref(*object);
        return fail_line(r, "the line is JSON, but not an object");
    }
    snprintf(what, sizeof what, "not JSON: %s", cli_show_text(error.text).text);
    return fail_line(r, what);
}

/* The next line that is not blank; NULL at the end of the file. */
static int take_object(cli_lengths_reader *r, json_t **object)
{
    int there = 1;

    *object = NULL;
    while (there) {
        int code = take_line(r, &there);

        if (code != CLI_OK)
            return code;
        if (there && !is_blank_line(r->state))
            return parse_line(r, object);
    }
    return CLI_OK;
}

/* A key that is the whole path comes first: names may hold dots. */
static const json_t *find_field(const cli_lengths_reader *r, const json_t *object)
{
    const lines *l = r->state;
    const json_t *value = json_object_get(object, r->field);

    if (value != NULL)
        return value;
    value = object;
    for (size_t i = 0; i < l->key_count && value != NULL; i++)
        value = json_object_get(value, l->keys[i]);
    return value;
}

/* Bytes of UTF-8, which jansson has checked, that begin a character. */
static int64_t count_characters(const json_t *string)
{
    const char *text = json_string_value(string);
    size_t length = json_string_length(string);
    int64_t count = 0;

    for (size_t i = 0; i < length; i++)
        count += ((unsigned char)text[i] & 0xc0) != 0x80;
    return count;
}

static const char *type_name(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_NULL:
        return "null";
    default:
        return json_is_true(value) ? "true" : "false";
    }
}

static int fail_field(const cli_lengths_reader *r, const char *value, const char *what)
{
    const lines *l = r->state;

    return cli_fail(CLI_DATA, "%s:%" PRId64 ": field \"%s\": %s %s", r->source.input.name,
                    l->number, cli_show_text(r->field).text, value, what);
}

static int measure(const cli_lengths_reader *r, const json_t *value, int64_t *length)
{
    char text[48];

    switch (json_typeof(value)) {
    case JSON_INTEGER:
        *length = json_integer_value(value);
        break;
    case JSON_STRING:
        *length = count_characters(value);
        break;
    case JSON_ARRAY:
        *length = (int64_t)json_array_size(value);
        break;
    case JSON_REAL:
        snprintf(text, sizeof text, "%.9g", json_real_value(value));
        return fail_field(r, text, "is not written as a whole number of tokens");
    default:
        return fail_field(r, type_name(value), "is not a number, a string or an array");
    }
    snprintf(text, sizeof text, "%" PRId64, *length);
    return cli_length_wrong(*length) == NULL ? CLI_OK
                                             : fail_field(r, text, cli_length_wrong(*length));
}

static int next_jsonl(cli_lengths_reader *r, int64_t *value)
{
    const lines *l = r->state;
    const json_t *field;
    json_t *object;
    int code = take_object(r, &object);

    if (code != CLI_OK || object == NULL)
        return code;
    field = find_field(r, object);
    if (field == NULL)
        code = cli_fail(CLI_DATA, "%s:%" PRId64 ": no field \"%s\"", r->source.input.name,
                        l->number, cli_show_text(r->field).text);
    else
        code = measure(r, field, value);
    json_decref(object);
    return code;
}

/* Without --field: names the fields of the first object. */
static int fail_without_field(cli_lengths_reader *r)
{
    char names[FIELDS_SHOWN * 72] = "";
    size_t used = 0, shown = 0;
    const char *key;
    json_t *object, *value;
    int code = take_object(r, &object);

    if (code != CLI_OK)
        return code;
    json_object_foreach (object, key, value) {
        if (shown++ < FIELDS_SHOWN)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s\"%s\"",
                                     shown > 1 ? ", " : "", cli_show_text(key).text);
    }
    cli_fail(CLI_USAGE, "%s: JSON lines need --field NAME; the first line has %s%s",
             r->source.input.name, shown > 0 ? names : "no fields",
             shown > FIELDS_SHOWN ? ", ..." : "");
    json_decref(object);
    return CLI_USAGE;
}

/* Cuts a copy of --field at its dots. */
static int split_path(const char *field, lines *l)
{
    size_t dots = 0;

    for (const char *c = field; *c != '\0'; c++)
        dots += *c == '.';
    l->path = strdup(field);
    l->keys = calloc(dots + 1, sizeof *l->keys);
    if (l->path == NULL || l->keys == NULL)
        return cli_fail_memory();
    for (char *at = l->path; at != NULL;) {
        char *dot = strchr(at, '.');

        l->keys[l->key_count++] = at;
        if (dot != NULL)
            *dot++ = '\0';
        at = dot;
    }
    return CLI_OK;
}

static int open_jsonl(cli_lengths_reader *r)
{
    r->state = calloc(1, sizeof(lines));
    if (r->state == NULL)
        return cli_fail_memory();
    return r->field != NULL ? split_path(r->field, r->state) : fail_without_field(r);
}

static void close_jsonl(cli_lengths_reader *r)
{
    lines *l = r->state;

    if (l == NULL)
        return;
    free(l->text);
    free(l->keys);
    free(l->path);
    free(l);
}

#else

static int open_jsonl(cli_lengths_reader *r)
{
    (void)r;
    return cli_json_available();
}

static int next_jsonl(cli_lengths_reader *r, int64_t *value)
{
    (void)r;
    (void)value;
    return cli_json_available();
}

static void close_jsonl(cli_lengths_reader *r)
{
    (void)r;
}

#endif

const cli_format cli_format_jsonl = { "JSON lines", "all lines are blank", open_jsonl, next_jsonl,
                                      close_jsonl };
