/*
 * transformer.c - see transformer.h.
 */
#include "transformer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EPSILON 1e-6

model *model_create(int layers, unsigned seed)
{
    size_t bytes = sizeof(model) + (size_t)layers * sizeof(layer);
    model *m = calloc(1, bytes);
    unsigned x = seed;

    if (m == NULL)
        abort();
    m->layers = layers;
    for (double *w = &m->ends.embedding[0][0]; seed != 0 && (char *)w < (char *)m + bytes; w++) {
        x = x * 1664525u + 1013904223u;
        *w = 0.3 * ((double)(x >> 8) / (1 << 24) - 0.5);
    }
    for (int i = 0; seed != 0 && i < HIDDEN; i++) {
        m->ends.norm[i] += 1;
        for (int l = 0; l < layers; l++) {
            m->layer[l].norm1[i] += 1;
            m->layer[l].norm2[i] += 1;
        }
    }
    return m;
}

/* y += x W and, backward, dx += W dy and dW += x dy; W is [rows][columns]. */
static void multiply(const double *w, int rows, int columns, const double *x, double *y)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            y[j] += x[i] * w[i * columns + j];
}

static void multiply_backward(const double *w, double *dw, int rows, int columns, const double *x,
                              const double *dy, double *dx)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            dx[i] += w[i * columns + j] * dy[j];
            dw[i * columns + j] += x[i] * dy[j];
        }
}

static double scale_of(const double x[HIDDEN])
{
    double sum = 0;

    for (int i = 0; i < HIDDEN; i++)
        sum += x[i] * x[i];
    return 1 / sqrt(sum / HIDDEN + EPSILON);
}

static void rms_norm(const double *w, const double x[HIDDEN], double y[HIDDEN])
{
    double scale = scale_of(x);

    for (int i = 0; i < HIDDEN; i++)
        y[i] = x[i] * scale * w[i];
}

/* Adds to dx. */
static void rms_norm_backward(const double *w, double *dw, const double x[HIDDEN],
                              const double dy[HIDDEN], double dx[HIDDEN])
{
    double scale = scale_of(x), dot = 0;

    for (int i = 0; i < HIDDEN; i++) {
        dw[i] += dy[i] * x[i] * scale;
        dot += dy[i] * w[i] * x[i];
    }
    for (int i = 0; i < HIDDEN; i++)
        dx[i] += scale * (dy[i] * w[i] - x[i] * scale * scale * dot / HIDDEN);
}

/* Turns each pair by an angle of its position; sign -1 turns back. */
static void rotate(double *x, int heads, int pos, int sign)
{
    for (int h = 0; h < heads; h++)
        for (int i = 0; i < HEAD_DIM; i += 2) {
            double angle = sign * pos * pow(100, -(double)i / HEAD_DIM);
            double *p = x + h * HEAD_DIM + i, a = p[0], b = p[1];

            p[0] = a * cos(angle) - b * sin(angle);
            p[1] = a * sin(angle) + b * cos(angle);
        }
}

void project(const layer *w, const double x[HIDDEN], int pos, saved *s, key_value *own)
{
    double normed[HIDDEN];

    memcpy(s->x, x, sizeof s->x);
    memset(s->q, 0, sizeof s->q);
    memset(own, 0, sizeof *own);
    rms_norm(w->norm1, x, normed);
    multiply(&w->wq[0][0], HIDDEN, Q_WIDTH, normed, s->q);
    multiply(&w->wk[0][0], HIDDEN, KV_WIDTH, normed, own->k);
    multiply(&w->wv[0][0], HIDDEN, KV_WIDTH, normed, own->v);
    rotate(s->q, HEADS, pos, 1);
    rotate(own->k, KV_HEADS, pos, 1);
}

static double dot(const double *a, const double *b)
{
    double sum = 0;

    for (int i = 0; i < HEAD_DIM; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Score of head h for a key, before softmax. */
static double score(const saved *s, const key_value *key, int h)
{
    return dot(s->q + h * HEAD_DIM, key->k + h / (HEADS / KV_HEADS) * HEAD_DIM) / sqrt(HEAD_DIM);
}

void attend(const key_value *cache, int pos, saved *s)
{
    memset(s->o, 0, sizeof s->o);
    for (int h = 0; h < HEADS; h++) {
        int at = h / (HEADS / KV_HEADS) * HEAD_DIM;
        double most = -INFINITY, sum = 0;

        for (int j = 0; j <= pos; j++)
            most = fmax(most, score(s, &cache[j], h));
        for (int j = 0; j <= pos; j++)
            sum += exp(score(s, &cache[j], h) - most);
        s->lse[h] = most + log(sum);
        for (int j = 0; j <= pos; j++)
            for (int i = 0; i < HEAD_DIM; i++)
                s->o[h * HEAD_DIM + i] +=
                    exp(score(s, &cache[j], h) - s->lse[h]) * cache[j].v[at + i];
    }
}

/* The MLP's inner values of a token. */
typedef struct inner {
    double normed[HIDDEN], gate[FFN], up[FFN], product[FFN];
} inner;

static void mlp(const layer *w, const double mid[HIDDEN], inner *in, double y[HIDDEN])
{
    memset(in, 0, sizeof *in);
    rms_norm(w->norm2, mid, in->normed);
    multiply(&w->gate[0][0], HIDDEN, FFN, in->normed, in->gate);
    multiply(&w->up[0][0], HIDDEN, FFN, in->normed, in->up);
    for (int i = 0; i < FFN; i++)
        in->product[i] = in->gate[i] / (1 + exp(-in->gate[i])) * in->up[i];
    multiply(&w->down[0][0], FFN, HIDDEN, in->product, y);
}

void finish(const layer *w, saved *s, double y[HIDDEN])
{
    inner in;

    memcpy(s->mid, s->x, sizeof s->mid);
    multiply(&w->wo[0][0], Q_WIDTH, HIDDEN, s->o, s->mid);
    memcpy(y, s->mid, sizeof s->mid);
    mlp(w, s->mid, &in, y);
}

void finish_backward(const layer *w, layer *g, const saved *s, const double dy[HIDDEN],
                     double dmid[HIDDEN], double d_o[Q_WIDTH])
{
    double unused[HIDDEN] = { 0 }, dproduct[FFN] = { 0 }, dgate[FFN], dup[FFN];
    double dnormed[HIDDEN] = { 0 };
    inner in;

    mlp(w, s->mid, &in, unused);
    multiply_backward(&w->down[0][0], &g->down[0][0], FFN, HIDDEN, in.product, dy, dproduct);
    for (int i = 0; i < FFN; i++) {
        double sigmoid = 1 / (1 + exp(-in.gate[i]));

        dup[i] = dproduct[i] * in.gate[i] * sigmoid;
        dgate[i] = dproduct[i] * in.up[i] * sigmoid * (1 + in.gate[i] * (1 - sigmoid));
    }
    multiply_backward(&w->gate[0][0], &g->gate[0][0], HIDDEN, FFN, in.normed, dgate, dnormed);
    multiply_backward(&w->up[0][0], &g->up[0][0], HIDDEN, FFN, in.normed, dup, dnormed);
    memcpy(dmid, dy, HIDDEN * sizeof *dy);
    rms_norm_backward(w->norm2, g->norm2, s->mid, dnormed, dmid);
    memset(d_o, 0, Q_WIDTH * sizeof *d_o);
    multiply_backward(&w->wo[0][0], &g->wo[0][0], Q_WIDTH, HIDDEN, s->o, dmid, d_o);
}

void attend_backward(const key_value *cache, key_value *dcache, int pos, const saved *s,
                     const double d_o[Q_WIDTH], double dq[Q_WIDTH])
{
    memset(dq, 0, Q_WIDTH * sizeof *dq);
    for (int h = 0; h < HEADS; h++) {
        int at = h / (HEADS / KV_HEADS) * HEAD_DIM, own = h * HEAD_DIM;
        double delta = dot(d_o + own, s->o + own);

        for (int j = 0; j <= pos; j++) {
            double p = exp(score(s, &cache[j], h) - s->lse[h]);
            double ds = p * (dot(d_o + own, cache[j].v + at) - delta) / sqrt(HEAD_DIM);

            for (int i = 0; i < HEAD_DIM; i++) {
                dcache[j].v[at + i] += p * d_o[own + i];
                dcache[j].k[at + i] += ds * s->q[own + i];
                dq[own + i] += ds * cache[j].k[at + i];
            }
        }
    }
}

void project_backward(const layer *w, layer *g, int pos, const saved *s, const double dq[Q_WIDTH],
                      const key_value *own, const double dmid[HIDDEN], double dx[HIDDEN])
{
    double normed[HIDDEN], dnormed[HIDDEN] = { 0 }, q[Q_WIDTH];
    key_value d = *own;

    memcpy(q, dq, sizeof q);
    rotate(q, HEADS, pos, -1);
    rotate(d.k, KV_HEADS, pos, -1);
    rms_norm(w->norm1, s->x, normed);
    multiply_backward(&w->wq[0][0], &g->wq[0][0], HIDDEN, Q_WIDTH, normed, q, dnormed);
    multiply_backward(&w->wk[0][0], &g->wk[0][0], HIDDEN, KV_WIDTH, normed, d.k, dnormed);
    multiply_backward(&w->wv[0][0], &g->wv[0][0], HIDDEN, KV_WIDTH, normed, d.v, dnormed);
    memcpy(dx, dmid, HIDDEN * sizeof *dmid);
    rms_norm_backward(w->norm1, g->norm1, s->x, dnormed, dx);
}

/* Logits of a token, and the log of the sum of their exponentials. */
static double logits_of(const ends *w, const double x[HIDDEN], double normed[HIDDEN],
                        double logits[VOCAB])
{
    double most = -INFINITY, sum = 0;

    memset(logits, 0, VOCAB * sizeof *logits);
    rms_norm(w->norm, x, normed);
    multiply(&w->head[0][0], HIDDEN, VOCAB, normed, logits);
    for (int i = 0; i < VOCAB; i++)
        most = fmax(most, logits[i]);
    for (int i = 0; i < VOCAB; i++)
        sum += exp(logits[i] - most);
    return most + log(sum);
}

double loss(const ends *w, const double x[HIDDEN], int target, double scale)
{
    double normed[HIDDEN], logits[VOCAB], lse = logits_of(w, x, normed, logits);

    return (lse - logits[target]) * scale;
}

void loss_backward(const ends *w, ends *g, const double x[HIDDEN], int target, double scale,
                   double dx[HIDDEN])
{
    double normed[HIDDEN], logits[VOCAB], lse = logits_of(w, x, normed, logits);
    double dlogits[VOCAB], dnormed[HIDDEN] = { 0 };

    for (int i = 0; i < VOCAB; i++)
        dlogits[i] = scale * (exp(logits[i] - lse) - (i == target));
    multiply_backward(&w->head[0][0], &g->head[0][0], HIDDEN, VOCAB, normed, dlogits, dnormed);
    memset(dx, 0, HIDDEN * sizeof *dx);
    rms_norm_backward(w->norm, g->norm, x, dnormed, dx);
}

int token_at(int sample, int pos)
{
    return (sample * 7 + pos * pos + pos / 3) % VOCAB;
}

int target_at(int sample, int pos)
{
    return token_at(sample, pos + 1);
}
