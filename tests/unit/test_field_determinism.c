/*
 * test_field_determinism.c - small inputs that broke other planners, kind J: the same
 * plan whatever the threads, the process and its surroundings; memory that grows with
 * the samples; degrees and sizes that divide nothing.
 *
 * Called with an argument the program is a child: it writes the bytes of its plans to
 * standard output, planned by as many threads, for its parent to compare.
 */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/personality.h>
#endif

#include "../support/planned.h"
#include "../support/random_case.h"
#include "../support/round_trip.h"

enum { CHILD_CASES = 60, MOST_BYTES = 1 << 24 };

static char *program;

/* Allocator hooks that count what is held; a size stands before each block. */
typedef struct counted {
    sp_allocator hooks;
    int64_t held, most;
} counted;

typedef union block_head {
    size_t size;
    max_align_t aligned;
} block_head;

static void *counted_alloc(void *ctx, size_t size)
{
    block_head *head = malloc(sizeof *head + size);
    counted *c = ctx;

    if (head == NULL)
        return NULL;
    head->size = size;
    c->held += (int64_t)size;
    c->most = c->held > c->most ? c->held : c->most;
    return head + 1;
}

static void counted_free(void *ctx, void *ptr)
{
    block_head *head = (block_head *)ptr - 1;
    counted *c = ctx;

    c->held -= (int64_t)head->size;
    free(head);
}

/* Most bytes while a long tail of samples, the longest 1310 times the shortest, is
 * planned; planner, batch and schedule included. */
static int64_t memory_of(int64_t samples)
{
    counted c = { { sizeof(sp_allocator), counted_alloc, counted_free, &c }, 0, 0 };
    int64_t *lengths = malloc((size_t)samples * sizeof *lengths);
    uint64_t seed = 41;
    sp_topology *topology;
    sp_schedule *schedule;
    sp_planner *planner;
    sp_device *device;
    sp_model *model;
    sp_batch *batch;

    assert_non_null(lengths);
    for (int64_t i = 0; i < samples; i++)
        lengths[i] = i % 1000 == 0 ? 131000 : 100 + random_below(&seed, 900);
    assert_int_equal(sp_topology_parse("dp=8 pp=4", &topology), SP_OK);
    assert_int_equal(sp_model_create("llama2-7b", NULL, &model), SP_OK);
    assert_int_equal(sp_device_create("ideal", NULL, &device), SP_OK);
    assert_int_equal(sp_planner_create(topology, model, device, &c.hooks, &planner), SP_OK);
    assert_int_equal(sp_batch_create(lengths, samples, &c.hooks, &batch), SP_OK);
    assert_int_equal(sp_plan_batch(planner, batch, &schedule), SP_OK);
    sp_schedule_destroy(schedule);
    sp_batch_destroy(batch);
    sp_planner_destroy(planner);
    sp_device_destroy(device);
    sp_model_destroy(model);
    sp_topology_destroy(topology);
    free(lengths);
    assert_int_equal(c.held, 0);
    return c.most;
}

static void j1_memory_grows_no_faster_than_the_samples(void **state)
{
    (void)state;
    assert_true(memory_of(100000) <= 10 * memory_of(10000));
}

static unsigned char *bytes_by_threads(int64_t threads, size_t *size)
{
    static int64_t lengths[300];
    const plan_input in = { .topology = "dp=8 pp=2",
                            .set = { { SP_PLANNER_THREADS, threads },
                                     { SP_PLANNER_EFFORT, SP_EFFORT_THOROUGH } },
                            .count = 300, .lengths = lengths };
    unsigned char *bytes;
    uint64_t seed = 43;
    planned p;

    for (int i = 0; i < 300; i++)
        lengths[i] = 1 + random_below(&seed, i % 30 == 0 ? 30000 : 2000);
    p = plan_it(&in);
    bytes = encoded(p.schedule, SP_ALL_RANKS, size);
    planned_free(&p);
    return bytes;
}

static void j3_one_thread_and_eight_give_the_same_bytes(void **state)
{
    size_t size[2];
    unsigned char *one = bytes_by_threads(1, &size[0]), *eight = bytes_by_threads(8, &size[1]);

    (void)state;
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(one, eight, size[0]);
    free(one);
    free(eight);
}

static void j5_degrees_may_be_no_powers_of_two(void **state)
{
    const plan_input in = { .topology = "dp=3 cp=2", LENGTHS(100000, 30) };
    planned p = plan_it(&in);
    sp_merge_view merge = SP_MERGE_VIEW_INIT;

    (void)state;
    assert_int_equal(sp_schedule_merge(p.schedule, 0, &merge), SP_OK);
    assert_int_equal(merge.replicas, 3);
    planned_free(&p);
}

/* Four samples where eight may share a pack are one pack; ten in fours are three, and
 * counts that contradict each other are named. */
static void j7_packs_may_be_larger_than_the_batch_and_divide_nothing(void **state)
{
    const plan_input one = { .topology = "dp=1",
                             .set = { { SP_PLANNER_MAX_PACK_SAMPLES, 8 },
                                      { SP_PLANNER_FORWARD_PACKS, 1 },
                                      { SP_PLANNER_BACKWARD_PACKS, 1 } },
                             LENGTHS(5, 5, 5, 5) };
    const plan_input three = { .topology = "dp=1",
                               .set = { { SP_PLANNER_MAX_PACK_SAMPLES, 4 },
                                        { SP_PLANNER_SLICING, 0 },
                                        { SP_PLANNER_FORWARD_PACKS, 3 },
                                        { SP_PLANNER_BACKWARD_PACKS, 3 } },
                               LENGTHS(5, 5, 5, 5, 5, 5, 5, 5, 5, 5) };
    const plan_input odd = { .topology = "dp=1",
                             .set = { { SP_PLANNER_FORWARD_PACKS, 10 },
                                      { SP_PLANNER_PACK_GROUP, 4 } },
                             LENGTHS(5, 5, 5, 5) };
    planned p = plan_it(&one);

    (void)state;
    assert_int_equal(slices_of(&p, 0, SP_FORWARD, 0).count, 4);
    planned_free(&p);
    p = plan_it(&three);
    assert_int_equal(filled_packs(&p, 0, SP_FORWARD), 3);
    planned_free(&p);
    p = try_to_plan(&odd);
    assert_int_equal(p.status, SP_ERR_INVALID);
    assert_string_equal(sp_error_message(), "forward_packs: 10 is no multiple of pack_group 4");
    planned_free(&p);
}

/* Writes the plans of random cases, or why there is none; 0, or -1 on failure. */
static int write_plans(FILE *to, int64_t threads)
{
    for (uint64_t seed = 0; seed < CHILD_CASES; seed++) {
        static random_case c;
        sp_schedule *schedule = NULL;
        case_handles h;
        size_t size = 0;
        void *bytes = NULL;

        random_case_make(seed, CASE_SMALL, &c);
        if (random_case_open(&c, &h) != SP_OK)
            return -1;
        sp_planner_set(h.planner, SP_PLANNER_THREADS, threads);
        if (sp_plan_batch(h.planner, h.batch, &schedule) != SP_OK)
            fprintf(to, "%s\n", sp_error_message());
        else if (sp_schedule_encode(schedule, SP_ALL_RANKS, NULL, 0, &size) == SP_OK &&
                 (bytes = malloc(size)) != NULL &&
                 sp_schedule_encode(schedule, SP_ALL_RANKS, bytes, size, &size) == SP_OK)
            fwrite(bytes, 1, size, to);
        free(bytes);
        sp_schedule_destroy(schedule);
        random_case_close(&h);
    }
    return fflush(to);
}

/* What a process does with the argument: its locale is that of its environment. */
static int run_child(const char *threads)
{
    setlocale(LC_ALL, "");
    return write_plans(stdout, strtoll(threads, NULL, 10)) != 0;
}

/* Starts this program anew, at addresses as the kernel draws them or, where it may, at
 * the same as ever. */
static void become_child(int fd, char *threads, char *const environment[], int fixed)
{
    char *const arguments[] = { program, threads, NULL };

#ifdef __linux__
    if (fixed)
        personality(ADDR_NO_RANDOMIZE); /* refused in some containers: then as drawn */
#endif
    (void)fixed;
    if (dup2(fd, STDOUT_FILENO) >= 0)
        execve(program, arguments, environment);
    _exit(127);
}

/* All that a child with these surroundings writes, to be freed. */
static unsigned char *from_child(char *threads, char *const environment[], int fixed,
                                 size_t *size)
{
    unsigned char *bytes = malloc(MOST_BYTES);
    int fd[2], status;
    ssize_t got;
    pid_t child;

    assert_non_null(bytes);
    assert_int_equal(pipe(fd), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0)
        become_child(fd[1], threads, environment, fixed);
    close(fd[1]);
    for (*size = 0; (got = read(fd[0], bytes + *size, MOST_BYTES - *size)) > 0;)
        *size += (size_t)got;
    close(fd[0]);
    assert_true(waitpid(child, &status, 0) == child);
    assert_int_equal(status, 0);
    assert_true(*size > 0 && *size < MOST_BYTES);
    return bytes;
}

static void j_processes_give_the_same_bytes(void **state)
{
    static char *const plain[] = { "LC_ALL=C", NULL };
    static char *const german[] = { "LC_ALL=de_DE.UTF-8", "LANGUAGE=de", "TZ=Asia/Tokyo", NULL };
    static char *const turkish[] = {"LC_ALL=tr_TR.UTF-8", "MALLOC_PERTURB_=165",
                                    "OMP_NUM_THREADS=3", "SLIMPACK_CASES=1", NULL};
    static const struct {
        char *threads;
        char *const *environment;
        int fixed;
    } ways[] = { { "1", plain, 1 },   { "1", plain, 0 },  { "4", german, 0 },
                 { "2", turkish, 0 }, { "8", german, 1 }, { "1", turkish, 0 } };
    size_t size, first_size;
    unsigned char *first = from_child("1", (char *const[]){ NULL }, 0, &first_size);

    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        unsigned char *bytes = from_child(ways[i].threads, ways[i].environment, ways[i].fixed,
                                          &size);

        assert_int_equal(size, first_size);
        assert_memory_equal(bytes, first, size);
        free(bytes);
    }
    free(first);
}

/* Samples of a replica that cost the same run by increasing index. */
static void j_equal_costs_are_broken_by_index(void **state)
{
    static const char *const topologies[] = { "dp=1", "dp=2", "dp=3", "dp=2 pp=2" };
    uint64_t seed = 47;

    (void)state;
    for (int i = 0; i < 300; i++) {
        int64_t lengths[24], kinds = 1 + i / 4 % 4;
        const plan_input in = { .topology = topologies[i % 4],
                                .set = { { SP_PLANNER_MERGES, 0 },
                                         { SP_PLANNER_MAX_PACKS, 2 + i % 11 } },
                                .count = 1 + i % 24, .lengths = lengths };
        planned p;

        for (int64_t j = 0; j < in.count; j++)
            lengths[j] = 1 + 6 * random_below(&seed, kinds);
        p = plan_it(&in);
        for (int32_t r = 0; r < (i % 4 == 2 ? 3 : i % 4 == 0 ? 1 : 2); r++) {
            int32_t last[4] = { -1, -1, -1, -1 };

            for (int32_t k = 0; k < p.stats.forward_packs; k++) {
                sp_slice_view v = slices_of(&p, r, SP_FORWARD, k);

                for (int32_t j = 0; j < v.count; j++) {
                    int32_t *before = &last[(lengths[v.sample[j]] - 1) / 6];

                    assert_true(v.sample[j] >= *before);
                    *before = v.sample[j];
                }
            }
        }
        planned_free(&p);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(j1_memory_grows_no_faster_than_the_samples),
        cmocka_unit_test(j3_one_thread_and_eight_give_the_same_bytes),
        cmocka_unit_test(j5_degrees_may_be_no_powers_of_two),
        cmocka_unit_test(j7_packs_may_be_larger_than_the_batch_and_divide_nothing),
        cmocka_unit_test(j_processes_give_the_same_bytes),
        cmocka_unit_test(j_equal_costs_are_broken_by_index),
    };

    program = argv[0];
    return argc > 1 ? run_child(argv[1]) : cmocka_run_group_tests(tests, NULL, NULL);
}
