/*
 * json_none.c - stands in for json_write.c and json_read.c in a program built
 * without jansson: every verb asks cli_json_available() first and ends there.
 */
#include "json.h"

#include "message.h"

#ifndef SP_HAVE_JANSSON

int cli_json_available(void)
{
    return cli_fail(CLI_DATA, "built without JSON (install libjansson-dev and rebuild)");
}

int cli_json_write_plan(const char *path, const sp_schedule *schedule,
                        const sp_topology *topology, const cli_plan_note *note)
{
    (void)path;
    (void)schedule;
    (void)topology;
    (void)note;
    return cli_json_available();
}

int cli_json_read_plan(const char *path, cli_plan_file *out)
{
    (void)path;
    (void)out;
    return cli_json_available();
}

void cli_plan_file_close(cli_plan_file *plan)
{
    (void)plan;
}

int cli_json_write_comparison(const char *path, const cli_plan_note *note,
                              const cli_comparison_row *rows, int count)
{
    (void)path;
    (void)note;
    (void)rows;
    (void)count;
    return cli_json_available();
}

#endif
