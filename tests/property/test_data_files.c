/*
 * test_data_files.c - plans of real length files keep their quality.
 *
 * Needs the data folder (SLIMPACK_DATA, ../shared/data when unset); skipped, and says
 * so, where that is absent. Ratios are those that the issues promise, with a margin to
 * what make bench shows.
 */
#include <stdio.h>

#include "../support/data_files.h"
#include "../support/planned.h"

enum { SAMPLES = 1024 };

static void keep_ratio(const char *topology, int64_t most_ppm)
{
    for (int f = 0; f < DATA_FILES; f++) {
        int64_t lengths[SAMPLES];
        const plan_input in = { .topology = topology, .lengths = lengths,
                                .count = data_read(data_files[f], lengths, SAMPLES) };
        planned p = plan_it(&in);

        if (p.stats.ratio_ppm > most_ppm)
            fail_msg("%s on %s: ratio %ld ppm is above %ld", data_files[f], topology,
                     (long)p.stats.ratio_ppm, (long)most_ppm);
        planned_free(&p);
    }
}

static void eight_replicas_of_four_stages_are_within_0_8_percent(void **state)
{
    (void)state;
    keep_ratio("dp=8 tp=8 pp=4", 1008000);
}

static void sixty_four_replicas_of_eight_stages_are_within_3_percent(void **state)
{
    (void)state;
    keep_ratio("dp=64 tp=8 pp=8", 1030000);
}

static void slimpack_is_faster_than_every_other_policy(void **state)
{
    int64_t lengths[SAMPLES], count = data_read("longtail-64k", lengths, SAMPLES), slimpack = 0;

    (void)state;
    for (int32_t policy = 0; sp_policy_name(policy) != NULL; policy++) {
        const plan_input in = { .topology = "dp=8 tp=8 pp=4", .device = "h100",
                                .set = { { SP_PLANNER_POLICY, policy } },
                                .count = count, .lengths = lengths };
        planned p = plan_it(&in);

        if (policy == SP_POLICY_SLIMPACK)
            slimpack = p.stats.makespan_ps;
        else
            assert_true(p.stats.makespan_ps > slimpack);
        planned_free(&p);
    }
}

static void the_256k_tail_is_planned_at_least_2_8_times_faster_than_fixed_packs(void **state)
{
    int64_t lengths[SAMPLES], count = data_read("longtail-256k", lengths, SAMPLES), time[2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        const plan_input in = { .topology = "dp=8 tp=8 pp=4", .device = "h100",
                                .set = { { SP_PLANNER_POLICY, i == 0 ? SP_POLICY_SLIMPACK
                                                                     : SP_POLICY_FIXED_PACK },
                                         { SP_PLANNER_MEMORY_BYTES, i == 0 ? 0 : INT64_MAX } },
                                .count = count, .lengths = lengths };
        planned p = plan_it(&in);

        time[i] = p.stats.makespan_ps;
        planned_free(&p);
    }
    assert_true(time[1] * 10 > time[0] * 28);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eight_replicas_of_four_stages_are_within_0_8_percent),
        cmocka_unit_test(sixty_four_replicas_of_eight_stages_are_within_3_percent),
        cmocka_unit_test(slimpack_is_faster_than_every_other_policy),
        cmocka_unit_test(the_256k_tail_is_planned_at_least_2_8_times_faster_than_fixed_packs),
    };

    if (!data_is_there()) {
        printf("[  SKIPPED ] data_files: set SLIMPACK_DATA to the folder of length files\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
