/*
 * session.h - the library's handles that the options ask for.
 *
 * Opening reads the lengths and makes topology, model, device, planner and
 * batch with every option and setting applied; closing frees what there is.
 */
#ifndef SLIMPACK_CLI_SESSION_H
#define SLIMPACK_CLI_SESSION_H

#include "lengths.h"
#include "options.h"
#include "slimpack.h"

/* Model and device by preset, with the settings of the command line. */
typedef struct cli_costs {
    const char *model_name, *device_name;
    sp_model *model;
    sp_device *device;
} cli_costs;

typedef struct cli_session {
    cli_costs costs;
    sp_topology *topology;
    sp_planner *planner;
    sp_batch *batch;
    const char *input_name; /* for messages */
} cli_session;

/* A plan and how long it took. */
typedef struct cli_planned {
    sp_schedule *schedule; /* NULL when the status is not SP_OK */
    sp_status status;
    int64_t plan_us;
} cli_planned;

/* The names stand in for --model and --device where those are not given, and memory_bytes
 * for the device's own where that is not; 0 stands for nothing. */
int cli_costs_open(const cli_options *options, const char *model, const char *device,
                   int64_t memory_bytes, cli_costs *out);
void cli_costs_close(cli_costs *costs);

int cli_session_open(const cli_options *options, cli_session *out);

/* All but the batch, for verbs that plan one after the other. */
int cli_session_prepare(const cli_options *options, cli_session *out);

/* Replaces the batch. */
int cli_session_set_batch(cli_session *session, const cli_lengths *lengths);

void cli_session_close(cli_session *session);

/* Plans under a policy and measures the time; reports nothing. */
cli_planned cli_session_plan(cli_session *session, int32_t policy);

/* The planner's value of a key that is known to exist. */
int64_t cli_session_get(const cli_session *session, int32_t key);

#endif
