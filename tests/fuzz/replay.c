/*
 * replay.c - drives a fuzz target over its committed seeds, without libFuzzer.
 *
 * The seeds lie in tests/fuzz/seeds/NAME for a program called fuzz_NAME; other files
 * may be named as arguments, to run a finding again. Each input is copied into memory
 * of its own size, so that a sanitizer sees a read past it. A fault ends the program
 * by a signal; the last input named is the one.
 */
#include <dirent.h>
#include <string.h>

#include "fuzz.h"

/* Files of a folder in the order of their names; how many. */
static int list_seeds(const char *folder, struct dirent ***entries)
{
    int count = scandir(folder, entries, NULL, alphasort);

    if (count < 0)
        fprintf(stderr, "%s: no such folder\n", folder);
    return count;
}

static int run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes;
    long size;

    printf("  %s\n", path);
    fflush(stdout);
    if (file == NULL || fseek(file, 0, SEEK_END) != 0 || (size = ftell(file)) < 0) {
        perror(path);
        return -1;
    }
    rewind(file);
    bytes = malloc(size > 0 ? (size_t)size : 1);
    if (bytes == NULL || fread(bytes, 1, (size_t)size, file) != (size_t)size)
        return -1;
    fclose(file);
    LLVMFuzzerTestOneInput(bytes, (size_t)size);
    free(bytes);
    return 0;
}

/* How many seeds were run, -1 when one could not be read. */
static int run_seeds(const char *folder)
{
    struct dirent **entries;
    int count = list_seeds(folder, &entries), runs = 0;

    for (int i = 0; i < count; i++) {
        char path[512];

        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.' && runs >= 0)
            runs = run_file(path) == 0 ? runs + 1 : -1;
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return runs;
}

int main(int argc, char **argv)
{
    const char *slash = strrchr(argv[0], '/'), *name = slash != NULL ? slash + 1 : argv[0];
    char folder[256];
    int runs = 0;

    for (int i = 1; i < argc; i++)
        if (run_file(argv[i]) != 0)
            return 1;
    if (argc > 1)
        return 0;
    snprintf(folder, sizeof folder, "tests/fuzz/seeds/%s",
             strncmp(name, "fuzz_", 5) == 0 ? name + 5 : name);
    runs = run_seeds(folder);
    if (runs < 1) { /* none is no pass */
        printf("[  FAILED  ] %s_seeds\n", name);
        return 1;
    }
    printf("[       OK ] %s_%d_seeds\n", name, runs);
    return 0;
}
