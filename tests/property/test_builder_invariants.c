/*
 * test_builder_invariants.c - the builder refuses a plan that breaks an invariant,
 * and names it.
 *
 * Each test breaks a valid small plan in one way. The message has to start with
 * the invariant's name, since `slimpack check` and users read it there.
 */
#include <stdio.h>
#include <string.h>

#include "../support/expect.h"
#include "../support/small_plan.h"

static void expect_refusal(const small_plan *plan, const char *invariant)
{
    sp_schedule *schedule = NULL;
    sp_topology *topology = NULL;

    assert_int_equal(small_plan_build(plan, &schedule, &topology), SP_ERR_INVARIANT);
    assert_null(schedule);
    if (strncmp(sp_error_message(), invariant, strlen(invariant)) != 0)
        fail_msg("%s is due, the message is: %s", invariant, sp_error_message());
}

static void expect_success(const small_plan *plan)
{
    sp_schedule *schedule = NULL;
    sp_topology *topology = NULL;

    if (small_plan_build(plan, &schedule, &topology) != SP_OK)
        fail_msg("%s", sp_error_message());
    sp_schedule_destroy(schedule);
    sp_topology_destroy(topology);
}

static void plans_that_keep_all_invariants_are_built(void **state)
{
    small_plan plans[] = { small_plan_of_two_stages(), small_plan_of_two_merges(),
                           small_plan_of_three_replicas(), small_plan_of_two_context_ranks() };

    (void)state;
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++)
        expect_success(&plans[i]);
}

static void i1_a_token_without_shard_is_refused(void **state)
{
    small_plan p = small_plan_of_two_stages();

    (void)state;
    p.pack[1][SP_FORWARD][2].shard[0][0].length = 7;
    expect_refusal(&p, "I1");
}

static void i1_a_sample_without_slice_is_refused(void **state)
{
    small_plan p = small_plan_of_two_stages();

    (void)state;
    p.pack[1][SP_BACKWARD][1].slices = p.pack[1][SP_BACKWARD][1].shards[0] = 0;
    expect_refusal(&p, "I1");
}

static void i1_a_token_in_two_shards_is_refused(void **state)
{
    small_plan p = small_plan_of_two_stages();

    (void)state;
    p.pack[1][SP_FORWARD][1].shard[0][0] = (plain_piece){ 3, 39, 17 };
    expect_refusal(&p, "I1");
}

static void i1_a_sample_on_two_replicas_without_a_merge_is_refused(void **state)
{
    small_plan p = small_plan_of_two_stages();
    small_pack *pack = &p.pack[0][SP_FORWARD][3];

    (void)state;
    pack->slices = pack->shards[0] = 2;
    pack->slice[1] = pack->shard[0][1] = (plain_piece){ 1, 0, 8 };
    expect_refusal(&p, "I1");
}

static void i1_a_shard_outside_its_packs_slices_is_refused(void **state)
{
    small_plan p = small_plan_of_two_stages();
    plain_piece shard = p.pack[1][SP_FORWARD][2].shard[0][0];

    (void)state;
    p.pack[1][SP_FORWARD][2].shard[0][0] = p.pack[1][SP_FORWARD][3].shard[0][0];
    p.pack[1][SP_FORWARD][3].shard[0][0] = shard;
    expect_refusal(&p, "I1");
}

static void i1_a_slice_past_its_samples_end_is_refused(void **state)
{
    small_plan p = small_plan_of_two_stages();

    (void)state;
    p.pack[1][SP_FORWARD][2].slice[0].length = p.pack[1][SP_FORWARD][2].shard[0][0].length = 9;
    expect_refusal(&p, "I1");
}

static void i1_a_token_run_backward_on_another_replica_is_refused(void **state)
{
    small_plan p = small_plan_of_two_stages();
    small_pack swapped = p.pack[0][SP_BACKWARD][0];

    (void)state;
    p.pack[0][SP_BACKWARD][0] = p.pack[1][SP_BACKWARD][0];
    p.pack[1][SP_BACKWARD][0] = swapped;
    expect_refusal(&p, "I1");
}

static void i1_a_token_run_backward_on_another_context_rank_is_refused(void **state)
{
    small_plan p = small_plan_of_two_context_ranks();

    (void)state;
    p.pack[0][SP_BACKWARD][0].shard[0][2].sample = 2;
    p.pack[0][SP_BACKWARD][0].shard[1][1].sample = 1;
    expect_refusal(&p, "I1");
}

static void i2_a_later_slice_that_runs_forward_first_is_refused(void **state)
{
    small_plan p = small_plan_of_two_stages();
    small_pack swapped = p.pack[0][SP_FORWARD][2];

    (void)state;
    p.pack[0][SP_FORWARD][2] = p.pack[0][SP_FORWARD][3];
    p.pack[0][SP_FORWARD][3] = swapped;
    expect_refusal(&p, "I2");
}

static void i3_an_earlier_slice_that_runs_backward_first_is_refused(void **state)
{
    small_plan p = small_plan_of_two_stages();
    small_pack *pack = &p.pack[0][SP_BACKWARD][1];

    (void)state;
    pack->slice[0] = pack->shard[0][0] = (plain_piece){ 0, 0, 16 };
    pack->slice[1] = pack->shard[0][1] = (plain_piece){ 0, 16, 16 };
    expect_refusal(&p, "I3");
}

/* Shards of a sample that others stand between. */
static void i2_a_later_shard_that_is_listed_before_others_is_refused(void **state)
{
    small_plan p = small_plan_of_two_context_ranks();
    plain_piece *shard = p.pack[0][SP_FORWARD][0].shard[0];

    (void)state;
    shard[0] = (plain_piece){ 0, 12, 4 };
    shard[1] = (plain_piece){ 1, 0, 8 };
    shard[2] = (plain_piece){ 0, 0, 4 };
    expect_refusal(&p, "I2");
}

static void i3_an_earlier_shard_that_is_listed_before_others_is_refused(void **state)
{
    small_plan p = small_plan_of_two_context_ranks();
    plain_piece *shard = p.pack[0][SP_BACKWARD][0].shard[0];

    (void)state;
    shard[0] = (plain_piece){ 0, 0, 4 };
    shard[1] = (plain_piece){ 1, 0, 8 };
    shard[2] = (plain_piece){ 0, 12, 4 };
    expect_refusal(&p, "I3");
}

static void i4_a_stage_that_lacks_an_op_is_refused(void **state)
{
    small_plan p = small_plan_of_two_stages();

    (void)state;
    p.ops[1][0]--;
    expect_refusal(&p, "I4");
}

static void i4_a_pack_that_a_stage_runs_twice_is_refused(void **state)
{
    small_plan p = small_plan_of_two_stages();

    (void)state;
    p.op[1][0][3].pack = 2;
    expect_refusal(&p, "I4");
}

static void i4_packs_in_another_order_on_a_stage_are_refused(void **state)
{
    small_plan p = small_plan_of_two_stages();

    (void)state;
    p.op[1][1][2].pack = 3;
    p.op[1][1][3].pack = 2;
    expect_refusal(&p, "I4");
}

static void swap_ops(small_op *a, small_op *b)
{
    small_op first = *a;

    *a = (small_op){ b->pass, b->pack, first.start, first.end };
    *b = (small_op){ first.pass, first.pack, b->start, b->end };
}

static void i4_a_backward_before_its_forward_is_refused(void **state)
{
    small_plan p = small_plan_of_two_stages();

    (void)state;
    swap_ops(&p.op[1][1][3], &p.op[1][1][4]); /* B0 before F3, which it does not need */
    swap_ops(&p.op[1][1][4], &p.op[1][1][5]); /* B1 before F3, which it needs */
    expect_refusal(&p, "I4");
}

static void i4_merges_of_both_passes_that_wait_in_a_ring_are_refused(void **state)
{
    small_plan p = small_plan_of_two_merges();

    (void)state;
    swap_ops(&p.op[0][0][1], &p.op[0][0][2]); /* F0 B0 F1 B1 here, F0 F1 B0 B1 there */
    expect_refusal(&p, "I4");
}

static void i4_a_time_before_the_input_is_there_is_refused(void **state)
{
    small_plan p = small_plan_of_two_stages();

    (void)state;
    p.op[1][1][2].start--;
    p.op[1][1][1].end--;
    expect_refusal(&p, "I4");
}

static void i4_replicas_that_start_a_shared_pack_apart_are_refused(void **state)
{
    small_plan p = small_plan_of_two_stages();

    (void)state;
    p.op[1][0][4].start++;
    expect_refusal(&p, "I4");
}

static void i5_a_peak_above_the_cap_is_refused(void **state)
{
    small_plan p = small_plan_of_two_stages();

    (void)state;
    p.peak_bytes = p.memory_bytes;
    expect_success(&p);
    p.peak_bytes++;
    expect_refusal(&p, "I5");
}

static void i6_replicas_with_unequal_packs_are_refused(void **state)
{
    small_plan p = small_plan_of_two_stages();

    (void)state;
    p.packs[0][SP_BACKWARD]--; /* the empty one, so that no token is lost */
    p.ops[0][0]--;
    p.ops[0][1]--;
    expect_refusal(&p, "I6");
}

static void i7_a_slice_that_starts_off_the_alignment_is_refused(void **state)
{
    small_plan p = small_plan_of_two_stages();

    (void)state;
    p.alignment = 16;
    expect_success(&p);
    p.alignment = 32;
    expect_refusal(&p, "I7");
}

static void i8_merges_in_another_order_on_a_replica_are_refused(void **state)
{
    small_plan p = small_plan_of_two_merges();

    (void)state;
    for (int pass = 0; pass < 2; pass++) {
        small_pack swapped = p.pack[1][pass][0];

        p.pack[1][pass][0] = p.pack[1][pass][1];
        p.pack[1][pass][1] = swapped;
    }
    expect_refusal(&p, "I8");
}

/* Of replicas 0 and 1, by name only: their packs stay as they are. */
static void share_sample_zero(small_plan *p)
{
    p->merges = 1;
    p->merge[0][0] = 0;
    p->merge[0][1] = 0;
    p->merge[0][2] = 2;
}

static void i8_a_merge_that_a_replica_lacks_is_refused(void **state)
{
    small_plan p = small_plan_of_three_replicas();

    (void)state;
    share_sample_zero(&p);
    for (int pass = 0; pass < 2; pass++)
        p.pack[0][pass][0].merge = 0;
    expect_refusal(&p, "I8");
}

/* Its replicas would wait for a pack that never comes, or set up a group for nothing. */
static void i8_a_merge_without_packs_is_refused(void **state)
{
    small_plan p = small_plan_of_three_replicas();

    (void)state;
    share_sample_zero(&p);
    expect_refusal(&p, "I8: merge 0 has no pack of its sample 0");
}

static void i8_a_shared_pack_with_other_slices_on_a_replica_is_refused(void **state)
{
    small_plan p = small_plan_of_two_stages();
    small_pack *pack = &p.pack[1][SP_BACKWARD][0];

    (void)state;
    pack->slices = 3;
    pack->slice[0] = (plain_piece){ 3, 40, 24 };
    pack->slice[1] = (plain_piece){ 3, 32, 8 };
    pack->slice[2] = (plain_piece){ 3, 0, 32 };
    expect_refusal(&p, "I8");
}

/* Windows that cross are refused whatever their packs hold. */
static void i8_windows_that_cross_are_refused(void **state)
{
    small_plan p = small_plan_of_three_replicas();

    (void)state;
    p.merges = 2;
    p.merge[0][0] = 0;
    p.merge[0][1] = 0;
    p.merge[0][2] = 2;
    p.merge[1][0] = 1;
    p.merge[1][1] = 1;
    p.merge[1][2] = 2;
    for (int pass = 0; pass < 2; pass++) { /* samples 0 and 1 are shared in halves */
        p.packs[0][pass] = p.packs[1][pass] = p.packs[2][pass] = 2;
        p.pack[0][pass][0] = (small_pack){ 0, 1, { { 0, 0, 8 } }, { 1, 0 }, { { { 0, 0, 4 } } } };
        p.pack[1][pass][0] = (small_pack){ 0, 1, { { 0, 0, 8 } }, { 1, 0 }, { { { 0, 4, 4 } } } };
        p.pack[1][pass][1] = (small_pack){ 1, 1, { { 1, 0, 8 } }, { 1, 0 }, { { { 1, 0, 4 } } } };
        p.pack[2][pass][1] = (small_pack){ 1, 1, { { 1, 0, 8 } }, { 1, 0 }, { { { 1, 4, 4 } } } };
        p.pack[0][pass][1] = (small_pack){ .merge = -1 };
    }
    for (int32_t r = 0; r < 3; r++) {
        p.ops[r][0] = 4;
        for (int32_t i = 0; i < 4; i++)
            p.op[r][0][i] = (small_op){ i / 2, i % 2, 10 * i, 10 * i + 10 };
    }
    expect_refusal(&p, "I8");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_that_keep_all_invariants_are_built),
        cmocka_unit_test(i1_a_token_without_shard_is_refused),
        cmocka_unit_test(i1_a_sample_without_slice_is_refused),
        cmocka_unit_test(i1_a_token_in_two_shards_is_refused),
        cmocka_unit_test(i1_a_sample_on_two_replicas_without_a_merge_is_refused),
        cmocka_unit_test(i1_a_shard_outside_its_packs_slices_is_refused),
        cmocka_unit_test(i1_a_slice_past_its_samples_end_is_refused),
        cmocka_unit_test(i1_a_token_run_backward_on_another_replica_is_refused),
        cmocka_unit_test(i1_a_token_run_backward_on_another_context_rank_is_refused),
        cmocka_unit_test(i2_a_later_slice_that_runs_forward_first_is_refused),
        cmocka_unit_test(i3_an_earlier_slice_that_runs_backward_first_is_refused),
        cmocka_unit_test(i2_a_later_shard_that_is_listed_before_others_is_refused),
        cmocka_unit_test(i3_an_earlier_shard_that_is_listed_before_others_is_refused),
        cmocka_unit_test(i4_a_stage_that_lacks_an_op_is_refused),
        cmocka_unit_test(i4_a_pack_that_a_stage_runs_twice_is_refused),
        cmocka_unit_test(i4_packs_in_another_order_on_a_stage_are_refused),
        cmocka_unit_test(i4_a_backward_before_its_forward_is_refused),
        cmocka_unit_test(i4_merges_of_both_passes_that_wait_in_a_ring_are_refused),
        cmocka_unit_test(i4_a_time_before_the_input_is_there_is_refused),
        cmocka_unit_test(i4_replicas_that_start_a_shared_pack_apart_are_refused),
        cmocka_unit_test(i5_a_peak_above_the_cap_is_refused),
        cmocka_unit_test(i6_replicas_with_unequal_packs_are_refused),
        cmocka_unit_test(i7_a_slice_that_starts_off_the_alignment_is_refused),
        cmocka_unit_test(i8_merges_in_another_order_on_a_replica_are_refused),
        cmocka_unit_test(i8_a_merge_that_a_replica_lacks_is_refused),
        cmocka_unit_test(i8_a_merge_without_packs_is_refused),
        cmocka_unit_test(i8_a_shared_pack_with_other_slices_on_a_replica_is_refused),
        cmocka_unit_test(i8_windows_that_cross_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
