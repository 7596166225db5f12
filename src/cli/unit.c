/*
 * unit.c - numbers for people: see unit.h.
 */
#include "unit.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define MOST_PPM 9e18 /* below 2^63 */

int64_t cli_ppm(double part, double whole)
{
    double ppm = whole > 0 ? part / whole * 1e6 : 0;

    return ppm < MOST_PPM ? (int64_t)ppm : INT64_MAX;
}

/* Decimals that leave four digits in all. */
static int decimals(double value)
{
    if (value >= 99.995)
        return 1;
    return value >= 9.9995 ? 2 : 3;
}

/* In the largest unit that leaves a whole part; the smallest has no parts. */
static cli_unit scaled(int64_t value, const char *const *names, int count)
{
    cli_unit unit;
    double rest = (double)value;
    int i = 0;

    while (rest >= 999.95 && i + 1 < count) {
        rest /= 1000;
        i++;
    }
    snprintf(unit.text, sizeof unit.text, "%.*f %s", i == 0 ? 0 : decimals(rest), rest, names[i]);
    return unit;
}

cli_unit cli_time(int64_t ps)
{
    static const char *const names[] = { "ps", "ns", "us", "ms", "s" };

    return scaled(ps, names, 5);
}

cli_unit cli_bytes(int64_t bytes)
{
    static const char *const names[] = { "B", "kB", "MB", "GB", "TB" };
    cli_unit unit = { "no limit" };

    return bytes == INT64_MAX ? unit : scaled(bytes, names, 5);
}

cli_unit cli_ratio(int64_t ppm)
{
    cli_unit unit;

    snprintf(unit.text, sizeof unit.text, "%.4f", (double)ppm / 1e6);
    return unit;
}

cli_unit cli_percent(int64_t ppm)
{
    cli_unit unit;

    snprintf(unit.text, sizeof unit.text, "%.2f %%", (double)ppm / 1e4);
    return unit;
}

cli_unit cli_count(int64_t count)
{
    cli_unit unit;
    char digits[24];
    size_t used = 0;

    snprintf(digits, sizeof digits, "%" PRId64, count);
    for (size_t i = 0, n = strlen(digits); i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0 && digits[i - 1] != '-')
            unit.text[used++] = ',';
        unit.text[used++] = digits[i];
    }
    unit.text[used] = '\0';
    return unit;
}

cli_unit cli_speed_up(int64_t slow_ps, int64_t fast_ps)
{
    cli_unit unit = { "-" };

    if (slow_ps > 0 && fast_ps > 0)
        snprintf(unit.text, sizeof unit.text, "%.2f x", (double)slow_ps / (double)fast_ps);
    return unit;
}
