/*
 * json_put.c - pieces of JSON text: see json_put.h.
 */
#include "json_put.h"

#include <string.h>

static int is_plain(unsigned char byte)
{
    return byte >= 0x20 && byte != 0x7f && strchr("\"\\<>&'", byte) == NULL;
}

void cli_put_text(FILE *file, const char *text)
{
    putc('"', file);
    for (; *text != '\0'; text++)
        if (is_plain((unsigned char)*text))
            putc(*text, file);
        else
            fprintf(file, "\\u%04x", (unsigned)(unsigned char)*text);
    putc('"', file);
}

/* Digits from the end of a buffer of 24 bytes, `least` of them at least. */
static char *digits_of(uint64_t value, int least, char *end)
{
    do {
        *--end = (char)('0' + value % 10);
        value /= 10;
    } while (--least > 0 || value > 0);
    return end;
}

static void put_digits(FILE *file, uint64_t value, int least)
{
    char digits[24];
    char *at = digits_of(value, least, digits + sizeof digits);

    fwrite(at, 1, (size_t)(digits + sizeof digits - at), file);
}

static uint64_t put_sign(FILE *file, int64_t value)
{
    if (value >= 0)
        return (uint64_t)value;
    putc('-', file);
    return 0 - (uint64_t)value;
}

void cli_put_int(FILE *file, int64_t value)
{
    put_digits(file, put_sign(file, value), 1);
}

void cli_put_us(FILE *file, int64_t ps)
{
    uint64_t size = put_sign(file, ps);

    put_digits(file, size / 1000000, 1);
    putc('.', file);
    put_digits(file, size % 1000000, 6);
}
