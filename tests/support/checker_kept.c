/*
 * checker_kept.c - the planner's parameters are kept by every pack.
 *
 * A rank's padded tokens stay within the cap; only a pack flagged oversize, which
 * holds one whole sample and nothing else, may pass it.
 */
#include <inttypes.h>

#include "checker_parts.h"

static int check_oversize(const checker *c, int32_t replica, int pass, int32_t k,
                          const plain_part *part)
{
    const plain_pack *pack = &c->plan->replica[replica].pack[pass][k];

    if (c->limits->max_pack_tokens == 0 || part->padded_tokens <= c->limits->max_pack_tokens)
        return check_fail(c, CHECK_LIMITS, "replica %" PRId32 ", pass %d, pack %" PRId32
                          ": flagged oversize with %" PRId64 " padded tokens, within the cap",
                          replica, pass, k, part->padded_tokens);
    if (pack->count != 1 || pack->slice[0].length != c->lengths[pack->slice[0].sample])
        return check_fail(c, CHECK_LIMITS, "replica %" PRId32 ", pass %d, pack %" PRId32
                          ": oversize, but not one whole sample alone", replica, pass, k);
    return 0;
}

static int check_cap(const checker *c, int32_t replica, int pass, int32_t k)
{
    for (int32_t cp = 0; cp < c->plan->cp; cp++) {
        const plain_part *part = plain_part_at(c->plan, replica, pass, k, cp);

        if ((part->flags & SP_PACK_OVERSIZE) != 0)
            CHECK(check_oversize(c, replica, pass, k, part));
        else if (c->limits->max_pack_tokens > 0 &&
                 part->padded_tokens > c->limits->max_pack_tokens)
            return check_fail(c, CHECK_LIMITS, "replica %" PRId32 ", pass %d, pack %" PRId32
                              ", CP rank %" PRId32 ": %" PRId64 " padded tokens are above the cap %"
                              PRId64, replica, pass, k, cp, part->padded_tokens,
                              c->limits->max_pack_tokens);
    }
    return 0;
}

/* Different samples of a pack; a sample's slices stand in any order among others. */
static int64_t count_samples(const plain_pack *pack, int32_t *seen, int32_t mark)
{
    int64_t count = 0;

    for (int32_t i = 0; i < pack->count; i++) {
        count += seen[pack->slice[i].sample] != mark;
        seen[pack->slice[i].sample] = mark;
    }
    return count;
}

static int check_pack(const checker *c, int32_t replica, int pass, int32_t k, int32_t *seen,
                      int32_t mark)
{
    const plain_pack *pack = &c->plan->replica[replica].pack[pass][k];
    int64_t samples = count_samples(pack, seen, mark);

    if (c->limits->max_pack_samples > 0 && samples > c->limits->max_pack_samples)
        return check_fail(c, CHECK_LIMITS, "replica %" PRId32 ", pass %d, pack %" PRId32 ": %"
                          PRId64 " samples are above %" PRId64, replica, pass, k, samples,
                          c->limits->max_pack_samples);
    for (int32_t i = 0; c->limits->whole_samples && i < pack->count; i++)
        if (pack->slice[i].length != c->lengths[pack->slice[i].sample])
            return check_fail(c, CHECK_LIMITS, "sample %" PRId32 " is sliced, which is off",
                              pack->slice[i].sample);
    return check_cap(c, replica, pass, k);
}

static int check_counts_kept(const checker *c, const plain_replica *r)
{
    for (int pass = 0; pass < 2; pass++) {
        if (c->limits->max_packs > 0 && r->packs[pass] > c->limits->max_packs)
            return check_fail(c, CHECK_LIMITS, "%" PRId32 " packs of pass %d are above %" PRId64,
                              r->packs[pass], pass, c->limits->max_packs);
        if (c->limits->pack_group > 0 && r->packs[pass] % c->limits->pack_group != 0)
            return check_fail(c, CHECK_LIMITS, "%" PRId32 " packs of pass %d are no multiple of %"
                              PRId64, r->packs[pass], pass, c->limits->pack_group);
        if (c->limits->exact_packs[pass] > 0 && r->packs[pass] != c->limits->exact_packs[pass])
            return check_fail(c, CHECK_LIMITS, "%" PRId32 " packs of pass %d, %" PRId64 " were set",
                              r->packs[pass], pass, c->limits->exact_packs[pass]);
    }
    return 0;
}

/* Samples that a replica has to itself, in the order of its forward packs. */
static int check_input_order(const checker *c, const plain_replica *r, int32_t replica)
{
    int32_t last = -1;

    for (int32_t k = 0; c->limits->keep_order && k < r->packs[SP_FORWARD]; k++)
        for (int32_t i = 0; i < r->pack[SP_FORWARD][k].count; i++) {
            int32_t sample = r->pack[SP_FORWARD][k].slice[i].sample;

            if (r->pack[SP_FORWARD][k].merge >= 0)
                continue;
            if (sample < last)
                return check_fail(c, CHECK_LIMITS, "replica %" PRId32 " runs sample %" PRId32
                                  " after %" PRId32 ", input order is to be kept", replica, sample,
                                  last);
            last = sample;
        }
    return 0;
}

static int check_degrees(const checker *c)
{
    const plain_plan *p = c->plan;

    if (c->limits->no_merges && p->merges > 0)
        return check_fail(c, CHECK_LIMITS, "sample %" PRId32 " is shared, which is off",
                          p->merge[0].sample);
    for (int32_t g = 0; g < p->merges; g++)
        if (c->limits->max_merge_degree > 0 && p->merge[g].replicas > c->limits->max_merge_degree)
            return check_fail(c, CHECK_LIMITS, "sample %" PRId32 " is shared by %" PRId32
                              " replicas, above %" PRId64, p->merge[g].sample, p->merge[g].replicas,
                              c->limits->max_merge_degree);
    return 0;
}

int check_kept(checker *c)
{
    const plain_plan *p = c->plan;
    int32_t *seen = TAKE(c, int32_t, c->n), mark = 0;

    CHECK(check_degrees(c));
    for (int32_t d = 0; d < p->dp; d++) {
        CHECK(check_counts_kept(c, &p->replica[d]));
        CHECK(check_input_order(c, &p->replica[d], d));
        for (int pass = 0; pass < 2; pass++)
            for (int32_t k = 0; k < p->replica[d].packs[pass]; k++)
                CHECK(check_pack(c, d, pass, k, seen, ++mark));
    }
    return 0;
}
