/*
 * check_cover.c - I1, I2, I3 and I7: what the packs hold, token by token.
 *
 * The shards of each pass are listed by sample and start. Both lists must tile
 * every sample, and where they overlap name the same rank: activations stay
 * where the forward left them.
 */
#include <inttypes.h>
#include <string.h>

#include "base/sort.h"
#include "base/status.h"
#include "schedule/check.h"

typedef struct range {
    int32_t start, end;
    int32_t rank; /* dp * cp + cp index */
} range;

typedef struct cover {
    int64_t *first; /* [samples + 1] of range */
    range *range;   /* by sample, then start */
} cover;

/* Slices of a pack that a rank's shards are found in, in list order: a cursor
 * that only wraps around when a plan lists them otherwise. */
static int find_slice(const struct sp_schedule *s, int pass, int64_t pack, int64_t *cursor,
                      int32_t sample, int32_t start, int32_t end)
{
    int64_t first = s->slice_first[pass][pack], last = s->slice_first[pass][pack + 1];

    for (int64_t n = first; n < last; n++) {
        int64_t i = *cursor;

        if (s->sample[pass][i] == sample && s->start[pass][i] <= start &&
            end <= s->start[pass][i] + s->length[pass][i])
            return 1;
        *cursor = i + 1 < last ? i + 1 : first;
    }
    return 0;
}

static sp_status check_pack_shards(const struct sp_schedule *s, int pass, int32_t rank, int32_t k)
{
    int32_t cp = s->shape.degree[SP__CP];
    int64_t pack = (int64_t)(rank / cp) * s->packs[pass] + k;
    const sp__shards *x = sp__rank_shards(s, rank / cp, rank % cp, pass, k);
    const int32_t *sample = sp__shard_samples(s, x), *start = sp__shard_starts(s, x);
    const int32_t *cu = sp__shard_cu_q(s, x);
    int64_t cursor = s->slice_first[pass][pack];

    for (int32_t i = 0; i < x->count; i++)
        if (!find_slice(s, pass, pack, &cursor, sample[i], start[i],
                        start[i] + cu[i + 1] - cu[i]))
            return sp__fail(SP_ERR_INVARIANT, "I1: %s pack %" PRId32 " of replica %" PRId32
                            ": shard [%" PRId32 ", %" PRId32 ") of sample %" PRId32
                            " lies in none of its slices", pass == SP_FORWARD ? "forward"
                            : "backward", k, rank / cp, start[i], start[i] + cu[i + 1] - cu[i],
                            sample[i]);
    return SP_OK;
}

/* Calls for each shard of a pass: counts it, or puts it into its sample's place. */
static void visit_shards(const struct sp_schedule *s, int pass, int32_t ranks, int64_t *place,
                         range *out)
{
    for (int32_t rank = 0; rank < ranks; rank++)
        for (int32_t k = 0; k < s->packs[pass]; k++) {
            const sp__shards *x = &s->shards[pass][(int64_t)rank * s->packs[pass] + k];
            const int32_t *sample = sp__shard_samples(s, x), *start = sp__shard_starts(s, x);
            const int32_t *cu = sp__shard_cu_q(s, x);

            for (int32_t i = 0; i < x->count; i++) {
                int64_t at = place[sample[i]]++;

                if (out != NULL)
                    out[at] = (range){ start[i], start[i] + cu[i + 1] - cu[i], rank };
            }
        }
}

/* Sorts a sample's ranges by start; keys are negated as the sort is descending. */
static void sort_ranges(range *ranges, int64_t count, sp__keyed *keys, range *scratch)
{
    for (int64_t i = 0; i < count; i++) {
        keys[i] = (sp__keyed){ (int64_t)INT32_MAX - ranges[i].start, (int32_t)i };
        scratch[i] = ranges[i];
    }
    sp__sort_descending(keys, keys + count, count);
    for (int64_t i = 0; i < count; i++)
        ranges[i] = scratch[keys[i].index];
}

static sp_status list_cover(const struct sp_schedule *s, int pass, sp__arena *scratch, cover *out)
{
    int32_t ranks = s->shape.degree[SP__DP] * s->shape.degree[SP__CP];
    int64_t most = 0, before = 0;
    sp__arena_mark mark;
    sp__keyed *keys;
    range *copy;

    SP_TAKE(scratch, out->first, (int64_t)s->count + 1);
    memset(out->first, 0, ((size_t)s->count + 1) * sizeof *out->first);
    visit_shards(s, pass, ranks, out->first, NULL);
    for (int32_t i = 0; i <= s->count; i++) {
        int64_t here = i < s->count ? out->first[i] : 0;

        most = here > most ? here : most;
        out->first[i] = before;
        before += here;
    }
    SP_TAKE(scratch, out->range, before);
    mark = sp__arena_here(scratch);
    SP_TAKE(scratch, keys, 2 * most);
    SP_TAKE(scratch, copy, most);
    visit_shards(s, pass, ranks, out->first, out->range);
    for (int32_t i = s->count; i > 0; i--)
        out->first[i] = out->first[i - 1];
    out->first[0] = 0;
    for (int32_t i = 0; i < s->count; i++)
        sort_ranges(out->range + out->first[i], out->first[i + 1] - out->first[i], keys, copy);
    sp__arena_rewind(scratch, mark);
    return SP_OK;
}

static sp_status check_tiling(const struct sp_schedule *s, int pass, const cover *c, int32_t sample)
{
    const char *name = pass == SP_FORWARD ? "forward" : "backward";
    int32_t end = 0;

    for (int64_t i = c->first[sample]; i < c->first[sample + 1]; i++) {
        if (c->range[i].start != end)
            return sp__fail(SP_ERR_INVARIANT, "I1: token %" PRId32 " of sample %" PRId32
                            " is in %s %s shard", c->range[i].start > end ? end : c->range[i].start,
                            sample, c->range[i].start > end ? "no" : "more than one", name);
        end = c->range[i].end;
    }
    if (end != s->lengths[sample])
        return sp__fail(SP_ERR_INVARIANT, "I1: token %" PRId32 " of sample %" PRId32
                        " is in no %s shard", end, sample, name);
    return SP_OK;
}

static sp_status check_same_rank(const cover *f, const cover *b, int32_t sample)
{
    int64_t i = f->first[sample], j = b->first[sample];

    while (i < f->first[sample + 1] && j < b->first[sample + 1]) {
        if (f->range[i].rank != b->range[j].rank)
            return sp__fail(SP_ERR_INVARIANT, "I1: token %" PRId32 " of sample %" PRId32
                            " runs forward and backward on different ranks",
                            f->range[i].start > b->range[j].start ? f->range[i].start
                                                                   : b->range[j].start, sample);
        if (f->range[i].end < b->range[j].end)
            i++;
        else if (f->range[i].end > b->range[j].end)
            j++;
        else {
            i++;
            j++;
        }
    }
    return SP_OK;
}

static sp_status fail_home(int32_t sample, int32_t one, int32_t other)
{
    if (one < 0 || other < 0)
        return sp__fail(SP_ERR_INVARIANT, "I1: sample %" PRId32 " is in packs of a merge and in "
                        "others", sample);
    return sp__fail(SP_ERR_INVARIANT, "I1: sample %" PRId32 " is in replicas %" PRId32 " and %"
                    PRId32 ", which do not share it", sample, one, other);
}

/* Only the replicas of a merge hold slices of the same sample: others could not
 * exchange its keys and values. A merge holds its sample, and no two hold the same.
 * home[sample] is a replica, or -2 - merge. */
sp_status sp__check_homes(const struct sp_schedule *s, sp__arena *scratch)
{
    int32_t *home;

    SP_TAKE(scratch, home, s->count);
    for (int32_t i = 0; i < s->count; i++)
        home[i] = -1;
    for (int pass = 0; pass < 2; pass++)
        for (int64_t k = 0; k < (int64_t)s->lanes * s->packs[pass]; k++) {
            int32_t g = s->pack_merge[pass][k], r = (int32_t)(k / s->packs[pass]);
            int32_t here = g < 0 ? r : -2 - g;

            for (int64_t i = s->slice_first[pass][k]; i < s->slice_first[pass][k + 1]; i++) {
                int32_t *h = &home[s->sample[pass][i]];

                if (*h != -1 && *h != here)
                    return fail_home(s->sample[pass][i], *h, here);
                *h = here;
            }
        }
    for (int32_t g = 0; g < s->merges; g++)
        if (home[s->merge[g].sample] != -2 - g)
            return sp__fail(SP_ERR_INVARIANT, "I8: merge %" PRId32 " has no pack of its sample %"
                            PRId32, g, s->merge[g].sample);
    return SP_OK;
}

sp_status sp__check_cover(const struct sp_schedule *s, sp__arena *scratch)
{
    int32_t ranks = s->shape.degree[SP__DP] * s->shape.degree[SP__CP];
    cover c[2];

    for (int pass = 0; pass < 2; pass++) {
        for (int32_t rank = 0; rank < ranks; rank++)
            for (int32_t k = 0; k < s->packs[pass]; k++)
                SP_TRY(check_pack_shards(s, pass, rank, k));
        SP_TRY(list_cover(s, pass, scratch, &c[pass]));
        for (int32_t i = 0; i < s->count; i++)
            SP_TRY(check_tiling(s, pass, &c[pass], i));
    }
    for (int32_t i = 0; i < s->count; i++)
        SP_TRY(check_same_rank(&c[0], &c[1], i));
    return SP_OK;
}

/* I2 or I3 for one replica: reached[sample] is where its last slice ended in the
 * direction of the pass, or -1. */
static sp_status check_order(const struct sp_schedule *s, int pass, int32_t replica,
                             int32_t *reached)
{
    int64_t first = s->slice_first[pass][(int64_t)replica * s->packs[pass]];
    int64_t last = s->slice_first[pass][((int64_t)replica + 1) * s->packs[pass]];

    for (int64_t i = first; i < last; i++)
        reached[s->sample[pass][i]] = -1;
    for (int64_t i = first; i < last; i++) {
        int32_t sample = s->sample[pass][i], start = s->start[pass][i];
        int32_t end = start + s->length[pass][i];

        if (start % s->alignment != 0)
            return sp__fail(SP_ERR_INVARIANT, "I7: a slice of sample %" PRId32 " starts at %" PRId32
                            ", no multiple of %" PRId32, sample, start, s->alignment);
        if (reached[sample] >= 0 && (pass == SP_FORWARD ? start < reached[sample]
                                                        : end > reached[sample]))
            return sp__fail(SP_ERR_INVARIANT,
                            "%s: replica %" PRId32 ": slice [%" PRId32 ", %" PRId32
                            ") of sample %" PRId32 " comes too late",
                            pass == SP_FORWARD ? "I2" : "I3", replica, start, end, sample);
        reached[sample] = pass == SP_FORWARD ? end : start;
    }
    return SP_OK;
}

/* The same within a rank's shards of a pack, which run as listed; those of a sample may
 * stand apart. Between packs the order is that of the slices that they lie in. */
static sp_status check_shard_order(const struct sp_schedule *s, int pass, int32_t rank, int32_t k,
                                   int32_t *reached)
{
    const sp__shards *x = &s->shards[pass][(int64_t)rank * s->packs[pass] + k];
    const int32_t *sample = sp__shard_samples(s, x), *start = sp__shard_starts(s, x);

    for (int32_t i = 0; i < x->count; i++)
        reached[sample[i]] = -1;
    for (int32_t i = 0; i < x->count; i++) {
        int32_t last = reached[sample[i]];

        if (last >= 0 && (pass == SP_FORWARD ? start[i] < last : start[i] > last))
            return sp__fail(SP_ERR_INVARIANT, "%s: pack %" PRId32 ": shard of sample %" PRId32
                            " at %" PRId32 " comes too late", pass == SP_FORWARD ? "I2" : "I3", k,
                            sample[i], start[i]);
        reached[sample[i]] = start[i];
    }
    return SP_OK;
}

sp_status sp__check_slices(const struct sp_schedule *s, sp__arena *scratch)
{
    int32_t ranks = s->shape.degree[SP__DP] * s->shape.degree[SP__CP];
    int32_t *reached;

    SP_TAKE(scratch, reached, s->count);
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t r = 0; r < s->shape.degree[SP__DP]; r++)
            SP_TRY(check_order(s, pass, r, reached));
        for (int32_t rank = 0; rank < ranks; rank++)
            for (int32_t k = 0; k < s->packs[pass]; k++)
                SP_TRY(check_shard_order(s, pass, rank, k, reached));
    }
    return SP_OK;
}
