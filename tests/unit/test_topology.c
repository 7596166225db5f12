/*
 * test_topology.c - degrees, coordinates and ranks.
 */
#include "input/topology.h"

#include "../support/expect.h"
#include "../support/failing_alloc.h"

static sp_topology *const untouched = (sp_topology *)(void *)&untouched;

/* dp 3, tp 2, pp 5, cp 4: no two degrees alike, so that none stands in for another. */
static int make(void **state)
{
    sp_topology *topology;

    if (sp_topology_create(3, 2, 5, 4, NULL, &topology) != SP_OK)
        return -1;
    *state = topology;
    return 0;
}

static int drop(void **state)
{
    sp_topology_destroy(*state);
    return 0;
}

static void expect_refused(int32_t dp, int32_t tp, int32_t pp, int32_t cp, sp_status status,
                           const char *sentence)
{
    sp_topology *topology = untouched;

    EXPECT_FAIL(sp_topology_create(dp, tp, pp, cp, NULL, &topology), status, sentence);
    assert_ptr_equal(topology, untouched);
}

static void a_topology_knows_its_size_and_degrees(void **state)
{
    sp_coordinates degrees = SP_COORDINATES_INIT;

    assert_int_equal(sp_topology_size(*state), 120);
    assert_int_equal(sp_topology_degrees(*state, &degrees), SP_OK);
    assert_int_equal(degrees.struct_size, sizeof degrees);
    assert_int_equal(degrees.dp, 3);
    assert_int_equal(degrees.tp, 2);
    assert_int_equal(degrees.pp, 5);
    assert_int_equal(degrees.cp, 4);
}

static void expect_rank(const sp_topology *topology, sp_coordinates at, int32_t expected)
{
    int32_t rank = -1;

    at.struct_size = sizeof at;
    assert_int_equal(sp_topology_rank(topology, &at, &rank), SP_OK);
    assert_int_equal(rank, expected);
}

/* Megatron-LM's default order: tp, then cp, then dp, then pp. */
static void ranks_run_through_tp_then_cp_then_dp_then_pp(void **state)
{
    expect_rank(*state, (sp_coordinates){ .tp = 1 }, 1);
    expect_rank(*state, (sp_coordinates){ .cp = 1 }, 2);
    expect_rank(*state, (sp_coordinates){ .dp = 1 }, 8);
    expect_rank(*state, (sp_coordinates){ .pp = 1 }, 24);
    expect_rank(*state, (sp_coordinates){ .dp = 2, .tp = 1, .pp = 4, .cp = 3 }, 119);
}

static void coordinates_and_ranks_are_each_others_inverse(void **state)
{
    for (int32_t rank = 0; rank < 120; rank++) {
        sp_coordinates at = SP_COORDINATES_INIT;

        assert_int_equal(sp_topology_coordinates(*state, rank, &at), SP_OK);
        assert_in_range(at.dp, 0, 2);
        assert_in_range(at.tp, 0, 1);
        assert_in_range(at.pp, 0, 4);
        assert_in_range(at.cp, 0, 3);
        expect_rank(*state, at, rank);
    }
}

static void a_rank_out_of_bounds_is_refused(void **state)
{
    sp_coordinates at = { sizeof at, 77, 77, 77, 77 };

    EXPECT_FAIL(sp_topology_coordinates(*state, -1, &at), SP_ERR_RANGE,
                "rank: -1 is outside 0 to 119");
    EXPECT_FAIL(sp_topology_coordinates(*state, 120, &at), SP_ERR_RANGE,
                "rank: 120 is outside 0 to 119");
    assert_int_equal(at.dp, 77);
}

static void expect_no_rank(const sp_topology *topology, sp_coordinates at, const char *sentence)
{
    int32_t rank = 77;

    at.struct_size = sizeof at;
    EXPECT_FAIL(sp_topology_rank(topology, &at, &rank), SP_ERR_RANGE, sentence);
    assert_int_equal(rank, 77);
}

static void a_coordinate_out_of_bounds_is_named(void **state)
{
    expect_no_rank(*state, (sp_coordinates){ .dp = 3 }, "dp: 3 is outside 0 to 2");
    expect_no_rank(*state, (sp_coordinates){ .tp = 2 }, "tp: 2 is outside 0 to 1");
    expect_no_rank(*state, (sp_coordinates){ .pp = -1 }, "pp: -1 is outside 0 to 4");
    expect_no_rank(*state, (sp_coordinates){ .cp = 4 }, "cp: 4 is outside 0 to 3");
}

static void a_struct_without_its_size_is_refused(void **state)
{
    sp_coordinates at = { 0, 77, 77, 77, 77 };
    int32_t rank = 77;

    EXPECT_FAIL(sp_topology_degrees(*state, &at), SP_ERR_INVALID,
                "out: struct_size 0 is below 24; set it before the call");
    assert_int_equal(sp_topology_coordinates(*state, 0, &at), SP_ERR_INVALID);
    EXPECT_FAIL(sp_topology_rank(*state, &at, &rank), SP_ERR_INVALID,
                "at: struct_size 0 is below 24; set it before the call");
    assert_int_equal(at.dp, 77);
    assert_int_equal(rank, 77);
}

static void null_arguments_are_named(void **state)
{
    sp_coordinates at = SP_COORDINATES_INIT;
    int32_t rank;

    EXPECT_FAIL(sp_topology_create(1, 1, 1, 1, NULL, NULL), SP_ERR_INVALID, "out is NULL");
    EXPECT_FAIL(sp_topology_degrees(NULL, &at), SP_ERR_INVALID, "topology is NULL");
    EXPECT_FAIL(sp_topology_degrees(*state, NULL), SP_ERR_INVALID, "out is NULL");
    EXPECT_FAIL(sp_topology_coordinates(NULL, 0, &at), SP_ERR_INVALID, "topology is NULL");
    EXPECT_FAIL(sp_topology_coordinates(*state, 0, NULL), SP_ERR_INVALID, "out is NULL");
    EXPECT_FAIL(sp_topology_rank(NULL, &at, &rank), SP_ERR_INVALID, "topology is NULL");
    EXPECT_FAIL(sp_topology_rank(*state, NULL, &rank), SP_ERR_INVALID, "at is NULL");
    EXPECT_FAIL(sp_topology_rank(*state, &at, NULL), SP_ERR_INVALID, "rank is NULL");
    sp_topology_destroy(NULL);
}

/* Field case G11: no stages are an error that names the right argument. */
static void a_degree_below_one_is_named(void **state)
{
    (void)state;
    expect_refused(0, 1, 1, 1, SP_ERR_RANGE, "dp: 0 is below 1");
    expect_refused(1, -3, 1, 1, SP_ERR_RANGE, "tp: -3 is below 1");
    expect_refused(1, 1, 0, 1, SP_ERR_RANGE, "pp: 0 is below 1");
    expect_refused(1, 1, 1, INT32_MIN, SP_ERR_RANGE, "cp: -2147483648 is below 1");
}

static void a_product_beyond_int32_names_the_degrees(void **state)
{
    sp_topology *topology;

    (void)state;
    expect_refused(65536, 1, 32768, 1, SP_ERR_OVERFLOW,
                   "dp 65536 * tp 1 * pp 32768 * cp 1 ranks are above 2147483647");
    expect_refused(INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX, SP_ERR_OVERFLOW,
                   "dp 2147483647 * tp 2147483647 * pp 2147483647 * cp 2147483647 ranks are "
                   "above 2147483647");
    assert_int_equal(sp_topology_create(INT32_MAX, 1, 1, 1, NULL, &topology), SP_OK);
    assert_int_equal(sp_topology_size(topology), INT32_MAX);
    sp_topology_destroy(topology);
}

static void an_allocation_that_fails_leaves_nothing(void **state)
{
    sp_topology *topology = untouched;
    failing_alloc memory;

    (void)state;
    failing_alloc_init(&memory, 0);
    EXPECT_FAIL(sp_topology_create(1, 1, 1, 1, &memory.hooks, &topology), SP_ERR_MEMORY,
                OUT_OF_MEMORY);
    assert_ptr_equal(topology, untouched);
    failing_alloc_init(&memory, NEVER_FAIL);
    assert_int_equal(sp_topology_create(1, 1, 1, 1, &memory.hooks, &topology), SP_OK);
    assert_int_equal(memory.live, 1);
    sp_topology_destroy(topology);
    assert_int_equal(memory.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_topology_knows_its_size_and_degrees, make, drop),
        cmocka_unit_test_setup_teardown(ranks_run_through_tp_then_cp_then_dp_then_pp, make, drop),
        cmocka_unit_test_setup_teardown(coordinates_and_ranks_are_each_others_inverse, make, drop),
        cmocka_unit_test_setup_teardown(a_rank_out_of_bounds_is_refused, make, drop),
        cmocka_unit_test_setup_teardown(a_coordinate_out_of_bounds_is_named, make, drop),
        cmocka_unit_test_setup_teardown(a_struct_without_its_size_is_refused, make, drop),
        cmocka_unit_test_setup_teardown(null_arguments_are_named, make, drop),
        cmocka_unit_test(a_degree_below_one_is_named),
        cmocka_unit_test(a_product_beyond_int32_names_the_degrees),
        cmocka_unit_test(an_allocation_that_fails_leaves_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
