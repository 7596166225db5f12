/*
 * message.c - error messages and suggestions: see message.h.
 *
 * A suggestion is the name at the smallest edit distance (Wagner and Fischer,
 * 1974), the first of equals.
 */
#include "message.h"

#undef cli_fail
#undef cli_fail_library
#undef cli_fail_memory
#undef cli_fail_unknown

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "progress.h"

#define RED "\033[31m"
#define PLAIN "\033[0m"
#define LONGEST_NAME 63  /* longer names get no suggestion */
#define LONGEST_MESSAGE 8192 /* a path of the system's longest and a sentence */
#define LONGEST_LIST 160 /* longer lists are not told */

/* Names of files may hold anything, and a message ends up on a terminal. */
int cli_fail(int code, const char *format, ...)
{
    char words[LONGEST_MESSAGE];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    for (char *at = words; *at != '\0'; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = '?';
    cli_progress_clear();
    fputs(cli_has_colour(stderr) ? RED "slimpack: " PLAIN : "slimpack: ", stderr);
    fputs(words, stderr);
    fputc('\n', stderr);
    return code;
}

int cli_fail_library(int code, sp_status status, const char *place)
{
    const char *message = sp_error_message();

    if (status == SP_ERR_MEMORY)
        code = CLI_DATA;
    if (message[0] == '\0')
        message = sp_status_text(status);
    if (place == NULL)
        return cli_fail(code, "%s", message);
    return cli_fail(code, "%s: %s", place, message);
}

int cli_fail_memory(void)
{
    return cli_fail(CLI_DATA, "out of memory");
}

/* Bytes above 127 are kept: they are most likely a name in UTF-8. */
static size_t show_byte(char *out, unsigned char byte)
{
    static const char digits[] = "0123456789abcdef";

    if (byte >= 0x20 && byte != 0x7f) {
        out[0] = (char)byte;
        return 1;
    }
    out[0] = '\\';
    out[1] = 'x';
    out[2] = digits[byte >> 4];
    out[3] = digits[byte & 15];
    return 4;
}

cli_shown cli_show(const char *text, size_t length)
{
    cli_shown shown;
    size_t room = sizeof shown.text - sizeof "\\xNN...";
    size_t used = 0;
    size_t i;

    for (i = 0; i < length && used <= room; i++)
        used += show_byte(shown.text + used, (unsigned char)text[i]);
    if (i < length) {
        memcpy(shown.text + used, "...", 3);
        used += 3;
    }
    shown.text[used] = '\0';
    return shown;
}

cli_shown cli_show_text(const char *text)
{
    return cli_show(text, strlen(text));
}

static int smallest(int a, int b, int c)
{
    int least = a < b ? a : b;

    return least < c ? least : c;
}

/* Both names have at most LONGEST_NAME bytes. */
static int edit_distance(const char *a, const char *b)
{
    int row[LONGEST_NAME + 1];
    int n = (int)strlen(b);

    for (int j = 0; j <= n; j++)
        row[j] = j;
    for (int i = 1; a[i - 1] != '\0'; i++) {
        int diagonal = row[0];

        row[0] = i;
        for (int j = 1; j <= n; j++) {
            int above = row[j];

            row[j] = smallest(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
            diagonal = above;
        }
    }
    return row[n];
}

const char *cli_nearest(const char *name, cli_name_at at, const void *list)
{
    const char *best = NULL;
    const char *candidate;
    int best_distance = LONGEST_NAME;

    if (strlen(name) > LONGEST_NAME)
        return NULL;
    for (int i = 0; (candidate = at(list, i)) != NULL; i++) {
        int distance = strlen(candidate) > LONGEST_NAME ? LONGEST_NAME
                                                        : edit_distance(name, candidate);

        if (distance < best_distance) {
            best = candidate;
            best_distance = distance;
        }
    }
    /* Further than half its length is no slip of the fingers. */
    return best != NULL && best_distance <= (int)strlen(best) / 2 ? best : NULL;
}

/* The names of a short list, joined by commas; of a long one nothing. */
static void join_names(cli_name_at at, const void *list, char out[LONGEST_LIST + 1])
{
    const char *name;
    size_t used = 0;

    for (int i = 0; (name = at(list, i)) != NULL && used <= LONGEST_LIST; i++)
        used += (size_t)snprintf(out + used, LONGEST_LIST + 1 - used, "%s%s",
                                 i > 0 ? ", " : "", name);
    if (used > LONGEST_LIST)
        out[0] = '\0';
}

int cli_fail_unknown(const char *place, const char *what, const char *name, cli_name_at at,
                     const void *list)
{
    const char *nearest = cli_nearest(name, at, list);
    const char *before = place == NULL ? "" : place;
    const char *colon = place == NULL ? "" : ": ";
    char known[LONGEST_LIST + 1] = "";

    if (nearest == NULL)
        join_names(at, list, known);
    if (nearest == NULL)
        return cli_fail(CLI_USAGE, "%s%sunknown %s '%s'%s%s", before, colon, what,
                        cli_show_text(name).text, known[0] != '\0' ? "; known are " : "", known);
    return cli_fail(CLI_USAGE, "%s%sunknown %s '%s'; did you mean '%s'?", before, colon, what,
                    cli_show_text(name).text, nearest);
}
