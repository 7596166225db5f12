/*
 * test_field_ranges.c - small inputs that broke other planners, kind D: numbers that
 * pass 2^31 and 2^63.
 *
 * A figure is exact, held against floating point with 64 bits of mantissa, or the
 * call says SP_ERR_OVERFLOW; nothing wraps and nothing is divided by zero.
 */
#include <stdlib.h>
#include <string.h>

#include "../support/costs.h"
#include "../support/planned.h"
#include "../support/random_case.h"

/* Largest number of bytes of a kind while any op of rank 0 runs. */
static int64_t most_bytes(const planned *p, int32_t kind)
{
    int32_t ops = sp_schedule_op_count(p->schedule);
    int64_t *bytes = malloc((size_t)ops * SP_MEMORY_KINDS * sizeof *bytes), most = 0;
    sp_simulation *simulation;

    assert_non_null(bytes);
    assert_int_equal(sp_simulate(p->schedule, p->model, p->device, &simulation), SP_OK);
    assert_int_equal(sp_simulation_memory(simulation, 0, bytes), SP_OK);
    for (int32_t i = 0; i < ops; i++)
        if (bytes[i * SP_MEMORY_KINDS + kind] > most)
            most = bytes[i * SP_MEMORY_KINDS + kind];
    sp_simulation_destroy(simulation);
    free(bytes);
    return most;
}

/* Both passes of a batch on one stage that holds the whole model, picoseconds. */
static long double work_of(const planned *p, const plan_input *in)
{
    stage_cost stage[1];
    cost_model m;
    long double work = 0;

    cost_model_init(&m, stage, p->model, p->device, 1, 1, 1);
    for (int64_t i = 0; i < in->count; i++) {
        long double tokens = (long double)in->lengths[i], pairs = tokens * (tokens + 1) / 2;

        for (int pass = 0; pass < 2; pass++)
            work += stage->token[pass] * tokens + stage->pair[pass] * pairs;
    }
    return work;
}

/* Coefficients have 20 fractional bits, and the ideal is rounded up. */
static void expect_ideal(const planned *p, const plan_input *in, int32_t devices)
{
    long double work = work_of(p, in) / devices, slack = 2;

    for (int64_t i = 0; i < in->count; i++) {
        long double tokens = (long double)in->lengths[i];

        slack += (2 * tokens + tokens * (tokens + 1)) / (1 << 20);
    }
    assert_true((long double)p->stats.ideal_ps >= work - slack);
    assert_true((long double)p->stats.ideal_ps <= work + slack);
}

/* K and V of 1,048,580 tokens, 32 layers, 32 heads of 128, 2 bytes: 2^39 and more. */
static void d1_bytes_of_a_million_tokens_do_not_wrap(void **state)
{
    const plan_input in = { .topology = "dp=1", LENGTHS(1048580) };
    planned p = plan_it(&in);

    (void)state;
    assert_int_equal(most_bytes(&p, SP_MEMORY_KV), INT64_C(1048580) * 32 * 2 * 32 * 128 * 2);
    assert_true(p.stats.peak_bytes > most_bytes(&p, SP_MEMORY_KV));
    planned_free(&p);
}

static void d2_a_pack_of_190485_tokens_has_its_offsets(void **state)
{
    const plan_input in = { .topology = "dp=1",
                            .set = { { SP_PLANNER_FORWARD_PACKS, 1 },
                                     { SP_PLANNER_BACKWARD_PACKS, 1 } },
                            LENGTHS(190485) };
    planned p = plan_it(&in);
    sp_pack_view v = pack_of(&p, 0, 0, SP_FORWARD, 0);

    (void)state;
    assert_int_equal(v.cu_seqlens_q[v.count], 190485);
    assert_int_equal(v.tokens, 190485);
    expect_ideal(&p, &in, 1);
    planned_free(&p);
}

static void d4_a_square_of_2_to_the_32_costs_what_it_should(void **state)
{
    const plan_input in = { .topology = "dp=1", LENGTHS(65536) };
    planned p = plan_it(&in);

    (void)state;
    expect_ideal(&p, &in, 1);
    planned_free(&p);
}

static void d6_a_length_of_zero_is_refused_before_any_division(void **state)
{
    const int64_t lengths[] = { 0 };
    sp_batch *batch = NULL;

    (void)state;
    EXPECT_FAIL(sp_batch_create(lengths, 1, NULL, &batch), SP_ERR_RANGE,
                "lengths[0]: 0 is below 1");
    assert_null(batch);
}

/* 3,000 samples of 2^20 tokens. One pack of them all has no int32 offsets. */
static void d7_a_total_beyond_int32_is_planned_in_packs_that_are_not(void **state)
{
    int64_t lengths[3000];
    const plan_input packs = { .topology = "dp=8 tp=8 pp=4", .count = 3000, .lengths = lengths };
    const plan_input pack = { .topology = "tp=32 pp=8",
                              .set = { { SP_PLANNER_FORWARD_PACKS, 1 },
                                       { SP_PLANNER_BACKWARD_PACKS, 1 } },
                              .count = 3000, .lengths = lengths };
    planned p;

    (void)state;
    for (int i = 0; i < 3000; i++)
        lengths[i] = 1048576;
    p = plan_it(&packs);
    assert_int_equal(p.stats.tokens, INT64_C(3145728000));
    planned_free(&p);
    p = try_to_plan(&pack);
    assert_int_equal(p.status, SP_ERR_OVERFLOW);
    assert_non_null(strstr(sp_error_message(), "is above 2147483647; use more packs"));
    planned_free(&p);
}

static void d7_a_sample_beyond_int32_offsets_is_refused_by_name(void **state)
{
    const plan_input in = { .topology = "dp=2", LENGTHS(5, INT64_C(2147483648)) };
    planned p = try_to_plan(&in);

    (void)state;
    assert_int_equal(p.status, SP_ERR_OVERFLOW);
    assert_string_equal(sp_error_message(), "lengths[1]: 2147483648 tokens are above 2147483647, "
                                            "the most that int32 cu_seqlens hold");
    planned_free(&p);
}

/* 2 to the power of 20 and of up to 31, and what lies between. */
static int64_t large_length(uint64_t *seed)
{
    int64_t power = INT64_C(1) << (20 + random_below(seed, 11));

    return power + random_below(seed, power);
}

/* A batch is planned exactly, or refused since its work comes near 2^61 ps or a pack's
 * offsets pass 2^31; all of it happens. */
static void d_sums_beyond_int32_are_exact_or_refused(void **state)
{
    uint64_t seed = 11;
    int planned_count = 0, beyond = 0, refused = 0;

    (void)state;
    for (int i = 0; i < 200; i++) {
        const int32_t dp = 1 << (i % 4);
        char topology[8] = { 'd', 'p', '=', (char)('0' + dp) };
        int64_t lengths[6], sum = 0;
        const plan_input in = { .topology = topology,
                                .set = { { SP_PLANNER_MAX_PACKS, 8 },
                                         { SP_PLANNER_SLICING, i / 4 % 2 } },
                                .set_model = { { SP_MODEL_LAYERS, 1 }, { SP_MODEL_HEADS, 1 },
                                               { SP_MODEL_KV_HEADS, 1 },
                                               { SP_MODEL_HEAD_DIM, 16 } },
                                .count = 1 + i % 6, .lengths = lengths };
        planned p;

        for (int64_t j = 0; j < in.count; j++)
            sum += lengths[j] = large_length(&seed);
        p = try_to_plan(&in);
        if (p.status == SP_OK) {
            planned_count++;
            beyond += sum > INT32_MAX;
            assert_int_equal(p.stats.tokens, sum);
            assert_int_equal(sp_schedule_check(p.schedule), SP_OK);
            expect_ideal(&p, &in, dp);
        } else {
            refused++;
            assert_int_equal(p.status, SP_ERR_OVERFLOW);
            assert_true(work_of(&p, &in) > 0x1p60L ||
                        strncmp(sp_error_message(), "cu_seqlens", 10) == 0);
        }
        planned_free(&p);
    }
    assert_true(planned_count > 0 && beyond > 0 && refused > 0);
}

/* Devices from a million FLOP/s up: costs from far below 2^63 ps to far beyond. */
static void d_costs_beyond_int64_are_exact_or_refused(void **state)
{
    int planned_count = 0, refused = 0;

    (void)state;
    for (int64_t rate = 1000000; rate <= INT64_C(1000000000000000); rate *= 10)
        for (int power = 0; power < 31; power++) {
            const int64_t length = (INT64_C(1) << power) + power;
            const plan_input in = { .topology = "dp=1", .set = { { SP_PLANNER_MAX_PACKS, 4 } },
                                    .set_device = { { SP_DEVICE_LINEAR_FLOPS, rate },
                                                    { SP_DEVICE_ATTENTION_FORWARD_FLOPS, rate },
                                                    { SP_DEVICE_ATTENTION_BACKWARD_FLOPS, rate } },
                                    .count = 1, .lengths = &length };
            planned p = try_to_plan(&in);

            if (p.status == SP_OK) {
                planned_count++;
                expect_ideal(&p, &in, 1);
                assert_true(p.stats.makespan_ps >= p.stats.ideal_ps);
            } else {
                refused++;
                assert_int_equal(p.status, SP_ERR_OVERFLOW);
                /* At creation the cost of a token with its 20 fractional bits, later the work. */
                assert_true(p.planner == NULL || work_of(&p, &in) > 0x1p60L);
            }
            planned_free(&p);
        }
    assert_true(planned_count > 0 && refused > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(d1_bytes_of_a_million_tokens_do_not_wrap),
        cmocka_unit_test(d2_a_pack_of_190485_tokens_has_its_offsets),
        cmocka_unit_test(d4_a_square_of_2_to_the_32_costs_what_it_should),
        cmocka_unit_test(d6_a_length_of_zero_is_refused_before_any_division),
        cmocka_unit_test(d7_a_total_beyond_int32_is_planned_in_packs_that_are_not),
        cmocka_unit_test(d7_a_sample_beyond_int32_offsets_is_refused_by_name),
        cmocka_unit_test(d_sums_beyond_int32_are_exact_or_refused),
        cmocka_unit_test(d_costs_beyond_int64_are_exact_or_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
