/*
 * abi.c - moves sized structs across the library's border: see abi.h.
 */
#include "base/abi.h"

#include <string.h>

#include "base/status.h"

static size_t claimed_size(const void *structure)
{
    size_t size;

    memcpy(&size, structure, sizeof size);
    return size;
}

sp_status sp__struct_ready(const void *to, size_t smallest, const char *argument)
{
    if (to == NULL)
        return sp__fail_null(argument);
    if (claimed_size(to) < smallest)
        return sp__fail(SP_ERR_INVALID, "%s: struct_size %zu is below %zu; set it before the call",
                        argument, claimed_size(to), smallest);
    return SP_OK;
}

sp_status sp__struct_in(void *to, size_t known, size_t smallest, const void *from,
                        const char *argument)
{
    const unsigned char *bytes = from;
    size_t size;

    SP_TRY(sp__struct_ready(from, smallest, argument));
    size = claimed_size(from);
    for (size_t i = known; i < size; i++)
        if (bytes[i] != 0)
            return sp__fail(SP_ERR_ABI, "%s: byte %zu is set, but this library knows %zu bytes",
                            argument, i, known);
    memset(to, 0, known);
    memcpy(to, from, size < known ? size : known);
    memcpy(to, &known, sizeof known);
    return SP_OK;
}

sp_status sp__struct_out(void *to, const void *from, size_t known, size_t smallest,
                         const char *argument)
{
    size_t size;

    SP_TRY(sp__struct_ready(to, smallest, argument));
    size = claimed_size(to);
    memcpy((unsigned char *)to + sizeof size, (const unsigned char *)from + sizeof size,
           (size < known ? size : known) - sizeof size);
    return SP_OK;
}
