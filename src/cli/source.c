/*
 * source.c - reads a file in blocks: see source.h.
 */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* fileno, lseek */
#endif

#include "source.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"

/* Standard input may be a file that was read in part. Files of /proc call themselves
 * empty. */
static int64_t find_size(FILE *file)
{
    struct stat status;
    off_t start = lseek(fileno(file), 0, SEEK_CUR);

    if (start < 0 || fstat(fileno(file), &status) != 0 || !S_ISREG(status.st_mode))
        return -1;
    return status.st_size > start ? (int64_t)(status.st_size - start) : -1;
}

static void fill(cli_source *source)
{
    source->before += (int64_t)source->filled;
    source->at = 0;
    source->filled = 0;
    if (source->error != 0)
        return;
    source->filled = fread(source->block, 1, sizeof source->block, source->input.file);
    if (source->filled < sizeof source->block && ferror(source->input.file))
        source->error = errno != 0 ? errno : EIO;
}

int cli_source_open(const char *path, cli_source *out)
{
    int code;

    memset(out, 0, offsetof(cli_source, block));
    code = cli_input_open(path, &out->input);
    if (code != CLI_OK)
        return code;
    out->size = find_size(out->input.file);
    fill(out);
    return CLI_OK;
}

void cli_source_close(cli_source *source)
{
    cli_input_close(&source->input);
}

const unsigned char *cli_source_chunk(cli_source *source, size_t *count)
{
    if (source->at == source->filled)
        fill(source);
    *count = source->filled - source->at;
    return source->block + source->at;
}

void cli_source_advance(cli_source *source, size_t count)
{
    source->at += count;
}

size_t cli_source_read(cli_source *source, void *out, size_t count)
{
    unsigned char *to = out;
    size_t done = 0;

    while (done < count) {
        size_t part;
        const unsigned char *chunk = cli_source_chunk(source, &part);

        if (part == 0)
            break;
        part = part < count - done ? part : count - done;
        memcpy(to + done, chunk, part);
        cli_source_advance(source, part);
        done += part;
    }
    return done;
}

int64_t cli_source_taken(const cli_source *source)
{
    return source->before + (int64_t)source->at;
}

int cli_source_check(const cli_source *source)
{
    if (source->error == 0)
        return CLI_OK;
    return cli_fail(CLI_DATA, "%s: %s", source->input.name, strerror(source->error));
}
