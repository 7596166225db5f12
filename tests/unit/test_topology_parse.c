/*
 * test_topology_parse.c - a topology from one line.
 */
#include <stdlib.h>
#include <string.h>

#include "../support/expect.h"

static sp_topology *const untouched = (sp_topology *)(void *)&untouched;

static void expect_degrees(const char *text, int32_t dp, int32_t tp, int32_t pp, int32_t cp)
{
    sp_coordinates degrees = SP_COORDINATES_INIT;
    sp_topology *topology;

    assert_int_equal(sp_topology_parse(text, &topology), SP_OK);
    assert_int_equal(sp_topology_degrees(topology, &degrees), SP_OK);
    assert_int_equal(degrees.dp, dp);
    assert_int_equal(degrees.tp, tp);
    assert_int_equal(degrees.pp, pp);
    assert_int_equal(degrees.cp, cp);
    sp_topology_destroy(topology);
}

static void expect_refused(const char *text, sp_status status, const char *sentence)
{
    sp_topology *topology = untouched;

    EXPECT_FAIL(sp_topology_parse(text, &topology), status, sentence);
    assert_ptr_equal(topology, untouched);
}

static void degrees_are_read_in_any_order(void **state)
{
    (void)state;
    expect_degrees("dp=8 pp=4 cp=2 tp=16", 8, 16, 4, 2);
    expect_degrees("tp=16 cp=2 order=tp-cp-dp-pp pp=4 dp=8", 8, 16, 4, 2);
    expect_degrees("dp=2147483647", INT32_MAX, 1, 1, 1);
    expect_degrees("dp=0008", 8, 1, 1, 1);
}

static void degrees_that_are_not_named_are_one(void **state)
{
    (void)state;
    expect_degrees("pp=4", 1, 1, 4, 1);
    expect_degrees("", 1, 1, 1, 1);
    expect_degrees("order=pp-dp-cp-tp", 1, 1, 1, 1);
}

static void words_are_split_by_any_blanks(void **state)
{
    (void)state;
    expect_degrees("  dp=8\t\tpp=4 \r\n", 8, 1, 4, 1);
    expect_degrees(" \n ", 1, 1, 1, 1);
}

static int32_t rank_at(const sp_topology *topology, sp_coordinates at)
{
    int32_t rank = -1;

    at.struct_size = sizeof at;
    assert_int_equal(sp_topology_rank(topology, &at, &rank), SP_OK);
    return rank;
}

static void expect_strides(const char *text, int32_t dp, int32_t tp, int32_t pp, int32_t cp)
{
    sp_topology *topology;

    assert_int_equal(sp_topology_parse(text, &topology), SP_OK);
    assert_int_equal(rank_at(topology, (sp_coordinates){ .dp = 1 }), dp);
    assert_int_equal(rank_at(topology, (sp_coordinates){ .tp = 1 }), tp);
    assert_int_equal(rank_at(topology, (sp_coordinates){ .pp = 1 }), pp);
    assert_int_equal(rank_at(topology, (sp_coordinates){ .cp = 1 }), cp);
    sp_topology_destroy(topology);
}

static void the_order_numbers_the_ranks_fastest_first(void **state)
{
    (void)state;
    expect_strides("dp=3 tp=2 pp=5 cp=4", 8, 1, 24, 2);
    expect_strides("dp=3 tp=2 pp=5 cp=4 order=tp-cp-dp-pp", 8, 1, 24, 2);
    expect_strides("dp=3 tp=2 pp=5 cp=4 order=tp-cp-pp-dp", 40, 1, 8, 2);
    expect_strides("order=pp-dp-cp-tp dp=3 tp=2 pp=5 cp=4", 5, 60, 1, 15);
}

static void a_malformed_word_is_repeated(void **state)
{
    (void)state;
    expect_refused("dp=8 pp", SP_ERR_INVALID, "topology: 'pp' is not of the form key=value");
    expect_refused("=8", SP_ERR_INVALID, "topology: '=8' is not of the form key=value");
    expect_refused("dp=8,pp=4", SP_ERR_INVALID,
                   "topology: 'dp=8,pp=4' is more than one key=value; blanks part them");
    expect_refused("dp =8", SP_ERR_INVALID, "topology: 'dp' is not of the form key=value");
    expect_refused("dp= 8", SP_ERR_INVALID, "topology: 'dp=' has no degree");
    expect_refused("dp=+8", SP_ERR_INVALID,
                   "topology: 'dp=+8' has a degree that is not a whole number");
    expect_refused("dp=0x8", SP_ERR_INVALID,
                   "topology: 'dp=0x8' has a degree that is not a whole number");
    expect_refused("dp=-", SP_ERR_INVALID,
                   "topology: 'dp=-' has a degree that is not a whole number");
    expect_refused("dp=99999999999999999999x", SP_ERR_INVALID,
                   "topology: 'dp=99999999999999999999x' has a degree that is not a whole number");
}

static void a_key_given_twice_is_refused(void **state)
{
    (void)state;
    expect_refused("dp=8 pp=2 dp=8", SP_ERR_INVALID,
                   "topology: 'dp=8' gives its key a second time");
    expect_refused("order=tp-cp-dp-pp order=tp-cp-dp-pp", SP_ERR_INVALID,
                   "topology: 'order=tp-cp-dp-pp' gives its key a second time");
}

static void an_order_that_is_no_permutation_is_refused(void **state)
{
    static const char *const orders[] = {
        "",           "tp",           "tp-cp-dp",     "tp-cp-dp-dp", "tp-cp-dp-ep",
        "tp,cp,dp,pp", "tp-cp-dp-pp-", "-tp-cp-dp-pp", "tpcp-dp-pp-", "tp--cp-dp-p",
    };

    (void)state;
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        char text[64] = "order=", sentence[160] = "topology: 'order=";

        strcat(text, orders[i]);
        strcat(sentence, orders[i]);
        strcat(sentence, "' must name tp, cp, dp and pp once each, joined by '-'");
        expect_refused(text, SP_ERR_INVALID, sentence);
    }
}

#define KEYS_KNOWN "; known are tp, cp, dp, pp, order"

static void a_key_that_is_no_dimension_is_named(void **state)
{
    (void)state;
    expect_refused("ep=8", SP_ERR_NAME, "unknown topology key 'ep'" KEYS_KNOWN);
    expect_refused("dp=2 ordr=tp-cp-dp-pp", SP_ERR_NAME,
                   "unknown topology key 'ordr'; did you mean 'order'?");
    expect_refused("DP=8", SP_ERR_NAME, "unknown topology key 'DP'" KEYS_KNOWN);
    expect_refused("replicas=8", SP_ERR_NAME, "unknown topology key 'replicas'" KEYS_KNOWN);
}

static void a_degree_out_of_bounds_is_named(void **state)
{
    (void)state;
    expect_refused("dp=0", SP_ERR_RANGE, "topology: 'dp=0' is below 1");
    expect_refused("pp=-4", SP_ERR_RANGE, "topology: 'pp=-4' is below 1");
    expect_refused("pp=-0", SP_ERR_RANGE, "topology: 'pp=-0' is below 1");
    expect_refused("cp=2147483648", SP_ERR_RANGE, "topology: 'cp=2147483648' is above 2147483647");
    expect_refused("cp=99999999999999999999", SP_ERR_RANGE,
                   "topology: 'cp=99999999999999999999' is above 2147483647");
}

static void a_product_beyond_int32_names_the_degrees(void **state)
{
    (void)state;
    expect_refused("dp=65536 pp=65536", SP_ERR_OVERFLOW,
                   "dp 65536 * tp 1 * pp 65536 * cp 1 ranks are above 2147483647");
}

/* A word longer than a message is cut in it, but read whole. */
static void a_very_long_word_is_cut_in_the_message(void **state)
{
    char *text = malloc(100001), sentence[200];

    (void)state;
    assert_non_null(text);
    memset(text, '0', 100000);
    memcpy(text, "dp=", 3);
    text[99999] = '8';
    text[100000] = '\0';
    expect_degrees(text, 8, 1, 1, 1);
    text[99999] = 'x';
    strcpy(sentence, "topology: '");
    strncat(sentence, text, 80);
    strcat(sentence, "' has a degree that is not a whole number");
    expect_refused(text, SP_ERR_INVALID, sentence);
    memset(text, 'k', 99999);
    text[90000] = '=';
    strcpy(sentence, "unknown topology key '");
    strncat(sentence, text, 80);
    strcat(sentence, "'" KEYS_KNOWN);
    expect_refused(text, SP_ERR_NAME, sentence);
    free(text);
}

static void null_arguments_are_named(void **state)
{
    (void)state;
    expect_refused(NULL, SP_ERR_INVALID, "text is NULL");
    EXPECT_FAIL(sp_topology_parse("dp=8", NULL), SP_ERR_INVALID, "out is NULL");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(degrees_are_read_in_any_order),
        cmocka_unit_test(degrees_that_are_not_named_are_one),
        cmocka_unit_test(words_are_split_by_any_blanks),
        cmocka_unit_test(the_order_numbers_the_ranks_fastest_first),
        cmocka_unit_test(a_malformed_word_is_repeated),
        cmocka_unit_test(a_key_given_twice_is_refused),
        cmocka_unit_test(an_order_that_is_no_permutation_is_refused),
        cmocka_unit_test(a_key_that_is_no_dimension_is_named),
        cmocka_unit_test(a_degree_out_of_bounds_is_named),
        cmocka_unit_test(a_product_beyond_int32_names_the_degrees),
        cmocka_unit_test(a_very_long_word_is_cut_in_the_message),
        cmocka_unit_test(null_arguments_are_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
