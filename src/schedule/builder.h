/*
 * builder.h - the parts of a schedule that was not planned here, as they were listed.
 */
#ifndef SP_SCHEDULE_BUILDER_H
#define SP_SCHEDULE_BUILDER_H

#include "schedule/schedule.h"

/* A growing array of int32 triples (sample, start, length). */
typedef struct triples {
    int32_t *data;
    int64_t count, capacity;
} triples;

typedef struct built_pack {
    int64_t first; /* of the list's slices or shards */
    int32_t count;
    int32_t merge;
} built_pack;

/* Packs of one pass of a replica, or of one of its CP ranks (shards). */
typedef struct built_list {
    built_pack *pack;
    int64_t packs, capacity;
    triples parts;
} built_list;

typedef struct built_op {
    int64_t start, end;
    int32_t op; /* as sp__op() makes it */
} built_op;

typedef struct built_stage {
    built_op *op;
    int64_t ops, capacity;
    int64_t static_bytes, peak_bytes;
} built_stage;

struct sp_builder {
    sp__alloc alloc;
    sp__shape shape;
    int32_t samples, alignment, pad_multiple, lockstep;
    sp__flow flow;
    int64_t *lengths;
    int64_t memory;
    sp__merge *merge;
    int64_t merges, merge_capacity;
    built_list *slices[2]; /* [dp] */
    built_list *shards[2]; /* [dp * cp] */
    built_stage *stage;    /* [dp * pp] */
};

#endif
