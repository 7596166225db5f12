/*
 * session.c - makes the library's handles from the options: see session.h.
 */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#endif

#include "session.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "message.h"

static int apply_setting(const cli_setting *setting, sp_status status)
{
    char place[80];

    if (status == SP_OK)
        return CLI_OK;
    snprintf(place, sizeof place, "--set %s", cli_show_text(setting->text).text);
    return cli_fail_library(CLI_USAGE, status, place);
}

static int apply_cost_settings(const cli_options *options, cli_costs *costs)
{
    int code = CLI_OK;

    for (int i = 0; i < options->setting_count && code == CLI_OK; i++) {
        const cli_setting *s = &options->settings[i];

        if (s->table == CLI_TABLE_MODEL)
            code = apply_setting(s, sp_model_set(costs->model, s->key, s->value));
        else if (s->table == CLI_TABLE_DEVICE)
            code = apply_setting(s, sp_device_set(costs->device, s->key, s->value));
    }
    return code;
}

/* A preset that was not asked for comes from a plan file. */
static int check_preset(const char *option, const char *asked, sp_status status)
{
    char place[80];

    if (status == SP_OK)
        return CLI_OK;
    if (asked != NULL)
        return cli_fail_library(CLI_USAGE, status, option);
    snprintf(place, sizeof place, "%s is not given and the plan's does not do", option);
    return cli_fail_library(CLI_DATA, status, place);
}

int cli_costs_open(const cli_options *options, const char *model, const char *device,
                   int64_t memory_bytes, cli_costs *out)
{
    cli_costs costs = { options->model != NULL ? options->model : model,
                        options->device != NULL ? options->device : device, NULL, NULL };
    int code = check_preset("--model", options->model,
                            sp_model_create(costs.model_name, NULL, &costs.model));

    if (code == CLI_OK)
        code = check_preset("--device", options->device,
                            sp_device_create(costs.device_name, NULL, &costs.device));
    if (code == CLI_OK && options->device == NULL && memory_bytes > 0)
        sp_device_set(costs.device, SP_DEVICE_MEMORY_BYTES, memory_bytes);
    if (code == CLI_OK)
        code = apply_cost_settings(options, &costs);
    if (code == CLI_OK)
        *out = costs;
    else
        cli_costs_close(&costs);
    return code;
}

void cli_costs_close(cli_costs *costs)
{
    sp_model_destroy(costs->model);
    sp_device_destroy(costs->device);
    costs->model = NULL;
    costs->device = NULL;
}

static int set_policy(const cli_options *options, sp_planner *planner)
{
    int32_t policy;
    sp_status status;

    if (options->policy == NULL)
        return CLI_OK;
    status = sp_policy_find(options->policy, &policy);
    if (status == SP_OK)
        status = sp_planner_set(planner, SP_PLANNER_POLICY, policy);
    return status == SP_OK ? CLI_OK : cli_fail_library(CLI_USAGE, status, "--policy");
}

static int set_memory(const cli_options *options, sp_planner *planner)
{
    sp_status status = SP_OK;

    if (options->memory_bytes > 0)
        status = sp_planner_set(planner, SP_PLANNER_MEMORY_BYTES, options->memory_bytes);
    return status == SP_OK ? CLI_OK : cli_fail_library(CLI_USAGE, status, "--memory-gb");
}

/* Settings come after --policy and --memory-gb and so have the last word. */
static int configure_planner(const cli_options *options, sp_planner *planner)
{
    int code = set_policy(options, planner);

    if (code == CLI_OK)
        code = set_memory(options, planner);
    for (int i = 0; i < options->setting_count && code == CLI_OK; i++) {
        const cli_setting *s = &options->settings[i];

        if (s->table == CLI_TABLE_PLANNER)
            code = apply_setting(s, sp_planner_set(planner, s->key, s->value));
    }
    return code;
}

static int open_planner(const cli_options *options, cli_session *session)
{
    const cli_costs *costs = &session->costs;
    sp_status status =
        sp_topology_create((int32_t)options->dp, (int32_t)options->tp, (int32_t)options->pp,
                           (int32_t)options->cp, NULL, &session->topology);

    if (status == SP_OK)
        status = sp_planner_create(session->topology, costs->model, costs->device, NULL,
                                   &session->planner);
    if (status != SP_OK)
        return cli_fail_library(CLI_USAGE, status, NULL);
    return configure_planner(options, session->planner);
}

int cli_session_set_batch(cli_session *session, const cli_lengths *lengths)
{
    sp_status status;

    sp_batch_destroy(session->batch);
    session->batch = NULL;
    status = sp_batch_create(lengths->values, lengths->count, NULL, &session->batch);
    if (status != SP_OK)
        return cli_fail_library(CLI_DATA, status, session->input_name);
    return CLI_OK;
}

static int open_batch(const cli_options *options, cli_session *session)
{
    cli_lengths lengths;
    int code = cli_lengths_read(options->argument, options->field, options->skip,
                                options->batch, &lengths);

    if (code != CLI_OK)
        return code;
    code = cli_session_set_batch(session, &lengths);
    cli_lengths_free(&lengths);
    return code;
}

int cli_session_prepare(const cli_options *options, cli_session *out)
{
    cli_session session;
    int code;

    memset(&session, 0, sizeof session);
    if (options->argument == NULL)
        return cli_fail(CLI_USAGE, "%s: FILE is missing (- is standard input)",
                        options->verb_name);
    session.input_name = strcmp(options->argument, "-") == 0 ? "standard input"
                                                             : options->argument;
    code = cli_costs_open(options, "llama2-7b", "h100", 0, &session.costs);
    if (code == CLI_OK)
        code = open_planner(options, &session);
    if (code == CLI_OK)
        *out = session;
    else
        cli_session_close(&session);
    return code;
}

int cli_session_open(const cli_options *options, cli_session *out)
{
    int code = cli_session_prepare(options, out);

    if (code != CLI_OK)
        return code;
    code = open_batch(options, out);
    if (code != CLI_OK)
        cli_session_close(out);
    return code;
}

void cli_session_close(cli_session *session)
{
    sp_batch_destroy(session->batch);
    sp_planner_destroy(session->planner);
    sp_topology_destroy(session->topology);
    cli_costs_close(&session->costs);
    memset(session, 0, sizeof *session);
}

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

cli_planned cli_session_plan(cli_session *session, int32_t policy)
{
    cli_planned planned = { NULL, SP_OK, 0 };
    int64_t start;

    planned.status = sp_planner_set(session->planner, SP_PLANNER_POLICY, policy);
    if (planned.status != SP_OK)
        return planned;
    start = now_ns();
    planned.status = sp_plan_batch(session->planner, session->batch, &planned.schedule);
    planned.plan_us = (now_ns() - start + 500) / 1000;
    return planned;
}

int64_t cli_session_get(const cli_session *session, int32_t key)
{
    int64_t value = 0;

    sp_planner_get(session->planner, key, &value);
    return value;
}
