/*
 * number.c - reads numbers exactly: see number.h.
 */
#include "number.h"

#include <inttypes.h>
#include <string.h>

#include "message.h"

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Appends a digit to a magnitude of at most `limit`; 0 when it would pass it. */
static int append_digit(uint64_t *magnitude, char digit, uint64_t limit)
{
    uint64_t d = (uint64_t)(digit - '0');

    if (*magnitude > (limit - d) / 10)
        return 0;
    *magnitude = *magnitude * 10 + d;
    return 1;
}

static size_t count_digits(const char *text, size_t length)
{
    size_t n = 0;

    while (n < length && is_digit(text[n]))
        n++;
    return n;
}

/* Digits, a point, digits: what people write for a fraction. */
static int is_fraction(const char *text, size_t length)
{
    size_t whole = count_digits(text, length);
    size_t rest;

    if (whole == length || text[whole] != '.')
        return 0;
    rest = count_digits(text + whole + 1, length - whole - 1);
    return whole + rest > 0 && whole + 1 + rest == length;
}

int cli_read_whole(const char *text, size_t length, int64_t *value)
{
    int negative = length > 0 && text[0] == '-';
    uint64_t limit = (uint64_t)INT64_MAX + (uint64_t)negative;
    uint64_t magnitude = 0;

    text += negative;
    length -= (size_t)negative;
    if (is_fraction(text, length))
        return CLI_NUMBER_FRACTION;
    if (length == 0 || count_digits(text, length) != length)
        return CLI_NOT_A_NUMBER;
    for (size_t i = 0; i < length; i++)
        if (!append_digit(&magnitude, text[i], limit))
            return negative ? CLI_NUMBER_SMALL : CLI_NUMBER_LARGE;
    if (negative && magnitude > 0)
        *value = -(int64_t)(magnitude - 1) - 1;
    else
        *value = (int64_t)magnitude;
    return CLI_NUMBER;
}

int cli_read_decimal(const char *text, size_t length, int places, int64_t *value)
{
    size_t whole = count_digits(text, length);
    size_t fraction = whole < length ? length - whole - 1 : 0;
    uint64_t magnitude = 0;

    if (whole == 0 || (whole < length && !is_fraction(text, length)))
        return CLI_NOT_A_NUMBER;
    for (size_t i = 0; i < whole; i++)
        if (!append_digit(&magnitude, text[i], INT64_MAX))
            return CLI_NUMBER_LARGE;
    text += whole + 1;
    for (size_t i = 0; i < (size_t)places; i++)
        if (!append_digit(&magnitude, i < fraction ? text[i] : '0', INT64_MAX))
            return CLI_NUMBER_LARGE;
    for (size_t i = (size_t)places; i < fraction; i++)
        if (text[i] != '0')
            return CLI_NUMBER_FRACTION;
    *value = (int64_t)magnitude;
    return CLI_NUMBER;
}

int cli_whole_in(const char *option, const char *text, int64_t minimum, int64_t maximum,
                 int64_t *value)
{
    int64_t number = 0;
    int kind = cli_read_whole(text, strlen(text), &number);

    if (kind == CLI_NOT_A_NUMBER || kind == CLI_NUMBER_FRACTION)
        return cli_fail(CLI_USAGE, "%s: '%s' is not a whole number", option,
                        cli_show_text(text).text);
    if (kind == CLI_NUMBER_SMALL || (kind == CLI_NUMBER && number < minimum))
        return cli_fail(CLI_USAGE, "%s: %s is below %" PRId64, option, cli_show_text(text).text,
                        minimum);
    if (kind == CLI_NUMBER_LARGE || number > maximum)
        return cli_fail(CLI_USAGE, "%s: %s is above %" PRId64, option, cli_show_text(text).text,
                        maximum);
    *value = number;
    return CLI_OK;
}
