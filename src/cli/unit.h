/*
 * unit.h - numbers in units that a person reads at a glance.
 *
 * For reading only: the JSON carries the exact integers.
 */
#ifndef SLIMPACK_CLI_UNIT_H
#define SLIMPACK_CLI_UNIT_H

#include <stdint.h>

typedef struct cli_unit {
    char text[32];
} cli_unit;

/* A share in parts per million; 0 of nothing, and no more than fits. */
int64_t cli_ppm(double part, double whole);

cli_unit cli_time(int64_t ps);        /* "12.34 ms" */
cli_unit cli_bytes(int64_t bytes);    /* "71.25 GB" of 10^9 bytes; "no limit" for INT64_MAX */
cli_unit cli_ratio(int64_t ppm);      /* "1.0123" */
cli_unit cli_percent(int64_t ppm);    /* "1.23 %" */
cli_unit cli_count(int64_t count);    /* "4,213,377" */
cli_unit cli_speed_up(int64_t slow_ps, int64_t fast_ps); /* "2.81 x", "-" without times */

#endif
