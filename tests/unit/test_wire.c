/*
 * test_wire.c - plans as bytes: what is written is read again, and nothing else is.
 *
 * Hostile bytes are valid ones with numbers changed and the checksum set right again:
 * they reach the checks behind it. Whatever they hold, decoding ends with a status,
 * allocates in proportion to them and leaves nothing behind.
 */
#include <stdlib.h>
#include <string.h>

#include "wire/wire.h"

#include "../support/expect.h"
#include "../support/failing_alloc.h"
#include "../support/planned.h"
#include "../support/random_case.h"
#include "../support/round_trip.h"
#include "../support/small_plan.h"
#include "../support/weighed.h"

/* A plan with merges, context ranks and both passes, and its bytes. */
typedef struct sent {
    planned plan;
    unsigned char *bytes;
    size_t size;
} sent;

static sent w;

static int send_plan(void **state)
{
    const plan_input input = { .topology = "dp=4 pp=2 cp=2",
                                      .set = { { SP_PLANNER_MAX_PACKS, 6 } },
                                      LENGTHS(9000, 40, 700, 1, 2, 333, 1200, 512, 64, 77) };

    (void)state;
    w.plan = plan_it(&input);
    w.bytes = encoded(w.plan.schedule, SP_ALL_RANKS, &w.size);
    assert_true(w.plan.stats.merges > 0);
    return 0;
}

static int drop_plan(void **state)
{
    (void)state;
    planned_free(&w.plan);
    free(w.bytes);
    return 0;
}

static void sign(unsigned char *bytes, size_t size)
{
    sp__sink sink = { bytes, SP__WIRE_SUMMED - 8 };

    sp__put_fixed(&sink, sp__checksum(bytes + SP__WIRE_SUMMED, size - SP__WIRE_SUMMED), 8);
}

static void numbers_of_all_sizes_are_read_as_written(void **state)
{
    static const uint64_t some[] = { 0, 1, 127, 128, 16383, 16384, INT32_MAX, INT64_MAX,
                                     UINT64_MAX };
    unsigned char bytes[16];

    (void)state;
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        int64_t folded = sp__unfold(some[i]);
        sp__sink sink = { bytes, 0 };
        sp__source source;

        sp__put(&sink, some[i]);
        source = (sp__source){ bytes, 0, sink.at, 0 };
        assert_true(sp__get(&source) == some[i] && source.at == sink.at && !source.failed);
        assert_true(sp__fold(folded) == some[i]);
    }
    assert_true(sp__unfold(sp__fold(INT64_MIN)) == INT64_MIN);
}

static void plans_of_random_cases_survive_the_trip(void **state)
{
    int plans = 0;

    (void)state;
    for (uint64_t seed = 0; seed < 400; seed++) {
        random_case c;
        case_handles h;
        sp_schedule *schedule;
        char why[400];

        random_case_make(seed, CASE_ANY, &c);
        assert_int_equal(random_case_open(&c, &h), SP_OK);
        if (sp_plan_batch(h.planner, h.batch, &schedule) == SP_OK) {
            int32_t rank = (int32_t)(seed % (uint64_t)sp_topology_size(h.topology));

            if (round_trip_check(schedule, h.topology, rank, why, sizeof why) != 0)
                fail_msg("seed %d: %s", (int)seed, why);
            sp_schedule_destroy(schedule);
            plans++;
        }
        random_case_close(&h);
    }
    assert_true(plans > 200);
}

/* Shards that no rule gives, as another planner's plan may have them. */
static void plans_from_parts_survive_the_trip(void **state)
{
    const small_plan plans[] = { small_plan_of_two_stages(), small_plan_of_two_merges(),
                                 small_plan_of_three_replicas(),
                                 small_plan_of_two_context_ranks() };

    (void)state;
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        sp_schedule *schedule;
        sp_topology *topology;
        char why[400];

        assert_int_equal(small_plan_build(&plans[i], &schedule, &topology), SP_OK);
        if (round_trip_check(schedule, topology, 0, why, sizeof why) != 0)
            fail_msg("plan %d: %s", (int)i, why);
        sp_schedule_destroy(schedule);
        sp_topology_destroy(topology);
    }
}

static void shards_that_follow_no_rule_are_written_out(void **state)
{
    small_plan plan = small_plan_of_two_context_ranks();
    sp_schedule *schedule;
    sp_topology *topology;
    char why[400];

    (void)state;
    for (int pass = 0; pass < 2; pass++)
        for (int32_t k = 0; k < plan.packs[0][pass]; k++) {
            small_pack *p = &plan.pack[0][pass][k], old = *p;

            for (int c = 0; c < 2; c++) { /* the ranks change places */
                p->shards[c] = old.shards[1 - c];
                memcpy(p->shard[c], old.shard[1 - c], sizeof old.shard[0]);
            }
        }
    assert_int_equal(small_plan_build(&plan, &schedule, &topology), SP_OK);
    if (round_trip_check(schedule, topology, 1, why, sizeof why) != 0)
        fail_msg("%s", why);
    sp_schedule_destroy(schedule);
    sp_topology_destroy(topology);
}

static void a_flagged_pack_stays_flagged(void **state)
{
    const plan_input input = { .topology = "dp=2 cp=2",
                               .set = { { SP_PLANNER_MAX_PACK_TOKENS, 20 },
                                        { SP_PLANNER_SLICING, 0 },
                                        { SP_PLANNER_OVERSIZE, SP_OVERSIZE_ALONE },
                                        { SP_PLANNER_PAD_MULTIPLE, 8 } },
                               LENGTHS(70, 5, 5) };
    planned p = plan_it(&input);
    int flagged = 0;
    char why[400];

    (void)state;
    for (int32_t dp = 0; dp < 2; dp++)
        for (int32_t k = 0; k < p.stats.forward_packs; k++)
            flagged += (pack_of(&p, dp, 0, SP_FORWARD, k).flags & SP_PACK_OVERSIZE) != 0;
    assert_true(flagged > 0);
    if (round_trip_check(p.schedule, p.topology, 1, why, sizeof why) != 0)
        fail_msg("%s", why);
    planned_free(&p);
}

static void arguments_are_checked(void **state)
{
    sp_schedule *out = NULL;
    size_t size = 7;
    unsigned char few[8];

    (void)state;
    EXPECT_FAIL(sp_schedule_encode(NULL, 0, NULL, 0, &size), SP_ERR_INVALID,
                "schedule is NULL");
    EXPECT_FAIL(sp_schedule_encode(w.plan.schedule, 0, NULL, 0, NULL), SP_ERR_INVALID,
                "size is NULL");
    EXPECT_FAIL(sp_schedule_encode(w.plan.schedule, 0, NULL, 1, &size), SP_ERR_INVALID,
                "buffer is NULL");
    EXPECT_FAIL(sp_schedule_encode(w.plan.schedule, 16, NULL, 0, &size), SP_ERR_RANGE,
                "rank: 16 is outside -1 to 15");
    EXPECT_FAIL(sp_schedule_encode(w.plan.schedule, -2, NULL, 0, &size), SP_ERR_RANGE,
                "rank: -2 is outside -1 to 15");
    memset(few, 0x5a, sizeof few);
    assert_int_equal(sp_schedule_encode(w.plan.schedule, -1, few, 8, &size), SP_ERR_RANGE);
    for (int i = 0; i < 8; i++)
        assert_int_equal(few[i], 0x5a);
    assert_int_equal(size, 7);
    EXPECT_FAIL(sp_schedule_decode(NULL, 8, 0, NULL, &out), SP_ERR_INVALID,
                "bytes is NULL");
    EXPECT_FAIL(sp_schedule_decode(few, 8, 0, NULL, NULL), SP_ERR_INVALID,
                "out is NULL");
    EXPECT_FAIL(sp_schedule_decode(w.bytes, w.size, 16, NULL, &out), SP_ERR_RANGE,
                "rank: 16 is outside -1 to 15");
    assert_null(out);
}

/* A replica that shares nothing, of a plan of three. */
static void a_part_says_what_it_lacks(void **state)
{
    const small_plan plan = small_plan_of_three_replicas();
    sp_schedule *schedule, *part, *out = NULL;
    sp_topology *topology;
    sp_model *model;
    sp_device *device;
    sp_simulation *simulation = NULL;
    sp_slice_view slices = SP_SLICE_VIEW_INIT;
    size_t size, whole;
    unsigned char *bytes;

    (void)state;
    assert_int_equal(small_plan_build(&plan, &schedule, &topology), SP_OK);
    assert_int_equal(sp_schedule_encode(schedule, SP_ALL_RANKS, NULL, 0, &whole), SP_OK);
    bytes = encoded(schedule, 1, &size);
    assert_true(size < whole);
    assert_int_equal(sp_schedule_decode(bytes, size, SP_ALL_RANKS, NULL, &part), SP_OK);
    EXPECT_FAIL(sp_schedule_pack_slices(part, 2, SP_FORWARD, 0, &slices), SP_ERR_STATE,
                "replica 2: this part of the schedule holds replicas 1 to 1");
    EXPECT_FAIL(sp_schedule_check(part), SP_ERR_STATE,
                "schedule: 1 of 3 replicas are here; this needs all");
    EXPECT_FAIL(sp_schedule_encode(part, 2, NULL, 0, &size), SP_ERR_STATE,
                "rank 2: takes replicas 2 to 2, this part of the schedule holds 1 to 1");
    EXPECT_FAIL(sp_schedule_decode(bytes, size, 0, NULL, &out), SP_ERR_STATE,
                "rank 0: takes replicas 0 to 0, the bytes hold 1 to 1");
    assert_int_equal(sp_model_create("llama2-7b", NULL, &model), SP_OK);
    assert_int_equal(sp_device_create("ideal", NULL, &device), SP_OK);
    assert_int_equal(sp_simulate(part, model, device, &simulation), SP_ERR_STATE);
    assert_null(simulation);
    assert_true(sp_schedule_digest(part) == sp_schedule_digest(schedule));
    sp_device_destroy(device);
    sp_model_destroy(model);
    sp_schedule_destroy(part);
    sp_schedule_destroy(schedule);
    sp_topology_destroy(topology);
    free(bytes);
}

/* What no planner and no builder takes. */
static void sizes_that_no_plan_has_are_refused(void **state)
{
    const plan_input input = { .topology = "dp=2", LENGTHS(700, 5, 5) };
    planned p = plan_it(&input);
    sp_schedule *out = NULL;

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct sp_schedule s = *p.schedule;
        unsigned char *bytes;
        size_t size;

        if (i == 0)
            s.pad_multiple = SP_PAD_MULTIPLE_MAX + 1;
        else
            s.flow.chunks = 2; /* of one stage */
        bytes = encoded(&s, SP_ALL_RANKS, &size);
        assert_int_equal(sp_schedule_decode(bytes, size, SP_ALL_RANKS, NULL, &out), SP_ERR_FORMAT);
        assert_non_null(strstr(sp_error_message(), "sizes of no plan"));
        assert_null(out);
        free(bytes);
    }
    planned_free(&p);
}

static void truncated_bytes_are_refused(void **state)
{
    sp_schedule *out = NULL;

    (void)state;
    for (size_t n = 0; n < w.size; n++) {
        unsigned char *some = malloc(n + 1); /* so that a sanitizer sees a read past it */

        memcpy(some, w.bytes, n);
        assert_int_equal(sp_schedule_decode(some, n, SP_ALL_RANKS, NULL, &out), SP_ERR_FORMAT);
        free(some);
    }
    EXPECT_FAIL(sp_schedule_decode(w.bytes, 39, SP_ALL_RANKS, NULL, &out), SP_ERR_FORMAT,
                "bytes: 39 are fewer than the 40 of an encoded plan's head");
    assert_null(out);
}

static void a_flipped_bit_is_noticed(void **state)
{
    sp_schedule *out = NULL;

    (void)state;
    for (size_t i = 0; i < 8 * w.size; i++) {
        w.bytes[i / 8] ^= (unsigned char)(1 << i % 8);
        assert_int_equal(sp_schedule_decode(w.bytes, w.size, SP_ALL_RANKS, NULL, &out),
                         SP_ERR_FORMAT);
        w.bytes[i / 8] ^= (unsigned char)(1 << i % 8);
    }
    assert_null(out);
}

static void other_versions_and_formats_are_named(void **state)
{
    static const char text[64] = "{\"format\":\"slimpack-plan\",\"version\":1,";
    sp_schedule *out = NULL;

    (void)state;
    w.bytes[8] = 2;
    sign(w.bytes, w.size);
    EXPECT_FAIL(sp_schedule_decode(w.bytes, w.size, SP_ALL_RANKS, NULL, &out), SP_ERR_FORMAT,
                "bytes: version 2, this library reads 1");
    w.bytes[8] = 1;
    sign(w.bytes, w.size);
    EXPECT_FAIL(sp_schedule_decode(text, sizeof text, SP_ALL_RANKS, NULL, &out), SP_ERR_FORMAT,
                "bytes: no encoded plan, they do not begin with \"slimpack\"");
    assert_null(out);
}

/* Decodes bytes that may hold anything, whole or a rank's part. */
static void decode_hostile(const unsigned char *bytes, size_t size, int32_t rank)
{
    weighed m = WEIGHED_INIT(m);
    sp_schedule *out = NULL;
    sp_status status = sp_schedule_decode(bytes, size, rank, &m.hooks, &out);

    assert_true(status == SP_OK || status == SP_ERR_FORMAT || status == SP_ERR_INVARIANT ||
                status == SP_ERR_OVERFLOW || status == SP_ERR_RANGE || status == SP_ERR_STATE);
    assert_true((status == SP_OK) == (out != NULL));
    assert_true(m.most <= 4096 * size);
    sp_schedule_destroy(out);
    assert_int_equal(m.live, 0);
}

/* Each byte behind the head in turn takes values that matter to its number. */
static void each_changed_number_ends_with_a_status(void **state)
{
    static const unsigned char values[] = { 0x00, 0x01, 0x7f, 0x80, 0xff };

    (void)state;
    for (size_t i = SP__WIRE_SUMMED; i < w.size; i++) {
        unsigned char old = w.bytes[i];

        for (size_t v = 0; v < sizeof values; v++) {
            w.bytes[i] = values[v];
            sign(w.bytes, w.size);
            decode_hostile(w.bytes, w.size, SP_ALL_RANKS);
            decode_hostile(w.bytes, w.size, 5);
        }
        w.bytes[i] = old;
    }
    sign(w.bytes, w.size);
}

static void random_changes_end_with_a_status(void **state)
{
    unsigned char *bytes = malloc(w.size);
    uint64_t s = 3;

    (void)state;
    for (int round = 0; round < 20000; round++) {
        memcpy(bytes, w.bytes, w.size);
        for (int64_t n = 1 + random_below(&s, 4); n > 0; n--)
            bytes[SP__WIRE_SUMMED + random_below(&s, (int64_t)(w.size - SP__WIRE_SUMMED))] =
                (unsigned char)random_next(&s);
        sign(bytes, w.size);
        decode_hostile(bytes, w.size, round % 2 == 0 ? SP_ALL_RANKS : 3);
    }
    free(bytes);
}

/* Bytes that begin as a plan of these sizes, followed by a few that are 1. */
static size_t claim(unsigned char *bytes, const uint64_t sizes[19], size_t tail)
{
    sp__sink sink = { bytes, 0 };

    memcpy(bytes, SP__WIRE_MAGIC, 8);
    sink.at = 8;
    sp__put_fixed(&sink, SP_WIRE_VERSION, 8);
    sink.at = SP__WIRE_HEAD;
    for (int i = 0; i < 19; i++)
        sp__put(&sink, sizes[i]);
    memset(bytes + sink.at, 1, tail);
    sink.at += tail;
    tail = sink.at;
    sink.at = 16;
    sp__put_fixed(&sink, tail, 8);
    sign(bytes, tail);
    return tail;
}

/* Counts that would ask for terabytes are refused by the bytes that are there. */
static void huge_counts_allocate_nothing_much(void **state)
{
    static const uint64_t honest[19] = { 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 0, 1, 1, 64, 1, 0, 1,
                                         0 };
    unsigned char *bytes = malloc(5000);

    (void)state;
    for (int i = 0; i < 19; i++)
        for (int shift = 8; shift < 64; shift += 5)
            for (int j = i; j < 19; j++) {
                uint64_t sizes[19];

                memcpy(sizes, honest, sizeof sizes);
                sizes[i] = (UINT64_C(1) << shift) - 1;
                sizes[j] = sizes[i];
                decode_hostile(bytes, claim(bytes, sizes, 4000), SP_ALL_RANKS);
            }
    free(bytes);
}

/* Thousands of ranks that each look at thousands of slices, out of few bytes. */
static void work_that_grows_faster_than_the_bytes_is_refused(void **state)
{
    enum { SLICES = 3000, RANKS = 2000 };
    static const uint64_t sizes[] = { 1, RANKS, 1, 1, 1, 1, RANKS, RANKS, 0, 1, 1, 0, 1, 0, 1, 1,
                                      0, 1, 0, /* length, stats */ SLICES, 0 };
    unsigned char *bytes = calloc(1, 40000);
    sp__sink sink = { bytes, SP__WIRE_HEAD };
    sp_schedule *out = NULL;

    (void)state;
    memcpy(bytes, SP__WIRE_MAGIC, 8);
    bytes[8] = SP_WIRE_VERSION;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        sp__put(&sink, sizes[i]);
    sp__put(&sink, 2 + 3 * SLICES + 3 + 4 * RANKS); /* bytes of the section */
    sp__put(&sink, SLICES << 2);
    for (int i = 0; i < SLICES; i++) {
        sp__put(&sink, 0);
        sp__put(&sink, 1);
    }
    sink.at += SLICES + 3 + 4 * RANKS; /* places, an op, devices: all 0 */
    bytes[16] = (unsigned char)sink.at;
    bytes[17] = (unsigned char)(sink.at >> 8);
    sign(bytes, sink.at);
    EXPECT_FAIL(sp_schedule_decode(bytes, sink.at, SP_ALL_RANKS, NULL, &out), SP_ERR_FORMAT,
                "bytes: more shards than the bytes may stand for before byte 9070");
    assert_null(out);
    free(bytes);
}

static void encoding_and_decoding_survive_each_failed_allocation(void **state)
{
    failing_alloc memory;
    sp_schedule *out;
    size_t size;

    (void)state;
    for (int64_t n = 0, done = 0; !done; n++) {
        failing_alloc_init(&memory, n);
        out = NULL;
        done = sp_schedule_decode(w.bytes, w.size, SP_ALL_RANKS, &memory.hooks, &out) == SP_OK;
        assert_true(done == (out != NULL));
        if (!done)
            assert_string_equal(sp_error_message(), OUT_OF_MEMORY);
        else
            for (int64_t m = 0, held = memory.live, over = 0; !over; m++) {
                size = 7;
                memory.fail_at = memory.asked + m;
                over = sp_schedule_encode(out, SP_ALL_RANKS, NULL, 0, &size) == SP_OK;
                assert_true(over == (size == w.size));
                assert_int_equal(memory.live, held);
            }
        sp_schedule_destroy(out);
        assert_int_equal(memory.live, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_all_sizes_are_read_as_written),
        cmocka_unit_test(plans_of_random_cases_survive_the_trip),
        cmocka_unit_test(plans_from_parts_survive_the_trip),
        cmocka_unit_test(shards_that_follow_no_rule_are_written_out),
        cmocka_unit_test(a_flagged_pack_stays_flagged),
        cmocka_unit_test(arguments_are_checked),
        cmocka_unit_test(a_part_says_what_it_lacks),
        cmocka_unit_test(sizes_that_no_plan_has_are_refused),
        cmocka_unit_test(truncated_bytes_are_refused),
        cmocka_unit_test(a_flipped_bit_is_noticed),
        cmocka_unit_test(other_versions_and_formats_are_named),
        cmocka_unit_test(each_changed_number_ends_with_a_status),
        cmocka_unit_test(random_changes_end_with_a_status),
        cmocka_unit_test(huge_counts_allocate_nothing_much),
        cmocka_unit_test(work_that_grows_faster_than_the_bytes_is_refused),
        cmocka_unit_test(encoding_and_decoding_survive_each_failed_allocation),
    };

    return cmocka_run_group_tests(tests, send_plan, drop_plan);
}
