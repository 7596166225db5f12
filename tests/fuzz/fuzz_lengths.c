/*
 * fuzz_lengths.c - the program's reader of length files.
 *
 * The first three bytes are --skip, --batch (0: all) and which --field; the rest is the
 * file, of any format: a seed of each says where a search begins.
 *
 * Invariants: what is read are lengths of a batch, as many as were asked for; a part of
 * a file that can be read whole is that part of the whole.
 */
#include "fuzz_cli.h"

#include <inttypes.h>

#include "cli/lengths.h"

static int read_part(const fuzz_bytes *file, const char *field, int64_t skip, int64_t batch,
                     cli_lengths *out)
{
    cli_lengths list = { NULL, 0, 0 };
    fuzz_cli cli;
    int code;

    fuzz_cli_begin(&cli, file->at, file->left);
    code = cli_lengths_read("-", field, skip, batch, &list);
    fuzz_cli_end(&cli, code);
    if (code == CLI_OK)
        REQUIRE(list.count >= 1 && (batch == 0 || list.count == batch), "%" PRId64, list.count);
    else
        REQUIRE(list.values == NULL && list.count == 0, "an error left an output");
    for (int64_t i = 0; i < list.count; i++)
        REQUIRE(list.values[i] >= 1 && list.values[i] <= INT32_MAX, "length %" PRId64 ": %" PRId64,
                i, list.values[i]);
    *out = list;
    return code;
}

/* A part against the whole file. */
static void compare(const cli_lengths *whole, const cli_lengths *part, int code, int64_t skip,
                    int64_t batch)
{
    int64_t left = whole->count - skip;

    REQUIRE((code == CLI_OK) == (left >= 1 && batch <= left),
            "code %d for %" PRId64 " after %" PRId64 " of %" PRId64, code, batch, skip,
            whole->count);
    if (code == CLI_OK && batch == 0)
        REQUIRE(part->count == left, "%" PRId64 " of %" PRId64, part->count, left);
    for (int64_t i = 0; i < part->count; i++)
        REQUIRE(part->values[i] == whole->values[skip + i], "length %" PRId64, i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const fields[] = { NULL, "length", "text", "a.b" };
    fuzz_bytes b = { data, size };
    int64_t skip = (int64_t)fuzz_word(&b, 1), batch = (int64_t)fuzz_word(&b, 1);
    const char *field = fields[fuzz_below(&b, 4)];
    cli_lengths whole, part;
    int code = read_part(&b, field, skip, batch, &part);

    if (read_part(&b, field, 0, 0, &whole) == CLI_OK)
        compare(&whole, &part, code, skip, batch);
    cli_lengths_free(&whole);
    cli_lengths_free(&part);
    return 0;
}
