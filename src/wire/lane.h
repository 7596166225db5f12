/*
 * lane.h - the section of one replica, written and read.
 */
#ifndef SP_WIRE_LANE_H
#define SP_WIRE_LANE_H

#include "wire/wire.h"

typedef struct sp__lane_writer {
    const struct sp_schedule *s;
    sp__walk walk;
    int32_t *place;  /* [slices of the largest pack] place + 1 */
    int32_t *cursor; /* [cp] shards of a pack that its slices have explained */
} sp__lane_writer;

sp_status sp__lane_writer_open(sp__lane_writer *w, const struct sp_schedule *s, sp__arena *arena);

/* Writes the section of a replica that the schedule holds. */
void sp__put_lane(sp__sink *sink, sp__lane_writer *w, int32_t replica);

/* Reads sections twice over: without a schedule it adds up the size that one takes,
 * with one it fills it in. */
typedef struct sp__lane_reader {
    sp__plan_size size;
    const int64_t *lengths;
    const sp__merge *merge;
    int64_t work_left;     /* slices and shards of all ranks that the bytes may stand for */
    struct sp_schedule *s; /* NULL to measure */
    sp__walk walk;
    int64_t at[2]; /* slices read */
    int64_t *pool; /* [lanes * cp] place in the pool of the next shards */
    const sp__alloc *alloc;
    sp__slice *slice; /* of one pack */
    int64_t slice_capacity;
    sp__slice *shard; /* of one pack on one rank */
    int64_t shard_capacity;
} sp__lane_reader;

/* Reads one section, which has to end where its source ends. */
sp_status sp__get_lane(sp__source *source, sp__lane_reader *r, int32_t replica);

/* The sentence for bytes that hold something no encoder writes. */
sp_status sp__wire_fail(const sp__source *source, const char *what);

#endif
