/*
 * exchange.c - see exchange.h.
 */
#include "exchange.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_RANKS 64
#define NUMBERS ((int)(sizeof(key_value) / sizeof(double)))

void must(sp_status status)
{
    if (status == SP_OK)
        return;
    fprintf(stderr, "%s\n", sp_error_message());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

sp_pack_view pack_at(const exchange *x, int32_t rank, sp_pass pass, int32_t pack)
{
    sp_pack_view view = SP_PACK_VIEW_INIT;

    must(sp_schedule_pack(x->schedule, rank, pass, pack, &view));
    return view;
}

static int is_member(const exchange *x, int32_t merge, int32_t replica)
{
    sp_merge_view m = SP_MERGE_VIEW_INIT;

    if (merge < 0)
        return replica == x->at.dp;
    must(sp_schedule_merge(x->schedule, merge, &m));
    return replica >= m.first_replica && replica < m.first_replica + m.replicas;
}

void exchange_open(exchange *x, const sp_schedule *schedule, const sp_topology *topology,
                   MPI_Comm world)
{
    int32_t merges = sp_schedule_merge_count(schedule);

    *x = (exchange){ .schedule = schedule, .topology = topology, .world = world,
                     .at = SP_COORDINATES_INIT, .degrees = SP_COORDINATES_INIT };
    MPI_Comm_rank(world, &x->rank);
    must(sp_topology_degrees(topology, &x->degrees));
    must(sp_topology_coordinates(topology, x->rank, &x->at));
    MPI_Comm_split(world, x->at.pp, x->rank, &x->stage);
    MPI_Comm_split(world, x->at.dp * x->degrees.pp + x->at.pp, x->rank, &x->context);
    x->meeting = malloc((size_t)(merges + 1) * sizeof *x->meeting);
    for (int32_t g = 0; g < merges; g++)
        MPI_Comm_split(world, is_member(x, g, x->at.dp) ? x->at.pp : MPI_UNDEFINED, x->rank,
                       &x->meeting[g]);
}

void exchange_close(exchange *x)
{
    for (int32_t g = 0; g < sp_schedule_merge_count(x->schedule); g++)
        if (x->meeting[g] != MPI_COMM_NULL)
            MPI_Comm_free(&x->meeting[g]);
    MPI_Comm_free(&x->context);
    MPI_Comm_free(&x->stage);
    free(x->meeting);
}

/* The ranks that share a pack, and what each holds of it, in the order of their
 * communicator. */
typedef struct group {
    MPI_Comm comm;
    int size, own;
    sp_pack_view view[MOST_RANKS];
    int count[MOST_RANKS], first[MOST_RANKS]; /* numbers to exchange, and where they begin */
    int total;
} group;

static int shard_length(const sp_pack_view *v, int32_t j)
{
    return v->cu_seqlens_q[j + 1] - v->cu_seqlens_q[j];
}

static int stays(const sp_pack_view *v, int32_t j, const sequence *s)
{
    return shard_length(v, j) == s[v->sample[j]].length;
}

/* The packs of a merge are alike in all its replicas and come in the same order, but
 * not always at the same index. */
static int32_t same_pack(const exchange *x, sp_pass pass, int32_t pack, int32_t merge,
                         int32_t rank)
{
    int32_t ordinal = 0, k;

    for (k = 0; k < pack; k++)
        ordinal += pack_at(x, x->rank, pass, k).merge == merge;
    for (k = 0; pack_at(x, rank, pass, k).merge != merge || ordinal-- > 0; k++)
        ;
    return k;
}

static void join(group *g, const exchange *x, sp_pass pass, int32_t pack, const sequence *s)
{
    int32_t merge = pack_at(x, x->rank, pass, pack).merge;

    *g = (group){ .comm = merge < 0 ? x->context : x->meeting[merge] };
    for (int32_t r = 0; r < x->degrees.dp * x->degrees.pp * x->degrees.cp; r++) {
        sp_coordinates at = SP_COORDINATES_INIT;
        int i = g->size;

        must(sp_topology_coordinates(x->topology, r, &at));
        if (at.pp != x->at.pp || !is_member(x, merge, at.dp))
            continue;
        if (r == x->rank)
            g->own = i;
        g->view[i] = pack_at(x, r, pass, merge < 0 ? pack : same_pack(x, pass, pack, merge, r));
        g->first[i] = g->total;
        for (int32_t j = 0; j < g->view[i].count; j++)
            if (!stays(&g->view[i], j, s))
                g->count[i] += NUMBERS * shard_length(&g->view[i], j);
        g->total += g->count[i];
        g->size++;
    }
}

/* Copies one rank's tokens between a buffer and where they lie by sample and position. */
static void copy(const group *g, int member, const sequence *s, key_value **(*of)(const sequence *),
                 int l, double *buffer, int is_out)
{
    const sp_pack_view *v = &g->view[member];

    for (int32_t j = 0; j < v->count; j++) {
        key_value *tokens = of(&s[v->sample[j]])[l] + v->start[j];
        size_t bytes = (size_t)shard_length(v, j) * sizeof *tokens;

        if (stays(v, j, s))
            continue;
        memcpy(is_out ? (void *)buffer : (void *)tokens, is_out ? (void *)tokens : (void *)buffer,
               bytes);
        buffer += bytes / sizeof *buffer;
    }
}

static key_value **cache_of(const sequence *s)
{
    return s->cache;
}

static key_value **gradient_of(const sequence *s)
{
    return s->gradient;
}

void gather_keys(const exchange *x, int32_t pack, sequence *s, int l)
{
    double *own, *all;
    group g;

    join(&g, x, SP_FORWARD, pack, s);
    if (g.size == 1)
        return;
    own = malloc(((size_t)g.count[g.own] + 1) * sizeof *own);
    all = malloc(((size_t)g.total + 1) * sizeof *all);
    copy(&g, g.own, s, cache_of, l, own, 1);
    MPI_Allgatherv(own, g.count[g.own], MPI_DOUBLE, all, g.count, g.first, MPI_DOUBLE, g.comm);
    for (int i = 0; i < g.size; i++)
        copy(&g, i, s, cache_of, l, all + g.first[i], 0);
    free(own);
    free(all);
}

void reduce_key_gradients(const exchange *x, int32_t pack, sequence *s, int l)
{
    double *own, *all;
    group g;

    join(&g, x, SP_BACKWARD, pack, s);
    if (g.size == 1)
        return;
    own = malloc(((size_t)g.count[g.own] + 1) * sizeof *own);
    all = malloc(((size_t)g.total + 1) * sizeof *all);
    for (int i = 0; i < g.size; i++)
        copy(&g, i, s, gradient_of, l, all + g.first[i], 1);
    MPI_Reduce_scatter(all, own, g.count, MPI_DOUBLE, MPI_SUM, g.comm);
    copy(&g, g.own, s, gradient_of, l, own, 0);
    free(own);
    free(all);
}
