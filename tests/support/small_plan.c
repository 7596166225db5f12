/*
 * small_plan.c - plans of a few packs, written out by hand: see small_plan.h.
 */
#include "small_plan.h"

#include <string.h>

#define OP_PS 10 /* every op takes as long */

/* A pack of one replica with CP 1, whose shards are its slices. */
static small_pack own_pack(int32_t count, const plain_piece *slices)
{
    small_pack p = { .merge = -1, .slices = count };

    p.shards[0] = count;
    for (int32_t i = 0; i < count; i++)
        p.slice[i] = p.shard[0][i] = slices[i];
    return p;
}

#define OWN(...)                                                                          \
    own_pack((int32_t)(sizeof((plain_piece[]){ __VA_ARGS__ }) / sizeof(plain_piece)),     \
             (plain_piece[]){ __VA_ARGS__ })

static void set_pack(small_plan *plan, int32_t replica, int pass, small_pack pack)
{
    plan->pack[replica][pass][plan->packs[replica][pass]++] = pack;
}

/* A stage that runs its forward packs from a time on, then from another its
 * backward packs. */
static void run_stage(small_plan *plan, int32_t replica, int32_t stage, int64_t forward,
                      int64_t backward)
{
    int64_t at[2] = { forward, backward };

    for (int pass = 0; pass < 2; pass++)
        for (int32_t k = 0; k < plan->packs[replica][pass]; k++, at[pass] += OP_PS)
            plan->op[replica][stage][plan->ops[replica][stage]++] =
                (small_op){ pass, k, at[pass], at[pass] + OP_PS };
}

/* Sample 3 is split over both replicas: the first takes the outer chunks of each
 * slice, the second the inner ones. */
static void share_sample_three(small_plan *plan)
{
    static const small_pack first[2] = {
        { 0, 1, { { 3, 0, 32 } }, { 2, 0 }, { { { 3, 0, 8 }, { 3, 24, 8 } } } },
        { 0, 1, { { 3, 32, 32 } }, { 2, 0 }, { { { 3, 32, 8 }, { 3, 56, 8 } } } },
    };
    static const small_pack second[2] = {
        { 0, 1, { { 3, 0, 32 } }, { 1, 0 }, { { { 3, 8, 16 } } } },
        { 0, 1, { { 3, 32, 32 } }, { 1, 0 }, { { { 3, 40, 16 } } } },
    };
    static const small_pack back[2] = {
        { 0, 2, { { 3, 32, 32 }, { 3, 0, 32 } }, { 4, 0 },
          { { { 3, 56, 8 }, { 3, 32, 8 }, { 3, 24, 8 }, { 3, 0, 8 } } } },
        { 0, 2, { { 3, 32, 32 }, { 3, 0, 32 } }, { 2, 0 }, { { { 3, 40, 16 }, { 3, 8, 16 } } } },
    };

    for (int32_t k = 0; k < 2; k++) {
        set_pack(plan, 0, SP_FORWARD, first[k]);
        set_pack(plan, 1, SP_FORWARD, second[k]);
        set_pack(plan, k, SP_BACKWARD, back[k]);
    }
}

small_plan small_plan_of_two_stages(void)
{
    small_plan p = { .topology = "dp=2 pp=2", .dp = 2, .pp = 2, .cp = 1, .alignment = 8,
                     .samples = 4, .length = { 32, 8, 8, 64 }, .merges = 1,
                     .merge = { { 3, 0, 2 } }, .peak_bytes = 200, .memory_bytes = 300 };

    share_sample_three(&p);
    set_pack(&p, 0, SP_FORWARD, OWN({ 0, 0, 16 }));
    set_pack(&p, 0, SP_FORWARD, OWN({ 0, 16, 16 }));
    set_pack(&p, 0, SP_BACKWARD, OWN({ 0, 16, 16 }, { 0, 0, 16 }));
    set_pack(&p, 0, SP_BACKWARD, (small_pack){ .merge = -1 });
    set_pack(&p, 1, SP_FORWARD, OWN({ 1, 0, 8 }));
    set_pack(&p, 1, SP_FORWARD, OWN({ 2, 0, 8 }));
    set_pack(&p, 1, SP_BACKWARD, OWN({ 2, 0, 8 }));
    set_pack(&p, 1, SP_BACKWARD, OWN({ 1, 0, 8 }));
    for (int32_t r = 0; r < 2; r++) {
        run_stage(&p, r, 0, 0, 6 * OP_PS);
        run_stage(&p, r, 1, OP_PS, 5 * OP_PS);
    }
    return p;
}

small_plan small_plan_of_two_merges(void)
{
    static const small_pack pack[2][2] = { /* replica, sample */
        { { 0, 1, { { 0, 0, 16 } }, { 1, 0 }, { { { 0, 0, 8 } } } },
          { 1, 1, { { 1, 0, 16 } }, { 1, 0 }, { { { 1, 0, 8 } } } } },
        { { 0, 1, { { 0, 0, 16 } }, { 1, 0 }, { { { 0, 8, 8 } } } },
          { 1, 1, { { 1, 0, 16 } }, { 1, 0 }, { { { 1, 8, 8 } } } } },
    };
    small_plan p = { .topology = "dp=2", .dp = 2, .pp = 1, .cp = 1, .alignment = 8, .samples = 2,
                     .length = { 16, 16 }, .merges = 2, .merge = { { 0, 0, 2 }, { 1, 0, 2 } },
                     .peak_bytes = 200, .memory_bytes = 300 };

    for (int32_t r = 0; r < 2; r++) {
        for (int pass = 0; pass < 2; pass++)
            for (int32_t k = 0; k < 2; k++)
                set_pack(&p, r, pass, pack[r][k]);
        run_stage(&p, r, 0, 0, 2 * OP_PS);
    }
    return p;
}

small_plan small_plan_of_three_replicas(void)
{
    small_plan p = { .topology = "dp=3", .dp = 3, .pp = 1, .cp = 1, .alignment = 8, .samples = 3,
                     .length = { 8, 8, 8 }, .peak_bytes = 200, .memory_bytes = 300 };

    for (int32_t r = 0; r < 3; r++) {
        set_pack(&p, r, SP_FORWARD, OWN({ r, 0, 8 }));
        set_pack(&p, r, SP_BACKWARD, OWN({ r, 0, 8 }));
        run_stage(&p, r, 0, 0, OP_PS);
    }
    return p;
}

small_plan small_plan_of_two_context_ranks(void)
{
    static const small_pack pack = {
        -1, 3, { { 0, 0, 16 }, { 1, 0, 8 }, { 2, 0, 8 } }, { 3, 2 },
        { { { 0, 0, 4 }, { 0, 12, 4 }, { 1, 0, 8 } }, { { 0, 4, 8 }, { 2, 0, 8 } } }
    };
    static const small_pack back = {
        -1, 3, { { 0, 0, 16 }, { 1, 0, 8 }, { 2, 0, 8 } }, { 3, 2 },
        { { { 0, 12, 4 }, { 0, 0, 4 }, { 1, 0, 8 } }, { { 0, 4, 8 }, { 2, 0, 8 } } }
    };
    small_plan p = { .topology = "cp=2 pp=2 tp=2", .dp = 1, .pp = 2, .cp = 2, .alignment = 8,
                     .samples = 3, .length = { 16, 8, 8 }, .peak_bytes = 200,
                     .memory_bytes = INT64_MAX };

    set_pack(&p, 0, SP_FORWARD, pack);
    set_pack(&p, 0, SP_BACKWARD, back);
    run_stage(&p, 0, 0, 0, 3 * OP_PS);
    run_stage(&p, 0, 1, OP_PS, 2 * OP_PS);
    return p;
}

#define TRY(expression)                 \
    do {                                \
        sp_status status_ = (expression); \
        if (status_ != SP_OK)           \
            return status_;             \
    } while (0)

static sp_status add_pack(sp_builder *b, const small_plan *plan, int32_t replica, int pass,
                          const small_pack *pack)
{
    TRY(sp_builder_add_pack(b, replica, pass, pack->merge, pack->slices, &pack->slice[0].sample));
    for (int32_t c = 0; c < plan->cp; c++)
        TRY(sp_builder_add_shards(b, replica, pass, c, pack->shards[c], &pack->shard[c][0].sample));
    return SP_OK;
}

static sp_status add_replica(sp_builder *b, const small_plan *plan, int32_t replica)
{
    for (int pass = 0; pass < 2; pass++)
        for (int32_t k = 0; k < plan->packs[replica][pass]; k++)
            TRY(add_pack(b, plan, replica, pass, &plan->pack[replica][pass][k]));
    for (int32_t s = 0; s < plan->pp; s++) {
        for (int32_t i = 0; i < plan->ops[replica][s]; i++) {
            const small_op *op = &plan->op[replica][s][i];

            TRY(sp_builder_add_op(b, replica, s, op->pass, op->pack, 0, op->start,
                                  op->end));
        }
        TRY(sp_builder_set_memory(b, replica, s, 100, plan->peak_bytes, plan->memory_bytes));
    }
    return SP_OK;
}

static sp_status add_all(sp_builder *b, const small_plan *plan)
{
    TRY(sp_builder_set_alignment(b, plan->alignment));
    for (int32_t g = 0; g < plan->merges; g++)
        TRY(sp_builder_add_merge(b, plan->merge[g][0], plan->merge[g][1], plan->merge[g][2]));
    for (int32_t r = 0; r < plan->dp; r++)
        TRY(add_replica(b, plan, r));
    return SP_OK;
}

sp_status small_plan_build(const small_plan *plan, sp_schedule **schedule, sp_topology **topology)
{
    sp_topology *made = NULL;
    sp_builder *b = NULL;
    sp_batch *batch = NULL;
    sp_status status = sp_topology_parse(plan->topology, &made);

    if (status == SP_OK)
        status = sp_batch_create(plan->length, plan->samples, NULL, &batch);
    if (status == SP_OK)
        status = sp_builder_create(made, batch, NULL, &b);
    if (status == SP_OK)
        status = add_all(b, plan);
    if (status == SP_OK)
        status = sp_builder_finish(b, schedule);
    sp_builder_destroy(b);
    sp_batch_destroy(batch);
    if (status == SP_OK)
        *topology = made;
    else
        sp_topology_destroy(made);
    return status;
}
