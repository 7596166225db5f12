/*
 * params.c - `slimpack params`: every parameter that --set takes, and the presets.
 *
 * All of it comes from the library's own tables, so it cannot grow stale.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "message.h"
#include "setting.h"
#include "verbs.h"

typedef const char *(*preset_name)(int32_t index);

/* Presets of each table; planners have none. */
static const preset_name presets[CLI_TABLES] = { NULL, sp_model_preset_name,
                                                 sp_device_preset_name };

/* A value by its name where it has one. */
static void format_value(const sp_param_info *info, int64_t value, char *out, size_t room)
{
    const char *name = NULL;
    int64_t index = value - info->minimum;
    int length = 0;

    if (info->values[0] != '\0' && index >= 0 && index < INT32_MAX)
        length = cli_value_name(info->values, (int)index, &name);
    if (length > 0)
        snprintf(out, room, "%.*s", length, name);
    else
        snprintf(out, room, "%" PRId64, value);
}

/* --set takes the first table that has a name; a later one is for the verbs that
 * do not look there. */
static int is_hidden(int table, const char *name)
{
    int32_t key;

    for (int earlier = 0; earlier < table; earlier++)
        if (cli_tables[earlier].find(name, &key) == SP_OK)
            return 1;
    return 0;
}

static void print_row(int table, const sp_param_info *info)
{
    char fallback[64];

    format_value(info, info->fallback, fallback, sizeof fallback);
    printf("  %-26s %s\n", info->name, info->help);
    printf("  %-26s %" PRId64 " to %" PRId64 "%s%s, default %s", "", info->minimum, info->maximum,
           info->unit[0] != '\0' ? " " : "", info->unit, fallback);
    if (info->values[0] != '\0')
        printf("; by name: %s", info->values);
    putchar('\n');
    if (is_hidden(table, info->name))
        printf("  %-26s plan and compare take %s for the planner's; simulate sets this one\n", "",
               info->name);
}

static void print_presets(int table)
{
    const char *name;

    if (presets[table] == NULL)
        return;
    printf("\n%s presets (--%s NAME)\n", cli_tables[table].name, cli_tables[table].name);
    for (int32_t i = 0; (name = presets[table](i)) != NULL; i++)
        printf("  %s\n", name);
}

static void print_table(int table)
{
    sp_param_info info = SP_PARAM_INFO_INIT;

    printf("%s parameters (--set name=value)\n", cli_tables[table].name);
    for (int32_t i = 0; cli_tables[table].info(i, &info) == SP_OK; i++)
        print_row(table, &info);
    print_presets(table);
}

static const char *table_name(const void *list, int index)
{
    const cli_table *tables = list;

    return index < CLI_TABLES ? tables[index].name : NULL;
}

int cli_params(const cli_options *options)
{
    int found = 0;

    for (int table = 0; table < CLI_TABLES; table++) {
        if (options->argument != NULL && strcmp(options->argument, cli_tables[table].name) != 0)
            continue;
        if (found++ > 0)
            putchar('\n');
        print_table(table);
    }
    if (found > 0)
        return CLI_OK;
    return cli_fail_unknown("params", "table", options->argument, table_name, cli_tables);
}
