/*
 * checker_tokens.c - I1: every token in exactly one forward and one backward
 * shard, both on the same rank; slices and shards of a pack cover each other.
 *
 * All shards of a pass, sorted by sample and start, must tile the samples. Both
 * passes' tilings are then walked side by side to compare who holds a token.
 */
#include <inttypes.h>
#include <string.h>

#include "checker_parts.h"

/* The parts of all CP ranks of a pack, appended to out; a holder is replica * cp + rank. */
static int64_t gather_parts(const plain_plan *p, int32_t replica, int pass, int32_t k,
                            held_piece *out)
{
    int64_t count = 0;

    for (int32_t cp = 0; cp < p->cp; cp++) {
        const plain_part *part = plain_part_at(p, replica, pass, k, cp);

        for (int32_t i = 0; i < part->count; i++)
            out[count++] = (held_piece){ part->shard[i], replica * p->cp + cp };
    }
    return count;
}

static int64_t count_shards(const plain_plan *p, int pass)
{
    int64_t count = 0;

    for (int32_t d = 0; d < p->dp; d++)
        for (int64_t i = 0; i < (int64_t)p->replica[d].packs[pass] * p->cp; i++)
            count += p->replica[d].part[pass][i].count;
    return count;
}

static held_piece *gather_pass(checker *c, int pass, int64_t *count)
{
    const plain_plan *p = c->plan;
    held_piece *all = TAKE(c, held_piece, count_shards(p, pass));

    *count = 0;
    for (int32_t d = 0; d < p->dp; d++)
        for (int32_t k = 0; k < p->replica[d].packs[pass]; k++)
            *count += gather_parts(p, d, pass, k, all + *count);
    sort_pieces(all, *count);
    return all;
}

/* Sorted shards must follow each other without gap or overlap. */
static int check_tiling(const checker *c, const held_piece *all, int64_t count, const char *pass)
{
    int32_t sample = 0;
    int64_t at = 0;

    for (int64_t i = 0; i <= count; i++) {
        int32_t here = i < count ? all[i].piece.sample : (int32_t)c->n;

        for (; sample < here; sample++, at = 0)
            if (at != c->lengths[sample])
                return check_fail(c, 1, "sample %" PRId32 ": token %" PRId64
                                  " is in no %s shard", sample, at, pass);
        if (i == count)
            break;
        if (all[i].piece.start != at)
            return check_fail(c, 1, "sample %" PRId32 ": token %" PRId64 " is in %s %s shard",
                              sample, at < all[i].piece.start ? at : all[i].piece.start,
                              at < all[i].piece.start ? "no" : "more than one", pass);
        at = piece_end(&all[i].piece);
    }
    return 0;
}

static int64_t sum_of_tokens(const held_piece *all, int64_t count)
{
    int64_t sum = 0;

    for (int64_t i = 0; i < count; i++)
        sum += all[i].piece.length;
    return sum;
}

/* Saved activations lie on the rank that ran the token forward. */
static int check_holders(const checker *c, const held_piece *f, const held_piece *b,
                         int64_t forward, int64_t backward)
{
    for (int64_t i = 0, j = 0; i < forward && j < backward;) {
        int64_t end_f = piece_end(&f[i].piece), end_b = piece_end(&b[j].piece);

        if (f[i].holder != b[j].holder)
            return check_fail(c, 1, "sample %" PRId32 ": tokens from %" PRId32
                              " run forward on CP rank %"
                              PRId32 " of replica %" PRId32 ", backward on %" PRId32 " of %" PRId32,
                              f[i].piece.sample,
                              f[i].piece.start > b[j].piece.start ? f[i].piece.start
                                                                  : b[j].piece.start,
                              f[i].holder % c->plan->cp, f[i].holder / c->plan->cp,
                              b[j].holder % c->plan->cp, b[j].holder / c->plan->cp);
        i += end_f <= end_b;
        j += end_b <= end_f;
    }
    return 0;
}

int check_tokens(checker *c)
{
    int64_t forward, backward;
    held_piece *f = gather_pass(c, SP_FORWARD, &forward);
    held_piece *b = gather_pass(c, SP_BACKWARD, &backward);

    CHECK(check_tiling(c, f, forward, "forward"));
    CHECK(check_tiling(c, b, backward, "backward"));
    CHECK(check_holders(c, f, b, forward, backward));
    if (c->plan->stats.tokens != sum_of_tokens(f, forward))
        return check_fail(c, CHECK_STATS, "stats: tokens %" PRId64 ", shards hold %" PRId64,
                          c->plan->stats.tokens, sum_of_tokens(f, forward));
    return 0;
}

/* One pack with the shards of all ranks that share it. */
typedef struct shared_pack {
    held_piece *slices, *shards; /* sorted */
    int64_t slice_count, shard_count;
    int32_t first_rank, ranks;   /* holders that share it */
    int merged;
} shared_pack;

/* Slices that lie apart and whose shards lie within. Together with I1 and equal
 * sums that is coverage. */
static int check_cover(const checker *c, const shared_pack *u, int pass, int32_t k)
{
    int64_t i = 0;

    for (int64_t j = 0; j < u->shard_count; j++) {
        const plain_piece *shard = &u->shards[j].piece;

        while (i < u->slice_count && (u->slices[i].piece.sample < shard->sample ||
                                      (u->slices[i].piece.sample == shard->sample &&
                                       piece_end(&u->slices[i].piece) <= shard->start)))
            i++;
        if (i == u->slice_count || u->slices[i].piece.sample != shard->sample ||
            u->slices[i].piece.start > shard->start ||
            piece_end(&u->slices[i].piece) < piece_end(shard))
            return check_fail(c, 1, "pass %d, pack %" PRId32 ": shard (%" PRId32 ", %" PRId32 ", %"
                              PRId32 ") is in none of its slices", pass, k, shard->sample,
                              shard->start, shard->length);
    }
    if (sum_of_tokens(u->slices, u->slice_count) != sum_of_tokens(u->shards, u->shard_count))
        return check_fail(c, 1, "pass %d, pack %" PRId32 ": slices have %" PRId64
                          " tokens, their shards %" PRId64, pass, k,
                          sum_of_tokens(u->slices, u->slice_count),
                          sum_of_tokens(u->shards, u->shard_count));
    return 0;
}

/* A planner splits a slice of a longer sample, or of a merge, over all its ranks, since
 * the cache of its sample lies with them. One with fewer tokens than ranks cannot be. */
static int check_split(const checker *c, const shared_pack *u, int pass, int32_t k, int64_t *seen)
{
    int64_t j = 0;

    for (int32_t r = 0; r < u->ranks; r++)
        seen[r] = -1;
    for (int64_t i = 0; i < u->slice_count; i++) {
        const plain_piece *slice = &u->slices[i].piece;
        int32_t holders = 0;

        for (; j < u->shard_count && u->shards[j].piece.sample == slice->sample &&
               u->shards[j].piece.start < piece_end(slice); j++) {
            int64_t *last = &seen[u->shards[j].holder - u->first_rank];

            holders += *last != i;
            *last = i;
        }
        if ((u->merged || slice->length < c->lengths[slice->sample]) &&
            holders < (slice->length < u->ranks ? slice->length : u->ranks))
            return check_fail(c, 1, "pass %d, pack %" PRId32 ": slice (%" PRId32 ", %" PRId32 ", %"
                              PRId32 ") is split over %" PRId32 " of %" PRId32 " ranks", pass, k,
                              slice->sample, slice->start, slice->length, holders, u->ranks);
    }
    return 0;
}

/* Pack of a replica that belongs to a unit, from pack k of another replica: found
 * by a cursor for each replica, since a merge's packs come in the same order. */
static int32_t find_unit(const plain_replica *r, int pass, int32_t unit, int32_t *cursor)
{
    while (*cursor < r->packs[pass] && r->pack[pass][*cursor].unit != unit)
        (*cursor)++;
    if (*cursor == r->packs[pass])
        for (*cursor = 0; r->pack[pass][*cursor].unit != unit;)
            (*cursor)++;
    return *cursor;
}

static void gather_shared(const plain_plan *p, int32_t replica, int pass, int32_t k,
                          int32_t *cursor, shared_pack *u)
{
    const plain_pack *pack = &p->replica[replica].pack[pass][k];
    int32_t members = pack->merge < 0 ? 1 : p->merge[pack->merge].replicas;

    u->merged = pack->merge >= 0;
    u->first_rank = replica * p->cp;
    u->ranks = members * p->cp;
    u->shard_count = 0;
    for (int32_t i = 0; i < pack->count; i++)
        u->slices[i] = (held_piece){ pack->slice[i], 0 };
    u->slice_count = pack->count;
    for (int32_t m = 0; m < members; m++) {
        int32_t at = m == 0 ? k : find_unit(&p->replica[replica + m], pass, pack->unit,
                                            &cursor[replica + m]);

        u->shard_count += gather_parts(p, replica + m, pass, at, u->shards + u->shard_count);
    }
    sort_pieces(u->slices, u->slice_count);
    sort_pieces(u->shards, u->shard_count);
}

static int64_t largest_pack(const plain_plan *p, int pass)
{
    int64_t most = 0;

    for (int32_t d = 0; d < p->dp; d++)
        for (int32_t k = 0; k < p->replica[d].packs[pass]; k++)
            most = p->replica[d].pack[pass][k].count > most ? p->replica[d].pack[pass][k].count
                                                            : most;
    return most;
}

static int check_pass_coverage(checker *c, int pass)
{
    const plain_plan *p = c->plan;
    int32_t *cursor = TAKE(c, int32_t, p->dp);
    int64_t *seen = TAKE(c, int64_t, (int64_t)p->dp * p->cp);
    shared_pack u;

    u.slices = TAKE(c, held_piece, largest_pack(p, pass));
    u.shards = TAKE(c, held_piece, count_shards(p, pass));
    for (int32_t d = 0; d < p->dp; d++)
        for (int32_t k = 0; k < p->replica[d].packs[pass]; k++) {
            int32_t merge = p->replica[d].pack[pass][k].merge;

            if (merge >= 0 && p->merge[merge].first_replica != d)
                continue; /* counted with its first replica */
            gather_shared(p, d, pass, k, cursor, &u);
            CHECK(check_cover(c, &u, pass, k));
            if (!c->limits->any_split)
                CHECK(check_split(c, &u, pass, k, seen));
        }
    return 0;
}

int check_coverage(checker *c)
{
    CHECK(check_pass_coverage(c, SP_FORWARD));
    return check_pass_coverage(c, SP_BACKWARD);
}
