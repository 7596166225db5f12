/*
 * quantiles.h - quantiles of any number of values in memory that does not grow.
 *
 * Values are counted in ranges no wider than 1/4096 of their smallest value; each range
 * remembers the largest value that fell into it. So a quantile is a value that was
 * added, at most 1/4096 above the exact one, and the maximum is exact.
 */
#ifndef SLIMPACK_CLI_QUANTILES_H
#define SLIMPACK_CLI_QUANTILES_H

#include <stdint.h>

typedef struct cli_quantiles cli_quantiles;

/* NULL when out of memory. */
cli_quantiles *cli_quantiles_create(void);
void cli_quantiles_destroy(cli_quantiles *quantiles);

/* Values below 0 count as 0. */
void cli_quantiles_add(cli_quantiles *quantiles, int64_t value);

/* The smallest value that at least `percent` of 100 values do not pass; 0 without
 * values. */
int64_t cli_quantiles_get(const cli_quantiles *quantiles, int percent);

#endif
