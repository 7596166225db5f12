/*
 * test_status.c - names of statuses, the thread's last message, the version.
 */
#include "base/status.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "../support/expect.h"

/* Stands first: the main thread has not failed yet. */
static void the_message_is_empty_before_the_first_failure(void **state)
{
    (void)state;
    assert_string_equal(sp_error_message(), "");
}

static void every_status_has_its_name_and_its_sentence(void **state)
{
    (void)state;
#define CHECK(name, value, text)                          \
    assert_int_equal(name, value);                        \
    assert_string_equal(sp_status_name(value), #name);    \
    assert_string_equal(sp_status_text(value), text);
    SP_STATUS_MAP(CHECK)
#undef CHECK
}

static void a_value_without_a_status_is_called_unknown(void **state)
{
    (void)state;
    assert_string_equal(sp_status_name(1), "SP_ERR_UNKNOWN");
    assert_string_equal(sp_status_name(SP_STATUS_END_), "SP_ERR_UNKNOWN");
    assert_string_equal(sp_status_text(INT32_MIN), "a status that this release does not know");
}

static void a_failure_keeps_its_sentence_and_returns_its_status(void **state)
{
    (void)state;
    EXPECT_FAIL(sp__fail(SP_ERR_RANGE, "dp: %d is below %d", 0, 1), SP_ERR_RANGE,
                "dp: 0 is below 1");
    EXPECT_FAIL(sp__fail_memory(), SP_ERR_MEMORY, OUT_OF_MEMORY);
    EXPECT_FAIL(sp__fail_null("lengths"), SP_ERR_INVALID, "lengths is NULL");
}

static void a_success_leaves_the_message_as_it_is(void **state)
{
    int64_t length = 1;
    sp_batch *batch;

    (void)state;
    sp__fail_null("out");
    assert_int_equal(sp_batch_create(&length, 1, NULL, &batch), SP_OK);
    sp_batch_destroy(batch);
    assert_string_equal(sp_error_message(), "out is NULL");
}

static void a_long_sentence_is_cut_not_overrun(void **state)
{
    char word[2000];

    (void)state;
    memset(word, 'x', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    sp__fail(SP_ERR_INVALID, "%s", word);
    assert_int_equal(strlen(sp_error_message()), 511);
}

static void *fail_elsewhere(void *seen_first)
{
    strcpy(seen_first, sp_error_message());
    sp__fail(SP_ERR_STATE, "elsewhere");
    return NULL;
}

static void each_thread_keeps_its_own_message(void **state)
{
    char seen_first[512] = "not run";
    pthread_t thread;

    (void)state;
    sp__fail(SP_ERR_STATE, "here");
    assert_int_equal(pthread_create(&thread, NULL, fail_elsewhere, seen_first), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_string_equal(seen_first, "");
    assert_string_equal(sp_error_message(), "here");
}

static sp_status pass_on(sp_status status, int *went_on)
{
    SP_TRY(status);
    *went_on = 1;
    return SP_OK;
}

static void a_tried_failure_leaves_the_function(void **state)
{
    int went_on = 0;

    (void)state;
    assert_int_equal(pass_on(SP_ERR_SYSTEM, &went_on), SP_ERR_SYSTEM);
    assert_false(went_on);
    assert_int_equal(pass_on(SP_OK, &went_on), SP_OK);
    assert_true(went_on);
}

static void the_version_is_that_of_the_header(void **state)
{
    char text[32];

    (void)state;
    snprintf(text, sizeof text, "%d.%d.%d", SP_VERSION_MAJOR, SP_VERSION_MINOR, SP_VERSION_PATCH);
    assert_int_equal(sp_version(), SP_VERSION);
    assert_string_equal(sp_version_string(), text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_message_is_empty_before_the_first_failure),
        cmocka_unit_test(every_status_has_its_name_and_its_sentence),
        cmocka_unit_test(a_value_without_a_status_is_called_unknown),
        cmocka_unit_test(a_failure_keeps_its_sentence_and_returns_its_status),
        cmocka_unit_test(a_success_leaves_the_message_as_it_is),
        cmocka_unit_test(a_long_sentence_is_cut_not_overrun),
        cmocka_unit_test(each_thread_keeps_its_own_message),
        cmocka_unit_test(a_tried_failure_leaves_the_function),
        cmocka_unit_test(the_version_is_that_of_the_header),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
