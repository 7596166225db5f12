/*
 * checker_merges.c - I8: a merge's packs appear in all its replicas, alike and in
 * the same relative order; merges nest or are disjoint.
 *
 * Numbers the units of the plan on the way: a merged pack is one unit, whatever
 * the number of its replicas. Windows are contiguous, so that equal orders in any
 * two neighbours make equal orders in any two replicas of a window.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "checker_parts.h"

static int holds(const sp_merge_view *m, int32_t replica)
{
    return replica >= m->first_replica && replica < m->first_replica + m->replicas;
}

static int wider_first(const void *a, const void *b)
{
    const sp_merge_view *x = a, *y = b;

    if (x->first_replica != y->first_replica)
        return x->first_replica < y->first_replica ? -1 : 1;
    return (x->replicas < y->replicas) - (x->replicas > y->replicas);
}

/* Sorted by first replica, wide ones first, a window must end within the nearest
 * window that is still open. */
static int check_nesting(checker *c)
{
    const plain_plan *p = c->plan;
    sp_merge_view *sorted = TAKE(c, sp_merge_view, p->merges);
    int32_t *open = TAKE(c, int32_t, p->merges + 1);
    int32_t depth = 0;

    for (int32_t g = 0; g < p->merges; g++)
        sorted[g] = p->merge[g];
    if (p->merges > 1)
        qsort(sorted, (size_t)p->merges, sizeof *sorted, wider_first);
    for (int32_t g = 0; g < p->merges; g++) {
        int32_t end = sorted[g].first_replica + sorted[g].replicas;

        while (depth > 0 && open[depth - 1] <= sorted[g].first_replica)
            depth--;
        if (depth > 0 && open[depth - 1] < end)
            return check_fail(c, 8, "the window of sample %" PRId32 ", replicas %" PRId32 " to %"
                              PRId32 ", crosses another that ends at %" PRId32, sorted[g].sample,
                              sorted[g].first_replica, end - 1, open[depth - 1] - 1);
        open[depth++] = end;
    }
    return 0;
}

/* merge_of [n] receives the merge of each sample, -1 for most. */
static int check_windows(const checker *c, int32_t *merge_of)
{
    const plain_plan *p = c->plan;

    for (int64_t i = 0; i < c->n; i++)
        merge_of[i] = -1;
    for (int32_t g = 0; g < p->merges; g++) {
        const sp_merge_view *m = &p->merge[g];

        if (m->sample < 0 || m->sample >= c->n || m->replicas < 2 || m->first_replica < 0 ||
            m->first_replica > p->dp - m->replicas)
            return check_fail(c, 8, "merge %" PRId32 ": sample %" PRId32 ", replicas %" PRId32
                              " from %"
                              PRId32 " do not exist", g, m->sample, m->replicas, m->first_replica);
        if (merge_of[m->sample] >= 0)
            return check_fail(c, 8, "sample %" PRId32 " is in merges %" PRId32 " and %" PRId32,
                              m->sample, merge_of[m->sample], g);
        merge_of[m->sample] = g;
    }
    return 0;
}

/* owner [n] is the replica of a sample without merge, -1 before it is met. */
static int check_membership(const checker *c, int32_t replica, const plain_pack *pack,
                            const int32_t *merge_of, int32_t *owner)
{
    if (pack->merge < -1 || pack->merge >= c->plan->merges)
        return check_fail(c, 8, "replica %" PRId32 ": merge %" PRId32 " does not exist", replica,
                          pack->merge);
    if (pack->merge >= 0 && !holds(&c->plan->merge[pack->merge], replica))
        return check_fail(c, 8, "replica %" PRId32 " has a pack of merge %" PRId32
                          ", but is not in it", replica, pack->merge);
    for (int32_t i = 0; i < pack->count; i++) {
        int32_t sample = pack->slice[i].sample;

        if (merge_of[sample] != pack->merge)
            return check_fail(c, 8, "sample %" PRId32 " of merge %" PRId32
                              " is in a pack of merge %"
                              PRId32, sample, merge_of[sample], pack->merge);
        if (pack->merge < 0 && owner[sample] >= 0 && owner[sample] != replica)
            return check_fail(c, 1, "sample %" PRId32 " is on replicas %" PRId32 " and %" PRId32
                              " without a merge", sample, owner[sample], replica);
        if (pack->merge < 0)
            owner[sample] = replica;
    }
    return 0;
}

/* What numbering the units of one pass needs. */
typedef struct numbering {
    int32_t *base;             /* [merges] first unit of a merge */
    int32_t *count;            /* [merges] its packs */
    int32_t *seen;             /* [merges] of them in the replica at hand */
    const plain_pack **pack;   /* [units] where a unit was first met */
    int pass;
} numbering;

static int same_slices(const plain_pack *a, const plain_pack *b)
{
    int same = a->count == b->count;

    for (int32_t i = 0; same && i < a->count; i++)
        same = a->slice[i].sample == b->slice[i].sample && a->slice[i].start == b->slice[i].start &&
               a->slice[i].length == b->slice[i].length;
    return same;
}

static void count_merged(checker *c, numbering *n)
{
    const plain_plan *p = c->plan;

    for (int32_t g = 0; g < p->merges; g++)
        n->count[g] = 0;
    for (int32_t d = 0; d < p->dp; d++)
        for (int32_t k = 0; k < p->replica[d].packs[n->pass]; k++) {
            int32_t g = p->replica[d].pack[n->pass][k].merge;

            if (g >= 0 && p->merge[g].first_replica == d)
                n->count[g]++;
        }
    for (int32_t g = 0; g < p->merges; g++) {
        n->base[g] = c->plan->units;
        c->plan->units += n->count[g];
    }
}

static int number_pack(checker *c, numbering *n, int32_t replica, int32_t k)
{
    plain_pack *pack = &c->plan->replica[replica].pack[n->pass][k];
    int32_t g = pack->merge;

    if (g < 0) {
        pack->unit = c->plan->units++;
        return 0;
    }
    if (n->seen[g] == n->count[g])
        return check_fail(c, 8, "merge %" PRId32 " has more packs of pass %d on replica %" PRId32
                          " than on its first", g, n->pass, replica);
    pack->unit = n->base[g] + n->seen[g]++;
    if (n->pack[pack->unit] != NULL && !same_slices(n->pack[pack->unit], pack))
        return check_fail(c, 8, "merge %" PRId32 ": pack %" PRId32
                          " of pass %d holds other slices on replica %"
                          PRId32 " than on its first", g, k, n->pass, replica);
    n->pack[pack->unit] = pack;
    return 0;
}

static int number_replica(checker *c, numbering *n, int32_t replica)
{
    const plain_plan *p = c->plan;

    for (int32_t g = 0; g < p->merges; g++)
        n->seen[g] = 0;
    for (int32_t k = 0; k < p->replica[replica].packs[n->pass]; k++)
        CHECK(number_pack(c, n, replica, k));
    for (int32_t g = 0; g < p->merges; g++)
        if (holds(&p->merge[g], replica) && n->seen[g] != n->count[g])
            return check_fail(c, 8, "merge %" PRId32 " has %" PRId32
                              " packs of pass %d on replica %" PRId32
                              ", %" PRId32 " on its first", g, n->seen[g], n->pass, replica,
                              n->count[g]);
    return 0;
}

static int number_units(checker *c)
{
    const plain_plan *p = c->plan;
    numbering n;

    n.base = TAKE(c, int32_t, p->merges);
    n.count = TAKE(c, int32_t, p->merges);
    n.seen = TAKE(c, int32_t, p->merges);
    c->plan->units = 0;
    for (n.pass = 0; n.pass < 2; n.pass++) {
        n.pack = TAKE(c, const plain_pack *,
                      c->plan->units + (int64_t)p->dp * p->replica[0].packs[n.pass]);
        count_merged(c, &n);
        for (int32_t d = 0; d < p->dp; d++)
            CHECK(number_replica(c, &n, d));
    }
    return 0;
}

/* The next pack of a replica, from k on, that it shares with another. */
static int32_t next_shared(const plain_plan *p, int32_t replica, int pass, int32_t k, int32_t with)
{
    const plain_replica *r = &p->replica[replica];

    while (k < r->packs[pass] &&
           (r->pack[pass][k].merge < 0 || !holds(&p->merge[r->pack[pass][k].merge], with)))
        k++;
    return k;
}

static int check_neighbours(const checker *c, int32_t left, int pass)
{
    const plain_plan *p = c->plan;
    const plain_replica *a = &p->replica[left], *b = &p->replica[left + 1];

    for (int32_t i = -1, j = -1;;) {
        i = next_shared(p, left, pass, i + 1, left + 1);
        j = next_shared(p, left + 1, pass, j + 1, left);
        if (i == a->packs[pass] || j == b->packs[pass])
            return 0; /* the numbers of packs are equal: number_replica() */
        if (a->pack[pass][i].unit != b->pack[pass][j].unit)
            return check_fail(c, 8, "pass %d: replica %" PRId32 " runs merge %" PRId32
                              " where its neighbour runs merge %" PRId32, pass, left,
                              a->pack[pass][i].merge, b->pack[pass][j].merge);
    }
}

static int check_all_membership(checker *c, const int32_t *merge_of)
{
    const plain_plan *p = c->plan;
    int32_t *owner = TAKE(c, int32_t, c->n);

    for (int64_t i = 0; i < c->n; i++)
        owner[i] = -1;
    for (int pass = 0; pass < 2; pass++)
        for (int32_t d = 0; d < p->dp; d++)
            for (int32_t k = 0; k < p->replica[d].packs[pass]; k++)
                CHECK(check_membership(c, d, &p->replica[d].pack[pass][k], merge_of, owner));
    return 0;
}

int check_merges(checker *c)
{
    int32_t *merge_of = TAKE(c, int32_t, c->n);

    CHECK(check_windows(c, merge_of));
    CHECK(check_nesting(c));
    CHECK(check_all_membership(c, merge_of));
    CHECK(number_units(c));
    for (int32_t d = 0; d + 1 < c->plan->dp; d++)
        for (int pass = 0; pass < 2; pass++)
            CHECK(check_neighbours(c, d, pass));
    return 0;
}
