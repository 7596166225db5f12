/*
 * fuzz_topology.c - text that users write: topologies, names and values of parameters.
 *
 * Each line of the input is parsed as a topology, looked up as a preset and a policy,
 * and taken as name=value for the planner, the model and the device.
 *
 * Invariants: ranks and coordinates of a topology are each other's inverse; a value
 * within the bounds of its row is set and read again, another is refused and changes
 * nothing; every refusal says why.
 */
#include "fuzz.h"

#include <inttypes.h>

typedef struct handles {
    sp_planner *planner;
    sp_model *model;
    sp_device *device;
} handles;

static sp_status set(const handles *h, int table, int32_t key, int64_t value)
{
    return table == 0   ? sp_planner_set(h->planner, key, value)
           : table == 1 ? sp_model_set(h->model, key, value)
                        : sp_device_set(h->device, key, value);
}

static sp_status get(const handles *h, int table, int32_t key, int64_t *value)
{
    return table == 0   ? sp_planner_get(h->planner, key, value)
           : table == 1 ? sp_model_get(h->model, key, value)
                        : sp_device_get(h->device, key, value);
}

static void check_rank(const sp_topology *topology, const sp_coordinates *degrees, int32_t rank)
{
    sp_coordinates at = SP_COORDINATES_INIT;
    int32_t back = -1;

    REQUIRE(sp_topology_coordinates(topology, rank, &at) == SP_OK, "rank %" PRId32, rank);
    REQUIRE(at.dp >= 0 && at.dp < degrees->dp && at.tp >= 0 && at.tp < degrees->tp &&
            at.pp >= 0 && at.pp < degrees->pp && at.cp >= 0 && at.cp < degrees->cp,
            "rank %" PRId32, rank);
    REQUIRE(sp_topology_rank(topology, &at, &back) == SP_OK && back == rank,
            "rank %" PRId32 " comes back as %" PRId32, rank, back);
}

/* All ranks of a small topology, some of a large one. */
static void check_topology(const sp_topology *topology)
{
    sp_coordinates degrees = SP_COORDINATES_INIT, at = SP_COORDINATES_INIT;
    int32_t size = sp_topology_size(topology), step = size / 64 + 1, rank = size - 1;

    REQUIRE(sp_topology_degrees(topology, &degrees) == SP_OK, "%s", sp_error_message());
    REQUIRE((int64_t)degrees.dp * degrees.tp * degrees.pp * degrees.cp == size, "%" PRId32, size);
    for (; rank >= 0; rank -= step)
        check_rank(topology, &degrees, rank);
    REQUIRE(sp_topology_coordinates(topology, size, &at) == SP_ERR_RANGE, "%" PRId32, size);
    REQUIRE(sp_topology_rank(topology, &degrees, &rank) == SP_ERR_RANGE, "one past the last");
}

static void read_topology(const char *line)
{
    sp_topology *topology = NULL;
    sp_status status = sp_topology_parse(line, &topology);

    fuzz_message(status);
    if (status == SP_OK)
        check_topology(topology);
    REQUIRE((status == SP_OK) == (topology != NULL), "%s", sp_status_name(status));
    sp_topology_destroy(topology);
}

/* Presets and policies go by name alone. */
static void read_name(const char *line)
{
    sp_model *model = NULL;
    sp_device *device = NULL;
    int32_t policy = -1;

    fuzz_message(sp_model_create(line, NULL, &model));
    fuzz_message(sp_device_create(line, NULL, &device));
    if (sp_policy_find(line, &policy) == SP_OK)
        REQUIRE(strcmp(sp_policy_name(policy), line) == 0, "policy %" PRId32, policy);
    sp_model_destroy(model);
    sp_device_destroy(device);
}

static void check_setting(const handles *h, int table, int32_t key, const char *name, int64_t value)
{
    sp_param_info info = SP_PARAM_INFO_INIT;
    int64_t before = 0, after = 0;
    int32_t row = 0, fits;

    while (fuzz_tables[table].info(row, &info) == SP_OK && info.key != key)
        row++;
    REQUIRE(info.key == key && strcmp(info.name, name) == 0, "key %" PRId32, key);
    REQUIRE(get(h, table, key, &before) == SP_OK, "key %" PRId32, key);
    fits = value >= info.minimum && value <= info.maximum;
    REQUIRE(set(h, table, key, value) == (fits ? SP_OK : SP_ERR_RANGE), "%s=%" PRId64, name, value);
    before = fits ? value : before;
    REQUIRE(get(h, table, key, &after) == SP_OK && after == before, "%s: %" PRId64, name, after);
}

static void read_setting(const handles *h, char *line)
{
    char *equals = strchr(line, '=');
    int64_t value = equals != NULL ? strtoll(equals + 1, NULL, 10) : 0;

    if (equals != NULL)
        *equals = '\0';
    for (int table = 0; table < 3; table++) {
        int32_t key = 0;
        sp_status status = fuzz_tables[table].find(line, &key);

        fuzz_message(status);
        REQUIRE(status == SP_OK || (status == SP_ERR_NAME && key == 0), "%s", line);
        if (status == SP_OK)
            check_setting(h, table, key, line, value);
        set(h, table, (int32_t)value, value); /* any key, too */
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    sp_topology *topology;
    handles h;

    REQUIRE(text != NULL && sp_topology_parse("", &topology) == SP_OK &&
            sp_model_create("llama2-7b", NULL, &h.model) == SP_OK &&
            sp_device_create("h100", NULL, &h.device) == SP_OK &&
            sp_planner_create(topology, h.model, h.device, NULL, &h.planner) == SP_OK, "%s",
            sp_error_message());
    memcpy(text, data, size);
    text[size] = '\0';
    for (char *line = text, *end; *line != '\0'; line = end) {
        end = line + strcspn(line, "\n");
        end += *end != '\0' ? (*end = '\0', 1) : 0;
        read_topology(line);
        read_name(line);
        read_setting(&h, line);
    }
    sp_planner_destroy(h.planner);
    sp_device_destroy(h.device);
    sp_model_destroy(h.model);
    sp_topology_destroy(topology);
    free(text);
    return 0;
}
