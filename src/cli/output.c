/*
 * output.c - writes files whole or not at all: see output.h.
 */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 /* realpath */
#endif

#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"

#define TEMPORARY_TRIES 100
#define OUTPUTS 2 /* that any verb writes at once */

/* Names of the temporary files there are, for a signal to remove. */
static char *volatile pending[OUTPUTS];

static const int endings[] = { SIGHUP, SIGINT, SIGTERM };

/* The default action again, so that the exit status tells the signal. */
static void remove_pending(int number)
{
    for (int i = 0; i < OUTPUTS; i++)
        if (pending[i] != NULL)
            unlink(pending[i]);
    signal(number, SIG_DFL);
    raise(number);
}

void cli_output_guard(void)
{
    struct sigaction action, old;

    memset(&action, 0, sizeof action);
    action.sa_handler = remove_pending;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (sigaction(endings[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(endings[i], &action, NULL); /* what nohup ignores stays so */
}

/* Puts a name in the place of another. */
static void replace_pending(const char *name, char *by)
{
    for (int i = 0; i < OUTPUTS; i++)
        if (pending[i] == name) {
            pending[i] = by;
            return;
        }
}

static int fail_path(const char *path)
{
    return cli_fail(CLI_DATA, "%s: %s", path, strerror(errno));
}

/* "folder/.slimpack-PID-TRY.tmp" beside the target: short, so that it fits where
 * the target's own name does. NULL when out of memory. */
static char *temporary_name(const char *target, int try)
{
    const char *slash = strrchr(target, '/');
    size_t folder = slash != NULL ? (size_t)(slash - target) + 1 : 0;
    size_t room = folder + 64;
    char *name = malloc(room);

    if (name != NULL)
        snprintf(name, room, "%.*s.slimpack-%ld-%d.tmp", (int)folder, target, (long)getpid(), try);
    return name;
}

/* Creates the temporary file; the umask gives its mode. */
static int create_temporary(cli_output *output)
{
    int descriptor = -1;

    for (int try = 0; try < TEMPORARY_TRIES && descriptor < 0; try++) {
        free(output->temporary);
        output->temporary = temporary_name(output->target, try);
        if (output->temporary == NULL)
            return cli_fail_memory();
        descriptor = open(output->temporary, O_WRONLY | O_CREAT | O_EXCL, 0666);
        if (descriptor < 0 && errno != EEXIST)
            break;
    }
    if (descriptor < 0)
        return cli_fail(CLI_DATA, "%s: cannot create a file beside it: %s", output->name,
                        strerror(errno));
    replace_pending(NULL, output->temporary);
    output->file = fdopen(descriptor, "wb");
    if (output->file != NULL)
        return CLI_OK;
    replace_pending(output->temporary, NULL);
    close(descriptor);
    unlink(output->temporary);
    return cli_fail_memory();
}

/* A target that exists keeps its mode, and a link to it stays a link. */
static int open_renamed(const char *path, const struct stat *existing, cli_output *output)
{
    int code;

    if (existing != NULL && access(path, W_OK) != 0)
        return fail_path(path);
    output->target = existing != NULL ? realpath(path, NULL) : strdup(path);
    if (output->target == NULL)
        return fail_path(path);
    code = create_temporary(output);
    if (code == CLI_OK && existing != NULL)
        (void)fchmod(fileno(output->file), existing->st_mode & 0777);
    if (code != CLI_OK) {
        free(output->target);
        free(output->temporary);
    }
    return code;
}

/* "/dev/fd/3" may be a file that others write to as well: what they wrote stays. */
static int is_of_system(const char *path)
{
    return strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0;
}

static int open_directly(const char *path, cli_output *output)
{
    output->file = fopen(path, is_of_system(path) ? "ab" : "wb");
    return output->file != NULL ? CLI_OK : fail_path(path);
}

int cli_output_open(const char *path, cli_output *out)
{
    cli_output output = { NULL, path, NULL, NULL };
    struct stat status;
    int code = CLI_OK;

    if (strcmp(path, "-") == 0) {
        output.file = stdout;
        output.name = "standard output";
    } else if (stat(path, &status) != 0) {
        code = open_renamed(path, NULL, &output);
    } else if (S_ISDIR(status.st_mode)) {
        code = cli_fail(CLI_DATA, "%s: it is a directory, not a file", path);
    } else if (S_ISREG(status.st_mode) && !is_of_system(path)) {
        code = open_renamed(path, &status, &output);
    } else {
        code = open_directly(path, &output);
    }
    if (code == CLI_OK)
        *out = output;
    return code;
}

/* Ends the stream; what errno said when a write failed stands, if anything did. */
static int close_stream(FILE *file)
{
    int failed = ferror(file) | (fflush(file) != 0);
    int reason = errno;

    if (file != stdout && fclose(file) != 0 && !failed) {
        failed = 1;
        reason = errno;
    }
    errno = reason != 0 ? reason : EIO;
    return failed ? -1 : 0;
}

static void forget_temporary(cli_output *output)
{
    replace_pending(output->temporary, NULL);
    free(output->temporary);
    output->temporary = NULL;
}

int cli_output_commit(cli_output *output)
{
    int code = CLI_OK;

    if (close_stream(output->file) != 0)
        code = fail_path(output->name);
    output->file = NULL;
    if (output->target != NULL && code == CLI_OK) {
        if (rename(output->temporary, output->target) != 0)
            code = fail_path(output->name);
        else
            forget_temporary(output);
    }
    cli_output_discard(output);
    return code;
}

void cli_output_discard(cli_output *output)
{
    if (output->file != NULL && output->file != stdout)
        fclose(output->file);
    if (output->temporary != NULL)
        unlink(output->temporary);
    forget_temporary(output);
    free(output->target);
    memset(output, 0, sizeof *output);
}

int cli_output_is_standard(const char *path)
{
    static const char *const names[] = { "-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(path, names[i]) == 0)
            return 1;
    return 0;
}

/* Two names of a file that does not exist yet are told apart by their folders. */
static int same_target(const char *a, const char *b)
{
    const char *slash_a = strrchr(a, '/'), *slash_b = strrchr(b, '/');
    char *folder_a = slash_a != NULL ? strndup(a, (size_t)(slash_a - a) + 1) : strdup(".");
    char *folder_b = slash_b != NULL ? strndup(b, (size_t)(slash_b - b) + 1) : strdup(".");
    struct stat x, y;
    int same = folder_a != NULL && folder_b != NULL && stat(folder_a, &x) == 0 &&
               stat(folder_b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino &&
               strcmp(slash_a != NULL ? slash_a + 1 : a, slash_b != NULL ? slash_b + 1 : b) == 0;

    free(folder_a);
    free(folder_b);
    return same;
}

int cli_output_same(const char *a, const char *b)
{
    struct stat x, y;

    if (a == NULL || b == NULL)
        return 0;
    if (strcmp(a, b) == 0)
        return 1;
    if (strcmp(a, "-") == 0 || strcmp(b, "-") == 0)
        return 0;
    if (stat(a, &x) == 0 && stat(b, &y) == 0)
        return S_ISREG(x.st_mode) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
    return same_target(a, b);
}

int cli_flush_standard_output(void)
{
    if (close_stream(stdout) == 0)
        return CLI_OK;
    return cli_fail(CLI_DATA, "standard output: %s", strerror(errno));
}
