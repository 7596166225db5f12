/*
 * data_files.h - the length files that tests and benches plan.
 *
 * They lie in the folder that SLIMPACK_DATA names, ../shared/data when it is unset, and
 * are no part of the project: where they are absent, what needs them is skipped.
 */
#ifndef TESTS_SUPPORT_DATA_FILES_H
#define TESTS_SUPPORT_DATA_FILES_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* In the order of the tables. */
static const char *const data_files[] = {
    "azure-llm-code", "code-repo-level", "code-repositories", "longtail-1m", "longtail-256k",
    "longtail-64k", "mooncake-conversation", "multimodal-pages", "pretrain-longtail",
    "rl-reasoning", "rlhf-replies", "sft-short",
};

enum { DATA_FILES = sizeof data_files / sizeof *data_files };

/* A file of the data folder by its name and ending; NULL where it is absent. */
static inline FILE *data_open(const char *name, const char *ending)
{
    const char *folder = getenv("SLIMPACK_DATA");
    char path[512];

    snprintf(path, sizeof path, "%s/%s%s", folder != NULL ? folder : "../shared/data", name,
             ending);
    return fopen(path, "r");
}

/* Lengths of a data file, at most limit; 0 where the file is absent. */
static inline int64_t data_read(const char *name, int64_t *lengths, int64_t limit)
{
    FILE *file = data_open(name, ".txt");
    char line[64];
    int64_t count = 0;

    while (file != NULL && count < limit && fgets(line, sizeof line, file) != NULL)
        if (line[0] >= '0' && line[0] <= '9')
            lengths[count++] = strtoll(line, NULL, 10);
    if (file != NULL)
        fclose(file);
    return count;
}

/* Whether the data folder is there. */
static inline int data_is_there(void)
{
    int64_t one;

    return data_read(data_files[0], &one, 1) == 1;
}

#endif
