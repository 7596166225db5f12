/*
 * json_replicas.h - the replicas of a plan file into a builder.
 */
#ifndef SLIMPACK_CLI_JSON_REPLICAS_H
#define SLIMPACK_CLI_JSON_REPLICAS_H

#include "json.h"
#include "json_walk.h"

/* Holds the sizes of the lists against the note's degrees, so that no memory is taken by
 * degrees that the file does not bear out. */
int cli_json_check_sizes(cli_walk *walk, json_t *root, const cli_plan_note *note);

/* Hands packs, shards, ops and memory of every replica to the builder; the
 * note's topology and memory cap are read already, and so are the merges; the sizes are
 * checked.
 * `samples` and `merges` bound the indices. */
int cli_json_read_replicas(cli_walk *walk, json_t *root, const cli_plan_note *note,
                           int64_t samples, int64_t merges, sp_builder *builder);

#endif
