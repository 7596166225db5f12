/*
 * json_read.c - rebuilds a plan from its file: see json.h.
 *
 * The file is taken apart in the order that the builder needs: topology and
 * samples, merges, the memory cap, then the replicas; before there is a builder its
 * lists are held against the topology, so that a short file takes little memory.
 * Members that version 1 does not know are passed over; "alignment", "pad_multiple",
 * "lockstep", "memory_bytes", "virtual_stages" and "pipeline" may be missing, for then
 * the file claims nothing of them.
 */
#ifdef SP_HAVE_JANSSON

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "json.h"
#include "json_replicas.h"
#include "json_walk.h"

/* What jansson reads from; it passes over NUL bytes, so they are looked for here. */
typedef struct source {
    cli_input input;
    int nul;
    int begun;
} source;

/* A byte order mark, as some editors write it, is none of the text. */
static size_t without_mark(char *block, size_t count)
{
    if (count < 3 || memcmp(block, "\xef\xbb\xbf", 3) != 0)
        return count;
    memmove(block, block + 3, count - 3);
    return count - 3;
}

static size_t read_block(void *block, size_t room, void *data)
{
    source *from = data;
    size_t count = fread(block, 1, room, from->input.file);

    from->nul |= count > 0 && memchr(block, '\0', count) != NULL;
    if (!from->begun)
        count = without_mark(block, count);
    from->begun = 1;
    return count;
}

static int parse_source(source *from, json_t **root)
{
    const char *name = from->input.name;
    json_error_t error;
    json_t *parsed;
    int code = CLI_OK;

    cli_json_parse_begins();
    parsed = json_load_callback(read_block, from, JSON_REJECT_DUPLICATES, &error);
    cli_json_parse_ends();
    if (ferror(from->input.file))
        code = cli_fail(CLI_DATA, "%s: %s", name, strerror(errno));
    else if (from->nul)
        code = cli_fail(CLI_DATA, "%s: not JSON: it holds a NUL byte", name);
    else if (parsed == NULL)
        code = cli_fail(CLI_DATA, "%s:%d: not JSON: %s", name, error.line,
                        cli_show_text(error.text).text);
    if (code == CLI_OK)
        *root = parsed;
    else
        json_decref(parsed);
    return code;
}

static int parse_text(const char *path, json_t **root)
{
    source from = { { NULL, NULL }, 0, 0 };
    int code = cli_input_open(path, &from.input);

    if (code != CLI_OK)
        return code;
    code = parse_source(&from, root);
    cli_input_close(&from.input);
    return code;
}

static int read_text(cli_walk *walk, json_t *root, const char *key, char **out)
{
    json_t *value = cli_walk_member(walk, root, key, JSON_STRING);

    if (value == NULL)
        return CLI_DATA;
    *out = strdup(json_string_value(value));
    if (*out == NULL)
        return cli_fail_memory();
    cli_walk_leave(walk);
    return CLI_OK;
}

static int read_format(cli_walk *walk, json_t *root)
{
    json_t *format = cli_walk_member(walk, root, "format", JSON_STRING);
    int64_t version = 0;

    if (format == NULL)
        return CLI_DATA;
    if (strcmp(json_string_value(format), "slimpack-plan") != 0)
        return cli_walk_fail(walk, "'%s' is not slimpack-plan",
                             cli_show_text(json_string_value(format)).text);
    cli_walk_leave(walk);
    return cli_walk_member_int(walk, root, "version", 1, 1, &version);
}

static int read_topology(cli_walk *walk, json_t *root, cli_plan_file *plan)
{
    json_t *object = cli_walk_member(walk, root, "topology", JSON_OBJECT);
    cli_plan_note *n = &plan->note;
    const char *const keys[4] = { "dp", "tp", "pp", "cp" };
    int64_t *const degrees[4] = { &n->dp, &n->tp, &n->pp, &n->cp };
    int code = object != NULL ? CLI_OK : CLI_DATA;
    sp_status status;

    for (int i = 0; i < 4 && code == CLI_OK; i++)
        code = cli_walk_member_int(walk, object, keys[i], 1, INT32_MAX, degrees[i]);
    if (code != CLI_OK)
        return code;
    status = sp_topology_create((int32_t)n->dp, (int32_t)n->tp, (int32_t)n->pp, (int32_t)n->cp,
                                NULL, &plan->topology);
    if (status != SP_OK)
        return cli_walk_fail_library(walk, status);
    cli_walk_leave(walk);
    return CLI_OK;
}

static int read_names(cli_walk *walk, json_t *root, cli_plan_file *plan)
{
    int code = read_text(walk, root, "policy", &plan->text[0]);

    if (code == CLI_OK)
        code = read_text(walk, root, "model", &plan->text[1]);
    if (code == CLI_OK)
        code = read_text(walk, root, "device", &plan->text[2]);
    plan->note.policy = plan->text[0];
    plan->note.model = plan->text[1];
    plan->note.device = plan->text[2];
    return code;
}

static int read_lengths(cli_walk *walk, json_t *samples, int64_t *lengths)
{
    int code = CLI_OK;

    for (size_t i = 0; code == CLI_OK && i < json_array_size(samples); i++)
        code = cli_walk_element_int(walk, samples, i, 1, INT32_MAX, &lengths[i]);
    return code;
}

static int read_samples(cli_walk *walk, json_t *root, cli_plan_file *plan)
{
    json_t *samples = cli_walk_member(walk, root, "samples", JSON_ARRAY);
    size_t count = json_array_size(samples); /* 0 for NULL */
    int64_t *lengths;
    sp_status status = SP_OK;
    int code;

    if (samples == NULL)
        return CLI_DATA;
    lengths = calloc(count > 0 ? count : 1, sizeof *lengths);
    if (lengths == NULL)
        return cli_fail_memory();
    code = read_lengths(walk, samples, lengths);
    if (code == CLI_OK)
        status = sp_batch_create(lengths, (int64_t)count, NULL, &plan->batch);
    free(lengths);
    if (status != SP_OK)
        code = cli_walk_fail_library(walk, status);
    if (code == CLI_OK)
        cli_walk_leave(walk);
    return code;
}

static int read_digest(cli_walk *walk, json_t *stats, uint64_t *out)
{
    json_t *value = cli_walk_member(walk, stats, "digest", JSON_STRING);
    const char *text = value != NULL ? json_string_value(value) : NULL;

    if (text == NULL)
        return CLI_DATA;
    if (strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16)
        return cli_walk_fail(walk, "'%s' is not 16 hex digits", cli_show_text(text).text);
    *out = strtoull(text, NULL, 16);
    cli_walk_leave(walk);
    return CLI_OK;
}

/* A member that may be missing keeps the value that it has. */
static int read_optional_int(cli_walk *walk, json_t *object, const char *key, int64_t minimum,
                             int64_t maximum, int64_t *out)
{
    if (json_object_get(object, key) == NULL)
        return CLI_OK;
    return cli_walk_member_int(walk, object, key, minimum, maximum, out);
}

static int read_optional_bool(cli_walk *walk, json_t *object, const char *key, int64_t *out)
{
    json_t *value = json_object_get(object, key);

    if (value != NULL && !json_is_boolean(value))
        return cli_walk_member(walk, object, key, JSON_TRUE) == NULL ? CLI_DATA : CLI_OK;
    *out = json_is_true(value);
    return CLI_OK;
}

static int read_stats(cli_walk *walk, json_t *root, cli_plan_note *note)
{
    json_t *stats = cli_walk_member(walk, root, "stats", JSON_OBJECT);
    const char *const keys[4] = { "makespan_ps", "ideal_ps", "bound_ps", "plan_us" };
    int64_t *const values[4] = { &note->makespan_ps, &note->ideal_ps, &note->bound_ps,
                                 &note->plan_us };
    int code = stats != NULL ? CLI_OK : CLI_DATA;

    for (int i = 0; i < 4 && code == CLI_OK; i++)
        code = cli_walk_member_int(walk, stats, keys[i], 0, INT64_MAX, values[i]);
    note->memory_bytes = INT64_MAX;
    if (code == CLI_OK)
        code = read_optional_int(walk, stats, "memory_bytes", 0, INT64_MAX, &note->memory_bytes);
    if (code == CLI_OK)
        code = read_digest(walk, stats, &note->digest);
    if (code == CLI_OK)
        cli_walk_leave(walk);
    return code;
}

/* The replicas of a merge are consecutive: the first and their number say all. */
static int read_merge_replicas(cli_walk *walk, json_t *merge, int64_t dp, int64_t *first,
                               int64_t *count)
{
    json_t *list = cli_walk_member(walk, merge, "replicas", JSON_ARRAY);
    size_t size = json_array_size(list);
    int code = list != NULL ? CLI_OK : CLI_DATA;
    int64_t replica = 0;

    if (code == CLI_OK && size < 2)
        code = cli_walk_fail(walk, "%zu replicas are below 2", size);
    if (code == CLI_OK)
        code = cli_walk_element_int(walk, list, 0, 0, dp - 1, first);
    for (size_t i = 1; i < size && code == CLI_OK; i++)
        code = cli_walk_element_int(walk, list, i, *first + (int64_t)i, *first + (int64_t)i,
                                    &replica);
    if (code == CLI_OK)
        cli_walk_leave(walk);
    *count = (int64_t)size;
    return code;
}

static int read_merge(cli_walk *walk, json_t *merge, const cli_plan_file *plan,
                      sp_builder *builder)
{
    int64_t sample = 0, first = 0, count = 0;
    sp_status status;
    int code = cli_walk_member_int(walk, merge, "sample", 0, sp_batch_count(plan->batch) - 1,
                                   &sample);

    if (code == CLI_OK)
        code = read_merge_replicas(walk, merge, plan->note.dp, &first, &count);
    if (code == CLI_OK && count > plan->note.dp)
        code = cli_walk_fail(walk, "%" PRId64 " replicas are above topology.dp, %" PRId64, count,
                             plan->note.dp);
    if (code != CLI_OK)
        return code;
    status = sp_builder_add_merge(builder, (int32_t)sample, (int32_t)first, (int32_t)count);
    return status == SP_OK ? CLI_OK : cli_walk_fail_library(walk, status);
}

static int read_merges(cli_walk *walk, json_t *root, const cli_plan_file *plan,
                       sp_builder *builder, int64_t *count)
{
    json_t *merges = cli_walk_member(walk, root, "merges", JSON_ARRAY);
    int code = merges != NULL ? CLI_OK : CLI_DATA;

    *count = (int64_t)json_array_size(merges);
    for (size_t i = 0; code == CLI_OK && i < json_array_size(merges); i++) {
        json_t *merge = cli_walk_element(walk, merges, i, JSON_OBJECT);

        code = merge != NULL ? read_merge(walk, merge, plan, builder) : CLI_DATA;
        if (code == CLI_OK)
            cli_walk_leave(walk);
    }
    if (code == CLI_OK)
        cli_walk_leave(walk);
    return code;
}

/* "virtual_stages" and "pipeline"; without them 1F1B in one chunk. */
static int read_pipeline(cli_walk *walk, json_t *root, cli_plan_note *note)
{
    json_t *name = json_object_get(root, "pipeline");
    int code;

    note->virtual_stages = 1;
    note->pipeline = SP_PIPELINE_1F1B;
    code = read_optional_int(walk, root, "virtual_stages", 1, SP_VIRTUAL_STAGES_MAX,
                             &note->virtual_stages);
    if (code != CLI_OK || name == NULL)
        return code;
    name = cli_walk_member(walk, root, "pipeline", JSON_STRING);
    if (name == NULL)
        return CLI_DATA;
    if (strcmp(json_string_value(name), "zero-bubble") == 0)
        note->pipeline = SP_PIPELINE_ZERO_BUBBLE;
    else if (strcmp(json_string_value(name), "1f1b") != 0)
        return cli_walk_fail(walk, "'%s' is neither 1f1b nor zero-bubble",
                             cli_show_text(json_string_value(name)).text);
    cli_walk_leave(walk);
    return CLI_OK;
}

/* Parameters that shaped the plan and that its invariants and its times depend on. */
static int read_shaping(cli_walk *walk, json_t *root, cli_plan_note *note)
{
    int code;

    note->alignment = note->pad_multiple = 1;
    code = read_optional_int(walk, root, "alignment", 1, INT32_MAX, &note->alignment);
    if (code == CLI_OK)
        code = read_optional_int(walk, root, "pad_multiple", 1, SP_PAD_MULTIPLE_MAX,
                                 &note->pad_multiple);
    return code == CLI_OK ? read_optional_bool(walk, root, "lockstep", &note->lockstep) : code;
}

static int read_head(cli_walk *walk, json_t *root, cli_plan_file *plan)
{
    int code = read_format(walk, root);

    if (code == CLI_OK)
        code = read_topology(walk, root, plan);
    if (code == CLI_OK)
        code = read_names(walk, root, plan);
    if (code == CLI_OK)
        code = read_shaping(walk, root, &plan->note);
    if (code == CLI_OK)
        code = read_pipeline(walk, root, &plan->note);
    if (code == CLI_OK)
        code = read_samples(walk, root, plan);
    return code == CLI_OK ? read_stats(walk, root, &plan->note) : code;
}

/* The walk stands at the root when the parts are complete: what the builder then
 * says is of the plan as a whole. */
static int build(cli_walk *walk, json_t *root, cli_plan_file *plan, sp_builder *builder)
{
    int64_t merges = 0;
    int code;
    sp_status status = cli_note_shape(&plan->note, builder);

    code = status == SP_OK ? read_merges(walk, root, plan, builder, &merges)
                           : cli_walk_fail_library(walk, status);
    if (code == CLI_OK)
        code = cli_json_read_replicas(walk, root, &plan->note, sp_batch_count(plan->batch),
                                      merges, builder);
    if (code != CLI_OK)
        return code;
    status = sp_builder_finish(builder, &plan->schedule);
    return status == SP_OK ? CLI_OK : cli_walk_fail_library(walk, status);
}

static int read_plan(cli_walk *walk, json_t *root, cli_plan_file *plan)
{
    sp_builder *builder = NULL;
    sp_status status;
    int code;

    if (!json_is_object(root))
        return cli_walk_fail(walk, "the document is not an object");
    code = read_head(walk, root, plan);
    if (code == CLI_OK)
        code = cli_json_check_sizes(walk, root, &plan->note);
    if (code != CLI_OK)
        return code;
    status = sp_builder_create(plan->topology, plan->batch, NULL, &builder);
    if (status != SP_OK)
        return cli_walk_fail_library(walk, status);
    code = build(walk, root, plan, builder);
    sp_builder_destroy(builder);
    return code;
}

int cli_json_read_plan(const char *path, cli_plan_file *out)
{
    cli_plan_file plan;
    cli_walk walk;
    json_t *root = NULL;
    int code;

    memset(&plan, 0, sizeof plan);
    memset(&walk, 0, sizeof walk);
    walk.name = plan.input_name = strcmp(path, "-") == 0 ? "standard input" : path;
    code = parse_text(path, &root);
    if (code != CLI_OK)
        return code;
    code = read_plan(&walk, root, &plan);
    json_decref(root);
    if (code == CLI_OK)
        *out = plan;
    else
        cli_plan_file_close(&plan);
    return code;
}

void cli_plan_file_close(cli_plan_file *plan)
{
    sp_schedule_destroy(plan->schedule);
    sp_batch_destroy(plan->batch);
    sp_topology_destroy(plan->topology);
    for (int i = 0; i < 3; i++)
        free(plan->text[i]);
    memset(plan, 0, sizeof *plan);
}

#else

typedef int cli_json_read_needs_jansson; /* C wants something here */

#endif
