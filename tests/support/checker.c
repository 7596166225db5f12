/*
 * checker.c - runs the parts of the check in turn: see checker.h.
 *
 * Later parts index by what earlier ones have proven, so the order matters:
 * counts first, then packs of merges, tokens, order, and the graph last.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "checker_parts.h"

int check_fail(const checker *c, int code, const char *format, ...)
{
    char words[256];
    va_list args;

    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    if (code <= 9)
        snprintf(c->why, c->why_size, "I%d: %s", code, words);
    else
        snprintf(c->why, c->why_size, "%s", words);
    return code;
}

static int by_sample_and_start(const void *a, const void *b)
{
    const plain_piece *x = &((const held_piece *)a)->piece, *y = &((const held_piece *)b)->piece;

    if (x->sample != y->sample)
        return x->sample < y->sample ? -1 : 1;
    return (x->start > y->start) - (x->start < y->start);
}

void sort_pieces(held_piece *pieces, int64_t count)
{
    if (count > 1)
        qsort(pieces, (size_t)count, sizeof *pieces, by_sample_and_start);
}

static int check_lengths(checker *c)
{
    if (c->plan->samples != c->n)
        return check_fail(c, 1, "%" PRId64 " samples are planned, %" PRId64 " were given",
                          c->plan->samples, c->n);
    for (int64_t i = 0; i < c->n; i++)
        if (c->plan->lengths[i] != c->lengths[i])
            return check_fail(c, 1, "sample %" PRId64 " has length %" PRId64 ", %" PRId64
                              " was given", i, c->plan->lengths[i], c->lengths[i]);
    return 0;
}

/* Every piece lies within its sample: nothing later indexes out of bounds. */
static int check_piece(const checker *c, const plain_piece *p, const char *what)
{
    if (p->sample < 0 || p->sample >= c->n || p->start < 0 || p->length < 1 ||
        piece_end(p) > c->lengths[p->sample])
        return check_fail(c, 1, "%s (%" PRId32 ", %" PRId32 ", %" PRId32 ") lies outside the batch",
                          what, p->sample, p->start, p->length);
    return 0;
}

static int check_pack_pieces(const checker *c, const plain_pack *pack, const plain_part *parts)
{
    for (int32_t i = 0; i < pack->count; i++)
        CHECK(check_piece(c, &pack->slice[i], "slice"));
    for (int32_t cp = 0; cp < c->plan->cp; cp++)
        for (int32_t i = 0; i < parts[cp].count; i++)
            CHECK(check_piece(c, &parts[cp].shard[i], "shard"));
    return 0;
}

static int check_pieces(checker *c)
{
    const plain_plan *p = c->plan;

    for (int32_t d = 0; d < p->dp; d++)
        for (int pass = 0; pass < 2; pass++)
            for (int32_t k = 0; k < p->replica[d].packs[pass]; k++)
                CHECK(check_pack_pieces(c, &p->replica[d].pack[pass][k],
                                        plain_part_at(p, d, pass, k, 0)));
    return 0;
}

int check_plan(plain_plan *plan, const int64_t *lengths, int64_t n, const check_limits *limits,
               char *why, size_t why_size)
{
    static int (*const parts[])(checker *) = {
        check_lengths, check_pieces, check_counts, check_merges, check_tokens, check_coverage,
        check_order, check_starts, check_graph, check_memory, check_peers, check_kept, check_stats
    };
    checker c = { plan, limits, lengths, n, why, why_size };

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        CHECK(parts[i](&c));
    return 0;
}

int check_schedule(const sp_schedule *schedule, const sp_topology *topology,
                   const int64_t *lengths, int64_t n, const check_limits *limits, char *why,
                   size_t why_size)
{
    plain_plan plan;
    int code;

    CHECK(plain_read(schedule, topology, limits->pad_multiple, &plan, why, why_size));
    code = check_plan(&plan, lengths, n, limits, why, why_size);
    plain_free(&plan);
    return code;
}
