/*
 * test_names.c - finds a name, or the nearest one to suggest.
 */
#include "base/names.h"

#include <string.h>

#include "../support/expect.h"

static const char *const presets[] = { "llama2-7b", "llama3-8b", "llama3-70b", "h100", "dp", NULL };

static const char *at(const void *list, int32_t index)
{
    return ((const char *const *)list)[index];
}

static void a_name_is_found_in_its_place(void **state)
{
    int32_t index = -1;

    (void)state;
    for (int32_t i = 0; presets[i] != NULL; i++) {
        assert_int_equal(sp__name_find("preset", presets[i], at, presets, &index), SP_OK);
        assert_int_equal(index, i);
    }
}

static void expect_missing(const char *name, const char *sentence)
{
    int32_t index = 77;

    EXPECT_FAIL(sp__name_find("preset", name, at, presets, &index), SP_ERR_NAME, sentence);
    assert_int_equal(index, 77);
}

static void a_slip_is_answered_with_the_nearest_name(void **state)
{
    (void)state;
    expect_missing("llama2-7", "unknown preset 'llama2-7'; did you mean 'llama2-7b'?");
    expect_missing("lama3-70b", "unknown preset 'lama3-70b'; did you mean 'llama3-70b'?");
    expect_missing("h1000", "unknown preset 'h1000'; did you mean 'h100'?");
    expect_missing("H100", "unknown preset 'H100'; did you mean 'h100'?");
}

static void the_first_of_equally_near_names_is_suggested(void **state)
{
    (void)state;
    /* Two letters short of llama2-7b and of llama3-8b. */
    expect_missing("llama-b", "unknown preset 'llama-b'; did you mean 'llama2-7b'?");
}

static void a_name_cut_short_means_the_name_that_starts_with_it(void **state)
{
    (void)state;
    expect_missing("llama", "unknown preset 'llama'; did you mean 'llama2-7b'?");
    expect_missing("llama3-", "unknown preset 'llama3-'; did you mean 'llama3-8b'?");
}

#define KNOWN "; known are llama2-7b, llama3-8b, llama3-70b, h100, dp"

static void a_name_like_no_other_gets_the_list(void **state)
{
    (void)state;
    expect_missing("mixture-of-experts", "unknown preset 'mixture-of-experts'" KNOWN);
    expect_missing("dq", "unknown preset 'dq'" KNOWN);
    expect_missing("", "unknown preset ''" KNOWN);
}

/* The sentence ends up in a log or on a terminal. */
static void control_bytes_of_a_name_are_not_repeated(void **state)
{
    (void)state;
    expect_missing("h10\n0", "unknown preset 'h10?0'; did you mean 'h100'?");
    expect_missing("\033[2Jh\177100", "unknown preset '?[2Jh?100'" KNOWN);
    expect_missing("h\303\2450", "unknown preset 'h\303\2450'; did you mean 'h100'?");
}

static void a_very_long_name_is_cut_and_gets_the_list(void **state)
{
    char name[300], sentence[200];

    (void)state;
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    strcpy(sentence, "unknown preset '");
    memset(sentence + strlen("unknown preset '"), 'a', 80);
    strcpy(sentence + strlen("unknown preset '") + 80, "'" KNOWN);
    expect_missing(name, sentence);
    name[63] = '\0'; /* the longest that is compared */
    strcpy(sentence, "unknown preset '");
    strcat(sentence, name);
    strcat(sentence, "'" KNOWN);
    expect_missing(name, sentence);
}

static const char *one_of_many(const void *list, int32_t index)
{
    (void)list;
    return index < 61 ? "xy" : NULL;
}

static const char *one_of_less(const void *list, int32_t index)
{
    return index < 60 ? one_of_many(list, index) : NULL;
}

/* 60 names of two letters are 238 with what joins them, and 240 are told. */
static void a_long_list_is_not_told(void **state)
{
    int32_t index;

    (void)state;
    EXPECT_FAIL(sp__name_find("name", "abc", one_of_many, NULL, &index), SP_ERR_NAME,
                "unknown name 'abc'");
    assert_int_equal(sp__name_find("name", "abc", one_of_less, NULL, &index), SP_ERR_NAME);
    assert_int_equal(strlen(sp_error_message()), strlen("unknown name 'abc'; known are ") + 238);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_is_found_in_its_place),
        cmocka_unit_test(a_slip_is_answered_with_the_nearest_name),
        cmocka_unit_test(the_first_of_equally_near_names_is_suggested),
        cmocka_unit_test(a_name_cut_short_means_the_name_that_starts_with_it),
        cmocka_unit_test(a_name_like_no_other_gets_the_list),
        cmocka_unit_test(a_long_list_is_not_told),
        cmocka_unit_test(control_bytes_of_a_name_are_not_repeated),
        cmocka_unit_test(a_very_long_name_is_cut_and_gets_the_list),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
