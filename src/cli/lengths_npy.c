/*
 * lengths_npy.c - lengths as a NumPy array, .npy: see lengths_format.h.
 *
 * One dimension of little-endian int32, int64 or uint32, versions 1.0 to 3.0 of the
 * format. What the head says is held against the size of the file where that is
 * known, else against what the pipe gives.
 */
#include "lengths_format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "npy_header.h"

#define MOST_HEADER 65536 /* numpy writes some 118 bytes */
#define ACCEPTED "accepted are <i4, <i8 and <u4"

typedef struct array {
    int bytes; /* of an element */
    int is_signed;
    uint64_t count, taken;
    uint64_t head; /* bytes before the first element */
} array;

static int fail_short(const cli_source *source, const char *what, uint64_t want, uint64_t have)
{
    int code = cli_source_check(source);

    if (code != CLI_OK)
        return code;
    return cli_fail(CLI_DATA, "%s: truncated: the %s takes %" PRIu64 " bytes, %" PRIu64
                    " are there", source->input.name, what, want, have);
}

/* Takes the magic, the version and the length of the header. */
static int take_prefix(cli_source *source, size_t *length)
{
    const char *name = source->input.name;
    unsigned char bytes[12];
    size_t have = cli_source_read(source, bytes, 8), wide;
    uint32_t header;

    if (have < 8)
        return fail_short(source, "beginning", 10, have);
    if (bytes[6] < 1 || bytes[6] > 3 || bytes[7] != 0)
        return cli_fail(CLI_DATA, "%s: .npy version %d.%d; accepted are 1.0, 2.0 and 3.0", name,
                        bytes[6], bytes[7]);
    wide = bytes[6] == 1 ? 2 : 4;
    memset(bytes + 8, 0, 4);
    have += cli_source_read(source, bytes + 8, wide);
    if (have < 8 + wide)
        return fail_short(source, "beginning", 8 + wide, have);
    header = cli_le32(bytes + 8);
    if (header > MOST_HEADER)
        return cli_fail(CLI_DATA, "%s: .npy header: %" PRIu32 " bytes are above %d", name, header,
                        MOST_HEADER);
    *length = header;
    return CLI_OK;
}

static int check_shape(const char *name, const cli_npy_header *h)
{
    if (h->dimensions == 1)
        return CLI_OK;
    return cli_fail(CLI_DATA, "%s: shape %s%s: %d dimensions; accepted is 1", name,
                    cli_show(h->shape, h->shape_length).text,
                    h->fortran && h->dimensions > 1 ? " in Fortran order" : "", h->dimensions);
}

static int check_dtype(const char *name, const cli_npy_header *h, array *a)
{
    const char *d = h->descr;

    if (d == NULL)
        return cli_fail(CLI_DATA, "%s: a structured dtype; " ACCEPTED, name);
    if (h->descr_length == 3 && (strncmp(d, "<i4", 3) == 0 || strncmp(d, "<u4", 3) == 0 ||
                                 strncmp(d, "<i8", 3) == 0)) {
        a->bytes = d[2] - '0';
        a->is_signed = d[1] == 'i';
        return CLI_OK;
    }
    return cli_fail(CLI_DATA, "%s: dtype '%s'%s; " ACCEPTED, name,
                    cli_show(d, h->descr_length).text,
                    h->descr_length > 0 && d[0] == '>' ? ", which is big-endian" : "");
}

static int fail_size(const cli_source *source, const array *a, uint64_t have)
{
    uint64_t want = a->count * (uint64_t)a->bytes;
    int code = cli_source_check(source);

    if (code != CLI_OK)
        return code;
    return cli_fail(CLI_DATA, "%s: %s: %" PRIu64 " elements of %d bytes take %" PRIu64
                    " bytes, %s%" PRIu64 " are there", source->input.name,
                    have < want ? "truncated" : "trailing bytes", a->count, a->bytes, want,
                    have > want && source->size < 0 ? "at least " : "", have);
}

static int check_count(const cli_source *source, const cli_npy_header *h, array *a)
{
    uint64_t have;

    a->count = h->count;
    a->head = (uint64_t)cli_source_taken(source);
    if (a->count > INT64_MAX / 16)
        return cli_fail(CLI_DATA, "%s: shape %s: more elements than a file holds",
                        source->input.name, cli_show(h->shape, h->shape_length).text);
    if (source->size < 0)
        return CLI_OK;
    have = (uint64_t)source->size - a->head;
    return have == a->count * (uint64_t)a->bytes ? CLI_OK : fail_size(source, a, have);
}

static int take_header(cli_source *source, char *text, size_t length, array *a)
{
    const char *name = source->input.name;
    size_t have = cli_source_read(source, text, length);
    cli_npy_header header;
    const char *wrong;
    int code;

    if (have < length)
        return fail_short(source, "header", length, have);
    wrong = cli_npy_parse(text, length, &header);
    if (wrong != NULL)
        return cli_fail(CLI_DATA, "%s: .npy header: %s", name, wrong);
    code = check_dtype(name, &header, a);
    if (code == CLI_OK)
        code = check_shape(name, &header);
    return code == CLI_OK ? check_count(source, &header, a) : code;
}

static int open_npy(cli_lengths_reader *r)
{
    array *a = calloc(1, sizeof *a);
    size_t length = 0;
    char *text;
    int code;

    r->state = a;
    if (a == NULL)
        return cli_fail_memory();
    code = take_prefix(&r->source, &length);
    if (code != CLI_OK)
        return code;
    text = malloc(length + 1);
    if (text == NULL)
        return cli_fail_memory();
    code = take_header(&r->source, text, length, a);
    free(text);
    return code;
}

/* An unsigned element past int64 does not exist: they have 4 bytes. */
static int64_t element(const array *a, const unsigned char *bytes)
{
    if (a->bytes == 8)
        return (int64_t)cli_le64(bytes);
    return a->is_signed ? (int64_t)(int32_t)cli_le32(bytes) : (int64_t)cli_le32(bytes);
}

static int end_npy(cli_source *source, const array *a)
{
    if (cli_source_byte(source) == EOF)
        return CLI_OK;
    return fail_size(source, a, a->count * (uint64_t)a->bytes + 1);
}

static int next_npy(cli_lengths_reader *r, int64_t *value)
{
    array *a = r->state;
    unsigned char bytes[8];
    int64_t number;
    size_t have;

    if (a->taken == a->count)
        return end_npy(&r->source, a);
    have = cli_source_read(&r->source, bytes, (size_t)a->bytes);
    if (have < (size_t)a->bytes)
        return fail_size(&r->source, a, a->taken * (uint64_t)a->bytes + have);
    number = element(a, bytes);
    if (cli_length_wrong(number) != NULL)
        return cli_fail(CLI_DATA, "%s: element %" PRIu64 ": %" PRId64 " %s",
                        r->source.input.name, a->taken, number, cli_length_wrong(number));
    a->taken++;
    *value = number;
    return CLI_OK;
}

static void close_npy(cli_lengths_reader *r)
{
    free(r->state);
}

const cli_format cli_format_npy = { "a NumPy array", "the array is empty", open_npy, next_npy,
                                    close_npy };
