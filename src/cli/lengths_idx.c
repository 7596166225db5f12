/*
 * lengths_idx.c - lengths of the sequences of a Megatron-LM indexed dataset, .idx: see
 * lengths_format.h.
 *
 * The file holds, little-endian: magic, version (uint64), code of the tokens' dtype
 * (uint8), sequence count and document count (uint64); then int32 lengths of the
 * sequences, int64 pointers to them in the .bin file, int64 indices of the documents'
 * first sequences, and for multimodal data an int8 mode of each sequence. The counts
 * are held against the size of the file. Pointers follow from the lengths: both give
 * one number, so that they are compared without keeping either.
 */
#include "lengths_format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"

#define HEAD 34
#define MOST_COUNT (INT64_MAX / 64) /* the size of the file stays below int64 */
#define CODES 8

/* Bytes of a token by code: uint8, int8, int16, int32, int64, two floats, uint16. Writers
 * disagree on which float is which, so 0 stands for what is not known. */
static const int token_bytes[CODES + 1] = { 0, 1, 1, 2, 4, 8, 0, 0, 2 };

typedef struct index_file {
    uint64_t sequences, documents, taken;
    uint64_t token;   /* bytes, 0: not known */
    uint64_t pointer; /* of the next sequence */
    uint64_t digest;  /* of the pointers so far */
    int done;
} index_file;

/* FNV-1a, by words. */
static uint64_t fold(uint64_t digest, uint64_t word)
{
    return (digest ^ word) * UINT64_C(0x100000001b3);
}

static uint64_t size_without_modes(const index_file *x)
{
    return HEAD + 12 * x->sequences + 8 * x->documents;
}

static int fail_size(const cli_source *source, const index_file *x, uint64_t have)
{
    uint64_t want = size_without_modes(x);
    int code = cli_source_check(source);

    if (code != CLI_OK)
        return code;
    return cli_fail(CLI_DATA, "%s: %s: %" PRIu64 " sequences and %" PRIu64 " documents take %"
                    PRIu64 " bytes or, with modes, %" PRIu64 "; %s%" PRIu64 " are there",
                    source->input.name, have < want ? "truncated" : "trailing bytes",
                    x->sequences, x->documents, want, want + x->sequences,
                    have > want && source->size < 0 ? "at least " : "", have);
}

static int check_counts(const cli_source *source, const index_file *x)
{
    uint64_t want, have = (uint64_t)source->size;

    if (x->sequences > MOST_COUNT || x->documents > MOST_COUNT)
        return cli_fail(CLI_DATA, "%s: %" PRIu64 " sequences and %" PRIu64
                        " documents are more than a file holds", source->input.name,
                        x->sequences, x->documents);
    want = size_without_modes(x);
    if (source->size < 0 || have == want || have == want + x->sequences)
        return CLI_OK;
    return fail_size(source, x, have);
}

static int take_head(cli_source *source, index_file *x)
{
    const char *name = source->input.name;
    unsigned char head[HEAD];
    size_t have = cli_source_read(source, head, HEAD);
    int code = head[17];

    if (have < HEAD && cli_source_check(source) != CLI_OK)
        return CLI_DATA;
    if (have < HEAD)
        return cli_fail(CLI_DATA, "%s: truncated: the head takes %d bytes, %d are there", name,
                        HEAD, (int)have);
    if (cli_le64(head + 9) != 1)
        return cli_fail(CLI_DATA, "%s: .idx version %" PRIu64 "; accepted is 1", name,
                        cli_le64(head + 9));
    if (code < 1 || code > CODES)
        return cli_fail(CLI_DATA, "%s: dtype code %d; known are 1 to %d", name, code, CODES);
    x->token = (uint64_t)token_bytes[code];
    x->sequences = cli_le64(head + 18);
    x->documents = cli_le64(head + 26);
    return check_counts(source, x);
}

static int open_idx(cli_lengths_reader *r)
{
    r->state = calloc(1, sizeof(index_file));
    return r->state != NULL ? take_head(&r->source, r->state) : cli_fail_memory();
}

static int take_word(cli_source *source, const index_file *x, uint64_t *word)
{
    unsigned char bytes[8];

    if (cli_source_read(source, bytes, 8) < 8)
        return fail_size(source, x, (uint64_t)cli_source_taken(source));
    *word = cli_le64(bytes);
    return CLI_OK;
}

static int check_pointers(cli_source *source, const index_file *x)
{
    uint64_t digest = 0, pointer = 0;

    for (uint64_t i = 0; i < x->sequences; i++) {
        int code = take_word(source, x, &pointer);

        if (code != CLI_OK)
            return code;
        digest = fold(digest, pointer);
    }
    if (digest == x->digest || x->token == 0)
        return CLI_OK;
    return cli_fail(CLI_DATA, "%s: the pointers do not follow from the lengths of sequences of "
                    "%" PRIu64 "-byte tokens", source->input.name, x->token);
}

/* Documents begin at 0, one behind the other, and the last index ends the last. */
static int check_documents(cli_source *source, const index_file *x)
{
    const char *name = source->input.name;
    uint64_t last = 0;

    for (uint64_t i = 0; i < x->documents; i++) {
        uint64_t index = 0;
        int code = take_word(source, x, &index);

        if (code != CLI_OK)
            return code;
        if (i == 0 && index != 0)
            return cli_fail(CLI_DATA, "%s: document index 0: %" PRIu64 " is not 0", name, index);
        if (index < last)
            return cli_fail(CLI_DATA, "%s: document index %" PRIu64 ": %" PRIu64
                            " is below %" PRIu64 ", the one before it", name, i, index, last);
        last = index;
    }
    if (last == x->sequences)
        return CLI_OK;
    return cli_fail(CLI_DATA, "%s: the last document index is %" PRIu64 ", not the %" PRIu64
                    " of the sequences", name, last, x->sequences);
}

static int check_modes(cli_source *source, const index_file *x)
{
    uint64_t have = 0;

    while (have <= x->sequences && cli_source_byte(source) != EOF)
        have++;
    if (have == 0 || have == x->sequences)
        return CLI_OK;
    return fail_size(source, x, size_without_modes(x) + have);
}

/* What follows the lengths. */
static int end_idx(cli_source *source, index_file *x)
{
    int code = CLI_OK;

    if (x->done)
        return CLI_OK;
    x->done = 1;
    code = check_pointers(source, x);
    if (code == CLI_OK)
        code = check_documents(source, x);
    return code == CLI_OK ? check_modes(source, x) : code;
}

static int next_idx(cli_lengths_reader *r, int64_t *value)
{
    index_file *x = r->state;
    unsigned char bytes[4];
    int32_t number;

    if (x->taken == x->sequences)
        return end_idx(&r->source, x);
    if (cli_source_read(&r->source, bytes, 4) < 4)
        return fail_size(&r->source, x, (uint64_t)cli_source_taken(&r->source));
    number = (int32_t)cli_le32(bytes);
    if (cli_length_wrong(number) != NULL)
        return cli_fail(CLI_DATA, "%s: sequence %" PRIu64 ": %" PRId32 " %s",
                        r->source.input.name, x->taken, number, cli_length_wrong(number));
    x->digest = fold(x->digest, x->pointer);
    x->pointer += (uint64_t)number * x->token;
    x->taken++;
    *value = number;
    return CLI_OK;
}

static void close_idx(cli_lengths_reader *r)
{
    free(r->state);
}

const cli_format cli_format_idx = { "a Megatron-LM index", "the dataset has no sequences",
                                    open_idx, next_idx, close_idx };
