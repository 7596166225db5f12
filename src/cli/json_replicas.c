/*
 * json_replicas.c - the replicas of a plan file: see json_replicas.h.
 *
 * Here types and ranges are checked, with the place in the file; whether the
 * parts make a plan is for the builder to say when it finishes.
 */
#ifdef SP_HAVE_JANSSON

#include "json_replicas.h"

#include <stdlib.h>
#include <string.h>

typedef struct loader {
    cli_walk *walk;
    sp_builder *builder;
    const cli_plan_note *note;
    int64_t samples, merges;
    int32_t *triples; /* [3 * capacity] */
    size_t capacity;
} loader;

/* Doubles, so that a plan costs few allocations. */
static int reserve_triples(loader *l, size_t count)
{
    size_t larger = l->capacity == 0 ? 64 : l->capacity;
    int32_t *triples;

    if (count <= l->capacity)
        return CLI_OK;
    while (larger < count)
        larger *= 2;
    if (larger > SIZE_MAX / (3 * sizeof *triples))
        return cli_fail_memory();
    triples = realloc(l->triples, larger * 3 * sizeof *triples);
    if (triples == NULL)
        return cli_fail_memory();
    l->triples = triples;
    l->capacity = larger;
    return CLI_OK;
}

/* [sample, start, length] where the walk is. */
static int read_triple(loader *l, json_t *array, int32_t *out)
{
    const int64_t minimum[3] = { 0, 0, 1 };
    const int64_t maximum[3] = { l->samples - 1, INT32_MAX - 1, INT32_MAX };
    int code = cli_walk_size(l->walk, array, 3, "the size of [sample, start, length]");

    for (size_t i = 0; i < 3 && code == CLI_OK; i++) {
        int64_t value = 0;

        code = cli_walk_element_int(l->walk, array, i, minimum[i], maximum[i], &value);
        out[i] = (int32_t)value;
    }
    return code;
}

/* A list of triples where the walk is, into l->triples. */
static int read_triples(loader *l, json_t *list, int32_t *count)
{
    size_t size = json_array_size(list);
    int code = reserve_triples(l, size);

    if (code == CLI_OK && size > INT32_MAX)
        code = cli_walk_fail(l->walk, "%zu entries are above 2147483647", size);
    for (size_t i = 0; i < size && code == CLI_OK; i++) {
        json_t *triple = cli_walk_element(l->walk, list, i, JSON_ARRAY);

        code = triple != NULL ? read_triple(l, triple, l->triples + 3 * i) : CLI_DATA;
        if (code == CLI_OK)
            cli_walk_leave(l->walk);
    }
    if (code == CLI_OK)
        *count = (int32_t)size;
    return code;
}

static int read_slices(loader *l, json_t *pack, int32_t dp, sp_pass pass)
{
    json_t *list;
    int64_t merge = -1;
    int32_t count = 0;
    sp_status status;
    int code = cli_walk_member_int(l->walk, pack, "merge", -1, l->merges - 1, &merge);

    if (code != CLI_OK)
        return code;
    list = cli_walk_member(l->walk, pack, "slices", JSON_ARRAY);
    code = list != NULL ? read_triples(l, list, &count) : CLI_DATA;
    if (code != CLI_OK)
        return code;
    status = sp_builder_add_pack(l->builder, dp, pass, (int32_t)merge, count, l->triples);
    if (status != SP_OK)
        return cli_walk_fail_library(l->walk, status);
    cli_walk_leave(l->walk);
    return CLI_OK;
}

static int read_rank_shards(loader *l, json_t *list, int32_t dp, sp_pass pass, int32_t cp)
{
    int32_t count = 0;
    sp_status status;
    int code = read_triples(l, list, &count);

    if (code != CLI_OK)
        return code;
    status = sp_builder_add_shards(l->builder, dp, pass, cp, count, l->triples);
    return status == SP_OK ? CLI_OK : cli_walk_fail_library(l->walk, status);
}

static int read_shards(loader *l, json_t *pack, int32_t dp, sp_pass pass)
{
    json_t *ranks = cli_walk_member(l->walk, pack, "shards", JSON_ARRAY);
    int code = ranks != NULL ? cli_walk_size(l->walk, ranks, l->note->cp, "topology.cp") : CLI_DATA;

    for (int32_t cp = 0; cp < l->note->cp && code == CLI_OK; cp++) {
        json_t *list = cli_walk_element(l->walk, ranks, (size_t)cp, JSON_ARRAY);

        code = list != NULL ? read_rank_shards(l, list, dp, pass, cp) : CLI_DATA;
        if (code == CLI_OK)
            cli_walk_leave(l->walk);
    }
    if (code == CLI_OK)
        cli_walk_leave(l->walk);
    return code;
}

static int read_packs(loader *l, json_t *replica, int32_t dp, sp_pass pass)
{
    const char *key = pass == SP_FORWARD ? "forward" : "backward";
    json_t *packs = cli_walk_member(l->walk, replica, key, JSON_ARRAY);
    int code = packs != NULL ? CLI_OK : CLI_DATA;

    for (size_t i = 0; code == CLI_OK && i < json_array_size(packs); i++) {
        json_t *pack = cli_walk_element(l->walk, packs, i, JSON_OBJECT);

        code = pack != NULL ? read_slices(l, pack, dp, pass) : CLI_DATA;
        if (code == CLI_OK)
            code = read_shards(l, pack, dp, pass);
        if (code == CLI_OK)
            cli_walk_leave(l->walk);
    }
    if (code == CLI_OK)
        cli_walk_leave(l->walk);
    return code;
}

static int read_pass(loader *l, json_t *op, sp_pass *pass)
{
    json_t *value = cli_walk_element(l->walk, op, 0, JSON_STRING);
    const char *text = value != NULL ? json_string_value(value) : NULL;

    if (text == NULL)
        return CLI_DATA;
    if (strcmp(text, "F") != 0 && strcmp(text, "B") != 0 && strcmp(text, "W") != 0)
        return cli_walk_fail(l->walk, "'%s' is none of F, B and W", cli_show_text(text).text);
    *pass = text[0] == 'F' ? SP_FORWARD : text[0] == 'B' ? SP_BACKWARD : SP_WEIGHT;
    cli_walk_leave(l->walk);
    return CLI_OK;
}

/* ["F", pack, start_ps, end_ps] where the walk is, the chunk behind it where there are
 * several. */
static int read_op(loader *l, json_t *op, int32_t dp, int32_t pp)
{
    sp_pass pass = SP_FORWARD;
    int64_t pack = 0, start = 0, end = 0, chunk = 0;
    int many = l->note->virtual_stages > 1;
    sp_status status;
    int code = cli_walk_size(l->walk, op, many ? 5 : 4,
                             many ? "the size of [pass, pack, start, end, chunk]"
                                  : "the size of [pass, pack, start, end]");

    if (code == CLI_OK)
        code = read_pass(l, op, &pass);
    if (code == CLI_OK)
        code = cli_walk_element_int(l->walk, op, 1, 0, INT32_MAX, &pack);
    if (code == CLI_OK)
        code = cli_walk_element_int(l->walk, op, 2, 0, INT64_MAX, &start);
    if (code == CLI_OK)
        code = cli_walk_element_int(l->walk, op, 3, start, INT64_MAX, &end);
    if (code == CLI_OK && many)
        code = cli_walk_element_int(l->walk, op, 4, 0, l->note->virtual_stages - 1, &chunk);
    if (code != CLI_OK)
        return code;
    status = sp_builder_add_op(l->builder, dp, pp, pass, (int32_t)pack, (int32_t)chunk, start,
                               end);
    return status == SP_OK ? CLI_OK : cli_walk_fail_library(l->walk, status);
}

static int read_ops(loader *l, json_t *stage, int32_t dp, int32_t pp)
{
    json_t *ops = cli_walk_member(l->walk, stage, "ops", JSON_ARRAY);
    int code = ops != NULL ? CLI_OK : CLI_DATA;

    for (size_t i = 0; code == CLI_OK && i < json_array_size(ops); i++) {
        json_t *op = cli_walk_element(l->walk, ops, i, JSON_ARRAY);

        code = op != NULL ? read_op(l, op, dp, pp) : CLI_DATA;
        if (code == CLI_OK)
            cli_walk_leave(l->walk);
    }
    if (code == CLI_OK)
        cli_walk_leave(l->walk);
    return code;
}

static int read_stage(loader *l, json_t *stage, int32_t dp, int32_t pp)
{
    int64_t index = 0, fixed = 0, peak = 0;
    sp_status status;
    int code = cli_walk_member_int(l->walk, stage, "pp", pp, pp, &index);

    if (code == CLI_OK)
        code = cli_walk_member_int(l->walk, stage, "static_bytes", 0, INT64_MAX, &fixed);
    if (code == CLI_OK)
        code = cli_walk_member_int(l->walk, stage, "peak_bytes", fixed, INT64_MAX, &peak);
    if (code == CLI_OK)
        code = read_ops(l, stage, dp, pp);
    if (code != CLI_OK)
        return code;
    status = sp_builder_set_memory(l->builder, dp, pp, fixed, peak, l->note->memory_bytes);
    return status == SP_OK ? CLI_OK : cli_walk_fail_library(l->walk, status);
}

static int read_stages(loader *l, json_t *replica, int32_t dp)
{
    json_t *stages = cli_walk_member(l->walk, replica, "stages", JSON_ARRAY);
    int code = stages != NULL ? CLI_OK : CLI_DATA;

    for (int32_t pp = 0; pp < l->note->pp && code == CLI_OK; pp++) {
        json_t *stage = cli_walk_element(l->walk, stages, (size_t)pp, JSON_OBJECT);

        code = stage != NULL ? read_stage(l, stage, dp, pp) : CLI_DATA;
        if (code == CLI_OK)
            cli_walk_leave(l->walk);
    }
    if (code == CLI_OK)
        cli_walk_leave(l->walk);
    return code;
}

static int read_replica(loader *l, json_t *replica, int32_t dp)
{
    int64_t index = 0;
    int code = cli_walk_member_int(l->walk, replica, "dp", dp, dp, &index);

    if (code == CLI_OK)
        code = read_packs(l, replica, dp, SP_FORWARD);
    if (code == CLI_OK)
        code = read_packs(l, replica, dp, SP_BACKWARD);
    return code == CLI_OK ? read_stages(l, replica, dp) : code;
}

/* A replica's stages, and the CP ranks of its first pack. */
static int check_replica_sizes(cli_walk *walk, json_t *replica, const cli_plan_note *note)
{
    json_t *list = cli_walk_member(walk, replica, "stages", JSON_ARRAY);
    int code = list != NULL ? cli_walk_size(walk, list, note->pp, "topology.pp") : CLI_DATA;

    if (code != CLI_OK)
        return code;
    cli_walk_leave(walk);
    list = cli_walk_member(walk, replica, "forward", JSON_ARRAY);
    if (list == NULL)
        return CLI_DATA;
    if (json_array_size(list) == 0)
        return cli_walk_fail(walk, "no entries, but every replica has a pack");
    list = cli_walk_element(walk, list, 0, JSON_OBJECT);
    list = list != NULL ? cli_walk_member(walk, list, "shards", JSON_ARRAY) : NULL;
    code = list != NULL ? cli_walk_size(walk, list, note->cp, "topology.cp") : CLI_DATA;
    for (int depth = 0; depth < 3 && code == CLI_OK; depth++)
        cli_walk_leave(walk);
    return code;
}

int cli_json_check_sizes(cli_walk *walk, json_t *root, const cli_plan_note *note)
{
    json_t *replicas = cli_walk_member(walk, root, "replicas", JSON_ARRAY);
    int code = replicas != NULL ? cli_walk_size(walk, replicas, note->dp, "topology.dp") : CLI_DATA;

    for (int32_t dp = 0; dp < note->dp && code == CLI_OK; dp++) {
        json_t *replica = cli_walk_element(walk, replicas, (size_t)dp, JSON_OBJECT);

        code = replica != NULL ? check_replica_sizes(walk, replica, note) : CLI_DATA;
        if (code == CLI_OK)
            cli_walk_leave(walk);
    }
    if (code == CLI_OK)
        cli_walk_leave(walk);
    return code;
}

int cli_json_read_replicas(cli_walk *walk, json_t *root, const cli_plan_note *note,
                           int64_t samples, int64_t merges, sp_builder *builder)
{
    loader l = { walk, builder, note, samples, merges, NULL, 0 };
    json_t *replicas = cli_walk_member(walk, root, "replicas", JSON_ARRAY);
    int code = replicas != NULL ? CLI_OK : CLI_DATA;

    for (int32_t dp = 0; dp < note->dp && code == CLI_OK; dp++) {
        json_t *replica = cli_walk_element(walk, replicas, (size_t)dp, JSON_OBJECT);

        code = replica != NULL ? read_replica(&l, replica, dp) : CLI_DATA;
        if (code == CLI_OK)
            cli_walk_leave(walk);
    }
    if (code == CLI_OK)
        cli_walk_leave(walk);
    free(l.triples);
    return code;
}

#else

typedef int cli_json_replicas_needs_jansson; /* C wants something here */

#endif
