/*
 * test_edited_plans.c - valid small plans with random edits: what the builder takes, the
 * other checker takes too, and it can be simulated.
 *
 * Edits are those that keep much of a plan right - pieces that change places, lists in
 * another order, numbers moved a little - since a plan that is wrong all over is refused
 * by the first check that looks at it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../support/checker.h"
#include "../support/expect.h"
#include "../support/random_case.h"
#include "../support/small_plan.h"

#define EDITED 200000

static small_pack *any_pack(small_plan *p, uint64_t *seed)
{
    int32_t r = (int32_t)random_below(seed, p->dp), pass = (int32_t)random_below(seed, 2);

    return &p->pack[r][pass][random_below(seed, p->packs[r][pass])];
}

/* A list of pieces: a pack's slices, or the shards of one of its ranks. */
static plain_piece *any_list(const small_plan *p, small_pack *pack, uint64_t *seed, int32_t **count)
{
    int32_t c = (int32_t)random_below(seed, p->cp + 1);

    *count = c == p->cp ? &pack->slices : &pack->shards[c];
    return c == p->cp ? pack->slice : pack->shard[c];
}

static void swap_pieces(plain_piece *a, plain_piece *b)
{
    plain_piece other = *a;

    *a = *b;
    *b = other;
}

/* The same list in another order, or a piece for one of another list. */
static void move_pieces(small_plan *p, uint64_t *seed)
{
    int32_t *count, *others;
    small_pack *pack = any_pack(p, seed);
    plain_piece *list = any_list(p, pack, seed, &count), *other = list;

    others = count;
    if (random_below(seed, 4) == 0)
        other = any_list(p, random_below(seed, 2) ? pack : any_pack(p, seed), seed, &others);
    if (*count > 0 && *others > 0)
        swap_pieces(&list[random_below(seed, *count)], &other[random_below(seed, *others)]);
}

/* One piece as two, in its own place and in any other. */
static void split_piece(small_plan *p, uint64_t *seed)
{
    int32_t *count;
    plain_piece *list = any_list(p, any_pack(p, seed), seed, &count), *piece;
    int32_t length;

    if (*count == 0 || *count == SMALL_PIECES)
        return;
    piece = &list[random_below(seed, *count)];
    if (piece->length < 0)
        return; /* by an edit before */
    length = (int32_t)random_below(seed, piece->length + 1);
    list[*count] = (plain_piece){ piece->sample, piece->start + length, piece->length - length };
    piece->length = length;
    swap_pieces(&list[random_below(seed, *count + 1)], &list[*count]);
    ++*count;
}

static void nudge(int32_t *number, uint64_t *seed)
{
    *number += (int32_t)(random_below(seed, 2) ? 1 : 8) * (random_below(seed, 2) ? 1 : -1);
}

static void nudge_piece(small_plan *p, uint64_t *seed)
{
    int32_t *count;
    plain_piece *list = any_list(p, any_pack(p, seed), seed, &count), *piece;

    if (*count == 0)
        return;
    piece = &list[random_below(seed, *count)];
    nudge(random_below(seed, 8) == 0   ? &piece->sample
          : random_below(seed, 2) == 0 ? &piece->start : &piece->length, seed);
}

static void edit_ops(small_plan *p, uint64_t *seed)
{
    int32_t r = (int32_t)random_below(seed, p->dp), s = (int32_t)random_below(seed, p->pp);
    int32_t i = (int32_t)random_below(seed, p->ops[r][s]);
    int32_t j = (int32_t)random_below(seed, p->ops[r][s]);
    small_op *a = &p->op[r][s][i], *b = &p->op[r][s][j], first = *a;

    switch (random_below(seed, 3)) {
    case 0:
        *a = (small_op){ b->pass, b->pack, first.start, first.end };
        *b = (small_op){ first.pass, first.pack, b->start, b->end };
        break;
    case 1:
        a->start += random_below(seed, 21) - 10;
        break;
    default:
        a->end += random_below(seed, 21) - 10;
    }
}

static void edit_merges(small_plan *p, uint64_t *seed)
{
    small_pack *pack = any_pack(p, seed);

    if (random_below(seed, 2) == 0)
        pack->merge = (int32_t)random_below(seed, p->merges + 1) - 1;
    else if (p->merges > 0)
        nudge(&p->merge[random_below(seed, p->merges)][random_below(seed, 3)], seed);
}

static void edit(small_plan *p, uint64_t *seed)
{
    switch (random_below(seed, 8)) {
    case 0:
        nudge_piece(p, seed);
        break;
    case 1:
        edit_ops(p, seed);
        break;
    case 2:
        edit_merges(p, seed);
        break;
    case 3:
    case 4:
        split_piece(p, seed);
        break;
    default:
        move_pieces(p, seed);
    }
}

static small_plan any_plan(uint64_t *seed)
{
    switch (random_below(seed, 4)) {
    case 0:
        return small_plan_of_two_stages();
    case 1:
        return small_plan_of_two_merges();
    case 2:
        return small_plan_of_three_replicas();
    default:
        return small_plan_of_two_context_ranks();
    }
}

static void judge(const small_plan *p, const sp_schedule *schedule, const sp_topology *topology,
                  int number)
{
    check_limits limits = CHECK_LIMITS_INIT;
    sp_simulation *simulation;
    sp_device *device;
    sp_model *model;
    char why[400];

    limits.alignment = p->alignment;
    limits.any_split = 1;
    limits.memory_bytes = p->memory_bytes;
    if (check_schedule(schedule, topology, p->length, p->samples, &limits, why, sizeof why) != 0)
        fail_msg("plan %d is taken, but %s", number, why);
    assert_int_equal(sp_schedule_check(schedule), SP_OK);
    assert_int_equal(sp_model_create("llama2-7b", NULL, &model), SP_OK);
    assert_int_equal(sp_device_create("h100", NULL, &device), SP_OK);
    if (sp_simulate(schedule, model, device, &simulation) != SP_OK)
        fail_msg("plan %d is taken, but %s", number, sp_error_message());
    sp_simulation_destroy(simulation);
    sp_device_destroy(device);
    sp_model_destroy(model);
}

static void what_is_taken_is_right(void **state)
{
    uint64_t seed = 1;
    int taken = 0, refused = 0;

    (void)state;
    for (int i = 0; i < EDITED; i++) {
        small_plan p = any_plan(&seed);
        sp_schedule *schedule;
        sp_topology *topology;
        sp_status status;

        for (int64_t edits = 1 + random_below(&seed, 4); edits > 0; edits--)
            edit(&p, &seed);
        status = small_plan_build(&p, &schedule, &topology);
        refused += status == SP_ERR_INVARIANT;
        if (status != SP_OK)
            continue;
        judge(&p, schedule, topology, i);
        sp_schedule_destroy(schedule);
        sp_topology_destroy(topology);
        taken++;
    }
    printf("%d of %d are taken, %d break an invariant\n", taken, EDITED, refused);
    assert_true(taken > EDITED / 50);
    assert_true(refused > EDITED / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_taken_is_right),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
