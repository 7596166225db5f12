/*
 * tree.c - walks a directory: see tree.h.
 *
 * Directories that wait to be read are a list of their own, so that no depth of the
 * tree costs stack or open files.
 */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 /* lstat */
#endif

#include "tree.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "message.h"

typedef struct walk {
    cli_tree *tree;
    cli_tree waiting; /* directories by path */
} walk;

int cli_is_directory(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static int fail_path(const char *path)
{
    return cli_fail(CLI_DATA, "%s: %s", path, strerror(errno));
}

/* Takes over the path. */
static int add(cli_tree *list, char *path, int64_t bytes)
{
    if (list->count == list->capacity) {
        int64_t larger = list->capacity == 0 ? 256 : list->capacity * 2;
        cli_tree_file *files = realloc(list->files, (size_t)larger * sizeof *files);

        if (files == NULL) {
            free(path);
            return cli_fail_memory();
        }
        list->files = files;
        list->capacity = larger;
    }
    list->files[list->count].path = path;
    list->files[list->count++].bytes = bytes;
    return CLI_OK;
}

static char *join(const char *folder, const char *name)
{
    size_t length = strlen(folder), room = length + strlen(name) + 2;
    char *path = malloc(room);

    if (path != NULL)
        snprintf(path, room, "%s%s%s", folder,
                 length > 0 && folder[length - 1] == '/' ? "" : "/", name);
    return path;
}

static int take_entry(walk *w, const char *folder, const char *name)
{
    char *path = join(folder, name);
    struct stat status;

    if (path == NULL)
        return cli_fail_memory();
    if (lstat(path, &status) != 0) {
        int code = fail_path(path);

        free(path);
        return code;
    }
    if (S_ISDIR(status.st_mode))
        return add(&w->waiting, path, 0);
    if (S_ISREG(status.st_mode) && status.st_size > 0)
        return add(w->tree, path, (int64_t)status.st_size);
    free(path);
    if (S_ISREG(status.st_mode))
        w->tree->empty++;
    else if (S_ISLNK(status.st_mode))
        w->tree->links++;
    else
        w->tree->others++;
    return CLI_OK;
}

static int read_entries(walk *w, const char *folder, DIR *directory)
{
    struct dirent *entry;
    int code = CLI_OK;

    for (errno = 0; code == CLI_OK && (entry = readdir(directory)) != NULL; errno = 0) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (entry->d_name[0] == '.')
            w->tree->hidden++;
        else
            code = take_entry(w, folder, entry->d_name);
    }
    return code == CLI_OK && errno != 0 ? fail_path(folder) : code;
}

static int read_directory(walk *w, const char *path)
{
    DIR *directory = opendir(path);
    int code;

    if (directory == NULL)
        return fail_path(path);
    code = read_entries(w, path, directory);
    closedir(directory);
    return code;
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(((const cli_tree_file *)a)->path, ((const cli_tree_file *)b)->path);
}

int cli_tree_read(const char *path, cli_tree *out)
{
    walk w = { out, { NULL, 0, 0, 0, 0, 0, 0 } };
    int code;

    memset(out, 0, sizeof *out);
    code = read_directory(&w, path);
    while (code == CLI_OK && w.waiting.count > 0) {
        char *folder = w.waiting.files[--w.waiting.count].path;

        code = read_directory(&w, folder);
        free(folder);
    }
    cli_tree_free(&w.waiting);
    if (out->count > 1)
        qsort(out->files, (size_t)out->count, sizeof *out->files, compare_paths);
    return code;
}

void cli_tree_free(cli_tree *tree)
{
    for (int64_t i = 0; i < tree->count; i++)
        free(tree->files[i].path);
    free(tree->files);
    memset(tree, 0, sizeof *tree);
}
