/*
 * round_trip.c - see round_trip.h.
 */
#include "round_trip.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"
#include "views.h"

typedef struct trip {
    const sp_schedule *from, *to;
    char *why;
    size_t why_size;
} trip;

#define SAME(t, condition, ...)                              \
    do {                                                     \
        if (!(condition)) {                                  \
            snprintf((t)->why, (t)->why_size, __VA_ARGS__);  \
            return -1;                                       \
        }                                                    \
    } while (0)

unsigned char *encoded(const sp_schedule *schedule, int32_t rank, size_t *size)
{
    unsigned char *bytes;
    size_t written = 0;

    assert_int_equal(sp_schedule_encode(schedule, rank, NULL, 0, size), SP_OK);
    bytes = malloc(*size);
    assert_non_null(bytes);
    assert_int_equal(sp_schedule_encode(schedule, rank, bytes, *size, &written), SP_OK);
    assert_int_equal(written, *size);
    return bytes;
}

static int same_pack(const trip *t, int32_t rank, int32_t replica, sp_pass pass, int32_t k)
{
    sp_pack_view a = SP_PACK_VIEW_INIT, b = SP_PACK_VIEW_INIT;
    sp_slice_view x = SP_SLICE_VIEW_INIT, y = SP_SLICE_VIEW_INIT;
    size_t bytes;

    assert_int_equal(sp_schedule_pack(t->from, rank, pass, k, &a), SP_OK);
    assert_int_equal(sp_schedule_pack(t->to, rank, pass, k, &b), SP_OK);
    SAME(t, view_equal(&a, &b) && a.flags == b.flags, "rank %" PRId32 ": pass %" PRId32
         " pack %" PRId32 " is shown otherwise", rank, pass, k);
    assert_int_equal(sp_schedule_pack_slices(t->from, replica, pass, k, &x), SP_OK);
    assert_int_equal(sp_schedule_pack_slices(t->to, replica, pass, k, &y), SP_OK);
    bytes = (size_t)x.count * sizeof *x.sample;
    SAME(t, x.count == y.count && x.merge == y.merge && x.tokens == y.tokens &&
         memcmp(x.sample, y.sample, bytes) == 0 && memcmp(x.start, y.start, bytes) == 0 &&
         memcmp(x.length, y.length, bytes) == 0, "replica %" PRId32 ": slices of pass %" PRId32
         " pack %" PRId32 " are others", replica, pass, k);
    return 0;
}

static int same_ops(const trip *t, int32_t rank)
{
    sp_stage_view x = SP_STAGE_VIEW_INIT, y = SP_STAGE_VIEW_INIT;

    SAME(t, sp_schedule_op_count(t->from) == sp_schedule_op_count(t->to), "other counts of ops");
    for (int32_t i = 0; i < sp_schedule_op_count(t->from); i++) {
        sp_op_view a = SP_OP_VIEW_INIT, b = SP_OP_VIEW_INIT;

        assert_int_equal(sp_schedule_op(t->from, rank, i, &a), SP_OK);
        assert_int_equal(sp_schedule_op(t->to, rank, i, &b), SP_OK);
        SAME(t, memcmp(&a, &b, sizeof a) == 0, "rank %" PRId32 ": op %" PRId32 " is another", rank,
             i);
    }
    assert_int_equal(sp_schedule_stage(t->from, rank, &x), SP_OK);
    assert_int_equal(sp_schedule_stage(t->to, rank, &y), SP_OK);
    SAME(t, memcmp(&x, &y, sizeof x) == 0, "rank %" PRId32 ": memory is another", rank);
    return 0;
}

static int same_rank(const trip *t, int32_t rank, int32_t replica)
{
    for (sp_pass pass = SP_FORWARD; pass <= SP_BACKWARD; pass++)
        for (int32_t k = 0; k < sp_schedule_pack_count(t->from, pass); k++)
            if (same_pack(t, rank, replica, pass, k) != 0)
                return -1;
    return same_ops(t, rank);
}

/* What every part tells of the whole plan. */
static int same_frame(const trip *t)
{
    sp_stats a = SP_STATS_INIT, b = SP_STATS_INIT;
    sp_pipeline_view p = SP_PIPELINE_VIEW_INIT, q = SP_PIPELINE_VIEW_INIT;

    assert_int_equal(sp_schedule_stats(t->from, &a), SP_OK);
    assert_int_equal(sp_schedule_stats(t->to, &b), SP_OK);
    SAME(t, memcmp(&a, &b, sizeof a) == 0, "stats are others");
    SAME(t, sp_schedule_digest(t->from) == sp_schedule_digest(t->to), "the digest is another");
    SAME(t, memcmp(sp_schedule_lengths(t->from), sp_schedule_lengths(t->to),
                   (size_t)a.samples * sizeof(int64_t)) == 0, "lengths are others");
    SAME(t, sp_schedule_merge_count(t->from) == sp_schedule_merge_count(t->to), "other merges");
    for (int32_t g = 0; g < sp_schedule_merge_count(t->from); g++) {
        sp_merge_view m = SP_MERGE_VIEW_INIT, n = SP_MERGE_VIEW_INIT;

        assert_int_equal(sp_schedule_merge(t->from, g, &m), SP_OK);
        assert_int_equal(sp_schedule_merge(t->to, g, &n), SP_OK);
        SAME(t, memcmp(&m, &n, sizeof m) == 0, "merge %" PRId32 " is another", g);
    }
    assert_int_equal(sp_schedule_pipeline(t->from, &p), SP_OK);
    assert_int_equal(sp_schedule_pipeline(t->to, &q), SP_OK);
    SAME(t, memcmp(&p, &q, sizeof p) == 0, "the pipeline is another");
    return 0;
}

/* Whether two schedules, or parts, are encoded alike. */
static int same_bytes(const trip *t, int32_t rank)
{
    size_t m, n;
    unsigned char *a = encoded(t->from, rank, &m), *b = encoded(t->to, SP_ALL_RANKS, &n);
    int same = m == n && memcmp(a, b, m) == 0;

    free(a);
    free(b);
    SAME(t, same, "rank %" PRId32 ": what was decoded is encoded otherwise", rank);
    return 0;
}

/* Replicas that a rank's part holds, by the words of the header. */
static int is_held(const sp_schedule *s, int32_t own, int32_t replica)
{
    int held = own == replica;

    for (int32_t g = 0; g < sp_schedule_merge_count(s); g++) {
        sp_merge_view m = SP_MERGE_VIEW_INIT;

        assert_int_equal(sp_schedule_merge(s, g, &m), SP_OK);
        held |= own >= m.first_replica && own < m.first_replica + m.replicas &&
                replica >= m.first_replica && replica < m.first_replica + m.replicas;
    }
    return held;
}

static int check_part(const trip *t, const sp_topology *topology, int32_t rank)
{
    sp_coordinates own = SP_COORDINATES_INIT, at = SP_COORDINATES_INIT;

    if (same_frame(t) != 0 || same_bytes(t, rank) != 0)
        return -1;
    assert_int_equal(sp_topology_coordinates(topology, rank, &own), SP_OK);
    for (int32_t r = 0; r < sp_topology_size(topology); r++) {
        sp_op_view op = SP_OP_VIEW_INIT;

        assert_int_equal(sp_topology_coordinates(topology, r, &at), SP_OK);
        if (!is_held(t->from, own.dp, at.dp))
            SAME(t, sp_schedule_op_count(t->from) == 0 ||
                 sp_schedule_op(t->to, r, 0, &op) == SP_ERR_STATE,
                 "rank %" PRId32 "'s part answers for rank %" PRId32, rank, r);
        else if (same_rank(t, r, at.dp) != 0)
            return -1;
    }
    return 0;
}

/* The part, once cut out of the whole's bytes and once written alone. */
static int trip_of_part(trip t, const sp_topology *topology, const unsigned char *bytes,
                        size_t size, int32_t rank)
{
    sp_schedule *cut, *alone;
    unsigned char *part;
    int result;

    assert_int_equal(sp_schedule_decode(bytes, size, rank, NULL, &cut), SP_OK);
    t.to = cut;
    result = check_part(&t, topology, rank);
    sp_schedule_destroy(cut);
    part = encoded(t.from, rank, &size);
    assert_int_equal(sp_schedule_decode(part, size, rank, NULL, &alone), SP_OK);
    t.to = alone;
    if (result == 0)
        result = check_part(&t, topology, rank);
    sp_schedule_destroy(alone);
    free(part);
    return result;
}

int round_trip_check(const sp_schedule *schedule, const sp_topology *topology, int32_t rank,
                     char *why, size_t why_size)
{
    trip t = { schedule, NULL, why, why_size };
    sp_schedule *whole;
    unsigned char *bytes;
    size_t size;
    int result;

    bytes = encoded(schedule, SP_ALL_RANKS, &size);
    if (sp_schedule_decode(bytes, size, SP_ALL_RANKS, NULL, &whole) != SP_OK) {
        snprintf(why, why_size, "%s", sp_error_message());
        free(bytes);
        return -1;
    }
    t.to = whole;
    result = same_frame(&t) != 0 || same_bytes(&t, SP_ALL_RANKS) != 0 ? -1 : 0;
    for (int32_t r = 0; result == 0 && r < sp_topology_size(topology); r++) {
        sp_coordinates at = SP_COORDINATES_INIT;

        assert_int_equal(sp_topology_coordinates(topology, r, &at), SP_OK);
        result = same_rank(&t, r, at.dp);
    }
    sp_schedule_destroy(whole);
    if (result == 0)
        result = trip_of_part(t, topology, bytes, size, rank);
    free(bytes);
    return result;
}
