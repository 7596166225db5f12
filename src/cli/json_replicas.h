/*
 * json_replicas.h - the replicas of a plan file into a builder.
 */
#ifndef SLIMPACK_CLI_JSON_REPLICAS_H
#define SLIMPACK_CLI_JSON_REPLICAS_H

#include "json.h"
#include "json_walk.h"

/* Hands packs, shards, ops and memory of every replica to the builder; the
 * note's topology and memory cap are read already, and so are the merges.
 * `samples` and `merges` bound the indices. */
int cli_json_read_replicas(cli_walk *walk, json_t *root, const cli_plan_note *note,
                           int64_t samples, int64_t merges, sp_builder *builder);

#endif
