/*
 * setting.h - `--set name=value`: finds the parameter in the library's tables.
 *
 * Planner, model and device each have a table; a name is looked up in this
 * order among those that the verb takes. The value is a number or one of the
 * names that the table gives to the parameter's values.
 */
#ifndef SLIMPACK_CLI_SETTING_H
#define SLIMPACK_CLI_SETTING_H

#include <stdint.h>

#include "slimpack.h"

/* One of the library's parameter tables; what they are for, in the order that
 * names are looked up. */
enum cli_table_index { CLI_TABLE_PLANNER, CLI_TABLE_MODEL, CLI_TABLE_DEVICE, CLI_TABLES };

typedef struct cli_table {
    const char *name;
    sp_status (*info)(int32_t index, sp_param_info *info);
    sp_status (*find)(const char *name, int32_t *key);
} cli_table;

extern const cli_table cli_tables[CLI_TABLES];

typedef struct cli_setting {
    const char *text; /* name=value, borrowed */
    int table;        /* index into cli_tables */
    int32_t key;
    int64_t value;
} cli_setting;

/* Parses name=value; looks in the tables from `first_table` on. */
int cli_setting_parse(const char *text, int first_table, cli_setting *out);

/* Length of the index-th of the names in sp_param_info.values and its beginning, 0 past
 * the last. */
int cli_value_name(const char *values, int index, const char **name);

#endif
