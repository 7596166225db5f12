/*
 * setting.c - parameters by name: see setting.h.
 */
#include "setting.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "message.h"
#include "number.h"

#define NAME_ROOM 64 /* no parameter's or value's name is longer */
#define VALUES_MOST 16

const cli_table cli_tables[CLI_TABLES] = {
    { "planner", sp_planner_param_info, sp_planner_param_find },
    { "model", sp_model_param_info, sp_model_param_find },
    { "device", sp_device_param_info, sp_device_param_find },
};

int cli_value_name(const char *values, int index, const char **name)
{
    for (; index > 0 && values != NULL; index--) {
        values = strchr(values, ',');
        if (values != NULL)
            values++;
    }
    if (values == NULL)
        return 0;
    *name = values;
    return (int)strcspn(values, ",");
}

/* Names of all tables from the one that `list` points to, one after another. */
static const char *parameter_name(const void *list, int index)
{
    for (const cli_table *table = list; table < cli_tables + CLI_TABLES; table++) {
        sp_param_info info = SP_PARAM_INFO_INIT;
        int32_t rows = 0;

        if (table->info(index, &info) == SP_OK)
            return info.name;
        while (table->info(rows, &info) == SP_OK)
            rows++;
        index -= rows;
    }
    return NULL;
}

/* The names of a parameter's values, cut apart. */
typedef struct value_list {
    char names[VALUES_MOST][NAME_ROOM];
    int count;
} value_list;

static void split_values(const char *values, value_list *list)
{
    const char *name;
    int length;

    list->count = 0;
    while (list->count < VALUES_MOST &&
           (length = cli_value_name(values, list->count, &name)) > 0)
        snprintf(list->names[list->count++], NAME_ROOM, "%.*s", length, name);
}

static const char *value_name(const void *list, int index)
{
    const value_list *values = list;

    return index < values->count ? values->names[index] : NULL;
}

static int find_parameter(const char *name, int first_table, cli_setting *setting)
{
    for (int table = first_table; table < CLI_TABLES; table++)
        if (cli_tables[table].find(name, &setting->key) == SP_OK) {
            setting->table = table;
            return CLI_OK;
        }
    if (first_table > CLI_TABLE_PLANNER && sp_planner_param_find(name, &setting->key) == SP_OK)
        return cli_fail(CLI_USAGE, "--set: '%s' is a parameter of the planner, and nothing is "
                        "planned here", name);
    return cli_fail_unknown("--set", "parameter", name, parameter_name, &cli_tables[first_table]);
}

static int row_of(const cli_setting *setting, sp_param_info *info)
{
    for (int32_t i = 0; cli_tables[setting->table].info(i, info) == SP_OK; i++)
        if (info->key == setting->key)
            return CLI_OK;
    return cli_fail(CLI_DATA, "--set %s: the parameter has no description", setting->text);
}

static int parse_value(const char *text, cli_setting *setting)
{
    sp_param_info info = SP_PARAM_INFO_INIT;
    char place[NAME_ROOM + 8];
    value_list values;
    int64_t number;
    int code = row_of(setting, &info);

    if (code != CLI_OK)
        return code;
    split_values(info.values, &values);
    for (int i = 0; i < values.count; i++)
        if (strcmp(values.names[i], text) == 0) {
            setting->value = info.minimum + i;
            return CLI_OK;
        }
    snprintf(place, sizeof place, "--set %s", info.name);
    if (values.count > 0 && cli_read_whole(text, strlen(text), &number) == CLI_NOT_A_NUMBER)
        return cli_fail_unknown(place, "value", text, value_name, &values);
    return cli_whole_in(place, text, info.minimum, info.maximum, &setting->value);
}

int cli_setting_parse(const char *text, int first_table, cli_setting *out)
{
    cli_setting setting = { text, 0, 0, 0 };
    const char *equals = strchr(text, '=');
    char name[NAME_ROOM];
    int code;

    if (equals == NULL || equals == text || equals[1] == '\0')
        return cli_fail(CLI_USAGE, "--set: '%s' is not name=value", cli_show_text(text).text);
    if (equals - text >= NAME_ROOM)
        return cli_fail(CLI_USAGE, "--set: unknown parameter '%s'",
                        cli_show(text, (size_t)(equals - text)).text);
    memcpy(name, text, (size_t)(equals - text));
    name[equals - text] = '\0';
    code = find_parameter(name, first_table, &setting);
    if (code == CLI_OK)
        code = parse_value(equals + 1, &setting);
    if (code == CLI_OK)
        *out = setting;
    return code;
}
