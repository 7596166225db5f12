/*
 * sequence.c - memory of samples, and the reference: see sequence.h.
 */
#include "sequence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void *room(long count, size_t size)
{
    void *p = calloc((size_t)count + 1, size);

    if (p == NULL)
        abort();
    return p;
}

sequence *sequences_create(const long *lengths, int count, int layers)
{
    sequence *s = room(count, sizeof *s);

    for (int i = 0; i < count; i++) {
        s[i].length = (int)lengths[i];
        s[i].layers = layers;
        s[i].saved = room(layers, sizeof *s[i].saved);
        s[i].cache = room(layers, sizeof *s[i].cache);
        s[i].gradient = room(layers, sizeof *s[i].gradient);
        s[i].top = room(lengths[i], sizeof *s[i].top);
    }
    return s;
}

void sequences_destroy(sequence *s, int count)
{
    for (int i = 0; i < count; i++) {
        for (int l = 0; l < s[i].layers; l++) {
            free(s[i].saved[l]);
            free(s[i].cache[l]);
            free(s[i].gradient[l]);
        }
        free(s[i].saved);
        free(s[i].cache);
        free(s[i].gradient);
        free(s[i].top);
    }
    free(s);
}

void sequence_open_layer(sequence *s, int l)
{
    if (s->saved[l] != NULL)
        return;
    s->saved[l] = room(s->length, sizeof *s->saved[l]);
    s->cache[l] = room(s->length, sizeof *s->cache[l]);
    s->gradient[l] = room(s->length, sizeof *s->gradient[l]);
}

static double forward(const model *w, sequence *s, int sample, double scale)
{
    double sum = 0;

    for (int p = 0; p < s->length; p++)
        memcpy(s->top[p], w->ends.embedding[token_at(sample, p)], sizeof s->top[p]);
    for (int l = 0; l < w->layers; l++) {
        sequence_open_layer(s, l);
        for (int p = 0; p < s->length; p++)
            project(&w->layer[l], s->top[p], p, &s->saved[l][p], &s->cache[l][p]);
        for (int p = 0; p < s->length; p++) {
            attend(s->cache[l], p, &s->saved[l][p]);
            finish(&w->layer[l], &s->saved[l][p], s->top[p]);
        }
    }
    for (int p = 0; p < s->length; p++)
        sum += loss(&w->ends, s->top[p], target_at(sample, p), scale);
    return sum;
}

static void backward(const model *w, model *g, sequence *s, int sample, double scale)
{
    double (*d)[HIDDEN] = room(s->length, sizeof *d), (*dmid)[HIDDEN] = room(s->length, sizeof *d);
    double (*dq)[Q_WIDTH] = room(s->length, sizeof *dq), d_o[Q_WIDTH];

    for (int p = 0; p < s->length; p++)
        loss_backward(&w->ends, &g->ends, s->top[p], target_at(sample, p), scale, d[p]);
    for (int l = w->layers - 1; l >= 0; l--) {
        for (int p = s->length - 1; p >= 0; p--) {
            finish_backward(&w->layer[l], &g->layer[l], &s->saved[l][p], d[p], dmid[p], d_o);
            attend_backward(s->cache[l], s->gradient[l], p, &s->saved[l][p], d_o, dq[p]);
        }
        for (int p = 0; p < s->length; p++)
            project_backward(&w->layer[l], &g->layer[l], p, &s->saved[l][p], dq[p],
                             &s->gradient[l][p], dmid[p], d[p]);
    }
    for (int p = 0; p < s->length; p++)
        for (int i = 0; i < HIDDEN; i++)
            g->ends.embedding[token_at(sample, p)][i] += d[p][i];
    free(d);
    free(dmid);
    free(dq);
}

double reference_step(const model *w, model *g, const long *lengths, int count)
{
    sequence *s = sequences_create(lengths, count, w->layers);
    double sum = 0, tokens = 0;

    for (int i = 0; i < count; i++)
        tokens += (double)lengths[i];
    for (int i = 0; i < count; i++) {
        sum += forward(w, &s[i], i, 1 / tokens);
        if (g != NULL)
            backward(w, g, &s[i], i, 1 / tokens);
    }
    sequences_destroy(s, count);
    return sum;
}

double reference_error(const model *weights)
{
    const long lengths[] = { 5, 2, 9 };
    int layers = weights->layers;
    long numbers = (long)((sizeof(ends) + (size_t)layers * sizeof(layer)) / sizeof(double));
    model *w = model_create(layers, 0), *g = model_create(layers, 0);
    double most = 0, h = 1e-5;

    memcpy(w, weights, sizeof *w + (size_t)layers * sizeof(layer));
    reference_step(w, g, lengths, 3);
    for (long i = 0; i < numbers; i += 17) {
        double *x = &w->ends.embedding[0][0] + i, old = *x, up, down, slope;

        *x = old + h;
        up = reference_step(w, NULL, lengths, 3);
        *x = old - h;
        down = reference_step(w, NULL, lengths, 3);
        *x = old;
        slope = (&g->ends.embedding[0][0])[i];
        most = fmax(most, fabs((up - down) / (2 * h) - slope) / (1e-3 + fabs(slope)));
    }
    free(w);
    free(g);
    return most;
}
