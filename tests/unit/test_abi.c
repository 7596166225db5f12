/*
 * test_abi.c - sized structs of older and newer callers.
 */
#include "base/abi.h"

#include <string.h>

#include "../support/expect.h"

/* The struct in its first release, as the library knows it, and in a later one. */
struct first {
    size_t struct_size;
    int32_t a, b;
};

struct now {
    size_t struct_size;
    int32_t a, b;
    int64_t c;
};

struct later {
    size_t struct_size;
    int32_t a, b;
    int64_t c, d;
};

#define SMALLEST sizeof(struct first)

static sp_status read_in(struct now *to, const void *from)
{
    return sp__struct_in(to, sizeof *to, SMALLEST, from, "at");
}

static void a_caller_of_this_release_is_read_whole(void **state)
{
    struct now from = { sizeof from, 1, 2, 3 }, to;

    (void)state;
    assert_int_equal(read_in(&to, &from), SP_OK);
    assert_memory_equal(&to, &from, sizeof to);
}

static void an_older_caller_is_completed_with_zeros(void **state)
{
    struct first from = { sizeof from, 1, 2 };
    struct now to = { 0, -1, -1, -1 };

    (void)state;
    assert_int_equal(read_in(&to, &from), SP_OK);
    assert_int_equal(to.struct_size, sizeof to);
    assert_int_equal(to.a, 1);
    assert_int_equal(to.b, 2);
    assert_int_equal(to.c, 0);
}

static void a_newer_caller_is_read_while_its_tail_is_zero(void **state)
{
    struct later from = { sizeof from, 1, 2, 3, 0 };
    struct now to;

    (void)state;
    assert_int_equal(read_in(&to, &from), SP_OK);
    assert_int_equal(to.struct_size, sizeof to);
    assert_int_equal(to.c, 3);
}

static void a_newer_caller_who_sets_what_we_do_not_know_is_refused(void **state)
{
    struct later from = { sizeof from, 1, 2, 3, 0 };
    struct now to = { 0, -1, -1, -1 };

    (void)state;
    ((unsigned char *)&from.d)[5] = 1;
    EXPECT_FAIL(read_in(&to, &from), SP_ERR_ABI,
                "at: byte 29 is set, but this library knows 24 bytes");
    assert_int_equal(to.a, -1);
}

static void a_struct_that_is_too_short_is_refused(void **state)
{
    struct first from = { sizeof from - 1, 1, 2 };
    struct now to = { 0, -1, -1, -1 };

    (void)state;
    EXPECT_FAIL(read_in(&to, &from), SP_ERR_INVALID,
                "at: struct_size 15 is below 16; set it before the call");
    assert_int_equal(to.a, -1);
    assert_int_equal(sp__struct_ready(&from, SMALLEST, "at"), SP_ERR_INVALID);
    assert_int_equal(sp__struct_out(&from, &to, sizeof to, SMALLEST, "at"), SP_ERR_INVALID);
    assert_int_equal(from.a, 1);
}

static void a_null_struct_is_named(void **state)
{
    struct now ours = { sizeof ours, 1, 2, 3 };

    (void)state;
    EXPECT_FAIL(read_in(&ours, NULL), SP_ERR_INVALID, "at is NULL");
    EXPECT_FAIL(sp__struct_ready(NULL, SMALLEST, "out"), SP_ERR_INVALID, "out is NULL");
    EXPECT_FAIL(sp__struct_out(NULL, &ours, sizeof ours, SMALLEST, "view"), SP_ERR_INVALID,
                "view is NULL");
}

static void an_older_caller_gets_what_fits(void **state)
{
    struct now ours = { sizeof ours, 1, 2, 3 };
    struct now theirs = { sizeof(struct first), -1, -1, -1 };

    (void)state;
    assert_int_equal(sp__struct_out(&theirs, &ours, sizeof ours, SMALLEST, "out"), SP_OK);
    assert_int_equal(theirs.struct_size, sizeof(struct first));
    assert_int_equal(theirs.a, 1);
    assert_int_equal(theirs.b, 2);
    assert_int_equal(theirs.c, -1);
}

static void a_newer_caller_keeps_the_rest_of_its_own(void **state)
{
    struct now ours = { sizeof ours, 1, 2, 3 };
    struct later theirs = { sizeof theirs, -1, -1, -1, -7 };

    (void)state;
    assert_int_equal(sp__struct_out(&theirs, &ours, sizeof ours, SMALLEST, "out"), SP_OK);
    assert_int_equal(theirs.struct_size, sizeof theirs);
    assert_int_equal(theirs.c, 3);
    assert_int_equal(theirs.d, -7);
}

static void a_struct_is_ready_from_its_smallest_size_on(void **state)
{
    struct later theirs = { SMALLEST, 0, 0, 0, 0 };

    (void)state;
    assert_int_equal(sp__struct_ready(&theirs, SMALLEST, "out"), SP_OK);
    theirs.struct_size = sizeof theirs;
    assert_int_equal(sp__struct_ready(&theirs, SMALLEST, "out"), SP_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_caller_of_this_release_is_read_whole),
        cmocka_unit_test(an_older_caller_is_completed_with_zeros),
        cmocka_unit_test(a_newer_caller_is_read_while_its_tail_is_zero),
        cmocka_unit_test(a_newer_caller_who_sets_what_we_do_not_know_is_refused),
        cmocka_unit_test(a_struct_that_is_too_short_is_refused),
        cmocka_unit_test(a_null_struct_is_named),
        cmocka_unit_test(an_older_caller_gets_what_fits),
        cmocka_unit_test(a_newer_caller_keeps_the_rest_of_its_own),
        cmocka_unit_test(a_struct_is_ready_from_its_smallest_size_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
