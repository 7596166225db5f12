/*
 * topology.c - parallel degrees and the numbering of global ranks.
 *
 * A rank is a mixed-radix number whose digits are the coordinates. An axis has
 * as stride the product of the degrees of all faster axes, so that rank and
 * coordinates are each other's inverse in any order. The product of the degrees
 * fits int32, hence every rank and stride does.
 */
#include "input/topology.h"

#include <inttypes.h>

#include "base/abi.h"
#include "base/first.h"
#include "base/status.h"

const char *const sp__axis_names[SP__AXES] = { "tp", "cp", "dp", "pp" };

static sp_status check_degrees(const int32_t degree[SP__AXES])
{
    int64_t size = 1;

    for (int axis = 0; axis < SP__AXES; axis++)
        if (degree[axis] < 1)
            return sp__fail(SP_ERR_RANGE, "%s: %" PRId32 " is below 1", sp__axis_names[axis],
                            degree[axis]);
    for (int axis = 0; axis < SP__AXES; axis++) {
        size *= degree[axis]; /* both below 2^31 */
        if (size > INT32_MAX)
            return sp__fail(SP_ERR_OVERFLOW, "dp %" PRId32 " * tp %" PRId32 " * pp %" PRId32
                            " * cp %" PRId32 " ranks are above %" PRId32, degree[SP__DP],
                            degree[SP__TP], degree[SP__PP], degree[SP__CP], INT32_MAX);
    }
    return SP_OK;
}

sp_status sp__topology_make(const int32_t degree[SP__AXES], const int order[SP__AXES],
                            const sp_allocator *allocator, sp_topology **out)
{
    sp_topology *topology;
    int32_t stride = 1;
    sp__alloc alloc;

    SP_TRY(check_degrees(degree));
    SP_TRY(sp__alloc_init(&alloc, allocator));
    topology = sp__alloc_array(&alloc, 1, sizeof *topology);
    if (topology == NULL)
        return sp__fail_memory();
    topology->alloc = alloc;
    for (int i = 0; i < SP__AXES; i++) {
        int axis = order[i];

        topology->shape.degree[axis] = degree[axis];
        topology->shape.stride[axis] = stride;
        stride *= degree[axis];
    }
    topology->shape.size = stride;
    *out = topology;
    return SP_OK;
}

sp_status sp_topology_create(int32_t dp, int32_t tp, int32_t pp, int32_t cp,
                             const sp_allocator *allocator, sp_topology **out)
{
    static const int order[SP__AXES] = { SP__TP, SP__CP, SP__DP, SP__PP };
    int32_t degree[SP__AXES];

    if (out == NULL)
        return sp__fail_null("out");
    degree[SP__DP] = dp;
    degree[SP__TP] = tp;
    degree[SP__PP] = pp;
    degree[SP__CP] = cp;
    return sp__topology_make(degree, order, allocator, out);
}

void sp_topology_destroy(sp_topology *topology)
{
    sp__alloc alloc;

    if (topology == NULL)
        return;
    alloc = topology->alloc;
    sp__free(&alloc, topology);
}

int32_t sp_topology_size(const sp_topology *topology)
{
    return topology->shape.size;
}

/* Hands four numbers by axis to the caller. */
static sp_status give(const int32_t by_axis[SP__AXES], sp_coordinates *out)
{
    sp_coordinates row = SP_COORDINATES_INIT;

    row.dp = by_axis[SP__DP];
    row.tp = by_axis[SP__TP];
    row.pp = by_axis[SP__PP];
    row.cp = by_axis[SP__CP];
    return sp__struct_out(out, &row, sizeof row, SP__FIRST_COORDINATES, "out");
}

sp_status sp_topology_degrees(const sp_topology *topology, sp_coordinates *out)
{
    if (topology == NULL)
        return sp__fail_null("topology");
    return give(topology->shape.degree, out);
}

sp_status sp_topology_coordinates(const sp_topology *topology, int32_t rank, sp_coordinates *out)
{
    int32_t index[SP__AXES];

    if (topology == NULL)
        return sp__fail_null("topology");
    SP_TRY(sp__struct_ready(out, SP__FIRST_COORDINATES, "out"));
    if (rank < 0 || rank >= topology->shape.size)
        return sp__fail(SP_ERR_RANGE, "rank: %" PRId32 " is outside 0 to %" PRId32, rank,
                        topology->shape.size - 1);
    for (int axis = 0; axis < SP__AXES; axis++)
        index[axis] = sp__shape_index(&topology->shape, axis, rank);
    return give(index, out);
}

sp_status sp_topology_rank(const sp_topology *topology, const sp_coordinates *at, int32_t *rank)
{
    sp_coordinates known = SP_COORDINATES_INIT;
    int32_t index[SP__AXES];

    if (topology == NULL)
        return sp__fail_null("topology");
    if (rank == NULL)
        return sp__fail_null("rank");
    SP_TRY(sp__struct_in(&known, sizeof known, SP__FIRST_COORDINATES, at, "at"));
    index[SP__DP] = known.dp;
    index[SP__TP] = known.tp;
    index[SP__PP] = known.pp;
    index[SP__CP] = known.cp;
    for (int axis = 0; axis < SP__AXES; axis++)
        if (index[axis] < 0 || index[axis] >= topology->shape.degree[axis])
            return sp__fail(SP_ERR_RANGE, "%s: %" PRId32 " is outside 0 to %" PRId32,
                            sp__axis_names[axis], index[axis], topology->shape.degree[axis] - 1);
    *rank = sp__shape_rank(&topology->shape, known.dp, known.tp, known.pp, known.cp);
    return SP_OK;
}
