/*
 * params.h - parameters by key: one table per handle serves bounds, queries,
 * the command line and the documentation.
 *
 * A handle keeps its values in an array, row i of the table in place i.
 */
#ifndef SP_BASE_PARAMS_H
#define SP_BASE_PARAMS_H

#include "slimpack.h"

typedef struct sp__param {
    int32_t key;
    const char *name;
    const char *unit;
    const char *values; /* names of the values from minimum up, "" for a number */
    int64_t minimum;
    int64_t maximum;
    int64_t fallback;
    const char *help;
} sp__param;

typedef struct sp__param_table {
    const char *what; /* "planner parameter" */
    const sp__param *rows;
    int32_t count;
} sp__param_table;

/* Row of a key, -1 when there is none. Tables are short and keys dense, so that
 * the row is found where the key says in almost every call. */
int32_t sp__param_row(const sp__param_table *table, int32_t key);

void sp__param_defaults(const sp__param_table *table, int64_t *values);
sp_status sp__param_set(const sp__param_table *table, int64_t *values, int32_t key, int64_t value);
sp_status sp__param_get(const sp__param_table *table, const int64_t *values, int32_t key,
                        int64_t *value);
sp_status sp__param_find(const sp__param_table *table, const char *name, int32_t *key);
sp_status sp__param_describe(const sp__param_table *table, int32_t index, sp_param_info *info);

#endif
