/*
 * transformer.h - a small causal transformer, token by token, in double precision.
 *
 * RMSNorm, grouped-query attention with rotary positions, SwiGLU, cross-entropy. A
 * layer is cut where a plan cuts it: what one token needs of others is its keys and
 * values alone, so there are three steps forward and three backward:
 *
 *     project   x -> q, k, v             all tokens of a pack, then K and V are shared
 *     attend    q, K, V[0, pos] -> o     each token looks at its sample's prefix
 *     finish    o, x -> y                output projection, MLP
 *
 * What backward needs of a token is saved with the token, so that it may run in other
 * company than forward. Knows nothing of plans, packs or processes.
 */
#ifndef TRANSFORMER_H
#define TRANSFORMER_H

enum {
    HIDDEN = 16,
    HEADS = 4,
    KV_HEADS = 2,
    HEAD_DIM = 4,
    FFN = 24,
    VOCAB = 13,
    Q_WIDTH = HEADS * HEAD_DIM,
    KV_WIDTH = KV_HEADS * HEAD_DIM
};

/* Weights of a layer, or their gradients. */
typedef struct layer {
    double norm1[HIDDEN];
    double wq[HIDDEN][Q_WIDTH], wk[HIDDEN][KV_WIDTH], wv[HIDDEN][KV_WIDTH];
    double wo[Q_WIDTH][HIDDEN];
    double norm2[HIDDEN];
    double gate[HIDDEN][FFN], up[HIDDEN][FFN], down[FFN][HIDDEN];
} layer;

/* Weights before the first and behind the last layer, or their gradients. */
typedef struct ends {
    double embedding[VOCAB][HIDDEN];
    double norm[HIDDEN];
    double head[HIDDEN][VOCAB];
} ends;

typedef struct model {
    int layers;
    ends ends;
    layer layer[]; /* [layers] */
} model;

/* What a layer saves of a token for its backward. */
typedef struct saved {
    double x[HIDDEN];     /* input */
    double q[Q_WIDTH];    /* rotated */
    double o[Q_WIDTH];    /* output of attention */
    double lse[HEADS];    /* log of the sum of exponentials: softmax statistics */
    double mid[HIDDEN];   /* between attention and MLP */
} saved;

/* Key and value of a token, or their gradients. */
typedef struct key_value {
    double k[KV_WIDTH]; /* rotated */
    double v[KV_WIDTH];
} key_value;

/* All zeros, or small numbers that the seed gives; free() it. */
model *model_create(int layers, unsigned seed);

void project(const layer *w, const double x[HIDDEN], int pos, saved *s, key_value *own);
void attend(const key_value *cache, int pos, saved *s);
void finish(const layer *w, saved *s, double y[HIDDEN]);

/* dy -> gradient of mid; and of o. */
void finish_backward(const layer *w, layer *gradient, const saved *s, const double dy[HIDDEN],
                     double dmid[HIDDEN], double d_o[Q_WIDTH]);

/* Adds to the gradients of all keys and values of the prefix; gives that of q. */
void attend_backward(const key_value *cache, key_value *dcache, int pos, const saved *s,
                     const double d_o[Q_WIDTH], double dq[Q_WIDTH]);

/* Takes the complete gradient of the token's own key and value. */
void project_backward(const layer *w, layer *gradient, int pos, const saved *s,
                      const double dq[Q_WIDTH], const key_value *own, const double dmid[HIDDEN],
                      double dx[HIDDEN]);

/* Cross-entropy of a token, times scale. */
double loss(const ends *w, const double x[HIDDEN], int target, double scale);
void loss_backward(const ends *w, ends *gradient, const double x[HIDDEN], int target,
                   double scale, double dx[HIDDEN]);

/* Text without meaning: the token at a place of a sample, and the one to predict. */
int token_at(int sample, int pos);
int target_at(int sample, int pos);

#endif
