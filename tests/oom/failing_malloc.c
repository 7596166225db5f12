/*
 * failing_malloc.c - preloaded into a program: the FAIL_AT-th allocation, counted from 1,
 * returns NULL. Writes the count of all to the file COUNT_TO at the end.
 */
#define _GNU_SOURCE

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *ptr, size_t size);

static atomic_long asked;
static long fail_at = -1;

static int fails(void)
{
    if (fail_at < 0) {
        const char *text = getenv("FAIL_AT");

        fail_at = text != NULL ? atol(text) : 0;
    }
    if (atomic_fetch_add(&asked, 1) + 1 != fail_at)
        return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *ptr, size_t size)
{
    return fails() ? NULL : __libc_realloc(ptr, size);
}

__attribute__((destructor)) static void report(void)
{
    const char *path = getenv("COUNT_TO");
    char text[32];
    int file, length = snprintf(text, sizeof text, "%ld\n", (long)asked);

    file = path != NULL ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
    if (file < 0)
        return;
    if (write(file, text, (size_t)length) != length)
        _exit(99);
    close(file);
}
