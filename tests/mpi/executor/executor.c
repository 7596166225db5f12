/*
 * executor.c - one rank's part of a step: see executor.h.
 *
 * This is what a framework does with a schedule, in the order in which it does it.
 * Work is read through the queries of this rank alone:
 *
 *     for each op:  receive rows, if it has someone to receive from
 *                   run its pack through the layers of its chunk
 *                   send rows, if it has someone to send to
 *     at the end:   sum gradients over data-parallel and context-parallel ranks
 *
 * A row is a token's activations, or their gradient. The rows of a pack are the tokens
 * of this rank's shards, in the order of the shards; how many there are both sides of
 * the pipeline know from the plan.
 */
#include "executor.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A token of a pack: whose, where, and its row. */
typedef struct token {
    sequence *of;
    int sample, pos;
} token;

typedef struct rows {
    int count;
    token *token;            /* [count] */
    double (*row)[HIDDEN];   /* [count] */
    double (*other)[HIDDEN]; /* [count] gradients between attention and MLP */
    double (*dq)[Q_WIDTH];   /* [count] */
} rows;

static rows rows_open(const executor *e, const sp_pack_view *v)
{
    size_t n = (size_t)v->tokens + 1;
    rows r = { 0, malloc(n * sizeof *r.token), malloc(n * sizeof *r.row),
               malloc(n * sizeof *r.other), malloc(n * sizeof *r.dq) };

    for (int32_t j = 0; j < v->count; j++)
        for (int i = 0; i < v->cu_seqlens_q[j + 1] - v->cu_seqlens_q[j]; i++)
            r.token[r.count++] = (token){ &e->sequences[v->sample[j]], v->sample[j],
                                          v->start[j] + i };
    return r;
}

static void rows_close(rows *r)
{
    free(r->token);
    free(r->row);
    free(r->other);
    free(r->dq);
}

/* The boundary of virtual stages that a message crosses, and its pass, tell it from
 * all others between the same two ranks. */
static int tag_of(const executor *e, const sp_op_view *op, int is_sent)
{
    int stage = op->chunk * e->x.degrees.pp + e->x.at.pp;

    if ((op->pass == SP_FORWARD) != is_sent)
        stage--;
    return 2 * stage + op->pass;
}

static void receive(const executor *e, const sp_op_view *op, rows *r)
{
    MPI_Status status;
    int count;

    if (op->recv_tokens == 0)
        return;
    MPI_Recv(r->row, r->count * HIDDEN, MPI_DOUBLE, op->recv_rank, tag_of(e, op, 0), e->x.world,
             &status);
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    if (op->recv_tokens == r->count && count == r->count * HIDDEN)
        return;
    fprintf(stderr, "rank %" PRId32 ": %d rows came, the op says %" PRId64 ", the pack %d\n",
            e->x.rank, count / HIDDEN, op->recv_tokens, r->count);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Does not wait: a stage that waited for the next to receive could wait in a ring. */
static void send(executor *e, const sp_op_view *op, const rows *r)
{
    size_t bytes = (size_t)r->count * sizeof *r->row;
    double *copy;

    if (op->send_tokens == 0)
        return;
    copy = malloc(bytes);
    memcpy(copy, r->row, bytes);
    e->buffer[e->sends] = copy;
    MPI_Isend(copy, (int)op->send_tokens * HIDDEN, MPI_DOUBLE, op->send_rank, tag_of(e, op, 1),
              e->x.world, &e->sent[e->sends++]);
}

/* Weight of a token's loss: one over all tokens of the batch, whatever its pack. The
 * mistake to avoid is a mean over each pack. */
static double loss_scale(const executor *e, const rows *r)
{
    return e->broken == BREAK_LOSS ? 1.0 / (r->count * e->x.degrees.dp) : e->scale;
}

static void embed(const executor *e, rows *r)
{
    for (int i = 0; i < r->count; i++)
        memcpy(r->row[i], e->weights->ends.embedding[token_at(r->token[i].sample,
                                                              r->token[i].pos)],
               sizeof r->row[i]);
}

static void embed_backward(executor *e, const rows *r)
{
    for (int i = 0; i < r->count; i++)
        for (int h = 0; h < HIDDEN; h++)
            e->gradient->ends.embedding[token_at(r->token[i].sample, r->token[i].pos)][h] +=
                r->row[i][h];
}

static void head(executor *e, const rows *r)
{
    for (int i = 0; i < r->count; i++) {
        const token *t = &r->token[i];

        memcpy(t->of->top[t->pos], r->row[i], sizeof r->row[i]);
        e->loss += loss(&e->weights->ends, r->row[i], target_at(t->sample, t->pos),
                        loss_scale(e, r));
    }
}

static void head_backward(executor *e, rows *r)
{
    for (int i = 0; i < r->count; i++) {
        const token *t = &r->token[i];

        loss_backward(&e->weights->ends, &e->gradient->ends, t->of->top[t->pos],
                      target_at(t->sample, t->pos), loss_scale(e, r), r->row[i]);
    }
}

/* Keys and values of the pack join the caches before anyone looks at a prefix: those
 * of earlier slices came with earlier packs, or with this one. */
static void layer_forward(executor *e, int l, int32_t pack, rows *r)
{
    const layer *w = &e->weights->layer[l];

    for (int i = 0; i < r->count; i++) {
        const token *t = &r->token[i];

        project(w, r->row[i], t->pos, &t->of->saved[l][t->pos], &t->of->cache[l][t->pos]);
    }
    if (e->broken != BREAK_KEYS)
        gather_keys(&e->x, pack, e->sequences, l);
    for (int i = 0; i < r->count; i++) {
        const token *t = &r->token[i];

        attend(t->of->cache[l], t->pos, &t->of->saved[l][t->pos]);
        finish(w, &t->of->saved[l][t->pos], r->row[i]);
    }
}

/* All queries of the pack go first. Then the gradients of its own keys and values are
 * complete on this rank, for later slices ran in earlier packs, or in this one; over
 * the group they are complete once they have been added up. */
static void layer_backward(executor *e, int l, int32_t pack, rows *r)
{
    const layer *w = &e->weights->layer[l];
    layer *g = &e->gradient->layer[l];
    double d_o[Q_WIDTH];

    for (int i = 0; i < r->count; i++) {
        const token *t = &r->token[i];
        const saved *s = &t->of->saved[l][t->pos];

        finish_backward(w, g, s, r->row[i], r->other[i], d_o);
        attend_backward(t->of->cache[l], t->of->gradient[l], t->pos, s, d_o, r->dq[i]);
    }
    if (e->broken != BREAK_KEY_GRADIENTS)
        reduce_key_gradients(&e->x, pack, e->sequences, l);
    for (int i = 0; i < r->count; i++) {
        const token *t = &r->token[i];

        project_backward(w, g, t->pos, &t->of->saved[l][t->pos], r->dq[i],
                         &t->of->gradient[l][t->pos], r->other[i], r->row[i]);
    }
}

static void forward(executor *e, const sp_op_view *op, rows *r)
{
    int stage = op->chunk * e->x.degrees.pp + e->x.at.pp;

    if (stage == 0)
        embed(e, r);
    for (int l = stage * e->layers; l < (stage + 1) * e->layers; l++)
        layer_forward(e, l, op->pack, r);
    if (stage == e->virtual_stages - 1)
        head(e, r);
}

static void backward(executor *e, const sp_op_view *op, rows *r)
{
    int stage = op->chunk * e->x.degrees.pp + e->x.at.pp;

    if (stage == e->virtual_stages - 1)
        head_backward(e, r);
    for (int l = (stage + 1) * e->layers - 1; l >= stage * e->layers; l--)
        layer_backward(e, l, op->pack, r);
    if (stage == 0)
        embed_backward(e, r);
}

/* Weight gradients were computed with those of the inputs: their own op (SP_WEIGHT) has
 * nothing left to do here. A framework that splits them does the second half there. */
static void run_op(executor *e, const sp_op_view *op)
{
    sp_pack_view view;
    rows r;

    if (op->pass == SP_WEIGHT)
        return;
    view = pack_at(&e->x, e->x.rank, op->pass, op->pack);
    r = rows_open(e, &view);
    receive(e, op, &r);
    if (op->pass == SP_FORWARD)
        forward(e, op, &r);
    else
        backward(e, op, &r);
    send(e, op, &r);
    rows_close(&r);
}

static void sum(double *numbers, size_t bytes, MPI_Comm comm)
{
    MPI_Allreduce(MPI_IN_PLACE, numbers, (int)(bytes / sizeof *numbers), MPI_DOUBLE, MPI_SUM, comm);
}

void executor_run(executor *e)
{
    int32_t ops = sp_schedule_op_count(e->x.schedule);
    size_t layers = (size_t)e->weights->layers;

    e->sent = malloc((size_t)ops * sizeof *e->sent);
    e->buffer = malloc((size_t)ops * sizeof *e->buffer);
    for (int32_t i = 0; i < ops; i++) {
        sp_op_view op = SP_OP_VIEW_INIT;

        must(sp_schedule_op(e->x.schedule, e->x.rank, i, &op));
        run_op(e, &op);
    }
    MPI_Waitall(e->sends, e->sent, MPI_STATUSES_IGNORE);
    while (e->sends > 0)
        free(e->buffer[--e->sends]);
    free(e->buffer);
    free(e->sent);
    sum(&e->gradient->ends.embedding[0][0], sizeof(ends) + layers * sizeof(layer), e->x.stage);
    sum(&e->loss, sizeof e->loss, e->x.world);
}
