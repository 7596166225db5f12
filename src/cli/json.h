/*
 * json.h - plans and comparisons as JSON: what is written and what is read.
 *
 * A program built without jansson has no JSON: cli_json_available() says so and
 * reports it, and the other functions are never reached.
 */
#ifndef SLIMPACK_CLI_JSON_H
#define SLIMPACK_CLI_JSON_H

#include "slimpack.h"

/* CLI_OK, or CLI_DATA with the reason reported. */
int cli_json_available(void);

/* What a plan file says beside its schedule. */
typedef struct cli_plan_note {
    int64_t dp, tp, pp, cp;
    const char *policy, *model, *device;
    int64_t alignment, pad_multiple, lockstep;
    int64_t virtual_stages;
    int64_t pipeline; /* sp_pipeline */
    int64_t plan_us;
    int64_t makespan_ps, ideal_ps, bound_ps, memory_bytes;
    uint64_t digest;
} cli_plan_note;

/* Copies what the stats say of times and memory, and the digest. */
void cli_note_stats(const sp_schedule *schedule, const sp_stats *stats, cli_plan_note *note);

/* Tells a builder what shapes the plan as a whole. */
sp_status cli_note_shape(const cli_plan_note *note, sp_builder *builder);

/* Writes a plan to a path, whole or not at all. */
int cli_json_write_plan(const char *path, const sp_schedule *schedule,
                        const sp_topology *topology, const cli_plan_note *note);

/* A plan read from a file and rebuilt: its invariants hold. */
typedef struct cli_plan_file {
    cli_plan_note note; /* strings live in `text` */
    char *text[3];
    const char *input_name;
    sp_topology *topology;
    sp_batch *batch;
    sp_schedule *schedule;
} cli_plan_file;

/* Reads a plan, "-" from standard input. Close with cli_plan_file_close(). */
int cli_json_read_plan(const char *path, cli_plan_file *out);
void cli_plan_file_close(cli_plan_file *plan);

/* One policy's row of a comparison. */
typedef struct cli_comparison_row {
    const char *policy;
    sp_status status;
    char reason[512]; /* the library's message when the status is not SP_OK */
    sp_stats stats;
    int64_t plan_us;
} cli_comparison_row;

/* Writes a comparison to a path, whole or not at all. */
int cli_json_write_comparison(const char *path, const cli_plan_note *note,
                              const cli_comparison_row *rows, int count);

#endif
