/*
 * message.h - exit codes and error messages of the slimpack program.
 *
 * Every error is one line on standard error that begins with "slimpack: " and
 * names the place, the value and the bound. The functions return the exit code
 * that they were given, so that a failing function can end with them.
 */
#ifndef SLIMPACK_CLI_MESSAGE_H
#define SLIMPACK_CLI_MESSAGE_H

#include <stddef.h>

#include "slimpack.h"

#if defined(__GNUC__)
#define CLI_PRINTF(at, first) __attribute__((format(printf, at, first)))
#else
#define CLI_PRINTF(at, first)
#endif

enum cli_code {
    CLI_OK = 0,
    CLI_DATA = 1, /* what a file holds, what the system refuses, what no plan can keep */
    CLI_USAGE = 2 /* what the command line says */
};

/* Prints "slimpack: " and the message. */
int cli_fail(int code, const char *format, ...) CLI_PRINTF(2, 3);

/* Reports the library's last message behind a place such as a file's name (NULL:
 * none). Out of memory is never the command line's fault, whatever the code. */
int cli_fail_library(int code, sp_status status, const char *place);

int cli_fail_memory(void);

/* A text that is safe to print: long ones cut, unprintable bytes as \xNN. */
typedef struct cli_shown {
    char text[64];
} cli_shown;

cli_shown cli_show(const char *text, size_t length);
cli_shown cli_show_text(const char *text);

/* The index-th name of a list, NULL past the last. */
typedef const char *(*cli_name_at)(const void *list, int index);

/* The name of a list nearest to a mistyped one, NULL when none is near. */
const char *cli_nearest(const char *name, cli_name_at at, const void *list);

/* Reports a name that is not in a list, with the nearest one that is, or a short list. */
int cli_fail_unknown(const char *place, const char *what, const char *name, cli_name_at at,
                     const void *list);

/* An analyser that looks at one file does not know that these never return CLI_OK. */
#ifdef __clang_analyzer__
static inline int cli_fails(int code, ...)
{
    return code;
}
#define cli_fail cli_fails
#define cli_fail_library cli_fails
#define cli_fail_memory() CLI_DATA
#define cli_fail_unknown(...) cli_fails(CLI_USAGE, __VA_ARGS__)
#endif

#endif
