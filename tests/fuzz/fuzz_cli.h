/*
 * fuzz_cli.h - bytes as the program's standard input, and what it says caught.
 *
 * The readers take "-" for standard input, which glibc lets a program put in place.
 * A reader that succeeds says nothing; one that fails says one line, which begins with
 * the program's name and holds no control character, whatever the input holds.
 */
#ifndef TESTS_FUZZ_FUZZ_CLI_H
#define TESTS_FUZZ_FUZZ_CLI_H

#include "fuzz.h"

#include "cli/message.h"
#include "cli/progress.h"

typedef struct fuzz_cli {
    FILE *stream[3]; /* stdin, stdout and stderr as they were */
    char *said;
    size_t size;
} fuzz_cli;

static inline void fuzz_cli_begin(fuzz_cli *c, const uint8_t *data, size_t size)
{
    FILE *in = fmemopen((void *)(uintptr_t)data, size, "rb");
    FILE *out = fopen("/dev/null", "w"), *err = open_memstream(&c->said, &c->size);

    REQUIRE(in != NULL && out != NULL && err != NULL, "no stream of %zu bytes", size);
    c->stream[0] = stdin;
    c->stream[1] = stdout;
    c->stream[2] = stderr;
    stdin = in;
    stdout = out;
    stderr = err;
    cli_progress_allow(1);
}

/* Puts the streams back and holds the code against what was said. */
static inline void fuzz_cli_end(fuzz_cli *c, int code)
{
    fclose(stdin);
    fclose(stdout);
    fclose(stderr);
    stdin = c->stream[0];
    stdout = c->stream[1];
    stderr = c->stream[2];
    if (code == CLI_OK)
        REQUIRE(c->size == 0, "a success says: %s", c->said);
    else
        REQUIRE((code == CLI_DATA || code == CLI_USAGE) && c->size > 11 &&
                strncmp(c->said, "slimpack: ", 10) == 0 && c->said[c->size - 1] == '\n',
                "code %d: '%s'", code, c->said);
    for (size_t i = 0; i + 1 < c->size; i++)
        REQUIRE((unsigned char)c->said[i] >= ' ' && c->said[i] != 0x7f, "byte %zu of '%s'", i,
                c->said);
    free(c->said);
}

#endif
