/*
 * checker_parts.h - what the files of the checker share. Each part checks one
 * thing and may rely on those that check_plan() runs before it.
 */
#ifndef TESTS_SUPPORT_CHECKER_PARTS_H
#define TESTS_SUPPORT_CHECKER_PARTS_H

#include "checker.h"

typedef struct checker {
    plain_plan *plan;
    const check_limits *limits;
    const int64_t *lengths; /* [n] */
    int64_t n;
    char *why;
    size_t why_size;
} checker;

/* A piece with the one who holds it. */
typedef struct held_piece {
    plain_piece piece;
    int32_t holder;
} held_piece;

/* Writes the words and returns the code. */
int check_fail(const checker *c, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#define CHECK(expression)         \
    do {                          \
        int code_ = (expression); \
        if (code_ != 0)           \
            return code_;         \
    } while (0)

/* Memory for the check, freed with the plan. */
#define TAKE(c, type, count) ((type *)plain_take((c)->plan, (count), sizeof(type)))

/* Sorts by sample, then start. */
void sort_pieces(held_piece *pieces, int64_t count);

static inline int64_t piece_end(const plain_piece *p)
{
    return (int64_t)p->start + p->length;
}

int check_counts(checker *c);   /* I6 */
int check_merges(checker *c);   /* I8; numbers the units of the plan */
int check_order(checker *c);    /* I2, I3 */
int check_tokens(checker *c);   /* I1 */
int check_coverage(checker *c); /* I1: slices against shards */
int check_starts(checker *c);   /* I7 */
int check_graph(checker *c);    /* I4 */
int check_memory(checker *c);   /* I5 */
int check_peers(checker *c);
int check_kept(checker *c);     /* limits */
int check_stats(checker *c);

#endif
