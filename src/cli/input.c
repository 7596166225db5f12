/*
 * input.c - opens a file to read: see input.h.
 */
#include "input.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "message.h"

static int is_directory(FILE *file)
{
    struct stat status;

    return fstat(fileno(file), &status) == 0 && S_ISDIR(status.st_mode);
}

int cli_input_open(const char *path, cli_input *out)
{
    int standard = strcmp(path, "-") == 0;
    cli_input input = { standard ? stdin : fopen(path, "rb"), standard ? "standard input" : path };

    if (input.file == NULL)
        return cli_fail(CLI_DATA, "%s: %s", path, strerror(errno));
    if (is_directory(input.file)) {
        cli_input_close(&input);
        return cli_fail(CLI_DATA, "%s: it is a directory, not a file", input.name);
    }
    *out = input;
    return CLI_OK;
}

void cli_input_close(cli_input *input)
{
    if (input->file != stdin)
        fclose(input->file);
    input->file = NULL;
}
