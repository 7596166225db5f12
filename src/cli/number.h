/*
 * number.h - reads whole and decimal numbers exactly, without floating point.
 */
#ifndef SLIMPACK_CLI_NUMBER_H
#define SLIMPACK_CLI_NUMBER_H

#include <stddef.h>
#include <stdint.h>

enum cli_number_kind {
    CLI_NUMBER,          /* a number that fits */
    CLI_NUMBER_LARGE,    /* a number above what fits */
    CLI_NUMBER_SMALL,    /* a number below what fits */
    CLI_NUMBER_FRACTION, /* a number with more digits behind the point than asked for */
    CLI_NOT_A_NUMBER
};

/* Reads [-]digits, all of the text. The value is set for CLI_NUMBER alone. */
int cli_read_whole(const char *text, size_t length, int64_t *value);

/* Reads digits[.digits] as a multiple of 10^-places: "79.5" with 9 places is
 * 79500000000. Zeros past the last place are fine. */
int cli_read_decimal(const char *text, size_t length, int places, int64_t *value);

/* Reads a whole number within bounds, or reports what is wrong with the option's. */
int cli_whole_in(const char *option, const char *text, int64_t minimum, int64_t maximum,
                 int64_t *value);

#endif
