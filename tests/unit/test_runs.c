/*
 * test_runs.c - packs that both passes share: forward in list order, backward with
 * each run reversed.
 */
#include "partition/runs.h"

#include "../support/expect.h"
#include "../support/failing_alloc.h"

/* Two slices of sample 5, a pack of samples 1 and 2, three slices of sample 0. */
static sp_status make(const int32_t packs[2], sp__lane *lane, sp__arena *arena)
{
    sp_status status;
    sp__runs r;

    status = sp__runs_open(&r, 6, 7, arena);
    if (status != SP_OK)
        return status;
    sp__runs_add_pack(&r, 0);
    sp__runs_add_slice(&r, 5, 0, 10);
    sp__runs_add_pack(&r, 1);
    sp__runs_add_slice(&r, 5, 10, 4);
    sp__runs_add_pack(&r, 0);
    sp__runs_add_slice(&r, 1, 0, 3);
    sp__runs_add_slice(&r, 2, 0, 2);
    for (int32_t i = 0; i < 3; i++) {
        sp__runs_add_pack(&r, i > 0);
        sp__runs_add_slice(&r, 0, 8 * i, 8);
    }
    return sp__runs_to_lane(&r, packs, 1, lane, arena);
}

static void expect_slice(const sp__packs *p, int32_t at, int32_t sample, int32_t start,
                         int32_t length)
{
    assert_int_equal(p->slices[at].sample, sample);
    assert_int_equal(p->slices[at].start, start);
    assert_int_equal(p->slices[at].length, length);
    assert_int_equal(p->slices[at].place, SP__SPLIT);
}

static void expect_first(const sp__packs *p, const int32_t *first, int32_t count)
{
    assert_int_equal(p->count, count);
    for (int32_t k = 0; k <= count; k++)
        assert_int_equal(p->first[k], first[k]);
    for (int32_t k = 0; k < count; k++)
        assert_int_equal(p->merge[k], -1);
}

static void runs_keep_their_order_and_are_reversed_within_backward(void **state)
{
    const int32_t packs[2] = { 6, 8 };
    const int32_t forward[] = { 0, 1, 2, 4, 5, 6, 7 }, backward[] = { 0, 1, 2, 4, 5, 6, 7, 7, 7 };
    sp__arena arena;
    sp__alloc alloc;
    sp__lane lane;

    (void)state;
    assert_int_equal(sp__alloc_init(&alloc, NULL), SP_OK);
    sp__arena_init(&arena, &alloc);
    assert_int_equal(make(packs, &lane, &arena), SP_OK);
    expect_first(&lane.pass[SP_FORWARD], forward, 6);
    expect_slice(&lane.pass[SP_FORWARD], 0, 5, 0, 10);
    expect_slice(&lane.pass[SP_FORWARD], 1, 5, 10, 4);
    expect_slice(&lane.pass[SP_FORWARD], 2, 1, 0, 3);
    expect_slice(&lane.pass[SP_FORWARD], 3, 2, 0, 2);
    expect_slice(&lane.pass[SP_FORWARD], 4, 0, 0, 8);
    expect_slice(&lane.pass[SP_FORWARD], 6, 0, 16, 8);
    expect_first(&lane.pass[SP_BACKWARD], backward, 8); /* two empty ones at the end */
    expect_slice(&lane.pass[SP_BACKWARD], 0, 5, 10, 4);
    expect_slice(&lane.pass[SP_BACKWARD], 1, 5, 0, 10);
    expect_slice(&lane.pass[SP_BACKWARD], 2, 1, 0, 3);
    expect_slice(&lane.pass[SP_BACKWARD], 3, 2, 0, 2);
    expect_slice(&lane.pass[SP_BACKWARD], 4, 0, 16, 8);
    expect_slice(&lane.pass[SP_BACKWARD], 5, 0, 8, 8);
    expect_slice(&lane.pass[SP_BACKWARD], 6, 0, 0, 8);
    sp__arena_destroy(&arena);
}

static void no_packs_at_all_give_empty_ones(void **state)
{
    const int32_t packs[2] = { 2, 1 }, none[3] = { 0, 0, 0 };
    sp__arena arena;
    sp__alloc alloc;
    sp__lane lane;
    sp__runs r;

    (void)state;
    assert_int_equal(sp__alloc_init(&alloc, NULL), SP_OK);
    sp__arena_init(&arena, &alloc);
    assert_int_equal(sp__runs_open(&r, 0, 0, &arena), SP_OK);
    assert_int_equal(sp__runs_to_lane(&r, packs, 2, &lane, &arena), SP_OK);
    expect_first(&lane.pass[SP_FORWARD], none, 2);
    expect_first(&lane.pass[SP_BACKWARD], none, 1);
    sp__arena_destroy(&arena);
}

static void every_failed_allocation_is_reported(void **state)
{
    const int32_t packs[2] = { 6, 100000 };
    failing_alloc memory;

    (void)state;
    for (int64_t n = 0;; n++) {
        sp__arena arena;
        sp__alloc alloc;
        sp__lane lane;
        sp_status status;

        failing_alloc_init(&memory, n);
        assert_int_equal(sp__alloc_init(&alloc, &memory.hooks), SP_OK);
        sp__arena_init(&arena, &alloc);
        status = make(packs, &lane, &arena);
        sp__arena_destroy(&arena);
        assert_int_equal(memory.live, 0);
        if (status == SP_OK) {
            assert_true(n > 1);
            return;
        }
        assert_int_equal(status, SP_ERR_MEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_keep_their_order_and_are_reversed_within_backward),
        cmocka_unit_test(no_packs_at_all_give_empty_ones),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
