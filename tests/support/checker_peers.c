/*
 * checker_peers.c - what pipeline neighbours send and receive: the same packs and
 * tokens on both sides, in the same order per pair of ranks and pass.
 */
#include <inttypes.h>

#include "checker_parts.h"

/* Rank of a virtual stage, -1 past the ends. */
static int32_t rank_of(const checker *c, int32_t replica, int32_t number, int32_t cp)
{
    const plain_plan *p = c->plan;

    return number < 0 || number >= p->pp * p->chunks
               ? -1 : plain_rank_at(p, replica, number % p->pp, cp);
}

/* An op receives from and sends to the neighbours of its pass what it holds. */
static int check_exchange(const checker *c, int32_t replica, int32_t stage, int32_t cp,
                          const sp_op_view *op)
{
    int32_t step = op->pass == SP_FORWARD ? 1 : -1, number = op->chunk * c->plan->pp + stage;
    int32_t rank = plain_rank_at(c->plan, replica, stage, cp);
    int32_t from = op->pass == SP_WEIGHT ? -1 : rank_of(c, replica, number - step, cp);
    int32_t to = op->pass == SP_WEIGHT ? -1 : rank_of(c, replica, number + step, cp);
    int64_t tokens = plain_part_at(c->plan, replica, op->pass, op->pack, cp)->tokens;

    if (op->recv_rank != from || op->recv_tokens != (from >= 0 ? tokens : 0))
        return check_fail(c, CHECK_PEERS, "rank %" PRId32 ", pack %" PRId32 " of pass %" PRId32
                          ": receives %" PRId64 " tokens from rank %" PRId32 ", holds %" PRId64,
                          rank, op->pack, op->pass, op->recv_tokens, op->recv_rank, tokens);
    if (op->send_rank != to || op->send_tokens != (to >= 0 ? tokens : 0))
        return check_fail(c, CHECK_PEERS, "rank %" PRId32 ", pack %" PRId32 " of pass %" PRId32
                          ": sends %" PRId64 " tokens to rank %" PRId32 ", holds %" PRId64, rank,
                          op->pack, op->pass, op->send_tokens, op->send_rank, tokens);
    return 0;
}

/* The next op from i on of a rank that sends to, or receives from, a peer in a pass. */
static int32_t next_with(const sp_op_view *op, int32_t ops, int32_t i, int32_t peer, int pass,
                         int sends)
{
    while (i < ops && (op[i].pass != pass || (sends ? op[i].send_rank : op[i].recv_rank) != peer))
        i++;
    return i;
}

/* Chunk in which the taker runs what a stage gives. */
static int32_t taken_chunk(const checker *c, int32_t stage, const sp_op_view *op)
{
    return (op->chunk * c->plan->pp + stage + (op->pass == SP_FORWARD ? 1 : -1)) / c->plan->pp;
}

static int check_channel(const checker *c, int32_t replica, int32_t from, int32_t to, int32_t cp,
                         int pass)
{
    const plain_plan *p = c->plan;
    const sp_op_view *a = plain_ops_at(p, replica, from, cp);
    const sp_op_view *b = plain_ops_at(p, replica, to, cp);
    int32_t ops = p->replica[replica].ops;
    int32_t sender = plain_rank_at(p, replica, from, cp), taker = plain_rank_at(p, replica, to, cp);

    for (int32_t i = -1, j = -1;;) {
        i = next_with(a, ops, i + 1, taker, pass, 1);
        j = next_with(b, ops, j + 1, sender, pass, 0);
        if (i == ops && j == ops)
            return 0;
        if (i == ops || j == ops || a[i].pack != b[j].pack ||
            taken_chunk(c, from, &a[i]) != b[j].chunk || a[i].send_tokens != b[j].recv_tokens)
            return check_fail(c, CHECK_PEERS, "rank %" PRId32 " sends its op %" PRId32
                              " where rank %" PRId32 " takes its op %" PRId32, sender, i, taker, j);
    }
}

static int check_rank(const checker *c, int32_t replica, int32_t stage, int32_t cp)
{
    const sp_op_view *op = plain_ops_at(c->plan, replica, stage, cp);
    int32_t after = (stage + 1) % c->plan->pp;

    for (int32_t i = 0; i < c->plan->replica[replica].ops; i++)
        CHECK(check_exchange(c, replica, stage, cp, &op[i]));
    if (c->plan->pp == 1)
        return 0;
    CHECK(check_channel(c, replica, stage, after, cp, SP_FORWARD));
    return check_channel(c, replica, after, stage, cp, SP_BACKWARD);
}

int check_peers(checker *c)
{
    const plain_plan *p = c->plan;

    for (int32_t d = 0; d < p->dp; d++)
        for (int32_t s = 0; s < p->pp; s++)
            for (int32_t cp = 0; cp < p->cp; cp++)
                CHECK(check_rank(c, d, s, cp));
    return 0;
}
