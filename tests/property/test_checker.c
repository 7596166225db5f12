/*
 * test_checker.c - the independent checker notices what is broken.
 *
 * A checker that cannot fail is worthless. Each test reads a valid plan into the
 * checker's plain form, breaks it in one way, and expects the number of the
 * invariant that this breaks.
 */
#include <stdio.h>
#include <string.h>

#include "../support/checker.h"
#include "../support/expect.h"
#include "../support/small_plan.h"
#include "../support/views.h"

typedef void breaker(plain_plan *p, check_limits *limits);

/* What the checker says of a small plan that was built and then broken. */
static int verdict(small_plan small, breaker *break_it)
{
    check_limits limits = CHECK_LIMITS_INIT;
    sp_schedule *schedule = NULL;
    sp_topology *topology = NULL;
    char why[400] = "";
    plain_plan plan;
    int code;

    if (small_plan_build(&small, &schedule, &topology) != SP_OK)
        fail_msg("%s", sp_error_message());
    limits.alignment = small.alignment;
    code = plain_read(schedule, topology, 1, &plan, why, sizeof why);
    sp_schedule_destroy(schedule);
    sp_topology_destroy(topology);
    if (code != 0)
        fail_msg("cannot read: %s", why);
    break_it(&plan, &limits);
    code = check_plan(&plan, small.length, small.samples, &limits, why, sizeof why);
    if (code != 0)
        print_message("    %s\n", why);
    plain_free(&plan);
    return code;
}

static void leave(plain_plan *p, check_limits *limits)
{
    (void)p;
    (void)limits;
}

static void valid_plans_pass(void **state)
{
    (void)state;
    assert_int_equal(verdict(small_plan_of_two_stages(), leave), 0);
    assert_int_equal(verdict(small_plan_of_two_merges(), leave), 0);
    assert_int_equal(verdict(small_plan_of_three_replicas(), leave), 0);
    assert_int_equal(verdict(small_plan_of_two_context_ranks(), leave), 0);
}

static plain_pack *pack_of(plain_plan *p, int32_t replica, int pass, int32_t k)
{
    return &p->replica[replica].pack[pass][k];
}

static sp_op_view *op_of(plain_plan *p, int32_t replica, int32_t stage, int32_t i)
{
    return &plain_ops_at(p, replica, stage, 0)[i];
}

#define BREAKS(code, plan, name, ...)                                \
    static void break_##name(plain_plan *p, check_limits *limits)    \
    {                                                                \
        (void)p, (void)limits;                                       \
        __VA_ARGS__                                                  \
    }                                                                \
    static void name(void **state)                                   \
    {                                                                \
        (void)state;                                                 \
        assert_int_equal(verdict(small_plan_of_##plan(), break_##name), (code)); \
    }

BREAKS(1, two_stages, i1_a_lost_token_is_noticed,
       plain_part_at(p, 1, SP_FORWARD, 2, 0)->shard[0].length--;)

BREAKS(1, two_stages, i1_a_lost_shard_is_noticed,
       plain_part_at(p, 1, SP_BACKWARD, 2, 0)->count = 0;)

BREAKS(1, two_stages, i1_a_token_in_two_shards_is_noticed,
       plain_part_at(p, 1, SP_FORWARD, 1, 0)->shard[0].start--;
       plain_part_at(p, 1, SP_FORWARD, 1, 0)->shard[0].length++;)

BREAKS(1, two_stages, i1_a_shard_outside_the_batch_is_noticed,
       plain_part_at(p, 1, SP_FORWARD, 1, 0)->shard[0].sample = 4;)

BREAKS(1, two_stages, i1_a_slice_without_shards_is_noticed,
       pack_of(p, 1, SP_BACKWARD, 1)->slice[0].length--;
       pack_of(p, 1, SP_BACKWARD, 1)->tokens--;)

BREAKS(1, two_stages, i1_a_shard_in_another_pack_is_noticed,
       plain_part_at(p, 1, SP_FORWARD, 2, 0)->shard[0].sample = 2;
       plain_part_at(p, 1, SP_FORWARD, 3, 0)->shard[0].sample = 1;)

BREAKS(1, two_stages, i1_activations_on_another_replica_are_noticed,
       plain_part swapped = *plain_part_at(p, 0, SP_BACKWARD, 0, 0);
       *plain_part_at(p, 0, SP_BACKWARD, 0, 0) = *plain_part_at(p, 1, SP_BACKWARD, 0, 0);
       *plain_part_at(p, 1, SP_BACKWARD, 0, 0) = swapped;)

BREAKS(1, two_context_ranks, i1_activations_on_another_context_rank_are_noticed,
       plain_part_at(p, 0, SP_BACKWARD, 0, 0)->shard[2].sample = 2;
       plain_part_at(p, 0, SP_BACKWARD, 0, 1)->shard[1].sample = 1;)

/* Sample 0 of two slices, whole on replica 0: as a merge it would have to be split. */
BREAKS(1, two_stages, i1_a_shared_slice_on_one_rank_is_noticed,
       for (int pass = 0; pass < 2; pass++)
           for (int32_t k = 0; k < 2 - pass; k++) {
               plain_part *first = plain_part_at(p, 0, pass, k, 0);
               plain_part *second = plain_part_at(p, 1, pass, k, 0);

               first->count = pack_of(p, 0, pass, k)->count;
               first->shard = pack_of(p, 0, pass, k)->slice;
               second->count = 0;
           })

BREAKS(1, three_replicas, i1_another_length_than_given_is_noticed, p->lengths[1]++;)

BREAKS(2, two_stages, i2_slices_that_run_forward_in_reverse_are_noticed,
       plain_pack swapped = *pack_of(p, 0, SP_FORWARD, 2);
       plain_part part = *plain_part_at(p, 0, SP_FORWARD, 2, 0);
       *pack_of(p, 0, SP_FORWARD, 2) = *pack_of(p, 0, SP_FORWARD, 3);
       *pack_of(p, 0, SP_FORWARD, 3) = swapped;
       *plain_part_at(p, 0, SP_FORWARD, 2, 0) = *plain_part_at(p, 0, SP_FORWARD, 3, 0);
       *plain_part_at(p, 0, SP_FORWARD, 3, 0) = part;)

BREAKS(2, two_stages, i2_shards_that_run_forward_in_reverse_are_noticed,
       plain_piece *shard = plain_part_at(p, 0, SP_FORWARD, 0, 0)->shard;
       plain_piece swapped = shard[0];
       shard[0] = shard[1];
       shard[1] = swapped;)

BREAKS(3, two_stages, i3_slices_that_run_backward_in_order_are_noticed,
       plain_piece *slice = pack_of(p, 0, SP_BACKWARD, 1)->slice;
       plain_piece swapped = slice[0];
       slice[0] = slice[1];
       slice[1] = swapped;)

BREAKS(3, two_stages, i3_shards_that_run_backward_in_order_are_noticed,
       plain_piece *shard = plain_part_at(p, 0, SP_BACKWARD, 1, 0)->shard;
       plain_piece swapped = shard[0];
       shard[0] = shard[1];
       shard[1] = swapped;)

BREAKS(4, two_stages, i4_a_missing_op_is_noticed, p->replica[1].ops--;)

BREAKS(4, two_stages, i4_a_pack_that_runs_twice_is_noticed, op_of(p, 1, 0, 3)->pack = 2;)

BREAKS(4, two_stages, i4_packs_in_another_order_are_noticed,
       op_of(p, 1, 1, 2)->pack = 3;
       op_of(p, 1, 1, 3)->pack = 2;)

static void swap_ops(plain_plan *p, int32_t replica, int32_t stage, int32_t i)
{
    sp_op_view a = *op_of(p, replica, stage, i), b = *op_of(p, replica, stage, i + 1);
    int64_t start = a.start_ps, end = a.end_ps;

    a.start_ps = b.start_ps;
    a.end_ps = b.end_ps;
    b.start_ps = start;
    b.end_ps = end;
    *op_of(p, replica, stage, i) = b;
    *op_of(p, replica, stage, i + 1) = a;
}

BREAKS(4, two_stages, i4_a_backward_before_its_forward_is_noticed,
       swap_ops(p, 1, 1, 3);
       swap_ops(p, 1, 1, 4);)

BREAKS(4, two_merges, i4_merges_that_wait_in_a_ring_are_noticed, swap_ops(p, 0, 0, 1);)

BREAKS(4, two_stages, i4_a_start_before_the_stage_before_ends_is_noticed,
       op_of(p, 1, 1, 3)->start_ps--;
       op_of(p, 1, 1, 2)->end_ps--;)

BREAKS(4, two_stages, i4_a_backward_that_starts_before_its_forward_ends_is_noticed,
       for (int32_t r = 0; r < 2; r++)
           for (int32_t i = 0; i < 4; i++) {
               op_of(p, r, 1, 3)->start_ps = op_of(p, r, 1, 3)->end_ps = 200;
               op_of(p, r, 1, 4 + i)->start_ps = op_of(p, r, 1, 4 + i)->end_ps = 199;
           })

BREAKS(4, two_stages, i4_replicas_that_start_a_shared_pack_apart_are_noticed,
       op_of(p, 1, 0, 4)->start_ps++;)

BREAKS(4, two_context_ranks, i4_context_ranks_that_run_apart_are_noticed,
       plain_ops_at(p, 0, 1, 1)[0].start_ps++;)

BREAKS(5, two_stages, i5_a_peak_above_the_cap_is_noticed,
       p->replica[1].stage[1].peak_bytes = p->stats.memory_bytes + 1;)

BREAKS(5, two_stages, i5_a_plan_under_a_larger_cap_than_set_is_noticed,
       limits->memory_bytes = p->stats.memory_bytes - 1;)

/* On stage 1 of replica 0: 16, 32, 48, 64 tokens forward, then 32 less and 32 less. */
BREAKS(5, two_stages, i5_a_wrong_peak_of_live_tokens_is_noticed,
       p->replica[0].stage[1].peak_live_tokens = 63;)

BREAKS(5, two_stages, i5_tokens_that_stay_live_are_noticed,
       plain_part_at(p, 0, SP_BACKWARD, 1, 0)->tokens--;)

BREAKS(6, two_stages, i6_unequal_pack_counts_are_noticed,
       p->replica[1].packs[SP_BACKWARD]--;)

BREAKS(7, two_stages, i7_a_start_off_the_alignment_is_noticed, limits->alignment = 12;)

BREAKS(8, two_merges, i8_merges_in_another_order_are_noticed,
       for (int pass = 0; pass < 2; pass++) {
           plain_pack swapped = *pack_of(p, 1, pass, 0);

           *pack_of(p, 1, pass, 0) = *pack_of(p, 1, pass, 1);
           *pack_of(p, 1, pass, 1) = swapped;
       })

BREAKS(8, two_stages, i8_a_replica_without_the_shared_pack_is_noticed,
       pack_of(p, 1, SP_FORWARD, 1)->merge = -1;
       pack_of(p, 1, SP_FORWARD, 1)->count = 0;
       pack_of(p, 1, SP_FORWARD, 1)->tokens = 0;)

BREAKS(8, two_stages, i8_other_slices_on_a_replica_are_noticed,
       pack_of(p, 1, SP_FORWARD, 0)->slice[0].length--;
       pack_of(p, 1, SP_FORWARD, 0)->tokens--;)

BREAKS(8, two_stages, i8_a_pack_outside_its_merge_is_noticed,
       pack_of(p, 1, SP_FORWARD, 2)->merge = 0;)

BREAKS(8, two_stages, i8_a_window_past_the_replicas_is_noticed, p->merge[0].first_replica = 1;)

static void cross_windows(plain_plan *p, int32_t second)
{
    p->merges = 2;
    p->merge = plain_take(p, 2, sizeof *p->merge);
    p->merge[0] = (sp_merge_view){ sizeof *p->merge, 0, 0, 2, 0 };
    p->merge[1] = (sp_merge_view){ sizeof *p->merge, 1, second, 2, 0 };
}

BREAKS(8, three_replicas, i8_windows_that_cross_are_noticed, cross_windows(p, 1);)

BREAKS(CHECK_PEERS, two_stages, peers_that_disagree_on_tokens_are_noticed,
       op_of(p, 0, 1, 0)->recv_tokens++;)

BREAKS(CHECK_PEERS, two_stages, a_peer_that_is_no_neighbour_is_noticed,
       op_of(p, 0, 0, 0)->send_rank = 1;)

BREAKS(CHECK_PEERS, two_stages, a_message_that_nobody_takes_is_noticed,
       sp_op_view *op = op_of(p, 0, 1, 0);
       op->recv_rank = -1;
       op->recv_tokens = 0;)

BREAKS(CHECK_LIMITS, two_stages, a_pack_above_the_token_cap_is_noticed,
       limits->max_pack_tokens = 15;)

BREAKS(CHECK_LIMITS, two_stages, an_oversize_flag_within_the_cap_is_noticed,
       limits->max_pack_tokens = 64;
       plain_part_at(p, 1, SP_FORWARD, 2, 0)->flags |= SP_PACK_OVERSIZE;)

BREAKS(CHECK_LIMITS, two_stages, too_many_packs_are_noticed, limits->max_packs = 3;)

BREAKS(CHECK_LIMITS, two_stages, a_count_off_the_group_is_noticed, limits->pack_group = 2;)

BREAKS(CHECK_LIMITS, two_stages, another_count_than_set_is_noticed, limits->exact_packs[1] = 4;)

BREAKS(CHECK_LIMITS, two_context_ranks, too_many_samples_of_a_pack_are_noticed,
       limits->max_pack_samples = 2;)

BREAKS(CHECK_LIMITS, two_stages, a_sliced_sample_is_noticed, limits->whole_samples = 1;)

BREAKS(CHECK_LIMITS, two_stages, a_merge_is_noticed, limits->no_merges = 1;)

BREAKS(CHECK_STATS, two_stages, a_wrong_makespan_is_noticed, p->stats.makespan_ps--;)

BREAKS(CHECK_STATS, two_stages, a_wrong_number_of_slices_is_noticed, p->stats.slices++;)

BREAKS(CHECK_STATS, two_stages, a_wrong_number_of_tokens_is_noticed, p->stats.tokens++;)

BREAKS(CHECK_STATS, two_stages, a_wrong_busy_time_is_noticed, p->replica[0].stage[0].busy_ps++;)

BREAKS(CHECK_VIEWS, two_stages, slices_that_do_not_sum_up_are_noticed,
       pack_of(p, 0, SP_FORWARD, 0)->tokens++;)

/* Two shards: tokens 4 to 6 of sample 5, tokens 0 to 4 of sample 2; padded to fours. */
typedef struct hand_made {
    _Alignas(64) int32_t block[16];
    sp_pack_view view;
} hand_made;

static void make_view(hand_made *h)
{
    static const int32_t block[16] = { 5, 2, 4, 0, 0, 3, 8, 0, 7, 12, 0, 4, 12 };
    const sp_pack_view empty = SP_PACK_VIEW_INIT;

    memcpy(h->block, block, sizeof block);
    h->view = empty;
    h->view.count = 2;
    h->view.merge = -1;
    h->view.max_seqlen_q = 5;
    h->view.max_seqlen_k = 7;
    h->view.sample = h->block;
    h->view.start = h->block + 2;
    h->view.cu_seqlens_q = h->block + 4;
    h->view.cu_seqlens_k = h->block + 7;
    h->view.cu_seqlens_q_padded = h->block + 10;
    h->view.tokens = 8;
    h->view.padded_tokens = 12;
}

static int view_verdict(const hand_made *h)
{
    view_block block = { h->block, sizeof h->block };
    char why[200] = "";

    return view_check(&h->view, &block, 4, why, sizeof why);
}

static void a_consistent_view_passes(void **state)
{
    hand_made h;

    (void)state;
    make_view(&h);
    assert_int_equal(view_verdict(&h), 0);
}

/* Each of the 13 numbers but the samples' own is determined by the others. */
static void any_other_number_in_a_view_is_noticed(void **state)
{
    (void)state;
    for (int i = 2; i < 13; i++)
        for (int change = -1; change <= 1; change += 2) {
            hand_made h;

            make_view(&h);
            h.block[i] += change;
            assert_int_equal(view_verdict(&h), -1);
        }
}

static void any_other_field_of_a_view_is_noticed(void **state)
{
    (void)state;
    for (int i = 0; i < 7; i++) {
        hand_made h;

        make_view(&h);
        h.view.max_seqlen_q += i == 0;
        h.view.max_seqlen_k += i == 1;
        h.view.tokens += i == 2;
        h.view.padded_tokens += i == 3;
        h.view.flags = i == 4 ? SP_PACK_EMPTY : i == 5 ? 4 : 0;
        h.view.sample += i == 6 ? 15 : 0; /* reaches past the block */
        assert_int_equal(view_verdict(&h), -1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(valid_plans_pass),
        cmocka_unit_test(a_consistent_view_passes),
        cmocka_unit_test(any_other_number_in_a_view_is_noticed),
        cmocka_unit_test(any_other_field_of_a_view_is_noticed),
        cmocka_unit_test(i1_a_lost_token_is_noticed),
        cmocka_unit_test(i1_a_lost_shard_is_noticed),
        cmocka_unit_test(i1_a_token_in_two_shards_is_noticed),
        cmocka_unit_test(i1_a_shard_outside_the_batch_is_noticed),
        cmocka_unit_test(i1_a_slice_without_shards_is_noticed),
        cmocka_unit_test(i1_a_shard_in_another_pack_is_noticed),
        cmocka_unit_test(i1_activations_on_another_replica_are_noticed),
        cmocka_unit_test(i1_activations_on_another_context_rank_are_noticed),
        cmocka_unit_test(i1_a_shared_slice_on_one_rank_is_noticed),
        cmocka_unit_test(i1_another_length_than_given_is_noticed),
        cmocka_unit_test(i2_slices_that_run_forward_in_reverse_are_noticed),
        cmocka_unit_test(i2_shards_that_run_forward_in_reverse_are_noticed),
        cmocka_unit_test(i3_slices_that_run_backward_in_order_are_noticed),
        cmocka_unit_test(i3_shards_that_run_backward_in_order_are_noticed),
        cmocka_unit_test(i4_a_missing_op_is_noticed),
        cmocka_unit_test(i4_a_pack_that_runs_twice_is_noticed),
        cmocka_unit_test(i4_packs_in_another_order_are_noticed),
        cmocka_unit_test(i4_a_backward_before_its_forward_is_noticed),
        cmocka_unit_test(i4_merges_that_wait_in_a_ring_are_noticed),
        cmocka_unit_test(i4_a_start_before_the_stage_before_ends_is_noticed),
        cmocka_unit_test(i4_a_backward_that_starts_before_its_forward_ends_is_noticed),
        cmocka_unit_test(i4_replicas_that_start_a_shared_pack_apart_are_noticed),
        cmocka_unit_test(i4_context_ranks_that_run_apart_are_noticed),
        cmocka_unit_test(i5_a_peak_above_the_cap_is_noticed),
        cmocka_unit_test(i5_a_plan_under_a_larger_cap_than_set_is_noticed),
        cmocka_unit_test(i5_a_wrong_peak_of_live_tokens_is_noticed),
        cmocka_unit_test(i5_tokens_that_stay_live_are_noticed),
        cmocka_unit_test(i6_unequal_pack_counts_are_noticed),
        cmocka_unit_test(i7_a_start_off_the_alignment_is_noticed),
        cmocka_unit_test(i8_merges_in_another_order_are_noticed),
        cmocka_unit_test(i8_a_replica_without_the_shared_pack_is_noticed),
        cmocka_unit_test(i8_other_slices_on_a_replica_are_noticed),
        cmocka_unit_test(i8_a_pack_outside_its_merge_is_noticed),
        cmocka_unit_test(i8_a_window_past_the_replicas_is_noticed),
        cmocka_unit_test(i8_windows_that_cross_are_noticed),
        cmocka_unit_test(peers_that_disagree_on_tokens_are_noticed),
        cmocka_unit_test(a_peer_that_is_no_neighbour_is_noticed),
        cmocka_unit_test(a_message_that_nobody_takes_is_noticed),
        cmocka_unit_test(a_pack_above_the_token_cap_is_noticed),
        cmocka_unit_test(an_oversize_flag_within_the_cap_is_noticed),
        cmocka_unit_test(too_many_packs_are_noticed),
        cmocka_unit_test(a_count_off_the_group_is_noticed),
        cmocka_unit_test(another_count_than_set_is_noticed),
        cmocka_unit_test(too_many_samples_of_a_pack_are_noticed),
        cmocka_unit_test(a_sliced_sample_is_noticed),
        cmocka_unit_test(a_merge_is_noticed),
        cmocka_unit_test(a_wrong_makespan_is_noticed),
        cmocka_unit_test(a_wrong_number_of_slices_is_noticed),
        cmocka_unit_test(a_wrong_number_of_tokens_is_noticed),
        cmocka_unit_test(a_wrong_busy_time_is_noticed),
        cmocka_unit_test(slices_that_do_not_sum_up_are_noticed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
