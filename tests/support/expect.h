/*
 * expect.h - CMocka, and the one assertion that nearly every test of an error needs.
 */
#ifndef TESTS_SUPPORT_EXPECT_H
#define TESTS_SUPPORT_EXPECT_H

/* cmocka.h needs these four before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "slimpack.h"

/* The call fails with this status and leaves this sentence. */
#define EXPECT_FAIL(call, status, sentence)                   \
    do {                                                      \
        assert_int_equal((call), (status));                   \
        assert_string_equal(sp_error_message(), (sentence));  \
    } while (0)

#define OUT_OF_MEMORY "out of memory: the allocator returned NULL"

#endif
