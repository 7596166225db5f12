/*
 * json_walk.c - walks a JSON document: see json_walk.h.
 */
#ifdef SP_HAVE_JANSSON

#include "json_walk.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void cli_walk_enter(cli_walk *walk, const char *key)
{
    walk->frames[walk->depth].key = key;
    walk->frames[walk->depth].index = 0;
    walk->depth++;
}

void cli_walk_enter_element(cli_walk *walk, size_t index)
{
    cli_walk_enter(walk, NULL);
    walk->frames[walk->depth - 1].index = index;
}

void cli_walk_leave(cli_walk *walk)
{
    walk->depth--;
}

/* "replicas[3].forward[0].slices[2]: ", nothing at the root. */
static void write_path(const cli_walk *walk, char *out, size_t room)
{
    size_t used = 0;

    out[0] = '\0';
    for (int i = 0; i < walk->depth && used < room; i++) {
        const struct cli_frame *frame = &walk->frames[i];

        if (frame->key == NULL)
            used += (size_t)snprintf(out + used, room - used, "[%zu]", frame->index);
        else
            used += (size_t)snprintf(out + used, room - used, "%s%s", i > 0 ? "." : "",
                                     frame->key);
    }
    if (walk->depth > 0 && used < room)
        snprintf(out + used, room - used, ": ");
}

int cli_walk_fail(const cli_walk *walk, const char *format, ...)
{
    char path[256];
    char what[512];
    va_list arguments;

    write_path(walk, path, sizeof path);
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return cli_fail(CLI_DATA, "%s: %s%s", walk->name, path, what);
}

int cli_walk_fail_library(const cli_walk *walk, sp_status status)
{
    const char *message = sp_error_message();

    return cli_walk_fail(walk, "%s", message[0] != '\0' ? message : sp_status_text(status));
}

static const char *type_name(json_type type)
{
    switch (type) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
        return "an integer";
    case JSON_REAL:
        return "a number with a fraction";
    case JSON_NULL:
        return "null";
    default:
        return "a truth value";
    }
}

static json_t *typed(const cli_walk *walk, json_t *value, json_type type)
{
    if (value == NULL) {
        cli_walk_fail(walk, "%s is missing", type_name(type));
        return NULL;
    }
    if (json_typeof(value) != type) {
        cli_walk_fail(walk, "%s stands where %s is expected", type_name(json_typeof(value)),
                      type_name(type));
        return NULL;
    }
    return value;
}

json_t *cli_walk_member(cli_walk *walk, json_t *object, const char *key, json_type type)
{
    cli_walk_enter(walk, key);
    return typed(walk, json_object_get(object, key), type);
}

json_t *cli_walk_element(cli_walk *walk, json_t *array, size_t index, json_type type)
{
    cli_walk_enter_element(walk, index);
    return typed(walk, json_array_get(array, index), type);
}

int cli_walk_int(const cli_walk *walk, const json_t *value, int64_t minimum, int64_t maximum,
                 int64_t *out)
{
    int64_t number = json_integer_value(value);

    if (number < minimum)
        return cli_walk_fail(walk, "%" PRId64 " is below %" PRId64, number, minimum);
    if (number > maximum)
        return cli_walk_fail(walk, "%" PRId64 " is above %" PRId64, number, maximum);
    *out = number;
    return CLI_OK;
}

int cli_walk_member_int(cli_walk *walk, json_t *object, const char *key, int64_t minimum,
                        int64_t maximum, int64_t *out)
{
    json_t *value = cli_walk_member(walk, object, key, JSON_INTEGER);
    int code = value != NULL ? cli_walk_int(walk, value, minimum, maximum, out) : CLI_DATA;

    if (code == CLI_OK)
        cli_walk_leave(walk);
    return code;
}

int cli_walk_element_int(cli_walk *walk, json_t *array, size_t index, int64_t minimum,
                         int64_t maximum, int64_t *out)
{
    json_t *value = cli_walk_element(walk, array, index, JSON_INTEGER);
    int code = value != NULL ? cli_walk_int(walk, value, minimum, maximum, out) : CLI_DATA;

    if (code == CLI_OK)
        cli_walk_leave(walk);
    return code;
}

int cli_walk_size(const cli_walk *walk, const json_t *array, int64_t size, const char *what)
{
    if (json_array_size(array) == (size_t)size)
        return CLI_OK;
    return cli_walk_fail(walk, "%zu entries, but %s is %" PRId64, json_array_size(array), what,
                         size);
}

#else

typedef int cli_json_walk_needs_jansson; /* C wants something here */

#endif

static void *allocate_or_end(size_t size)
{
    void *memory = malloc(size);

    if (memory == NULL)
        exit(cli_fail_memory());
    return memory;
}

void cli_json_parse_begins(void)
{
    json_set_alloc_funcs(allocate_or_end, free);
}

void cli_json_parse_ends(void)
{
    json_set_alloc_funcs(malloc, free);
}
