/*
 * params.c - parameters by key: see params.h.
 */
#include "base/params.h"

#include <inttypes.h>

#include "base/abi.h"
#include "base/first.h"
#include "base/names.h"
#include "base/status.h"

int32_t sp__param_row(const sp__param_table *table, int32_t key)
{
    if (key >= 1 && key <= table->count && table->rows[key - 1].key == key)
        return key - 1;
    for (int32_t i = 0; i < table->count; i++)
        if (table->rows[i].key == key)
            return i;
    return -1;
}

void sp__param_defaults(const sp__param_table *table, int64_t *values)
{
    for (int32_t i = 0; i < table->count; i++)
        values[i] = table->rows[i].fallback;
}

static sp_status find_row(const sp__param_table *table, int32_t key, int32_t *row)
{
    *row = sp__param_row(table, key);
    if (*row < 0)
        return sp__fail(SP_ERR_NAME, "no %s has key %" PRId32 "; keys are %" PRId32 " to %" PRId32,
                        table->what, key, table->rows[0].key, table->rows[table->count - 1].key);
    return SP_OK;
}

sp_status sp__param_set(const sp__param_table *table, int64_t *values, int32_t key, int64_t value)
{
    const sp__param *param;
    int32_t row;

    SP_TRY(find_row(table, key, &row));
    param = &table->rows[row];
    if (value < param->minimum)
        return sp__fail(SP_ERR_RANGE, "%s %s: %" PRId64 " is below %" PRId64, table->what,
                        param->name, value, param->minimum);
    if (value > param->maximum)
        return sp__fail(SP_ERR_RANGE, "%s %s: %" PRId64 " is above %" PRId64, table->what,
                        param->name, value, param->maximum);
    values[row] = value;
    return SP_OK;
}

sp_status sp__param_get(const sp__param_table *table, const int64_t *values, int32_t key,
                        int64_t *value)
{
    int32_t row;

    if (value == NULL)
        return sp__fail_null("value");
    SP_TRY(find_row(table, key, &row));
    *value = values[row];
    return SP_OK;
}

static const char *row_name(const void *list, int32_t index)
{
    const sp__param_table *table = list;

    return index < table->count ? table->rows[index].name : NULL;
}

sp_status sp__param_find(const sp__param_table *table, const char *name, int32_t *key)
{
    int32_t row;

    if (name == NULL)
        return sp__fail_null("name");
    if (key == NULL)
        return sp__fail_null("key");
    SP_TRY(sp__name_find(table->what, name, row_name, table, &row));
    *key = table->rows[row].key;
    return SP_OK;
}

sp_status sp__param_describe(const sp__param_table *table, int32_t index, sp_param_info *info)
{
    sp_param_info row = SP_PARAM_INFO_INIT;
    const sp__param *param;

    SP_TRY(sp__struct_ready(info, SP__FIRST_PARAM_INFO, "info"));
    if (index < 0 || index >= table->count)
        return sp__fail(SP_ERR_RANGE, "index: %" PRId32 " is outside 0 to %" PRId32, index,
                        table->count - 1);
    param = &table->rows[index];
    row.key = param->key;
    row.name = param->name;
    row.unit = param->unit;
    row.help = param->help;
    row.values = param->values;
    row.minimum = param->minimum;
    row.maximum = param->maximum;
    row.fallback = param->fallback;
    return sp__struct_out(info, &row, sizeof row, SP__FIRST_PARAM_INFO, "info");
}
