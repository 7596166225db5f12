/*
 * test_field_alignment.c - small inputs that broke other planners, kind C: lengths
 * that divide nothing, offsets, shards, samples of one token and of none.
 *
 * The library pads no length. A slice's shards differ by a token at most whatever its
 * length, and a second offset table holds each shard rounded up to a multiple.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../support/planned.h"
#include "../support/random_case.h"
#include "../support/round_trip.h"

#define ONE_PACK { SP_PLANNER_FORWARD_PACKS, 1 }, { SP_PLANNER_BACKWARD_PACKS, 1 }, \
                 { SP_PLANNER_KEEP_ORDER, 1 }

#define EXPECT_OFFSETS(table, ...)                                                   \
    assert_memory_equal((table), ((const int32_t[]){ __VA_ARGS__ }),                 \
                        sizeof((const int32_t[]){ __VA_ARGS__ }))

/* Tokens of each CP rank in the only pack of replica 0. */
static void tokens_of_ranks(const planned *p, int32_t cp, int64_t *tokens)
{
    for (int32_t c = 0; c < cp; c++)
        tokens[c] = pack_of(p, 0, c, SP_FORWARD, 0).tokens;
}

static void c1_an_odd_length_keeps_its_last_token(void **state)
{
    const plan_input alone = {
        .topology = "cp=1", .set = {ONE_PACK, {SP_PLANNER_PAD_MULTIPLE, 4}}, LENGTHS(4, 3)};
    const plan_input shared = { .topology = "cp=2",
                                .set = { ONE_PACK, { SP_PLANNER_PAD_MULTIPLE, 2 } },
                                LENGTHS(4, 3) };
    planned p = plan_it(&alone);
    sp_pack_view v = pack_of(&p, 0, 0, SP_FORWARD, 0);

    (void)state;
    EXPECT_OFFSETS(v.cu_seqlens_q, 0, 4, 7);
    EXPECT_OFFSETS(v.cu_seqlens_q_padded, 0, 4, 8);
    planned_free(&p);
    p = plan_it(&shared);
    assert_int_equal(pack_of(&p, 0, 0, SP_FORWARD, 0).tokens +
                         pack_of(&p, 0, 1, SP_FORWARD, 0).tokens, 7);
    planned_free(&p);
}

static void c2_real_and_padded_offsets_stand_side_by_side(void **state)
{
    const plan_input in = { .topology = "cp=1", .set = { ONE_PACK, { SP_PLANNER_PAD_MULTIPLE, 4 } },
                            LENGTHS(4, 8, 6, 10) };
    planned p = plan_it(&in);
    sp_pack_view v = pack_of(&p, 0, 0, SP_FORWARD, 0);

    (void)state;
    EXPECT_OFFSETS(v.cu_seqlens_q, 0, 4, 12, 18, 28);
    EXPECT_OFFSETS(v.cu_seqlens_q_padded, 0, 4, 12, 20, 32);
    assert_int_equal(v.tokens, 28);
    assert_int_equal(v.padded_tokens, 32);
    planned_free(&p);
}

/* Lengths are taken, not offsets: a placeholder is a length of 0, a decrease one below. */
static void c4_placeholders_and_decreases_are_refused_by_index(void **state)
{
    const int64_t held[] = { 16, 24, 0, 0 }, falling[] = { 16, 24, -8 };
    const plan_input in = { .topology = "cp=4", LENGTHS(16, 24) };
    sp_batch *batch = NULL;
    planned p;

    (void)state;
    EXPECT_FAIL(sp_batch_create(held, 4, NULL, &batch), SP_ERR_RANGE, "lengths[2]: 0 is below 1");
    EXPECT_FAIL(sp_batch_create(falling, 3, NULL, &batch), SP_ERR_RANGE,
                "lengths[2]: -8 is below 1");
    assert_null(batch);
    p = plan_it(&in);
    assert_int_equal(p.stats.tokens, 40);
    planned_free(&p);
}

/* What lies in the table behind the count is not looked at. */
static void c5_a_table_with_room_gives_its_count_apart(void **state)
{
    const int64_t table[8] = { 9, 5, -1, 0, INT64_MAX, INT64_MIN, -1, -1 };
    const plan_input in = { .topology = "dp=2 cp=2", .count = 2, .lengths = table };
    planned p = plan_it(&in);

    (void)state;
    assert_int_equal(p.stats.samples, 2);
    assert_int_equal(p.stats.tokens, 14);
    planned_free(&p);
}

/* One rank has the token, padded; the others are flagged and have nothing to pad. */
static void c6_a_sample_shorter_than_the_group_leaves_ranks_empty(void **state)
{
    const plan_input in = { .topology = "tp=2 cp=8",
                            .set = { ONE_PACK, { SP_PLANNER_PAD_MULTIPLE, 4 } }, LENGTHS(1) };
    planned p = plan_it(&in);
    int32_t empty = 0;
    int64_t padded = 0;

    (void)state;
    for (int32_t c = 0; c < 8; c++) {
        sp_pack_view v = pack_of(&p, 0, c, SP_FORWARD, 0);

        empty += (v.flags & SP_PACK_EMPTY) != 0;
        padded += v.padded_tokens;
        assert_int_equal(v.cu_seqlens_q[0], 0);
        assert_int_equal(v.cu_seqlens_q_padded[v.count], v.padded_tokens);
    }
    assert_int_equal(empty, 7);
    assert_int_equal(padded, 4);
    planned_free(&p);
}

static void c7_padded_totals_divide_by_the_tensor_ranks(void **state)
{
    const plan_input in = { .topology = "tp=2 pp=2",
                            .set = { ONE_PACK, { SP_PLANNER_PAD_MULTIPLE, 2 } }, LENGTHS(7, 6) };
    planned p = plan_it(&in);

    (void)state;
    for (int32_t rank = 0; rank < 4; rank++) {
        sp_pack_view v = SP_PACK_VIEW_INIT;

        assert_int_equal(sp_schedule_pack(p.schedule, rank, SP_FORWARD, 0, &v), SP_OK);
        EXPECT_OFFSETS(v.cu_seqlens_q_padded, 0, 8, 14);
        assert_int_equal(v.tokens, 13);
    }
    planned_free(&p);
}

/* Every rank knows what every other holds, so collectives can be sized. */
static void c9_a_token_too_many_goes_to_one_rank(void **state)
{
    const plan_input in = { .topology = "cp=8", .set = { ONE_PACK }, LENGTHS(32769) };
    planned p = plan_it(&in);
    int64_t tokens[8];

    (void)state;
    tokens_of_ranks(&p, 8, tokens);
    assert_int_equal(tokens[0], 4097);
    for (int32_t c = 1; c < 8; c++)
        assert_int_equal(tokens[c], 4096);
    planned_free(&p);
}

/* No length has to divide, and nothing is padded; sharing is by sample, not by pack. */
static void c10_no_sample_is_padded_to_be_shared(void **state)
{
    const plan_input in = { .topology = "cp=4", .set = { ONE_PACK }, LENGTHS(3, 3, 2) };
    planned p = plan_it(&in);
    int64_t sum = 0;

    (void)state;
    for (int32_t c = 0; c < 4; c++) {
        sp_pack_view v = pack_of(&p, 0, c, SP_FORWARD, 0);

        sum += v.tokens;
        assert_int_equal(v.padded_tokens, v.tokens);
        assert_true(v.tokens <= 3);
    }
    assert_int_equal(sum, 8);
    planned_free(&p);
}

/* The slice length is a parameter, a last slice is short, and both totals are told. */
static void c11_slices_have_the_length_that_was_set(void **state)
{
    const plan_input in = { .topology = "cp=2",
                            .set = { { SP_PLANNER_POLICY, SP_POLICY_UNIFORM_SLICE },
                                     { SP_PLANNER_SLICE_TOKENS, 1536 },
                                     { SP_PLANNER_PAD_MULTIPLE, 128 } },
                            LENGTHS(1600) };
    planned p = plan_it(&in);
    int64_t tokens = 0, padded = 0;

    (void)state;
    assert_int_equal(p.stats.slices, 2);
    assert_int_equal(slices_of(&p, 0, SP_FORWARD, 0).tokens, 1536);
    assert_int_equal(slices_of(&p, 0, SP_FORWARD, 1).tokens, 64);
    for (int32_t c = 0; c < 2; c++)
        for (int32_t k = 0; k < 2; k++) {
            tokens += pack_of(&p, 0, c, SP_FORWARD, k).tokens;
            padded += pack_of(&p, 0, c, SP_FORWARD, k).padded_tokens;
        }
    assert_int_equal(tokens, 1600);
    assert_int_equal(padded, 1536 + 3 * 128); /* the 64 tokens are shards of 16, 16 and 32 */
    planned_free(&p);
}

static void c13_the_share_of_padding_is_in_the_view(void **state)
{
    const plan_input alone = { .topology = "cp=1",
                               .set = { ONE_PACK, { SP_PLANNER_PAD_MULTIPLE, 16 } },
                               LENGTHS(137, 2041, 89) };
    const plan_input shared = { .topology = "cp=8", .set = { ONE_PACK }, LENGTHS(137, 2041, 89) };
    planned p = plan_it(&alone);
    sp_pack_view v = pack_of(&p, 0, 0, SP_FORWARD, 0);
    int64_t tokens[8], sum = 0;

    (void)state;
    EXPECT_OFFSETS(v.cu_seqlens_q_padded, 0, 144, 144 + 2048, 144 + 2048 + 96);
    assert_int_equal(1000 * (v.padded_tokens - v.tokens) / v.tokens, 9); /* 0.9 % */
    planned_free(&p);
    p = plan_it(&shared);
    tokens_of_ranks(&p, 8, tokens);
    for (int32_t c = 0; c < 8; c++)
        sum += tokens[c];
    assert_int_equal(sum, 137 + 2041 + 89);
    planned_free(&p);
}

static void c14_ten_tokens_on_four_ranks_are_three_three_two_two(void **state)
{
    const plan_input in = { .topology = "cp=4", .set = { ONE_PACK }, LENGTHS(10) };
    planned p = plan_it(&in);
    int64_t tokens[4];

    (void)state;
    tokens_of_ranks(&p, 4, tokens);
    assert_int_equal(tokens[0], 3);
    assert_int_equal(tokens[1], 3);
    assert_int_equal(tokens[2], 2);
    assert_int_equal(tokens[3], 2);
    planned_free(&p);
}

/* A plan's bytes, to be freed, and its digest. */
static unsigned char *bytes_of(const plan_input *in, size_t *size, uint64_t *digest)
{
    planned p = plan_it(in);
    unsigned char *bytes = encoded(p.schedule, SP_ALL_RANKS, size);

    *digest = sp_schedule_digest(p.schedule);
    planned_free(&p);
    return bytes;
}

/* Nothing is cached. Plans of another topology, cap, padding or of packs that another
 * alignment makes are told apart by their bytes and by their digest. */
static void c16_plans_of_other_degrees_or_limits_are_told_apart(void **state)
{
    const plan_input in[] = {
        {.topology = "cp=1", .set = {{SP_PLANNER_MAX_PACKS, 12}}, LENGTHS(64, 33, 17)},
        {.topology = "cp=2", .set = {{SP_PLANNER_MAX_PACKS, 12}}, LENGTHS(64, 33, 17)},
        {.topology = "cp=1",
         .set = {{SP_PLANNER_MAX_PACKS, 12}, {SP_PLANNER_ALIGNMENT, 1}},
         LENGTHS(64, 33, 17)},
        {.topology = "cp=1",
         .set = {{SP_PLANNER_MAX_PACKS, 12}, {SP_PLANNER_MAX_PACK_TOKENS, 16}},
         LENGTHS(64, 33, 17)},
        {.topology = "cp=1",
         .set = {{SP_PLANNER_MAX_PACKS, 12}, {SP_PLANNER_PAD_MULTIPLE, 8}},
         LENGTHS(64, 33, 17)},
    };
    enum { PLANS = sizeof in / sizeof *in };
    unsigned char *bytes[PLANS];
    uint64_t digest[PLANS];
    size_t size[PLANS];

    (void)state;
    for (int i = 0; i < PLANS; i++)
        bytes[i] = bytes_of(&in[i], &size[i], &digest[i]);
    for (int i = 0; i < PLANS; i++)
        for (int j = 0; j < i; j++) {
            assert_true(size[i] != size[j] || memcmp(bytes[i], bytes[j], size[i]) != 0);
            assert_true(digest[i] != digest[j]);
        }
    for (int i = 0; i < PLANS; i++)
        free(bytes[i]);
}

static void c17_samples_of_one_token_stay_apart(void **state)
{
    const plan_input in = { .topology = "cp=1", .set = { ONE_PACK }, LENGTHS(1, 1, 1, 5) };
    planned p = plan_it(&in);
    sp_pack_view v = pack_of(&p, 0, 0, SP_FORWARD, 0);

    (void)state;
    EXPECT_OFFSETS(v.cu_seqlens_q, 0, 1, 2, 3, 8);
    EXPECT_OFFSETS(v.sample, 0, 1, 2, 3);
    planned_free(&p);
}

static void c18_empty_samples_are_refused_and_one_token_is_the_longest(void **state)
{
    const int64_t with_empty[] = { 0, 1, 0, 1 }, without[] = { 1, 1 };
    sp_batch *batch = NULL;

    (void)state;
    EXPECT_FAIL(sp_batch_create(with_empty, 4, NULL, &batch), SP_ERR_RANGE,
                "lengths[0]: 0 is below 1");
    assert_int_equal(sp_batch_create(without, 2, NULL, &batch), SP_OK);
    assert_int_equal(sp_batch_longest(batch), 1);
    sp_batch_destroy(batch);
}

static void c19_an_empty_sample_between_others_is_refused_by_index(void **state)
{
    const int64_t lengths[] = { 5, 0, 5 };
    sp_batch *batch = NULL;

    (void)state;
    EXPECT_FAIL(sp_batch_create(lengths, 3, NULL, &batch), SP_ERR_RANGE,
                "lengths[1]: 0 is below 1");
    assert_null(batch);
}

static void c22_odd_lengths_are_padded_not_skipped(void **state)
{
    const plan_input in = { .topology = "cp=1", .set = { ONE_PACK, { SP_PLANNER_PAD_MULTIPLE, 2 } },
                            LENGTHS(3, 5, 7) };
    planned p = plan_it(&in);
    sp_pack_view v = pack_of(&p, 0, 0, SP_FORWARD, 0);

    (void)state;
    EXPECT_OFFSETS(v.cu_seqlens_q, 0, 3, 8, 15);
    EXPECT_OFFSETS(v.cu_seqlens_q_padded, 0, 4, 10, 18);
    planned_free(&p);
}

static void c_every_length_on_every_group_loses_no_token(void **state)
{
    (void)state;
    for (int64_t length = 1; length <= 70; length++)
        for (int32_t cp = 1; cp <= 8; cp++) {
            char topology[16] = { 'c', 'p', '=', (char)('0' + cp) };
            const plan_input in = { .topology = topology, .set = { ONE_PACK }, .count = 1,
                                    .lengths = &length };
            planned p = plan_it(&in);
            int64_t tokens[8], sum = 0, least = INT64_MAX, most = 0;

            tokens_of_ranks(&p, cp, tokens);
            for (int32_t c = 0; c < cp; c++) {
                sum += tokens[c];
                least = tokens[c] < least ? tokens[c] : least;
                most = tokens[c] > most ? tokens[c] : most;
            }
            assert_int_equal(sum, length);
            assert_true(most - least <= 1);
            planned_free(&p);
        }
}

/* Each shard is padded on its own; the real offsets are those without padding. */
static void expect_padding(const sp_pack_view *v, int64_t pad)
{
    assert_int_equal(v->cu_seqlens_q[0], 0);
    assert_int_equal(v->cu_seqlens_q_padded[0], 0);
    for (int32_t i = 0; i < v->count; i++) {
        int64_t real = v->cu_seqlens_q[i + 1] - v->cu_seqlens_q[i];
        int64_t padded = v->cu_seqlens_q_padded[i + 1] - v->cu_seqlens_q_padded[i];

        assert_true(real > 0);
        assert_int_equal(padded % pad, 0);
        assert_in_range(padded, real, real + pad - 1);
    }
}

static void c_every_multiple_pads_each_shard_alone(void **state)
{
    static const char *const topologies[] = { "cp=1", "cp=2", "dp=2 cp=3", "tp=2 cp=4" };
    uint64_t seed = 7;

    (void)state;
    for (int i = 0; i < 256; i++) {
        const char *topology = topologies[i % 4];
        const int64_t pad = 1 + i / 4 % 16;
        int64_t lengths[6];
        const plan_input in = { .topology = topology,
                                .set = { { SP_PLANNER_PAD_MULTIPLE, pad },
                                         { SP_PLANNER_MAX_PACKS, 3 } },
                                .count = 6, .lengths = lengths };
        planned p;

        for (int j = 0; j < 6; j++)
            lengths[j] = 1 + random_below(&seed, 60);
        p = plan_it(&in);
        for (int32_t rank = 0; rank < sp_topology_size(p.topology); rank++)
            for (sp_pass pass = 0; pass < 2; pass++)
                for (int32_t k = 0; k < sp_schedule_pack_count(p.schedule, pass); k++) {
                    sp_pack_view v = SP_PACK_VIEW_INIT;

                    assert_int_equal(sp_schedule_pack(p.schedule, rank, pass, k, &v), SP_OK);
                    expect_padding(&v, pad);
                }
        planned_free(&p);
    }
}

/* The first one that is too short is named, wherever it stands. */
static void c_every_place_of_an_empty_sample_is_named(void **state)
{
    (void)state;
    for (int64_t count = 1; count <= 16; count++)
        for (int64_t at = 0; at < count; at++)
            for (int64_t empty = -1; empty <= 0; empty++) {
                int64_t lengths[16];
                sp_batch *batch = NULL;
                char words[64];

                for (int64_t i = 0; i < count; i++)
                    lengths[i] = i < at ? 1 : empty;
                snprintf(words, sizeof words, "lengths[%d]: %d is below 1", (int)at, (int)empty);
                EXPECT_FAIL(sp_batch_create(lengths, count, NULL, &batch), SP_ERR_RANGE, words);
                assert_null(batch);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c1_an_odd_length_keeps_its_last_token),
        cmocka_unit_test(c2_real_and_padded_offsets_stand_side_by_side),
        cmocka_unit_test(c4_placeholders_and_decreases_are_refused_by_index),
        cmocka_unit_test(c5_a_table_with_room_gives_its_count_apart),
        cmocka_unit_test(c6_a_sample_shorter_than_the_group_leaves_ranks_empty),
        cmocka_unit_test(c7_padded_totals_divide_by_the_tensor_ranks),
        cmocka_unit_test(c9_a_token_too_many_goes_to_one_rank),
        cmocka_unit_test(c10_no_sample_is_padded_to_be_shared),
        cmocka_unit_test(c11_slices_have_the_length_that_was_set),
        cmocka_unit_test(c13_the_share_of_padding_is_in_the_view),
        cmocka_unit_test(c14_ten_tokens_on_four_ranks_are_three_three_two_two),
        cmocka_unit_test(c16_plans_of_other_degrees_or_limits_are_told_apart),
        cmocka_unit_test(c17_samples_of_one_token_stay_apart),
        cmocka_unit_test(c18_empty_samples_are_refused_and_one_token_is_the_longest),
        cmocka_unit_test(c19_an_empty_sample_between_others_is_refused_by_index),
        cmocka_unit_test(c22_odd_lengths_are_padded_not_skipped),
        cmocka_unit_test(c_every_length_on_every_group_loses_no_token),
        cmocka_unit_test(c_every_multiple_pads_each_shard_alone),
        cmocka_unit_test(c_every_place_of_an_empty_sample_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
