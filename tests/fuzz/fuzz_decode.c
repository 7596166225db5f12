/*
 * fuzz_decode.c - sp_schedule_decode() on bytes that may hold anything.
 *
 * The input is decoded as it is; then with magic, version, size and checksum set right,
 * so that the checks behind them are reached; then, where only the digest of a valid
 * plan was another, with that digest too. The digest that the decoder computes is seen
 * by wrapping sp_schedule_digest() at link time (-Wl,--wrap). Byte 24, which the
 * checksum takes, chooses the rank.
 *
 * Invariants: a status that the header names, no more than 4096 bytes of memory for
 * each of the input's, nothing left behind; and what is decoded keeps its invariants
 * has the same digest after another trip, and can be simulated or says why not.
 */
#include "fuzz.h"

#include "../support/weighed.h"
#include "wire/wire.h"

uint64_t __real_sp_schedule_digest(const sp_schedule *schedule);
uint64_t __wrap_sp_schedule_digest(const sp_schedule *schedule);

static uint64_t last_digest;
static int digests;

uint64_t __wrap_sp_schedule_digest(const sp_schedule *schedule)
{
    digests++;
    return last_digest = __real_sp_schedule_digest(schedule);
}

/* Encodes what was decoded, and decodes it once more. */
static void check_trip(const sp_schedule *schedule)
{
    sp_schedule *again = NULL;
    size_t size = 0, written = 0, size_again = 0;
    unsigned char *bytes;

    REQUIRE(sp_schedule_encode(schedule, SP_ALL_RANKS, NULL, 0, &size) == SP_OK, "%s",
            sp_error_message());
    bytes = malloc(size);
    REQUIRE(bytes != NULL, "%zu bytes", size);
    REQUIRE(sp_schedule_encode(schedule, SP_ALL_RANKS, bytes, size, &written) == SP_OK &&
            written == size, "%zu of %zu", written, size);
    REQUIRE(sp_schedule_decode(bytes, size, SP_ALL_RANKS, NULL, &again) == SP_OK, "%s",
            sp_error_message());
    REQUIRE(sp_schedule_digest(again) == sp_schedule_digest(schedule), "another digest");
    REQUIRE(sp_schedule_encode(again, SP_ALL_RANKS, NULL, 0, &size_again) == SP_OK &&
            size_again == size, "%zu then %zu bytes", size, size_again);
    sp_schedule_destroy(again);
    free(bytes);
}

static sp_status decode(const uint8_t *bytes, size_t size, int32_t rank)
{
    weighed m = WEIGHED_INIT(m);
    sp_schedule *out = NULL;
    sp_status status = sp_schedule_decode(bytes, size, rank, &m.hooks, &out), checked;

    fuzz_message(status);
    REQUIRE((status == SP_OK) == (out != NULL), "%s", sp_status_name(status));
    REQUIRE(status == SP_OK || status == SP_ERR_FORMAT || status == SP_ERR_INVARIANT ||
            status == SP_ERR_OVERFLOW || status == SP_ERR_RANGE || status == SP_ERR_STATE,
            "%s: %s", sp_status_name(status), sp_error_message());
    REQUIRE(m.most <= 4096 * size, "%zu bytes for %zu", m.most, size);
    if (status == SP_OK) {
        checked = sp_schedule_check(out);
        REQUIRE(checked == SP_OK || checked == SP_ERR_STATE, "%s", sp_error_message());
        check_trip(out);
        fuzz_simulate(out);
    }
    sp_schedule_destroy(out);
    REQUIRE(m.live == 0, "%zu bytes are left", m.live);
    return status;
}

static void sign(uint8_t *bytes, size_t size)
{
    sp__sink sink = { bytes, 8 };

    memcpy(bytes, SP__WIRE_MAGIC, 8);
    sp__put_fixed(&sink, SP_WIRE_VERSION, 8);
    sp__put_fixed(&sink, size, 8);
    sp__put_fixed(&sink, sp__checksum(bytes + SP__WIRE_SUMMED, size - SP__WIRE_SUMMED), 8);
}

/* A whole plan that is right but for its digest gets it. */
static void decode_signed(uint8_t *bytes, size_t size, int32_t rank)
{
    sp__sink sink = { bytes, SP__WIRE_SUMMED };

    sign(bytes, size);
    digests = 0;
    if (decode(bytes, size, SP_ALL_RANKS) == SP_ERR_FORMAT && digests > 0) {
        sp__put_fixed(&sink, last_digest, 8);
        sign(bytes, size);
        REQUIRE(decode(bytes, size, SP_ALL_RANKS) == SP_OK, "%s", sp_error_message());
    }
    decode(bytes, size, rank);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int32_t rank = size >= SP__WIRE_HEAD ? (int8_t)data[24] : 0;
    uint8_t *bytes = malloc(size + 1);

    REQUIRE(bytes != NULL, "%zu bytes", size);
    memcpy(bytes, data, size);
    decode(bytes, size, SP_ALL_RANKS);
    decode(bytes, size, rank);
    free(bytes);
    if (size < SP__WIRE_HEAD)
        return 0;
    bytes = malloc(size); /* of this size, so that a sanitizer sees a read past it */
    REQUIRE(bytes != NULL, "%zu bytes", size);
    memcpy(bytes, data, size);
    decode_signed(bytes, size, rank);
    free(bytes);
    return 0;
}
