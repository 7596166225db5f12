/*
 * test_field_pipeline.c - small inputs that broke other planners, kind G: stages,
 * chunks, and what neighbours tell each other.
 *
 * Every stage runs every pack, peers agree on order and size of all that they exchange,
 * and no count of packs, stages or chunks makes a plan hang.
 */
#include <stdlib.h>
#include <string.h>

#include "../support/planned.h"
#include "../support/random_case.h"
#include "../support/round_trip.h"

enum { MOST_OPS = 512 };

/* What goes from a rank to another in a pass, in the order in which it is sent or
 * received. */
typedef struct channel {
    int32_t count;
    int32_t pack[MOST_OPS];
    int64_t tokens[MOST_OPS];
} channel;

static void read_channel(const planned *p, int32_t rank, int32_t peer, sp_pass pass, int sends,
                         channel *c)
{
    memset(c, 0, sizeof *c);
    for (int32_t i = 0; i < sp_schedule_op_count(p->schedule); i++) {
        sp_op_view op = SP_OP_VIEW_INIT;

        assert_int_equal(sp_schedule_op(p->schedule, rank, i, &op), SP_OK);
        if (op.pass != pass || (sends ? op.send_rank : op.recv_rank) != peer)
            continue;
        assert_true(c->count < MOST_OPS);
        c->pack[c->count] = op.pack;
        c->tokens[c->count++] = sends ? op.send_tokens : op.recv_tokens;
    }
}

/* For all pairs of ranks and both passes; returns the messages. */
static int32_t expect_matching_channels(const planned *p)
{
    static channel sent, received;
    int32_t ranks = sp_topology_size(p->topology), messages = 0;

    for (int32_t from = 0; from < ranks; from++)
        for (int32_t to = 0; to < ranks; to++)
            for (sp_pass pass = 0; pass < 2; pass++) {
                read_channel(p, from, to, pass, 1, &sent);
                read_channel(p, to, from, pass, 0, &received);
                assert_memory_equal(&sent, &received, sizeof sent);
                messages += sent.count;
            }
    return messages;
}

/* Tokens of a rank's packs of a pass in the order of its ops, on chunk 0. */
static int32_t sizes_on(const planned *p, int32_t rank, sp_pass pass, int64_t *tokens)
{
    int32_t count = 0;

    for (int32_t i = 0; i < sp_schedule_op_count(p->schedule); i++) {
        sp_op_view op = SP_OP_VIEW_INIT;
        sp_pack_view v = SP_PACK_VIEW_INIT;

        assert_int_equal(sp_schedule_op(p->schedule, rank, i, &op), SP_OK);
        if (op.pass != pass || op.chunk != 0)
            continue;
        assert_int_equal(sp_schedule_pack(p->schedule, rank, pass, op.pack, &v), SP_OK);
        tokens[count++] = v.tokens;
    }
    return count;
}

static void g1_one_pack_on_four_stages_is_a_valid_schedule(void **state)
{
    const plan_input in = { .topology = "pp=4",
                            .set = { { SP_PLANNER_FORWARD_PACKS, 1 },
                                     { SP_PLANNER_BACKWARD_PACKS, 1 } },
                            LENGTHS(100) };
    planned p = plan_it(&in);

    (void)state;
    assert_true(p.stats.bubble_ppm >= 750000);
    planned_free(&p);
}

/* With two stages and two chunks both directions join the same pair of ranks. */
static void g2_two_messages_to_one_neighbour_keep_their_order(void **state)
{
    const plan_input in = { .topology = "pp=2", .set_model = { { SP_MODEL_VIRTUAL_STAGES, 2 } },
                            LENGTHS(3, 5, 7, 9) };
    planned p = plan_it(&in);

    (void)state;
    /* Four virtual stages have three hand-overs, each for every pack of a pass. */
    assert_int_equal(expect_matching_channels(&p),
                     3 * (p.stats.forward_packs + p.stats.backward_packs));
    planned_free(&p);
}

static void g4_chunks_do_not_change_the_size_of_a_pack(void **state)
{
    (void)state;
    for (int64_t chunks = 1; chunks <= 2; chunks++) {
        const plan_input in = { .topology = "pp=2",
                                .set = { { SP_PLANNER_PAD_MULTIPLE, 4 },
                                         { SP_PLANNER_KEEP_ORDER, 1 },
                                         { SP_PLANNER_FORWARD_PACKS, 2 },
                                         { SP_PLANNER_BACKWARD_PACKS, 2 } },
                                .set_model = { { SP_MODEL_VIRTUAL_STAGES, chunks } },
                                LENGTHS(5, 9) };
        planned p = plan_it(&in);

        for (sp_pass pass = 0; pass < 2; pass++) {
            assert_int_equal(pack_of(&p, 0, 0, pass, 0).padded_tokens, 8);
            assert_int_equal(pack_of(&p, 0, 0, pass, 1).padded_tokens, 12);
        }
        planned_free(&p);
    }
}

/* Both chunks see the same arrays, and reading them writes nothing. */
static void g5_reading_a_chunk_alters_no_other(void **state)
{
    const plan_input in = { .topology = "pp=2", .set_model = { { SP_MODEL_VIRTUAL_STAGES, 2 } },
                            LENGTHS(30, 50, 70, 90) };
    planned p = plan_it(&in);
    size_t size, again;
    unsigned char *before = encoded(p.schedule, SP_ALL_RANKS, &size), *after;
    const int32_t *sample[2][MOST_OPS] = { { NULL } };

    (void)state;
    for (int32_t i = 0; i < sp_schedule_op_count(p.schedule); i++) {
        sp_op_view op = SP_OP_VIEW_INIT;
        sp_pack_view v = SP_PACK_VIEW_INIT;

        assert_int_equal(sp_schedule_op(p.schedule, 0, i, &op), SP_OK);
        assert_int_equal(sp_schedule_pack(p.schedule, 0, op.pass, op.pack, &v), SP_OK);
        if (sample[op.pass][op.pack] != NULL)
            assert_ptr_equal(sample[op.pass][op.pack], v.sample);
        sample[op.pass][op.pack] = v.sample;
    }
    after = encoded(p.schedule, SP_ALL_RANKS, &again);
    assert_int_equal(size, again);
    assert_memory_equal(before, after, size);
    free(before);
    free(after);
    planned_free(&p);
}

static void g6_every_stage_knows_every_size(void **state)
{
    const plan_input in = { .topology = "pp=3",
                            .set = { { SP_PLANNER_MAX_PACK_SAMPLES, 1 },
                                     { SP_PLANNER_KEEP_ORDER, 1 },
                                     { SP_PLANNER_FORWARD_PACKS, 3 },
                                     { SP_PLANNER_BACKWARD_PACKS, 3 } },
                            LENGTHS(3, 3, 2) };
    planned p = plan_it(&in);

    (void)state;
    for (int32_t stage = 0; stage < 3; stage++)
        for (sp_pass pass = 0; pass < 2; pass++) {
            int64_t tokens[MOST_OPS];

            assert_int_equal(sizes_on(&p, stage, pass, tokens), 3);
            assert_int_equal(tokens[0], 3);
            assert_int_equal(tokens[1], 3);
            assert_int_equal(tokens[2], 2);
        }
    assert_int_equal(expect_matching_channels(&p), 12);
    planned_free(&p);
}

/* Policies that interleave as Megatron-LM does run whole groups of as many packs as
 * stages; the method's own order takes any number. */
static void g7_ten_packs_become_twelve_or_stay_ten(void **state)
{
    const plan_input groups = { .topology = "pp=4",
                                .set = { { SP_PLANNER_POLICY, SP_POLICY_FIXED_PACK } },
                                .set_model = { { SP_MODEL_VIRTUAL_STAGES, 2 } },
                                LENGTHS(50, 50, 50, 50, 50, 50, 50, 50, 50, 50) };
    const plan_input any = { .topology = "pp=4",
                             .set = { { SP_PLANNER_FORWARD_PACKS, 10 },
                                      { SP_PLANNER_BACKWARD_PACKS, 10 } },
                             .set_model = { { SP_MODEL_VIRTUAL_STAGES, 2 } },
                             LENGTHS(50, 50, 50, 50, 50, 50, 50, 50, 50, 50) };
    planned p = plan_it(&groups);

    (void)state;
    assert_int_equal(p.stats.forward_packs, 12);
    assert_int_equal(filled_packs(&p, 0, SP_FORWARD), 10);
    planned_free(&p);
    p = plan_it(&any);
    assert_int_equal(p.stats.forward_packs, 10);
    planned_free(&p);
}

static void g10_the_count_of_packs_minds_the_chunks(void **state)
{
    const plan_input in = { .topology = "pp=2", .set_model = { { SP_MODEL_VIRTUAL_STAGES, 2 } },
                            LENGTHS(64) };
    planned p = plan_it(&in);

    (void)state;
    assert_true(p.stats.forward_packs >= 4);
    assert_true(p.stats.backward_packs >= 4);
    planned_free(&p);
}

static void g11_no_stages_and_no_packs_name_the_argument(void **state)
{
    const plan_input in = { .topology = "dp=1", LENGTHS(5) };
    planned p = plan_it(&in);
    sp_topology *topology = NULL;

    (void)state;
    EXPECT_FAIL(sp_topology_create(1, 1, 0, 1, NULL, &topology), SP_ERR_RANGE, "pp: 0 is below 1");
    EXPECT_FAIL(sp_planner_set(p.planner, SP_PLANNER_MAX_PACKS, 0), SP_ERR_RANGE,
                "planner parameter max_packs: 0 is below 1");
    EXPECT_FAIL(sp_model_set(p.model, SP_MODEL_VIRTUAL_STAGES, 0), SP_ERR_RANGE,
                "model parameter virtual_stages: 0 is below 1");
    assert_null(topology);
    planned_free(&p);
}

/* Samples of four slices on four stages, a slice a pack. The slices that the next
 * backward needs are one sample; running ahead adds a slice a stage. */
static void g12_slices_hold_less_than_whole_samples(void **state)
{
    static const int64_t lengths[8] = { 4096, 4096, 4096, 4096, 4096, 4096, 4096, 4096 };
    const plan_input whole = { .topology = "pp=4",
                               .set = { { SP_PLANNER_POLICY, SP_POLICY_FIXED_PACK } },
                               .count = 8, .lengths = lengths };
    planned p = plan_it(&whole);

    (void)state;
    assert_int_equal(p.stats.peak_live_tokens, 4 * 4096);
    planned_free(&p);
    for (int64_t ahead = 0; ahead <= 1; ahead++) {
        const plan_input sliced = { .topology = "pp=4",
                                    .set = { { SP_PLANNER_POLICY, SP_POLICY_UNIFORM_SLICE },
                                             { SP_PLANNER_SLICE_TOKENS, 1024 },
                                             { SP_PLANNER_MAX_PACK_TOKENS, 1024 },
                                             { SP_PLANNER_RUN_AHEAD, ahead } },
                                    .count = 8, .lengths = lengths };
        int32_t last[8];

        memset(last, 0x7f, sizeof last);
        p = plan_it(&sliced);
        assert_int_equal(p.stats.peak_live_tokens, 4096 + ahead * 4 * 1024);
        for (int32_t k = 0; k < p.stats.backward_packs; k++) {
            sp_slice_view v = slices_of(&p, 0, SP_BACKWARD, k);

            assert_true(v.count == 1 && v.start[0] < last[v.sample[0]]);
            last[v.sample[0]] = v.start[0];
        }
        planned_free(&p);
    }
}

/* Counts of packs below, at and above the stages, chunks or none, either pipeline. */
static void g_any_count_of_packs_stages_and_chunks_runs(void **state)
{
    static const struct {
        const char *topology;
        int32_t stages;
    } pipes[] = { { "pp=1", 1 }, { "pp=2", 2 }, { "dp=2 pp=2", 2 }, { "pp=4", 4 },
                  { "pp=4 cp=2", 4 }, { "pp=8", 8 } };
    int64_t lengths[13];
    int plans = 0;

    (void)state;
    for (int i = 0; i < 13; i++)
        lengths[i] = 16 + 7 * i;
    for (size_t t = 0; t < sizeof pipes / sizeof *pipes; t++)
        for (int64_t chunks = 1; chunks <= (pipes[t].stages > 1 ? 4 : 1); chunks *= 2)
            for (int64_t packs = 1; packs <= 13; packs += 2)
                for (int64_t pipeline = 0; pipeline <= 1; pipeline++, plans++) {
                    const plan_input in = {
                        .topology = pipes[t].topology,
                        .set = { { SP_PLANNER_FORWARD_PACKS, packs },
                                 { SP_PLANNER_BACKWARD_PACKS, 14 - packs },
                                 { SP_PLANNER_PIPELINE, pipeline } },
                        .set_model = { { SP_MODEL_VIRTUAL_STAGES, chunks } },
                        .count = 13, .lengths = lengths
                    };
                    planned p = plan_it(&in);

                    assert_int_equal(sp_schedule_op_count(p.schedule),
                                     chunks * (packs + (1 + pipeline) * (14 - packs)));
                    expect_matching_channels(&p);
                    planned_free(&p);
                }
    assert_true(plans > 200);
}

/* Left to choose, the planner gives every virtual stage something to do where a replica
 * has slices enough, and its count suits the group. */
static void g_automatic_counts_fill_the_pipeline(void **state)
{
    uint64_t seed = 19;

    (void)state;
    for (int i = 0; i < 200; i++) {
        const int64_t chunks = 1 << (i % 3), group = 1 + i % 4;
        int64_t lengths[5], slices = 0;
        const plan_input in = { .topology = i % 2 == 0 ? "pp=2" : "pp=4",
                                .set = { { SP_PLANNER_PACK_GROUP, group } },
                                .set_model = { { SP_MODEL_VIRTUAL_STAGES, chunks } },
                                .count = 5, .lengths = lengths };
        const int64_t stages = (i % 2 == 0 ? 2 : 4) * chunks;
        planned p;

        for (int j = 0; j < 5; j++) {
            lengths[j] = 1 + random_below(&seed, 600);
            slices += (lengths[j] + 15) / 16;
        }
        p = plan_it(&in);
        for (sp_pass pass = 0; pass < 2; pass++) {
            assert_int_equal(sp_schedule_pack_count(p.schedule, pass) % group, 0);
            assert_true(sp_schedule_pack_count(p.schedule, pass) >=
                        (slices < stages ? slices : stages));
        }
        planned_free(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(g1_one_pack_on_four_stages_is_a_valid_schedule),
        cmocka_unit_test(g2_two_messages_to_one_neighbour_keep_their_order),
        cmocka_unit_test(g4_chunks_do_not_change_the_size_of_a_pack),
        cmocka_unit_test(g5_reading_a_chunk_alters_no_other),
        cmocka_unit_test(g6_every_stage_knows_every_size),
        cmocka_unit_test(g7_ten_packs_become_twelve_or_stay_ten),
        cmocka_unit_test(g10_the_count_of_packs_minds_the_chunks),
        cmocka_unit_test(g11_no_stages_and_no_packs_name_the_argument),
        cmocka_unit_test(g12_slices_hold_less_than_whole_samples),
        cmocka_unit_test(g_any_count_of_packs_stages_and_chunks_runs),
        cmocka_unit_test(g_automatic_counts_fill_the_pipeline),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
