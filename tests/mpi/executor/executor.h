/*
 * executor.h - one rank's part of a step, done as the schedule says.
 */
#ifndef EXECUTOR_H
#define EXECUTOR_H

#include "exchange.h"

/* What is left out on purpose, to show that it would be noticed. */
enum { BREAK_NOTHING, BREAK_KEYS, BREAK_KEY_GRADIENTS, BREAK_LOSS };

typedef struct executor {
    exchange x;
    const model *weights;
    model *gradient;     /* of this rank's layers, over the ranks of its stage at the end */
    sequence *sequences; /* [samples] */
    int layers;          /* of a virtual stage */
    int virtual_stages;  /* of all stages */
    double scale;        /* 1 / tokens of the global batch */
    double loss;         /* the batch's, at the end */
    int broken;
    MPI_Request *sent;   /* [ops] */
    double **buffer;     /* [ops] what they send */
    int sends;
} executor;

/* Runs all ops of this rank; then gradients are summed over its stage's ranks and the
 * loss over all. */
void executor_run(executor *e);

#endif
