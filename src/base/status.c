/*
 * status.c - names of statuses, the thread's last message, the version.
 *
 * The message lives in the thread that failed and is overwritten by its next
 * failure only, so that a success in between does not lose it. It is one line without
 * control characters, whatever names it quotes: it ends up in logs and on terminals.
 */
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>

#undef sp__fail
#undef sp__fail_memory
#undef sp__fail_null

static _Thread_local sp__sentence last;

static void blank_controls(char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            *text = '?';
}

sp_status sp__fail(sp_status status, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start did it */
    vsnprintf(last.text, sizeof last.text, format, arguments);
    va_end(arguments);
    blank_controls(last.text);
    return status;
}

sp_status sp__fail_memory(void)
{
    return sp__fail(SP_ERR_MEMORY, "out of memory: the allocator returned NULL");
}

sp_status sp__fail_null(const char *argument)
{
    return sp__fail(SP_ERR_INVALID, "%s is NULL", argument);
}

const char *sp_error_message(void)
{
    return last.text;
}

sp__sentence sp__last_sentence(void)
{
    return last;
}

void sp__put_back(const sp__sentence *sentence)
{
    last = *sentence;
}

const char *sp_status_name(sp_status status)
{
    switch (status) {
#define NAME_CASE(name, value, text) \
    case name:                       \
        return #name;
        SP_STATUS_MAP(NAME_CASE)
#undef NAME_CASE
    default:
        return "SP_ERR_UNKNOWN";
    }
}

const char *sp_status_text(sp_status status)
{
    switch (status) {
#define TEXT_CASE(name, value, text) \
    case name:                       \
        return text;
        SP_STATUS_MAP(TEXT_CASE)
#undef TEXT_CASE
    default:
        return "a status that this release does not know";
    }
}

int32_t sp_version(void)
{
    return SP_VERSION;
}

#define QUOTE(x) #x
#define VERSION_TEXT(major, minor, patch) QUOTE(major) "." QUOTE(minor) "." QUOTE(patch)

const char *sp_version_string(void)
{
    return VERSION_TEXT(SP_VERSION_MAJOR, SP_VERSION_MINOR, SP_VERSION_PATCH);
}
