/*
 * checker_peers.c - what pipeline neighbours send and receive: the same packs and
 * tokens on both sides, in the same order per pair of ranks and direction.
 */
#include <inttypes.h>

#include "checker_parts.h"

/* An op receives from and sends to the neighbours of its pass, what it holds. */
static int check_exchange(const checker *c, int32_t replica, int32_t stage, int32_t cp,
                          const sp_op_view *op)
{
    const plain_plan *p = c->plan;
    int32_t step = op->pass == SP_FORWARD ? 1 : -1, rank = plain_rank_at(p, replica, stage, cp);
    int32_t from = stage - step, to = stage + step;
    int64_t tokens = plain_part_at(p, replica, op->pass, op->pack, cp)->tokens;
    int has_from = from >= 0 && from < p->pp && tokens > 0;
    int has_to = to >= 0 && to < p->pp && tokens > 0;

    if (op->recv_rank >= 0 || has_from)
        if (from < 0 || from >= p->pp || op->recv_rank != plain_rank_at(p, replica, from, cp) ||
            op->recv_tokens != tokens)
            return check_fail(c, CHECK_PEERS, "rank %" PRId32 ", pack %" PRId32 " of pass %" PRId32
                              ": receives %" PRId64 " tokens from rank %" PRId32 ", holds %" PRId64,
                              rank, op->pack, op->pass, op->recv_tokens, op->recv_rank, tokens);
    if (op->send_rank >= 0 || has_to)
        if (to < 0 || to >= p->pp || op->send_rank != plain_rank_at(p, replica, to, cp) ||
            op->send_tokens != tokens)
            return check_fail(c, CHECK_PEERS, "rank %" PRId32 ", pack %" PRId32 " of pass %" PRId32
                              ": sends %" PRId64 " tokens to rank %" PRId32 ", holds %" PRId64,
                              rank,
                              op->pack, op->pass, op->send_tokens, op->send_rank, tokens);
    if ((op->recv_rank < 0 && op->recv_tokens != 0) || (op->send_rank < 0 && op->send_tokens != 0))
        return check_fail(c, CHECK_PEERS, "rank %" PRId32 ", pack %" PRId32 " of pass %" PRId32
                          ": tokens without a peer", rank, op->pack, op->pass);
    return 0;
}

/* The next op from i on of a rank that sends to, or receives from, a peer. */
static int32_t next_with(const sp_op_view *op, int32_t ops, int32_t i, int32_t peer, int sends)
{
    while (i < ops && (sends ? op[i].send_rank : op[i].recv_rank) != peer)
        i++;
    return i;
}

static int check_channel(const checker *c, int32_t replica, int32_t from, int32_t to, int32_t cp)
{
    const plain_plan *p = c->plan;
    const sp_op_view *a = plain_ops_at(p, replica, from, cp);
    const sp_op_view *b = plain_ops_at(p, replica, to, cp);
    int32_t ops = p->replica[replica].ops;
    int32_t sender = plain_rank_at(p, replica, from, cp), taker = plain_rank_at(p, replica, to, cp);

    for (int32_t i = -1, j = -1;;) {
        i = next_with(a, ops, i + 1, taker, 1);
        j = next_with(b, ops, j + 1, sender, 0);
        if (i == ops && j == ops)
            return 0;
        if (i == ops || j == ops || a[i].pass != b[j].pass || a[i].pack != b[j].pack ||
            a[i].send_tokens != b[j].recv_tokens)
            return check_fail(c, CHECK_PEERS, "rank %" PRId32 " sends its op %" PRId32
                              " where rank %" PRId32 " takes its op %" PRId32, sender, i, taker, j);
    }
}

static int check_rank(const checker *c, int32_t replica, int32_t stage, int32_t cp)
{
    const sp_op_view *op = plain_ops_at(c->plan, replica, stage, cp);

    for (int32_t i = 0; i < c->plan->replica[replica].ops; i++)
        CHECK(check_exchange(c, replica, stage, cp, &op[i]));
    if (stage + 1 == c->plan->pp)
        return 0;
    CHECK(check_channel(c, replica, stage, stage + 1, cp));
    return check_channel(c, replica, stage + 1, stage, cp);
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
