/*
 * test_glpk.c - the exact assignment against a mixed-integer solver.
 *
 * GLPK is an oracle of the tests alone: its licence (GPL) must not reach the library,
 * which never sees it. Each instance is stated as a program: x[i][b] says whether item
 * i lies in bin b, and the largest load z is minimised.
 */
#include <glpk.h>
#include <stdlib.h>

#include "../support/expect.h"
#include "exact/search.h"

enum { MOST_ITEMS = 10, MOST_BINS = 4 };

typedef struct instance {
    int32_t items, bins;
    int64_t weight[MOST_ITEMS];
} instance;

/* Column of x[i][b]; column 1 is z. */
static int column(const instance *x, int32_t i, int32_t b)
{
    return 2 + i * x->bins + b;
}

static void add_columns(glp_prob *lp, const instance *x)
{
    glp_add_cols(lp, 1 + x->items * x->bins);
    glp_set_col_bnds(lp, 1, GLP_LO, 0, 0);
    glp_set_obj_coef(lp, 1, 1);
    for (int32_t i = 0; i < x->items; i++)
        for (int32_t b = 0; b < x->bins; b++)
            glp_set_col_kind(lp, column(x, i, b), GLP_BV);
}

/* Every item in one bin; every bin's load at most z. */
static void add_rows(glp_prob *lp, const instance *x)
{
    int index[2 + MOST_ITEMS];
    double value[2 + MOST_ITEMS];

    glp_add_rows(lp, x->items + x->bins);
    for (int32_t i = 0; i < x->items; i++) {
        for (int32_t b = 0; b < x->bins; b++) {
            index[1 + b] = column(x, i, b);
            value[1 + b] = 1;
        }
        glp_set_row_bnds(lp, 1 + i, GLP_FX, 1, 1);
        glp_set_mat_row(lp, 1 + i, x->bins, index, value);
    }
    for (int32_t b = 0; b < x->bins; b++) {
        for (int32_t i = 0; i < x->items; i++) {
            index[1 + i] = column(x, i, b);
            value[1 + i] = (double)x->weight[i];
        }
        index[1 + x->items] = 1;
        value[1 + x->items] = -1;
        glp_set_row_bnds(lp, 1 + x->items + b, GLP_UP, 0, 0);
        glp_set_mat_row(lp, 1 + x->items + b, x->items + 1, index, value);
    }
}

static int64_t solve(const instance *x)
{
    glp_prob *lp = glp_create_prob();
    glp_iocp options;
    int64_t best;

    glp_term_out(GLP_OFF);
    glp_set_obj_dir(lp, GLP_MIN);
    add_columns(lp, x);
    add_rows(lp, x);
    glp_init_iocp(&options);
    options.presolve = GLP_ON;
    assert_int_equal(glp_intopt(lp, &options), 0);
    best = (int64_t)(glp_mip_obj_val(lp) + 0.5);
    glp_delete_prob(lp);
    return best;
}

static int64_t search(const instance *x, sp__arena *arena)
{
    int32_t degree[MOST_ITEMS];
    sp__exact_place place[MOST_ITEMS];
    const sp__exact_problem problem = { x->weight, degree, x->items, x->bins, INT64_MAX };
    sp__exact_result result;

    for (int32_t i = 0; i < x->items; i++) {
        degree[i] = 1;
        place[i] = (sp__exact_place){ 0, 1 };
    }
    assert_int_equal(sp__exact_search(&problem, place, arena, &result), SP_OK);
    assert_int_equal(result.load, result.bound);
    return result.load;
}

static void the_search_finds_what_a_solver_proves(void **state)
{
    sp__alloc alloc;
    sp__arena arena;

    (void)state;
    srand(3);
    assert_int_equal(sp__alloc_init(&alloc, NULL), SP_OK);
    sp__arena_init(&arena, &alloc);
    for (int round = 0; round < 60; round++) {
        instance x = { .items = 4 + rand() % 7, .bins = 2 + rand() % 3 };

        x.weight[0] = 500 + rand() % 1000;
        for (int32_t i = 1; i < x.items; i++)
            x.weight[i] = 1 + rand() % x.weight[i - 1];
        assert_int_equal(search(&x, &arena), solve(&x));
    }
    sp__arena_destroy(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_search_finds_what_a_solver_proves),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
