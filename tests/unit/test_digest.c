/*
 * test_digest.c - eight bytes that change when anything changes that a rank acts on.
 */
#include "schedule/schedule.h"

#include "../support/expect.h"
#include "../support/hand_plan.h"
#include "../support/small_plan.h"

typedef struct built {
    sp_schedule *schedule;
    sp_topology *topology;
    uint64_t digest;
} built;

static int build(void **state)
{
    static built b;
    const small_plan plan = small_plan_of_two_stages();

    if (small_plan_build(&plan, &b.schedule, &b.topology) != SP_OK)
        return -1;
    b.digest = sp_schedule_digest(b.schedule);
    *state = &b;
    return 0;
}

static int drop(void **state)
{
    built *b = *state;

    sp_schedule_destroy(b->schedule);
    sp_topology_destroy(b->topology);
    return 0;
}

/* Changes each of the numbers in turn, in its lowest and in a higher bit. */
static void expect_int32s(const built *b, int32_t *number, int64_t count)
{
    assert_true(count > 0);
    for (int64_t i = 0; i < count; i++)
        for (int shift = 0; shift <= 20; shift += 20) {
            number[i] ^= 1 << shift;
            assert_true(sp_schedule_digest(b->schedule) != b->digest);
            number[i] ^= 1 << shift;
        }
    assert_true(sp_schedule_digest(b->schedule) == b->digest);
}

static void expect_int64s(const built *b, int64_t *number, int64_t count)
{
    assert_true(count > 0);
    for (int64_t i = 0; i < count; i++)
        for (int shift = 0; shift <= 62; shift += 31) {
            number[i] ^= INT64_C(1) << shift;
            assert_true(sp_schedule_digest(b->schedule) != b->digest);
            number[i] ^= INT64_C(1) << shift;
        }
    assert_true(sp_schedule_digest(b->schedule) == b->digest);
}

static void lockstep_counts(void **state)
{
    const built *b = *state;

    expect_int32s(b, &b->schedule->lockstep, 1);
}

static void lengths_count(void **state)
{
    const built *b = *state;

    expect_int64s(b, b->schedule->lengths, b->schedule->count);
}

static void merges_count(void **state)
{
    const built *b = *state;

    expect_int32s(b, &b->schedule->merge[0].sample, 1);
    expect_int32s(b, &b->schedule->merge[0].first, 1);
    expect_int32s(b, &b->schedule->merge[0].replicas, 1);
}

static void slices_count(void **state)
{
    const built *b = *state;
    struct sp_schedule *s = b->schedule;

    for (int pass = 0; pass < 2; pass++) {
        int64_t packs = (int64_t)s->shape.degree[SP__DP] * s->packs[pass];
        int64_t slices = s->slice_first[pass][packs];

        expect_int32s(b, s->pack_merge[pass], packs);
        expect_int32s(b, s->sample[pass], slices);
        expect_int32s(b, s->start[pass], slices);
        expect_int32s(b, s->length[pass], slices);
    }
}

/* The same slices in other packs: the first pack of replica 0 takes one more. */
static void where_packs_begin_counts(void **state)
{
    const built *b = *state;

    for (int pass = 0; pass < 2; pass++) {
        b->schedule->slice_first[pass][1]++;
        assert_true(sp_schedule_digest(b->schedule) != b->digest);
        b->schedule->slice_first[pass][1]--;
    }
    assert_true(sp_schedule_digest(b->schedule) == b->digest);
}

static void shards_count(void **state)
{
    const built *b = *state;
    struct sp_schedule *s = b->schedule;

    for (int pass = 0; pass < 2; pass++)
        for (int32_t i = 0; i < 2 * s->packs[pass]; i++) {
            const sp__shards *x = &s->shards[pass][i];

            if (x->count == 0)
                continue;
            expect_int32s(b, s->pool + x->at, 2 * x->count);
            expect_int32s(b, s->pool + x->at + 2 * x->count, x->count + 1);
        }
}

static void ops_and_their_times_count(void **state)
{
    const built *b = *state;
    sp__timeline *t = &b->schedule->timeline;
    int64_t ops = (int64_t)4 * t->ops;

    expect_int32s(b, t->op, ops);
    expect_int64s(b, t->start, ops);
    expect_int64s(b, t->end, ops);
}

/* Two whole plans that only the topology tells apart. */
static uint64_t digest_of(const char *topology)
{
    uint64_t digest;
    sp_schedule *s;
    hand_plan h;

    hand_equal_packs(&h, topology, 3, 24);
    s = hand_schedule(&h);
    digest = sp_schedule_digest(s);
    sp_schedule_destroy(s);
    hand_free(&h);
    return digest;
}

static void degrees_count(void **state)
{
    static const char *const topologies[] = { "dp=1", "tp=2", "pp=2", "cp=2", "dp=2" };

    (void)state;
    for (int i = 0; i < 5; i++) {
        assert_true(digest_of(topologies[i]) == digest_of(topologies[i]));
        for (int j = 0; j < i; j++)
            assert_true(digest_of(topologies[i]) != digest_of(topologies[j]));
    }
}

/* Ranks that number themselves otherwise act on other parts of the plan; where the
 * numbers come out equal, they do not. */
static void the_order_of_ranks_counts(void **state)
{
    (void)state;
    assert_true(digest_of("dp=2 pp=2") != digest_of("dp=2 pp=2 order=tp-cp-pp-dp"));
    assert_true(digest_of("dp=2 pp=2") == digest_of("dp=2 pp=2 order=cp-tp-dp-pp"));
    assert_true(digest_of("tp=2 cp=2") != digest_of("tp=2 cp=2 order=cp-tp-dp-pp"));
}

/* Padding changes a table of offsets that kernels take. */
static void padding_counts(void **state)
{
    const built *b = *state;

    b->schedule->pad_multiple = 8;
    assert_true(sp_schedule_digest(b->schedule) != b->digest);
    b->schedule->pad_multiple = 1;
    assert_true(sp_schedule_digest(b->schedule) == b->digest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lockstep_counts, build, drop),
        cmocka_unit_test_setup_teardown(lengths_count, build, drop),
        cmocka_unit_test_setup_teardown(merges_count, build, drop),
        cmocka_unit_test_setup_teardown(slices_count, build, drop),
        cmocka_unit_test_setup_teardown(where_packs_begin_counts, build, drop),
        cmocka_unit_test_setup_teardown(shards_count, build, drop),
        cmocka_unit_test_setup_teardown(ops_and_their_times_count, build, drop),
        cmocka_unit_test_setup_teardown(padding_counts, build, drop),
        cmocka_unit_test(degrees_count),
        cmocka_unit_test(the_order_of_ranks_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
