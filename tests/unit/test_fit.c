/*
 * test_fit.c - costs fitted to slices whose costs are known.
 *
 * The slices are a grid of lengths and starts of a causal sample. Times are made of
 * known coefficients, in the units of the model's keys.
 */
#include "cost/fit.h"

#include <math.h>
#include <string.h>

#include "../support/expect.h"
#include "../support/failing_alloc.h"

enum { LENGTHS = 6, STARTS = 5, POINTS = LENGTHS * STARTS, VALUES = 8, LAYERS = 4 };

/* token, pair, start, floor of forward, then of backward. */
static const int64_t plain[VALUES] = { INT64_C(30000000000), 600000, 50000000,  0,
                                       INT64_C(62000000000), 1500000, 90000000, 0 };
static const int64_t floored[VALUES] = { INT64_C(30000000000), 600000, 5000000, 40000000,
                                         INT64_C(62000000000), 1500000, 9000000, 75000000 };

typedef struct measured {
    int64_t start[POINTS], length[POINTS];
    double seconds[2][POINTS];
    double error[2 * POINTS];
    int32_t outlier[POINTS];
    sp_fit fit;
    sp_model *model;
} measured;

/* Causal pairs, summed rather than by the library's formula. */
static double pairs_of(int64_t start, int64_t length)
{
    double pairs = 0;

    for (int64_t i = 0; i < length; i++)
        pairs += (double)(start + i + 1);
    return pairs;
}

/* The seconds of one layer. */
static double seconds_of(const int64_t v[4], int64_t start, int64_t length)
{
    double work = (double)v[0] * 1e-18 * (double)length +
                  (double)v[1] * 1e-18 * pairs_of(start, length) + (double)v[2] * 1e-12;

    return fmax(work, (double)v[3] * 1e-12);
}

static void fill_times(measured *m, const int64_t values[VALUES])
{
    for (int i = 0; i < POINTS; i++)
        for (int pass = 0; pass < 2; pass++)
            m->seconds[pass][i] =
                LAYERS * seconds_of(values + 4 * pass, m->start[i], m->length[i]);
}

/* The grid, its times, a model, and outputs that no fit gives. */
static void open_measured(measured *m, const int64_t values[VALUES])
{
    const sp_fit untouched = { sizeof(sp_fit), -1, -1, -1, -1 };

    for (int i = 0; i < POINTS; i++) {
        m->length[i] = INT64_C(128) << (2 * (i % LENGTHS)) >> (i % 2);
        m->start[i] = i / LENGTHS == 0 ? 0 : INT64_C(1024) << (2 * (i / LENGTHS - 1));
        m->outlier[i] = -1;
        m->error[2 * i] = m->error[2 * i + 1] = -7;
    }
    fill_times(m, values);
    m->fit = untouched;
    assert_int_equal(sp_model_create("llama2-7b", NULL, &m->model), SP_OK);
}

static sp_status fit(measured *m)
{
    return sp_model_fit(m->model, LAYERS, POINTS, m->start, m->length, m->seconds[0],
                        m->seconds[1], m->error, m->outlier, &m->fit);
}

static int64_t value(const measured *m, int place)
{
    int64_t v;

    assert_int_equal(sp_model_get(m->model, SP_MODEL_FORWARD_TOKEN_AS + place, &v), SP_OK);
    return v;
}

/* Every coefficient within a share of what it is to be; one that is 0 is to be 0. */
static void expect_values(const measured *m, const int64_t values[VALUES], double share)
{
    for (int place = 0; place < VALUES; place++) {
        double wanted = (double)values[place];

        if (fabs((double)value(m, place) - wanted) > share * wanted)
            fail_msg("value %d: %.0f, not %.0f", place, (double)value(m, place), wanted);
    }
}

/* Model and outputs are as open_measured() left them. */
static void expect_untouched(const measured *m)
{
    for (int place = 0; place < VALUES; place++)
        assert_int_equal(value(m, place), 0);
    for (int i = 0; i < POINTS; i++) {
        assert_int_equal(m->outlier[i], -1);
        assert_true(m->error[2 * i] == -7 && m->error[2 * i + 1] == -7);
    }
    assert_int_equal(m->fit.used, -1);
    assert_int_equal(m->fit.outliers, -1);
    assert_int_equal(m->fit.mean_error_ppm, -1);
    assert_int_equal(m->fit.largest_error_ppm, -1);
}

static void known_coefficients_are_found(void **state)
{
    measured m;

    (void)state;
    open_measured(&m, plain);
    assert_int_equal(fit(&m), SP_OK);
    expect_values(&m, plain, 1e-6);
    assert_int_equal(m.fit.struct_size, sizeof m.fit);
    assert_int_equal(m.fit.used, POINTS);
    assert_int_equal(m.fit.outliers, 0);
    assert_int_equal(m.fit.mean_error_ppm, 0);
    assert_in_range(m.fit.largest_error_ppm, 0, 1);
    for (int i = 0; i < POINTS; i++) {
        assert_int_equal(m.outlier[i], 0);
        assert_true(fabs(m.error[2 * i]) < 1e-6 && fabs(m.error[2 * i + 1]) < 1e-6);
    }
    sp_model_destroy(m.model);
}

static void a_floor_is_found(void **state)
{
    measured m;
    int low = 0;

    (void)state;
    open_measured(&m, floored);
    for (int i = 0; i < POINTS; i++)
        low += m.seconds[0][i] == LAYERS * (double)floored[3] * 1e-12;
    assert_in_range(low, 5, POINTS / 2);
    assert_int_equal(fit(&m), SP_OK);
    expect_values(&m, floored, 1e-6);
    sp_model_destroy(m.model);
}

/* A fixed series of numbers from -1 to 1, whose variance is a third. */
static double noise(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / 8388608.0 - 1;
}

/* What rounding leaves of the errors of exact times is nothing that a floor explains:
 * few slices of random length and start, with coefficients of any size. */
static void exact_times_show_no_floor(void **state)
{
    enum { FEW = 8 };
    uint32_t series = 1;

    (void)state;
    for (int n = 0; n < 500; n++) {
        int64_t values[VALUES];
        measured m;

        memcpy(values, plain, sizeof values);
        for (int place = 0; place < 3; place++)
            values[place] = (int64_t)((double)plain[place] * exp(3 * noise(&series)));
        open_measured(&m, values);
        for (int i = 0; i < FEW; i++) {
            m.length[i] = (int64_t)(700 * exp(3 * noise(&series)));
            m.start[i] = i % 2 == 0 ? 0 : (int64_t)(8000 * (1 + noise(&series)));
        }
        fill_times(&m, values);
        assert_int_equal(sp_model_fit(m.model, LAYERS, FEW, m.start, m.length, m.seconds[0],
                                      m.seconds[1], NULL, NULL, NULL), SP_OK);
        assert_int_equal(value(&m, 3), 0);
        assert_int_equal(value(&m, 7), 0);
        sp_model_destroy(m.model);
    }
}

/* The grid is wide enough that each coefficient rules some of its slices. */
static void noise_of_a_percent_moves_coefficients_little(void **state)
{
    for (uint32_t seed = 1; seed <= 20; seed++) {
        uint32_t series = seed;
        measured m;

        (void)state;
        open_measured(&m, plain);
        for (int i = 0; i < POINTS; i++)
            for (int pass = 0; pass < 2; pass++)
                m.seconds[pass][i] *= 1 + 0.01 * sqrt(3) * noise(&series);
        assert_int_equal(fit(&m), SP_OK);
        for (int place = 0; place < VALUES; place++)
            if (place % 4 != 3)
                assert_true(fabs((double)value(&m, place) / (double)plain[place] - 1) < 0.03);
        assert_int_equal(m.fit.outliers, 0);
        assert_in_range(m.fit.mean_error_ppm, 4000, 12000);
        assert_in_range(m.fit.largest_error_ppm, m.fit.mean_error_ppm, 30000);
        sp_model_destroy(m.model);
    }
}

/* Slow and fast, in one pass or the other. */
static void outliers_are_named_and_left_out(void **state)
{
    static const struct {
        int point, pass;
        double factor;
    } planted[] = { { 3, 0, 3 }, { 8, 1, 1.5 }, { 17, 0, 0.3 }, { 22, 1, 0.7 } };
    int32_t expected[POINTS] = { 0 };
    measured m;

    (void)state;
    open_measured(&m, plain);
    for (size_t n = 0; n < sizeof planted / sizeof *planted; n++) {
        m.seconds[planted[n].pass][planted[n].point] *= planted[n].factor;
        expected[planted[n].point] = 1;
    }
    assert_int_equal(fit(&m), SP_OK);
    assert_memory_equal(m.outlier, expected, sizeof expected);
    expect_values(&m, plain, 1e-6);
    assert_int_equal(m.fit.outliers, 4);
    assert_int_equal(m.fit.used, POINTS - 4);
    assert_in_range(m.fit.largest_error_ppm, 0, 1);
    assert_true(fabs(m.error[2 * 3] + 2.0 / 3) < 1e-5); /* (1 - 3) / 3 */
    assert_true(fabs(m.error[2 * 3 + 1]) < 1e-6);
    assert_true(fabs(m.error[2 * 22 + 1] - 3.0 / 7) < 1e-5);
    sp_model_destroy(m.model);
}

/* Least squares of all points bend to those that seem fast until none looks far off. */
static void many_fast_outliers_do_not_hide_each_other(void **state)
{
    int32_t expected[POINTS] = { 0 };
    measured m;

    (void)state;
    open_measured(&m, plain);
    for (int i = 4; i < POINTS; i += 5) {
        m.seconds[0][i] *= 0.3;
        expected[i] = 1;
    }
    assert_int_equal(fit(&m), SP_OK);
    assert_memory_equal(m.outlier, expected, sizeof expected);
    expect_values(&m, plain, 1e-6);
    sp_model_destroy(m.model);
}

/* Eight far off in one pass and eight others in the other: more than half, so that
 * none is called an outlier. */
static void half_of_the_measurements_stay(void **state)
{
    measured m;

    (void)state;
    open_measured(&m, plain);
    for (int i = 0; i < 16; i++)
        m.seconds[i % 2][(7 * i) % POINTS] *= 1.5;
    assert_int_equal(fit(&m), SP_OK);
    assert_int_equal(m.fit.outliers, 0);
    assert_int_equal(m.fit.used, POINTS);
    fill_times(&m, plain);
    for (int i = 0; i < 15; i++)
        m.seconds[i % 2][(7 * i) % POINTS] *= 1.5;
    assert_int_equal(fit(&m), SP_OK);
    assert_int_equal(m.fit.outliers, 15);
    expect_values(&m, plain, 1e-6);
    sp_model_destroy(m.model);
}

/* An error of 4 % is no outlier, however well all other points fit. */
static void close_points_are_no_outliers(void **state)
{
    measured m;

    (void)state;
    open_measured(&m, plain);
    m.seconds[0][14] *= 1.04;
    assert_int_equal(fit(&m), SP_OK);
    assert_int_equal(m.fit.outliers, 0);
    assert_true(m.fit.largest_error_ppm > 10000);
    sp_model_destroy(m.model);
}

/* Four measurements are few enough that none may be left out. */
static void the_fewest_measurements_all_stay(void **state)
{
    static const int64_t start[] = { 0, 0, 8192, 0 }, length[] = { 128, 2048, 1024, 16384 };
    double forward[4], backward[4];
    int32_t outlier[4];
    measured m;

    (void)state;
    open_measured(&m, plain);
    for (int i = 0; i < 4; i++) {
        forward[i] = seconds_of(plain, start[i], length[i]);
        backward[i] = seconds_of(plain + 4, start[i], length[i]);
    }
    forward[1] *= 5;
    assert_int_equal(sp_model_fit(m.model, 1, 4, start, length, forward, backward, NULL, outlier,
                                  NULL), SP_OK);
    for (int i = 0; i < 4; i++)
        assert_int_equal(outlier[i], 0);
    for (int place = 4; place < VALUES; place++)
        assert_true(fabs((double)value(&m, place) - (double)plain[place]) <=
                    1e-6 * (double)plain[place]);
    sp_model_destroy(m.model);
}

/* Times that fall with the start of a slice, against the pairs. */
static void what_would_be_negative_is_0(void **state)
{
    measured m;

    (void)state;
    open_measured(&m, plain);
    for (int i = 0; i < POINTS; i++)
        m.seconds[0][i] = LAYERS * (1e-7 * (double)m.length[i] + 1e-4) *
                          (1 - 0.01 * (double)(i / LENGTHS));
    assert_int_equal(fit(&m), SP_OK);
    assert_true(value(&m, 0) > 0);
    assert_int_equal(value(&m, 1), 0);
    assert_true(value(&m, 4) > 0 && value(&m, 5) > 0);
    sp_model_destroy(m.model);
}

/* The mask counts: what is linear in a window's pairs is not in all of them. */
static void the_attention_mask_counts_the_pairs(void **state)
{
    measured m;

    (void)state;
    open_measured(&m, plain);
    assert_int_equal(sp_model_set(m.model, SP_MODEL_WINDOW, 512), SP_OK);
    for (int i = 0; i < POINTS; i++)
        for (int pass = 0; pass < 2; pass++) {
            const int64_t *v = plain + 4 * pass;
            double pairs = 0;

            for (int64_t at = m.start[i]; at < m.start[i] + m.length[i]; at++)
                pairs += (double)(at < 512 ? at + 1 : 512);
            m.seconds[pass][i] = LAYERS * ((double)v[0] * 1e-18 * (double)m.length[i] +
                                           (double)v[1] * 1e-18 * pairs + (double)v[2] * 1e-12);
        }
    assert_int_equal(fit(&m), SP_OK);
    expect_values(&m, plain, 1e-6);
    sp_model_destroy(m.model);
}

/* Bidirectional slices end with their sample. */
static void without_a_mask_queries_attend_all_up_to_the_end(void **state)
{
    measured m;

    (void)state;
    open_measured(&m, plain);
    assert_int_equal(sp_model_set(m.model, SP_MODEL_CAUSAL, 0), SP_OK);
    for (int i = 0; i < POINTS; i++)
        for (int pass = 0; pass < 2; pass++) {
            const int64_t *v = plain + 4 * pass;
            double length = (double)m.length[i], keys = (double)(m.start[i] + m.length[i]);

            m.seconds[pass][i] = LAYERS * ((double)v[0] * 1e-18 * length +
                                           (double)v[1] * 1e-18 * length * keys +
                                           (double)v[2] * 1e-12);
        }
    assert_int_equal(fit(&m), SP_OK);
    expect_values(&m, plain, 1e-6);
    sp_model_destroy(m.model);
}

static void the_same_measurements_give_the_same_bytes(void **state)
{
    measured a, b;
    uint32_t series = 5;

    (void)state;
    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    open_measured(&a, floored);
    for (int i = 0; i < POINTS; i++)
        a.seconds[0][i] *= 1 + 0.02 * noise(&series);
    open_measured(&b, floored);
    memcpy(b.seconds, a.seconds, sizeof b.seconds);
    assert_int_equal(fit(&a), SP_OK);
    assert_int_equal(fit(&b), SP_OK);
    assert_memory_equal(a.error, b.error, sizeof a.error);
    for (int place = 0; place < VALUES; place++)
        assert_int_equal(value(&a, place), value(&b, place));
    sp_model_destroy(a.model);
    sp_model_destroy(b.model);
}

/* One bad time among good ones. */
static void expect_bad_time(int pass, double seconds, sp_status status, const char *message)
{
    measured m;

    open_measured(&m, plain);
    m.seconds[pass][3] = seconds;
    EXPECT_FAIL(fit(&m), status, message);
    expect_untouched(&m);
    sp_model_destroy(m.model);
}

static void bad_times_are_refused(void **state)
{
    (void)state;
    expect_bad_time(0, NAN, SP_ERR_INVALID, "forward_s[3]: nan is no finite number");
    expect_bad_time(0, -NAN, SP_ERR_INVALID, "forward_s[3]: nan is no finite number");
    expect_bad_time(1, INFINITY, SP_ERR_INVALID, "backward_s[3]: inf is no finite number");
    expect_bad_time(0, -INFINITY, SP_ERR_INVALID, "forward_s[3]: -inf is no finite number");
    expect_bad_time(1, -0.5, SP_ERR_RANGE, "backward_s[3]: -0.5 is not above 0");
    expect_bad_time(0, 0, SP_ERR_RANGE, "forward_s[3]: 0 is not above 0");
    expect_bad_time(0, 1e-19, SP_ERR_RANGE, "forward_s[3]: 1e-19 is below 1e-18");
    expect_bad_time(1, 1e300, SP_ERR_RANGE, "backward_s[3]: 1e+300 is above 1e+15");
}

static void expect_bad_slice(int64_t start, int64_t length, sp_status status, const char *message)
{
    measured m;

    open_measured(&m, plain);
    m.start[29] = start;
    m.length[29] = length;
    EXPECT_FAIL(fit(&m), status, message);
    expect_untouched(&m);
    sp_model_destroy(m.model);
}

static void bad_slices_are_refused(void **state)
{
    (void)state;
    expect_bad_slice(-1, 5, SP_ERR_RANGE, "start[29]: -1 is below 0");
    expect_bad_slice(0, 0, SP_ERR_RANGE, "length[29]: 0 is below 1");
    expect_bad_slice(7, INT32_MAX - 6, SP_ERR_OVERFLOW,
                     "length[29]: 2147483641 tokens from 7 pass 2147483647");
    expect_bad_slice(INT64_MAX, INT64_MAX, SP_ERR_OVERFLOW,
                     "length[29]: 9223372036854775807 tokens from 9223372036854775807 pass "
                     "2147483647");
}

static void bad_counts_are_refused(void **state)
{
    measured m;

    (void)state;
    open_measured(&m, plain);
#define FIT(layers, count)                                                                     \
    sp_model_fit(m.model, layers, count, m.start, m.length, m.seconds[0], m.seconds[1], m.error, \
                 m.outlier, &m.fit)
    EXPECT_FAIL(FIT(0, POINTS), SP_ERR_RANGE, "layers: 0 is below 1");
    EXPECT_FAIL(FIT(1, 2), SP_ERR_RANGE,
                "count: 2 measurements are below the 4 that a fit needs");
    EXPECT_FAIL(FIT(1, -1), SP_ERR_RANGE,
                "count: -1 measurements are below the 4 that a fit needs");
    EXPECT_FAIL(FIT(1, INT64_MAX), SP_ERR_RANGE,
                "count: 9223372036854775807 is above 2147483647");
#undef FIT
    expect_untouched(&m);
    sp_model_destroy(m.model);
}

static void missing_arguments_are_named(void **state)
{
    measured m;

    (void)state;
    open_measured(&m, plain);
#define FIT(model, start, length, forward, backward)                                          \
    sp_model_fit(model, LAYERS, POINTS, start, length, forward, backward, m.error, m.outlier, \
                 &m.fit)
    EXPECT_FAIL(FIT(NULL, m.start, m.length, m.seconds[0], m.seconds[1]), SP_ERR_INVALID,
                "model is NULL");
    EXPECT_FAIL(FIT(m.model, NULL, m.length, m.seconds[0], m.seconds[1]), SP_ERR_INVALID,
                "start is NULL");
    EXPECT_FAIL(FIT(m.model, m.start, NULL, m.seconds[0], m.seconds[1]), SP_ERR_INVALID,
                "length is NULL");
    EXPECT_FAIL(FIT(m.model, m.start, m.length, NULL, m.seconds[1]), SP_ERR_INVALID,
                "forward_s is NULL");
    EXPECT_FAIL(FIT(m.model, m.start, m.length, m.seconds[0], NULL), SP_ERR_INVALID,
                "backward_s is NULL");
#undef FIT
    expect_untouched(&m);
    sp_model_destroy(m.model);
}

static void outputs_may_be_missing(void **state)
{
    measured m;

    (void)state;
    open_measured(&m, plain);
    assert_int_equal(sp_model_fit(m.model, LAYERS, POINTS, m.start, m.length, m.seconds[0],
                                  m.seconds[1], NULL, NULL, NULL), SP_OK);
    expect_values(&m, plain, 1e-6);
    sp_model_destroy(m.model);
}

/* One slice, and two: neither tells three coefficients, whatever the noise. */
static void slices_that_are_alike_are_refused(void **state)
{
    for (int kinds = 1; kinds <= 2; kinds++) {
        uint32_t series = 9;
        measured m;

        (void)state;
        open_measured(&m, plain);
        for (int i = 0; i < POINTS; i++) {
            m.start[i] = i % kinds * 4096;
            m.length[i] = 1000 + i % kinds * 77;
        }
        fill_times(&m, plain);
        for (int i = 0; i < POINTS; i++)
            m.seconds[0][i] *= 1 + 0.01 * noise(&series);
        EXPECT_FAIL(fit(&m), SP_ERR_INVALID,
                    "start, length: the 30 slices are too alike to tell the costs of tokens, "
                    "pairs and packs apart; vary both");
        expect_untouched(&m);
        sp_model_destroy(m.model);
    }
}

/* Values of 0 would send the pass back to FLOPs without a word. */
static void times_that_do_not_grow_are_refused(void **state)
{
    measured m;

    (void)state;
    open_measured(&m, plain);
    for (int i = 0; i < POINTS; i++)
        m.seconds[1][i] = 1e-3;
    EXPECT_FAIL(fit(&m), SP_ERR_INVALID,
                "backward_s: the times grow with neither tokens nor pairs");
    expect_untouched(&m);
    sp_model_destroy(m.model);
}

/* A pack that takes 2 seconds of a layer. */
static void a_coefficient_above_its_bound_is_refused(void **state)
{
    measured m;

    (void)state;
    open_measured(&m, plain);
    for (int i = 0; i < POINTS; i++)
        m.seconds[1][i] += LAYERS * 2.0;
    EXPECT_FAIL(fit(&m), SP_ERR_OVERFLOW,
                "backward_start_ps: 2.00009e+12 is above 1000000000000");
    expect_untouched(&m);
    sp_model_destroy(m.model);
}

static void the_result_has_a_size(void **state)
{
    struct {
        sp_fit fit;
        int64_t later;
    } newer = { { sizeof newer, -1, -1, -1, -1 }, -5 };
    measured m;

    (void)state;
    open_measured(&m, plain);
    m.fit.struct_size = sizeof(size_t);
    EXPECT_FAIL(fit(&m), SP_ERR_INVALID,
                "fit: struct_size 8 is below 40; set it before the call");
    expect_untouched(&m);
    assert_int_equal(sp_model_fit(m.model, LAYERS, POINTS, m.start, m.length, m.seconds[0],
                                  m.seconds[1], NULL, NULL, &newer.fit), SP_OK);
    assert_int_equal(newer.fit.struct_size, sizeof newer);
    assert_int_equal(newer.fit.used, POINTS);
    assert_int_equal(newer.later, -5);
    sp_model_destroy(m.model);
}

static void a_fit_survives_each_failed_allocation(void **state)
{
    failing_alloc memory;
    measured m;

    (void)state;
    open_measured(&m, plain);
    sp_model_destroy(m.model);
    for (int64_t n = 0;; n++) {
        sp_status status;
        int64_t before;

        failing_alloc_init(&memory, NEVER_FAIL);
        assert_int_equal(sp_model_create("llama2-7b", &memory.hooks, &m.model), SP_OK);
        before = memory.live;
        memory.fail_at = memory.asked + n;
        status = fit(&m);
        assert_int_equal(memory.live, before);
        if (status == SP_OK) {
            assert_true(n > 3);
            break;
        }
        assert_int_equal(status, SP_ERR_MEMORY);
        assert_string_equal(sp_error_message(), OUT_OF_MEMORY);
        expect_untouched(&m);
        sp_model_destroy(m.model);
        assert_int_equal(memory.live, 0);
    }
    expect_values(&m, plain, 1e-6);
    sp_model_destroy(m.model);
    assert_int_equal(memory.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_coefficients_are_found),
        cmocka_unit_test(a_floor_is_found),
        cmocka_unit_test(exact_times_show_no_floor),
        cmocka_unit_test(noise_of_a_percent_moves_coefficients_little),
        cmocka_unit_test(outliers_are_named_and_left_out),
        cmocka_unit_test(many_fast_outliers_do_not_hide_each_other),
        cmocka_unit_test(half_of_the_measurements_stay),
        cmocka_unit_test(close_points_are_no_outliers),
        cmocka_unit_test(the_fewest_measurements_all_stay),
        cmocka_unit_test(what_would_be_negative_is_0),
        cmocka_unit_test(the_attention_mask_counts_the_pairs),
        cmocka_unit_test(without_a_mask_queries_attend_all_up_to_the_end),
        cmocka_unit_test(the_same_measurements_give_the_same_bytes),
        cmocka_unit_test(bad_times_are_refused),
        cmocka_unit_test(bad_slices_are_refused),
        cmocka_unit_test(bad_counts_are_refused),
        cmocka_unit_test(missing_arguments_are_named),
        cmocka_unit_test(outputs_may_be_missing),
        cmocka_unit_test(slices_that_are_alike_are_refused),
        cmocka_unit_test(times_that_do_not_grow_are_refused),
        cmocka_unit_test(a_coefficient_above_its_bound_is_refused),
        cmocka_unit_test(the_result_has_a_size),
        cmocka_unit_test(a_fit_survives_each_failed_allocation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
