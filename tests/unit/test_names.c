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
    expect_missing("dq", "unknown preset 'dq'; did you mean 'dp'?");
}

static void the_first_of_equally_near_names_is_suggested(void **state)
{
    (void)state;
    /* Two letters short of llama2-7b and of llama3-8b. */
    expect_missing("llama-b", "unknown preset 'llama-b'; did you mean 'llama2-7b'?");
}

static void a_name_like_no_other_gets_no_suggestion(void **state)
{
    (void)state;
    expect_missing("mixture-of-experts", "unknown preset 'mixture-of-experts'");
    expect_missing("xy", "unknown preset 'xy'");
    expect_missing("", "unknown preset ''");
}

/* The sentence ends up in a log or on a terminal. */
static void control_bytes_of_a_name_are_not_repeated(void **state)
{
    (void)state;
    expect_missing("h10\n0", "unknown preset 'h10?0'; did you mean 'h100'?");
    expect_missing("\033[2Jh\177100", "unknown preset '?[2Jh?100'");
    expect_missing("h\303\2450", "unknown preset 'h\303\2450'; did you mean 'h100'?");
}

static void a_very_long_name_is_cut_and_gets_no_suggestion(void **state)
{
    char name[300], sentence[200];

    (void)state;
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    strcpy(sentence, "unknown preset '");
    memset(sentence + strlen("unknown preset '"), 'a', 80);
    strcpy(sentence + strlen("unknown preset '") + 80, "'");
    expect_missing(name, sentence);
    name[63] = '\0'; /* the longest that is compared */
    strcpy(sentence, "unknown preset '");
    strcat(sentence, name);
    strcat(sentence, "'");
    expect_missing(name, sentence);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_is_found_in_its_place),
        cmocka_unit_test(a_slip_is_answered_with_the_nearest_name),
        cmocka_unit_test(the_first_of_equally_near_names_is_suggested),
        cmocka_unit_test(a_name_like_no_other_gets_no_suggestion),
        cmocka_unit_test(control_bytes_of_a_name_are_not_repeated),
        cmocka_unit_test(a_very_long_name_is_cut_and_gets_no_suggestion),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
