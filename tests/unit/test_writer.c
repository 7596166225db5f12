/*
 * test_writer.c - a draft becomes a schedule, and a schedule a draft again.
 */
#include "schedule/writer.h"

#include <string.h>

#include "../support/expect.h"
#include "../support/failing_alloc.h"
#include "../support/hand_plan.h"

static sp_pack_view view_of(const sp_schedule *s, int32_t rank, sp_pass pass, int32_t pack)
{
    sp_pack_view v = SP_PACK_VIEW_INIT;

    assert_int_equal(sp_schedule_pack(s, rank, pass, pack, &v), SP_OK);
    return v;
}

static void expect_ints(const int32_t *got, int32_t count, const int32_t *expected)
{
    for (int32_t i = 0; i < count; i++)
        assert_int_equal(got[i], expected[i]);
}

#define EXPECT_INTS(got, ...)                                                    \
    expect_ints((got), (int32_t)(sizeof((int32_t[]){ __VA_ARGS__ }) / sizeof(int32_t)), \
                (int32_t[]){ __VA_ARGS__ })

/* CP 2: slice [16, 48) of a sample of 48, in chunks of 8, and a whole sample of 5 on
 * the second rank. An empty pack follows. */
static void open_context_plan(hand_plan *h)
{
    const sp__slice f0 = { 0, 0, 16, SP__SPLIT };
    const sp__slice f1[] = { { 0, 16, 32, SP__SPLIT }, { 1, 0, 5, 1 } };
    const sp__slice back[] = { { 1, 0, 5, 1 }, { 0, 16, 32, SP__SPLIT }, { 0, 0, 16, SP__SPLIT } };

    hand_open(h, "cp=2", 3, 1);
    hand_sample(h, 48);
    hand_sample(h, 5);
    h->draft.pad_multiple = 4;
    h->draft.pack_tokens = 20;
    hand_pack(h, 0, SP_FORWARD, -1, 1, &f0);
    hand_pack(h, 0, SP_FORWARD, -1, 2, f1);
    hand_pack(h, 0, SP_FORWARD, -1, 0, NULL);
    hand_pack(h, 0, SP_BACKWARD, -1, 3, back);
    hand_close(h);
}

static void shards_are_listed_with_their_offsets(void **state)
{
    sp_schedule *s;
    hand_plan h;
    sp_pack_view v;

    (void)state;
    open_context_plan(&h);
    s = hand_schedule(&h);
    v = view_of(s, 0, SP_FORWARD, 1);
    assert_int_equal(v.count, 2);
    EXPECT_INTS(v.sample, 0, 0);
    EXPECT_INTS(v.start, 16, 40);
    EXPECT_INTS(v.cu_seqlens_q, 0, 8, 16);
    EXPECT_INTS(v.cu_seqlens_k, 0, 24, 72);
    EXPECT_INTS(v.cu_seqlens_q_padded, 0, 8, 16);
    v = view_of(s, 1, SP_FORWARD, 1);
    EXPECT_INTS(v.sample, 0, 1);
    EXPECT_INTS(v.start, 24, 0);
    EXPECT_INTS(v.cu_seqlens_q, 0, 16, 21);
    EXPECT_INTS(v.cu_seqlens_k, 0, 40, 45);
    EXPECT_INTS(v.cu_seqlens_q_padded, 0, 16, 24);
    assert_int_equal(v.max_seqlen_q, 16);
    assert_int_equal(v.max_seqlen_k, 40);
    assert_int_equal(v.tokens, 21);
    assert_int_equal(v.padded_tokens, 24);
    assert_int_equal(v.pack_tokens, 37);
    sp_schedule_destroy(s);
    hand_free(&h);
}

static void backward_lists_the_later_piece_first(void **state)
{
    sp_schedule *s;
    hand_plan h;
    sp_pack_view v;

    (void)state;
    open_context_plan(&h);
    s = hand_schedule(&h);
    v = view_of(s, 0, SP_BACKWARD, 0);
    EXPECT_INTS(v.sample, 0, 0, 0, 0);
    EXPECT_INTS(v.start, 40, 16, 12, 0);
    v = view_of(s, 1, SP_BACKWARD, 0);
    EXPECT_INTS(v.sample, 1, 0, 0);
    EXPECT_INTS(v.start, 0, 24, 4);
    sp_schedule_destroy(s);
    hand_free(&h);
}

static void empty_and_oversize_packs_are_flagged(void **state)
{
    sp_schedule *s;
    hand_plan h;

    (void)state;
    open_context_plan(&h);
    s = hand_schedule(&h);
    assert_int_equal(view_of(s, 0, SP_FORWARD, 0).flags, 0);
    assert_int_equal(view_of(s, 1, SP_FORWARD, 1).flags, SP_PACK_OVERSIZE); /* 24 padded of 20 */
    assert_int_equal(view_of(s, 0, SP_FORWARD, 2).flags, SP_PACK_EMPTY);
    assert_int_equal(view_of(s, 0, SP_FORWARD, 2).count, 0);
    EXPECT_INTS(view_of(s, 0, SP_FORWARD, 2).cu_seqlens_q, 0);
    EXPECT_INTS(view_of(s, 0, SP_FORWARD, 2).cu_seqlens_k, 0);
    EXPECT_INTS(view_of(s, 0, SP_FORWARD, 2).cu_seqlens_q_padded, 0);
    sp_schedule_destroy(s);
    hand_free(&h);
}

/* Whether all of an array lies in a block. */
static int inside(const int32_t *array, int32_t count, const void *block, size_t bytes)
{
    const char *first = (const char *)array, *base = block;

    return first >= base && first + (size_t)count * sizeof *array <= base + bytes;
}

static void expect_block(const sp_schedule *s, int32_t rank)
{
    const void *block;
    size_t bytes;

    assert_int_equal(sp_schedule_block(s, rank, &block, &bytes), SP_OK);
    assert_int_equal((uintptr_t)block % 64, 0);
    assert_int_equal(bytes % 64, 0);
    for (sp_pass pass = 0; pass < 2; pass++)
        for (int32_t k = 0; k < sp_schedule_pack_count(s, pass); k++) {
            sp_pack_view v = view_of(s, rank, pass, k);

            assert_true(inside(v.sample, v.count, block, bytes));
            assert_true(inside(v.start, v.count, block, bytes));
            assert_true(inside(v.cu_seqlens_q, v.count + 1, block, bytes));
            assert_true(inside(v.cu_seqlens_k, v.count + 1, block, bytes));
            assert_true(inside(v.cu_seqlens_q_padded, v.count + 1, block, bytes));
        }
}

static void all_arrays_of_a_rank_lie_in_its_aligned_block(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        sp_schedule *s;
        hand_plan h;

        hand_random(&h, seed);
        h.draft.pad_multiple = seed % 2 == 0 ? 8 : 1;
        s = hand_schedule(&h);
        for (int32_t rank = 0; rank < h.shape.size; rank++)
            expect_block(s, rank);
        sp_schedule_destroy(s);
        hand_free(&h);
    }
}

static void the_plain_offsets_serve_as_padded_ones_without_padding(void **state)
{
    sp_schedule *s;
    hand_plan h;
    sp_pack_view v;

    (void)state;
    hand_equal_packs(&h, "dp=1", 2, 10);
    s = hand_schedule(&h);
    v = view_of(s, 0, SP_FORWARD, 1);
    assert_ptr_equal(v.cu_seqlens_q_padded, v.cu_seqlens_q);
    sp_schedule_destroy(s);
    hand_free(&h);
}

/* A pack of one sample's two slices, or of two samples, with one table past int32. */
static void refuse_offsets(int64_t first, int64_t second, int32_t pad, const char *sentence)
{
    sp_schedule *s = NULL;
    failing_alloc memory;
    sp__alloc alloc;
    hand_plan h;

    hand_open(&h, "dp=1", 1, 1);
    hand_sample(&h, first);
    hand_sample(&h, second);
    h.draft.pad_multiple = pad;
    for (int pass = 0; pass < 2; pass++)
        hand_pack(&h, 0, pass, -1, 2,
                  (sp__slice[]){ { 0, 0, (int32_t)first, SP__SPLIT },
                                 { 1, 0, (int32_t)second, SP__SPLIT } });
    hand_close(&h);
    failing_alloc_init(&memory, NEVER_FAIL);
    assert_int_equal(sp__alloc_init(&alloc, &memory.hooks), SP_OK);
    EXPECT_FAIL(sp__schedule_from_draft(&alloc, NULL, &h.shape, &h.draft, h.lengths, h.samples,
                                        &h.arena[0], &s), SP_ERR_OVERFLOW, sentence);
    assert_null(s);
    assert_int_equal(memory.live, 0);
    hand_free(&h);
}

static void offsets_past_int32_are_refused(void **state)
{
    (void)state;
    refuse_offsets(1500000000, 1500000000, 1,
                   "cu_seqlens_q: 1500000000 + 1500000000 at sample 1 is above 2147483647; use "
                   "more packs or fewer tokens");
    refuse_offsets(INT32_MAX - 7, 1, 1024,
                   "cu_seqlens_q_padded: 0 + 2147483648 at sample 0 is above 2147483647; use "
                   "more packs or fewer tokens");
}

/* Queries of 10, but keys of 2^31 - 1 twice. */
static void key_offsets_past_int32_are_refused(void **state)
{
    const int32_t start = INT32_MAX - 10;
    const sp__slice pack[] = { { 0, start, 10, SP__SPLIT }, { 1, start, 10, SP__SPLIT } };
    sp_schedule *s = NULL;
    hand_plan h;

    (void)state;
    hand_open(&h, "dp=1", 1, 1);
    hand_sample(&h, INT32_MAX);
    hand_sample(&h, INT32_MAX);
    for (int pass = 0; pass < 2; pass++)
        hand_pack(&h, 0, pass, -1, 2, pack);
    hand_close(&h);
    EXPECT_FAIL(sp__schedule_from_draft(&h.alloc, NULL, &h.shape, &h.draft, h.lengths, h.samples,
                                        &h.arena[0], &s), SP_ERR_OVERFLOW,
                "cu_seqlens_k: 2147483647 + 2147483647 at sample 1 is above 2147483647; use more "
                "packs or fewer tokens");
    assert_null(s);
    hand_free(&h);
}

static void every_failed_allocation_leaves_nothing(void **state)
{
    failing_alloc memory;
    hand_plan h;

    (void)state;
    hand_random(&h, 3);
    for (int64_t n = 0;; n++) {
        sp_schedule *s = NULL;
        sp__alloc alloc;

        failing_alloc_init(&memory, n);
        assert_int_equal(sp__alloc_init(&alloc, &memory.hooks), SP_OK);
        if (sp__schedule_from_draft(&alloc, NULL, &h.shape, &h.draft, h.lengths, h.samples,
                                    &h.arena[0], &s) == SP_OK) {
            sp_schedule_destroy(s);
            assert_int_equal(memory.live, 0);
            assert_int_equal(n, 1); /* a schedule is one block */
            break;
        }
        assert_string_equal(sp_error_message(), OUT_OF_MEMORY);
        assert_null(s);
        assert_int_equal(memory.live, 0);
    }
    sp_schedule_destroy(NULL);
    hand_free(&h);
}

static void expect_same_lane(const sp__lane *a, const sp__lane *b, int32_t cp)
{
    for (int pass = 0; pass < 2; pass++) {
        const sp__packs *x = &a->pass[pass], *y = &b->pass[pass];
        int32_t slices = x->first[x->count];

        assert_int_equal(x->count, y->count);
        assert_memory_equal(x->first, y->first, ((size_t)x->count + 1) * sizeof *x->first);
        assert_memory_equal(x->merge, y->merge, (size_t)x->count * sizeof *x->merge);
        for (int32_t i = 0; i < slices; i++) {
            assert_int_equal(x->slices[i].sample, y->slices[i].sample);
            assert_int_equal(x->slices[i].start, y->slices[i].start);
            assert_int_equal(x->slices[i].length, y->slices[i].length);
        }
        for (int32_t i = 0; i < x->count * cp; i++) {
            assert_int_equal(x->load[i].tokens, y->load[i].tokens);
            assert_int_equal(x->load[i].pairs, y->load[i].pairs);
            assert_int_equal(x->load[i].context, y->load[i].context);
            assert_int_equal(x->load[i].cached, y->load[i].cached);
        }
    }
    for (int32_t k = 0; k < b->pass[SP_BACKWARD].count; k++) {
        /* A draft lets leading empty packs wait for the first; they need not. */
        int32_t x = a->needs[k] < 0 ? 0 : a->needs[k], y = b->needs[k] < 0 ? 0 : b->needs[k];

        assert_int_equal(x, y);
    }
}

static void a_schedule_reads_back_as_the_draft_it_was(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        sp_schedule *s;
        sp__draft back;
        hand_plan h;

        hand_random(&h, seed);
        s = hand_schedule(&h);
        assert_int_equal(sp__draft_from_schedule(s, &h.rates.attention, &h.arena[0], &back), SP_OK);
        assert_int_equal(back.lanes, h.draft.lanes);
        assert_int_equal(back.cp, h.draft.cp);
        assert_int_equal(back.merges, h.draft.merges);
        for (int32_t r = 0; r < back.lanes; r++)
            expect_same_lane(&h.lane[r], &back.lane[r], back.cp);
        sp_schedule_destroy(s);
        hand_free(&h);
    }
}

/* A shared sample of one token lies on one rank, and is gathered by both all the same. */
static void a_shared_token_reads_back_as_shared(void **state)
{
    const sp__slice token = { 0, 0, 1, SP__SPLIT };
    sp_schedule *s;
    sp__draft back;
    hand_plan h;

    (void)state;
    hand_open(&h, "dp=2", 1, 1);
    hand_sample(&h, 1);
    hand_merge(&h, 0, 0, 2);
    for (int32_t r = 0; r < 2; r++)
        for (int pass = 0; pass < 2; pass++)
            hand_pack(&h, r, pass, 0, 1, &token);
    hand_close(&h);
    s = hand_schedule(&h);
    assert_int_equal(sp__draft_from_schedule(s, &h.rates.attention, &h.arena[0], &back), SP_OK);
    for (int32_t r = 0; r < 2; r++)
        expect_same_lane(&h.lane[r], &back.lane[r], back.cp);
    assert_int_equal(back.lane[0].pass[SP_FORWARD].load[0].context, 1);
    sp_schedule_destroy(s);
    hand_free(&h);
}

/* Samples placed whole on one CP rank are told from split ones by their shards. */
static void places_are_read_off_the_shards(void **state)
{
    sp_schedule *s;
    sp__draft back;
    hand_plan h;

    (void)state;
    open_context_plan(&h);
    h.draft.pad_multiple = 1;
    s = hand_schedule(&h);
    assert_int_equal(sp__draft_from_schedule(s, &h.rates.attention, &h.arena[0], &back), SP_OK);
    expect_same_lane(&h.lane[0], &back.lane[0], back.cp);
    assert_int_equal(back.lane[0].pass[SP_FORWARD].load[2].context, 32);
    sp_schedule_destroy(s);
    hand_free(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shards_are_listed_with_their_offsets),
        cmocka_unit_test(backward_lists_the_later_piece_first),
        cmocka_unit_test(empty_and_oversize_packs_are_flagged),
        cmocka_unit_test(all_arrays_of_a_rank_lie_in_its_aligned_block),
        cmocka_unit_test(the_plain_offsets_serve_as_padded_ones_without_padding),
        cmocka_unit_test(offsets_past_int32_are_refused),
        cmocka_unit_test(key_offsets_past_int32_are_refused),
        cmocka_unit_test(every_failed_allocation_leaves_nothing),
        cmocka_unit_test(a_schedule_reads_back_as_the_draft_it_was),
        cmocka_unit_test(a_shared_token_reads_back_as_shared),
        cmocka_unit_test(places_are_read_off_the_shards),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
