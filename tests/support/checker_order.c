/*
 * checker_order.c - I2, I3 and I7: the order of a sample's slices and where they
 * start; I6: as many packs on every replica.
 *
 * Order is checked twice: for the slices of a replica's packs and for the shards
 * of each CP rank, since either could be listed wrongly.
 */
#include <inttypes.h>

#include "checker_parts.h"

static int check_pack_tokens(const checker *c, int32_t replica, int pass, int32_t k)
{
    const plain_pack *pack = &c->plan->replica[replica].pack[pass][k];
    int64_t sum = 0;

    for (int32_t i = 0; i < pack->count; i++)
        sum += pack->slice[i].length;
    if (sum != pack->tokens)
        return check_fail(c, CHECK_VIEWS, "replica %" PRId32 ", pass %d, pack %" PRId32 ": %" PRId64
                          " tokens, its slices have %" PRId64, replica, pass, k, pack->tokens, sum);
    return 0;
}

int check_counts(checker *c)
{
    const plain_plan *p = c->plan;

    for (int32_t d = 0; d < p->dp; d++)
        for (int pass = 0; pass < 2; pass++) {
            const plain_replica *r = &p->replica[d];

            if (r->packs[pass] != p->replica[0].packs[pass])
                return check_fail(c, 6, "replica %" PRId32 " has %" PRId32
                                  " packs of pass %d, replica 0 has %"
                                  PRId32, d, r->packs[pass], pass, p->replica[0].packs[pass]);
            for (int32_t k = 0; k < r->packs[pass]; k++)
                CHECK(check_pack_tokens(c, d, pass, k));
        }
    return 0;
}

/* Where each sample stands in the walk of one replica or rank. */
typedef struct walk {
    int32_t *at;  /* [n] start of the sample's last piece */
    int32_t *seen; /* [n] number of the walk that set it */
    int32_t number;
    int pass;
} walk;

static int step(const checker *c, walk *w, const plain_piece *piece, const char *what,
                int32_t replica, int32_t pack)
{
    int32_t last = w->at[piece->sample];
    int again = w->seen[piece->sample] == w->number;

    if (again && (w->pass == SP_FORWARD ? piece->start <= last : piece->start >= last))
        return check_fail(c, w->pass == SP_FORWARD ? 2 : 3, "replica %" PRId32 ", pack %" PRId32
                          ": %s of sample %" PRId32 " at %" PRId32 " runs after the one at %"
                          PRId32, replica, pack, what, piece->sample, piece->start, last);
    w->at[piece->sample] = piece->start;
    w->seen[piece->sample] = w->number;
    return 0;
}

static int walk_slices(const checker *c, walk *w, int32_t replica)
{
    const plain_replica *r = &c->plan->replica[replica];

    w->number++;
    for (int32_t k = 0; k < r->packs[w->pass]; k++)
        for (int32_t i = 0; i < r->pack[w->pass][k].count; i++)
            CHECK(step(c, w, &r->pack[w->pass][k].slice[i], "slice", replica, k));
    return 0;
}

static int walk_shards(const checker *c, walk *w, int32_t replica, int32_t cp)
{
    const plain_replica *r = &c->plan->replica[replica];

    w->number++;
    for (int32_t k = 0; k < r->packs[w->pass]; k++) {
        const plain_part *part = plain_part_at(c->plan, replica, w->pass, k, cp);

        for (int32_t i = 0; i < part->count; i++)
            CHECK(step(c, w, &part->shard[i], "shard", replica, k));
    }
    return 0;
}

int check_order(checker *c)
{
    walk w = { TAKE(c, int32_t, c->n), TAKE(c, int32_t, c->n), 0, SP_FORWARD };

    for (w.pass = 0; w.pass < 2; w.pass++)
        for (int32_t d = 0; d < c->plan->dp; d++) {
            CHECK(walk_slices(c, &w, d));
            for (int32_t cp = 0; cp < c->plan->cp; cp++)
                CHECK(walk_shards(c, &w, d, cp));
        }
    return 0;
}

static int check_start(const checker *c, const plain_piece *slice)
{
    int64_t alignment = c->limits->alignment;

    if (slice->start % alignment != 0)
        return check_fail(c, 7, "slice of sample %" PRId32 " starts at %" PRId32
                          ", no multiple of %" PRId64, slice->sample, slice->start, alignment);
    if (slice->length < alignment && piece_end(slice) != c->lengths[slice->sample])
        return check_fail(c, 7, "slice of sample %" PRId32 " at %" PRId32 " has %" PRId32
                          " tokens, but is not the last", slice->sample, slice->start,
                          slice->length);
    return 0;
}

int check_starts(checker *c)
{
    const plain_plan *p = c->plan;

    for (int32_t d = 0; d < p->dp; d++)
        for (int pass = 0; pass < 2; pass++)
            for (int32_t k = 0; k < p->replica[d].packs[pass]; k++) {
                const plain_pack *pack = &p->replica[d].pack[pass][k];

                for (int32_t i = 0; i < pack->count; i++)
                    CHECK(check_start(c, &pack->slice[i]));
            }
    return 0;
}
