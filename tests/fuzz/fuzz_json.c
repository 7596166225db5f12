/*
 * fuzz_json.c - the plan reader behind `slimpack check`, `simulate` and `report`.
 *
 * The input is a plan file. libFuzzer changes bytes anywhere; half of the time the
 * mutator below puts another number in the place of one, so that the text stays JSON
 * and near to a plan.
 *
 * Invariants: one line says what is wrong; a plan that is read passes the independent
 * checker; the verbs end with a code of the program's.
 */
#include "fuzz_cli.h"

#include <ctype.h>

#include "cli/json.h"
#include "cli/verbs.h"

#include "../support/checker.h"

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

/* libFuzzer's; absent where replay.c drives. */
__attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

/* A number near the old one, or one at an edge. */
static int64_t other_number(int64_t old, unsigned seed)
{
    static const int64_t edges[] = { -1, 0, 1, 2, INT32_MAX, INT32_MAX + INT64_C(1), INT64_MAX };

    if (seed % 16 < 7)
        return edges[seed % 16];
    return (int64_t)((uint64_t)old + seed / 16 % 7 - 3);
}

/* Where the wanted number of a text starts, counted round; size without any. */
static size_t find_number(const uint8_t *data, size_t size, unsigned wanted)
{
    size_t numbers = 0;

    for (int round = 0; round < 2; round++) {
        size_t seen = 0;

        for (size_t i = 0; i < size; i++)
            if (isdigit(data[i]) && (i == 0 || !isalnum(data[i - 1]))) {
                if (round == 1 && seen == wanted % numbers)
                    return i;
                seen++;
            }
        if (seen == 0)
            return size;
        numbers = seen;
    }
    return size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    size_t at = find_number(data, size, seed / 256), end = at;
    int64_t old = 0;
    char text[24];
    size_t length;

    if (seed % 2 == 0 || at == size)
        return LLVMFuzzerMutate(data, size, most);
    for (; end < size && isdigit(data[end]); end++)
        old = old < INT64_MAX / 10 ? old * 10 + (data[end] - '0') : old;
    length = (size_t)snprintf(text, sizeof text, "%lld",
                              (long long)other_number(old, seed / 2 % 128));
    if (size - (end - at) + length > most)
        return LLVMFuzzerMutate(data, size, most);
    memmove(data + at + length, data + end, size - end);
    memcpy(data + at, text, length);
    return size - (end - at) + length;
}

static void check_read(const cli_plan_file *plan)
{
    check_limits limits = CHECK_LIMITS_INIT;
    char why[400] = "";

    limits.alignment = plan->note.alignment;
    limits.any_split = 1;
    limits.pad_multiple = plan->note.pad_multiple;
    /* The checker asks each rank, and a file may speak of 2^31. */
    REQUIRE(sp_topology_size(plan->topology) > 4096 ||
            check_schedule(plan->schedule, plan->topology, sp_schedule_lengths(plan->schedule),
                           sp_batch_count(plan->batch), &limits, why, sizeof why) == 0, "%s", why);
    REQUIRE(sp_schedule_check(plan->schedule) == SP_OK, "%s", sp_error_message());
}

static int read_plan(const uint8_t *data, size_t size)
{
    cli_plan_file plan;
    fuzz_cli cli;
    int code;

    fuzz_cli_begin(&cli, data, size);
    code = cli_json_read_plan("-", &plan);
    fuzz_cli_end(&cli, code);
    if (code != CLI_OK)
        return 0;
    check_read(&plan);
    cli_plan_file_close(&plan);
    return 1;
}

static void run_verb(int (*verb)(const cli_options *), const uint8_t *data, size_t size)
{
    cli_options options = { .argument = "-", .trace = "-" };
    fuzz_cli cli;
    int code;

    fuzz_cli_begin(&cli, data, size);
    code = verb(&options);
    fuzz_cli_end(&cli, code);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
#ifdef SP_HAVE_JANSSON
    if (read_plan(data, size)) {
        run_verb(cli_check, data, size);
        run_verb(cli_simulate, data, size);
        run_verb(cli_report, data, size);
    }
#else /* there is no reader */
    (void)data;
    (void)size;
    (void)read_plan;
    (void)run_verb;
#endif
    return 0;
}
