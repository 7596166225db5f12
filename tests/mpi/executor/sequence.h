/*
 * sequence.h - what a process keeps of one sample while a step runs: its KV cache, the
 * gradients that collect for it, and what its tokens saved, by layer and position.
 *
 * By position, not by pack: backward packs group slices otherwise than forward packs.
 * Layers that a process never runs take no memory.
 */
#ifndef SEQUENCE_H
#define SEQUENCE_H

#include "transformer.h"

typedef struct sequence {
    int length, layers;
    saved **saved;        /* [layers][length] */
    key_value **cache;    /* [layers][length] */
    key_value **gradient; /* [layers][length] of the cache */
    double (*top)[HIDDEN]; /* [length] what the last layer gives to the head */
} sequence;

/* Sequences of a batch. */
sequence *sequences_create(const long *lengths, int count, int layers);
void sequences_destroy(sequence *sequences, int count);

/* Makes room for a layer that this process runs. */
void sequence_open_layer(sequence *s, int l);

/* Loss and gradients of the model on whole samples, one after the other: what a plan
 * has to come to. The loss is the mean over all tokens. */
double reference_step(const model *weights, model *gradient, const long *lengths, int count);

/* Largest relative error of a gradient against differences of the loss. */
double reference_error(const model *weights);

#endif
