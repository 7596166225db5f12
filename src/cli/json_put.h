/*
 * json_put.h - pieces of JSON text that need no jansson.
 */
#ifndef SLIMPACK_CLI_JSON_PUT_H
#define SLIMPACK_CLI_JSON_PUT_H

#include <stdint.h>
#include <stdio.h>

/* A string in quotes. What JSON or HTML could take for an end is written \u00XX, so
 * that the text may stand in a <script>; bytes above 127 are kept as they are. */
void cli_put_text(FILE *file, const char *text);

void cli_put_int(FILE *file, int64_t value);

/* Picoseconds as microseconds with six digits behind the point: exact. */
void cli_put_us(FILE *file, int64_t ps);

#endif
