/*
 * test_builder_memory.c - the builder when memory fails, and when it is destroyed.
 */
#include "../support/expect.h"
#include "../support/failing_alloc.h"
#include "../support/small_plan.h"

/* What to do when a part cannot be added. */
enum { STOP, KEEP_ON, REPEAT };

/* Tells a builder all parts of a plan; gives the first failure. */
static sp_status add_small_plan(sp_builder *b, const small_plan *p, int then)
{
    sp_status status = SP_OK;

#define STEP(call)                                   \
    do {                                             \
        sp_status here = (call);                     \
        if (here != SP_OK && then == STOP)           \
            return here;                             \
        if (here != SP_OK && then == REPEAT)         \
            assert_int_equal((call), SP_OK);         \
        status = status == SP_OK ? here : status;    \
    } while (0)
    STEP(sp_builder_set_alignment(b, p->alignment));
    for (int32_t g = 0; g < p->merges; g++)
        STEP(sp_builder_add_merge(b, p->merge[g][0], p->merge[g][1], p->merge[g][2]));
    for (int32_t r = 0; r < p->dp; r++) {
        for (int pass = 0; pass < 2; pass++)
            for (int32_t k = 0; k < p->packs[r][pass]; k++) {
                const small_pack *pack = &p->pack[r][pass][k];

                STEP(sp_builder_add_pack(b, r, pass, pack->merge, pack->slices,
                                         &pack->slice[0].sample));
                STEP(sp_builder_add_shards(b, r, pass, 0, pack->shards[0],
                                           &pack->shard[0][0].sample));
            }
        for (int32_t s = 0; s < p->pp; s++)
            for (int32_t i = 0; i < p->ops[r][s]; i++) {
                const small_op *op = &p->op[r][s][i];

                STEP(sp_builder_add_op(b, r, s, op->pass, op->pack, 0, op->start, op->end));
            }
    }
#undef STEP
    return status;
}

typedef struct small_inputs {
    small_plan plan;
    sp_topology *topology;
    sp_batch *batch;
} small_inputs;

static small_inputs open_small(void)
{
    small_inputs in = { .plan = small_plan_of_two_stages() };

    assert_int_equal(sp_topology_parse(in.plan.topology, &in.topology), SP_OK);
    assert_int_equal(sp_batch_create(in.plan.length, in.plan.samples, NULL, &in.batch), SP_OK);
    return in;
}

static void close_small(small_inputs *in)
{
    sp_batch_destroy(in->batch);
    sp_topology_destroy(in->topology);
}

static sp_status build_with(const small_inputs *in, failing_alloc *memory, sp_schedule **out)
{
    sp_builder *b = NULL;
    sp_status status = sp_builder_create(in->topology, in->batch, &memory->hooks, &b);

    if (status != SP_OK) {
        assert_null(b);
        return status;
    }
    status = add_small_plan(b, &in->plan, STOP);
    if (status == SP_OK)
        status = sp_builder_finish(b, out);
    sp_builder_destroy(b);
    return status;
}

static void building_survives_each_failed_allocation(void **state)
{
    small_inputs in = open_small();
    failing_alloc memory;

    (void)state;
    for (int64_t n = 0;; n++) {
        sp_schedule *s = NULL;
        sp_status status;

        failing_alloc_init(&memory, n);
        status = build_with(&in, &memory, &s);
        if (status == SP_OK) {
            sp_schedule_destroy(s);
            assert_int_equal(memory.live, 0);
            assert_true(n > 30);
            break;
        }
        assert_int_equal(status, SP_ERR_MEMORY);
        assert_string_equal(sp_error_message(), OUT_OF_MEMORY);
        assert_null(s);
        assert_int_equal(memory.live, 0);
    }
    close_small(&in);
}

/* Makes a builder and tells it all parts, of which the n-th allocation fails. */
static sp_status add_but_fail(const small_inputs *in, int64_t n, int then, failing_alloc *memory,
                              sp_builder **b)
{
    sp_status lost;

    failing_alloc_init(memory, NEVER_FAIL);
    assert_int_equal(sp_builder_create(in->topology, in->batch, &memory->hooks, b), SP_OK);
    memory->fail_at = memory->asked + n;
    lost = add_small_plan(*b, &in->plan, then);
    memory->fail_at = NEVER_FAIL;
    return lost;
}

/* A caller that goes on after a failure gets a refusal, or the plan it described. */
static void a_part_that_was_lost_is_noticed_at_the_end(void **state)
{
    small_inputs in = open_small();
    int refused = 0;

    (void)state;
    for (int64_t n = 0;; n++) {
        sp_schedule *s = NULL;
        failing_alloc memory;
        sp_builder *b;
        sp_status lost = add_but_fail(&in, n, KEEP_ON, &memory, &b);

        assert_int_equal(sp_builder_finish(b, &s) == SP_OK, lost == SP_OK);
        assert_int_equal(s != NULL, lost == SP_OK);
        refused += lost != SP_OK;
        sp_schedule_destroy(s);
        sp_builder_destroy(b);
        assert_int_equal(memory.live, 0);
        if (lost == SP_OK)
            break;
    }
    assert_true(refused > 20);
    close_small(&in);
}

/* What could not be added is added by the same call later, and nothing of it twice. */
static void a_part_can_be_added_again_after_a_failure(void **state)
{
    small_inputs in = open_small();
    uint64_t digest = 0;
    int repeated = 0;

    (void)state;
    for (int64_t n = 0;; n++) {
        sp_schedule *s = NULL;
        failing_alloc memory;
        sp_builder *b;
        sp_status lost = add_but_fail(&in, n, REPEAT, &memory, &b);

        assert_int_equal(sp_builder_finish(b, &s), SP_OK);
        digest = digest == 0 ? sp_schedule_digest(s) : digest;
        assert_true(sp_schedule_digest(s) == digest);
        repeated += lost == SP_ERR_MEMORY;
        sp_schedule_destroy(s);
        sp_builder_destroy(b);
        assert_int_equal(memory.live, 0);
        if (lost == SP_OK)
            break;
    }
    assert_true(repeated > 20);
    close_small(&in);
}

static void a_builder_can_finish_twice_and_be_destroyed_before_its_schedules(void **state)
{
    small_inputs in = open_small();
    sp_schedule *one, *two;
    sp_builder *b;

    (void)state;
    assert_int_equal(sp_builder_create(in.topology, in.batch, NULL, &b), SP_OK);
    assert_int_equal(add_small_plan(b, &in.plan, STOP), SP_OK);
    close_small(&in);
    assert_int_equal(sp_builder_finish(b, &one), SP_OK);
    assert_int_equal(sp_builder_finish(b, &two), SP_OK);
    sp_builder_destroy(b);
    assert_true(sp_schedule_digest(one) == sp_schedule_digest(two));
    sp_schedule_destroy(one);
    assert_int_equal(sp_schedule_check(two), SP_OK);
    sp_schedule_destroy(two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(building_survives_each_failed_allocation),
        cmocka_unit_test(a_part_that_was_lost_is_noticed_at_the_end),
        cmocka_unit_test(a_part_can_be_added_again_after_a_failure),
        cmocka_unit_test(a_builder_can_finish_twice_and_be_destroyed_before_its_schedules),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
