/*
 * json_walk.h - walks a JSON document and knows where it is, for messages.
 *
 * The path is kept as frames and written out only when something is wrong, so
 * that a million elements cost nothing. After a failure the walk is over: the
 * frames stay as they were and nobody pops them.
 */
#ifndef SLIMPACK_CLI_JSON_WALK_H
#define SLIMPACK_CLI_JSON_WALK_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "message.h"

#define CLI_WALK_DEPTH 12 /* replicas[].forward[].shards[][][] is 7 deep */

typedef struct cli_walk {
    const char *name; /* of the file */
    struct cli_frame {
        const char *key; /* NULL: an element */
        size_t index;
    } frames[CLI_WALK_DEPTH];
    int depth;
} cli_walk;

void cli_walk_enter(cli_walk *walk, const char *key);
void cli_walk_enter_element(cli_walk *walk, size_t index);
void cli_walk_leave(cli_walk *walk);

/* Reports what is wrong at the place where the walk is. */
int cli_walk_fail(const cli_walk *walk, const char *format, ...) CLI_PRINTF(2, 3);
int cli_walk_fail_library(const cli_walk *walk, sp_status status);

/* Enters a member; NULL, reported, when it is not there or of another type. */
json_t *cli_walk_member(cli_walk *walk, json_t *object, const char *key, json_type type);

/* Enters the index-th element; NULL, reported, when it is of another type. */
json_t *cli_walk_element(cli_walk *walk, json_t *array, size_t index, json_type type);

/* Reads the integer where the walk is. */
int cli_walk_int(const cli_walk *walk, const json_t *value, int64_t minimum, int64_t maximum,
                 int64_t *out);

/* Reads an integer member or element; enters and leaves it. */
int cli_walk_member_int(cli_walk *walk, json_t *object, const char *key, int64_t minimum,
                        int64_t maximum, int64_t *out);
int cli_walk_element_int(cli_walk *walk, json_t *array, size_t index, int64_t minimum,
                         int64_t maximum, int64_t *out);

/* Holds an array's size against what it must be. */
int cli_walk_size(const cli_walk *walk, const json_t *array, int64_t size, const char *what);

/* Around each call that parses: jansson 2.14 frees twice when memory runs out in the
 * middle of a document. Between the two an allocation that fails ends the program, with
 * the message and the code that it would have had; nothing is open then but the input. */
void cli_json_parse_begins(void);
void cli_json_parse_ends(void);

#endif
