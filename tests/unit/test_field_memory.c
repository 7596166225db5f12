/*
 * test_field_memory.c - small inputs that broke other planners, kind H: what a device
 * holds, stage by stage, and what happens when it is too much.
 *
 * A plan stays within its cap, or the refusal names the smallest cap that would do and
 * is right; activations follow the packs in flight, not those of the step.
 */
#include <stdlib.h>
#include <string.h>

#include "../support/planned.h"
#include "../support/random_case.h"

/* Largest number of bytes of a kind on the device at a rank. */
static int64_t most_bytes(const planned *p, int32_t rank, int32_t kind)
{
    int32_t ops = sp_schedule_op_count(p->schedule);
    int64_t *bytes = malloc((size_t)ops * SP_MEMORY_KINDS * sizeof *bytes), most = 0;
    sp_simulation *simulation;

    assert_non_null(bytes);
    assert_int_equal(sp_simulate(p->schedule, p->model, p->device, &simulation), SP_OK);
    assert_int_equal(sp_simulation_memory(simulation, rank, bytes), SP_OK);
    for (int32_t i = 0; i < ops; i++)
        if (bytes[i * SP_MEMORY_KINDS + kind] > most)
            most = bytes[i * SP_MEMORY_KINDS + kind];
    sp_simulation_destroy(simulation);
    free(bytes);
    return most;
}

/* The cap that a refusal names: the last number of its message. */
static int64_t named_cap(void)
{
    const char *at = strstr(sp_error_message(), "the smallest cap that would do is ");

    assert_non_null(at);
    return strtoll(at + strlen("the smallest cap that would do is "), NULL, 10);
}

/* A batch on four stages whose plan wants more than 80 GB and less than 141. */
static plan_input on_a_device_of(int64_t bytes, const int64_t *lengths, int64_t count)
{
    return (plan_input){ .topology = "pp=4", .device = "h200",
                         .set = { { SP_PLANNER_MEMORY_BYTES, bytes } },
                         .count = count, .lengths = lengths };
}

static void h1_a_smaller_device_gets_a_smaller_plan_or_a_refusal(void **state)
{
    const int64_t large = INT64_C(141000000000), small = INT64_C(80000000000);
    int64_t lengths[122], named;
    plan_input in = on_a_device_of(large, lengths, 122);
    planned p;

    (void)state;
    for (int i = 0; i < 122; i++)
        lengths[i] = i == 0 ? 65536 : i == 1 ? 30000 : i < 22 ? 8000 : 500;
    p = plan_it(&in);
    assert_in_range(p.stats.peak_bytes, small + 1, large);
    planned_free(&p);
    in = on_a_device_of(small, lengths, 122);
    p = try_to_plan(&in);
    assert_int_equal(p.status, SP_ERR_INFEASIBLE);
    named = named_cap();
    assert_in_range(named, small + 1, large);
    planned_free(&p);
    in = on_a_device_of(named, lengths, 122);
    p = plan_it(&in);
    assert_true(p.stats.peak_bytes <= named);
    planned_free(&p);
}

/* The same static parts on all but for the embeddings, which the first and the last
 * stage hold: 18 bytes a parameter on one replica. Logits are the last one's. */
static void h4_every_stage_has_its_own_figures(void **state)
{
    const plan_input in = { .topology = "pp=4", LENGTHS(4000, 3000, 2000, 1000) };
    const int64_t embedding = INT64_C(18) * 32000 * 4096;
    sp_stage_view v[4];
    planned p = plan_it(&in);

    (void)state;
    for (int32_t s = 0; s < 4; s++) {
        v[s] = (sp_stage_view)SP_STAGE_VIEW_INIT;
        assert_int_equal(sp_schedule_stage(p.schedule, s, &v[s]), SP_OK);
        assert_true(v[s].peak_bytes > v[s].static_bytes);
        assert_true((most_bytes(&p, s, SP_MEMORY_LOGITS) > 0) == (s == 3));
    }
    assert_int_equal(v[1].static_bytes, v[2].static_bytes);
    assert_int_equal(v[0].static_bytes - v[1].static_bytes, embedding);
    assert_int_equal(v[3].static_bytes - v[2].static_bytes, embedding);
    planned_free(&p);
}

/* Equal samples, one a pack, 1F1B. */
static planned plan_packs(const char *topology, int32_t packs)
{
    static int64_t lengths[2048];
    const plan_input in = { .topology = topology,
                            .set = { { SP_PLANNER_POLICY, SP_POLICY_FIXED_PACK },
                                     { SP_PLANNER_MAX_PACKS, 2048 } },
                            .count = packs, .lengths = lengths };

    for (int32_t i = 0; i < packs; i++)
        lengths[i] = 100;
    return plan_it(&in);
}

static void h6_activations_of_2048_packs_are_those_of_two(void **state)
{
    planned few = plan_packs("pp=2", 2), many = plan_packs("pp=2", 2048);

    (void)state;
    assert_int_equal(few.stats.forward_packs, 2);
    assert_int_equal(many.stats.forward_packs, 2048);
    for (int32_t s = 0; s < 2; s++)
        assert_int_equal(most_bytes(&few, s, SP_MEMORY_ACTIVATIONS),
                         most_bytes(&many, s, SP_MEMORY_ACTIVATIONS));
    planned_free(&few);
    planned_free(&many);
}

/* Stage s holds the packs that its pipeline has in flight behind it. */
static void h_activations_follow_the_packs_in_flight(void **state)
{
    (void)state;
    for (int32_t pp = 1; pp <= 8; pp *= 2) {
        char topology[8] = { 'p', 'p', '=', (char)('0' + pp) };
        planned one = plan_packs(topology, 1);
        int64_t token[8];

        for (int32_t s = 0; s < pp; s++)
            token[s] = most_bytes(&one, s, SP_MEMORY_ACTIVATIONS) / 100;
        planned_free(&one);
        for (int32_t packs = 1; packs <= 61; packs += 1 + packs / 4) {
            planned p = plan_packs(topology, packs);

            for (int32_t s = 0; s < pp; s++)
                assert_int_equal(most_bytes(&p, s, SP_MEMORY_ACTIVATIONS),
                                 token[s] * 100 * (pp - s < packs ? pp - s : packs));
            planned_free(&p);
        }
    }
}

/* Under caps from what is always there to what a plan without a cap takes. */
static void h_caps_are_kept_or_refused_with_one_that_would_do(void **state)
{
    static const char *const topologies[] = { "pp=2", "dp=2 pp=4", "cp=2 pp=2", "dp=2" };
    uint64_t seed = 23;
    int kept = 0, refused = 0;

    (void)state;
    for (int i = 0; i < 200; i++) {
        int64_t lengths[8], least = 0, named;
        plan_input in = { .topology = topologies[i % 4],
                          .set = { { SP_PLANNER_MAX_PACKS, 1 + i % 24 },
                                   { SP_PLANNER_MEMORY_BYTES, 0 } },
                          .count = 8, .lengths = lengths };
        planned p;

        for (int j = 0; j < 8; j++)
            lengths[j] = 1 + random_below(&seed, j == 0 ? 9000 : 900);
        p = plan_it(&in);
        for (int32_t rank = 0; rank < sp_topology_size(p.topology); rank++) {
            sp_stage_view v = SP_STAGE_VIEW_INIT;

            assert_int_equal(sp_schedule_stage(p.schedule, rank, &v), SP_OK);
            least = v.static_bytes > least ? v.static_bytes : least;
        }
        in.set[1].value = least + (p.stats.peak_bytes - least) * (1 + i % 8) / 8;
        planned_free(&p);
        p = try_to_plan(&in);
        if (p.status == SP_OK) {
            kept++;
            assert_true(p.stats.peak_bytes <= in.set[1].value);
            planned_free(&p);
            continue;
        }
        refused++;
        assert_int_equal(p.status, SP_ERR_INFEASIBLE);
        named = named_cap();
        assert_true(named > in.set[1].value);
        planned_free(&p);
        in.set[1].value = named;
        p = plan_it(&in);
        assert_true(p.stats.peak_bytes <= named);
        planned_free(&p);
    }
    assert_true(kept > 0 && refused > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(h1_a_smaller_device_gets_a_smaller_plan_or_a_refusal),
        cmocka_unit_test(h4_every_stage_has_its_own_figures),
        cmocka_unit_test(h6_activations_of_2048_packs_are_those_of_two),
        cmocka_unit_test(h_activations_follow_the_packs_in_flight),
        cmocka_unit_test(h_caps_are_kept_or_refused_with_one_that_would_do),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
