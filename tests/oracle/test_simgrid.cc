/*
 * test_simgrid.cc - the simulated times against SimGrid, which knows nothing of ours.
 *
 * Each op of a plan is an execution on a host of its own stage, each hand-over between
 * stages a communication over a link with its latency and bandwidth; what waits for
 * what comes from the test tree's own graph (support/plan_graph.h). SimGrid's second is
 * our picosecond: a double holds such times exactly up to 2^53. Its network model is
 * stripped of TCP effects. All plans run in one engine, side by side.
 */
#include <simgrid/s4u.hpp>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <vector>

extern "C" {
#include "../support/expect.h"
#include "../support/plan_graph.h"
#include "../support/random_case.h"
}

namespace sg4 = simgrid::s4u;

namespace {

constexpr int plans = 300;

/* One plan in the engine. */
struct run {
    random_case given;
    case_handles handles;
    sp_schedule *schedule;
    plain_plan plan;
    plan_graph graph;
    std::vector<sg4::Host *> hosts; /* [dp * pp] */
    std::vector<sg4::ExecPtr> execs; /* [nodes] */
    int64_t communications = 0;
};

int64_t model_value(const run &r, int32_t key)
{
    int64_t value;

    assert_int_equal(sp_model_get(r.handles.model, key, &value), SP_OK);
    return value;
}

int64_t device_value(const run &r, int32_t key)
{
    int64_t value;

    assert_int_equal(sp_device_get(r.handles.device, key, &value), SP_OK);
    return value;
}

/* Plans a random case; false when the case has no plan. */
bool make_plan(run &r, uint64_t seed)
{
    char why[400];

    random_case_make(seed, CASE_NO_CAPS | CASE_SMALL, &r.given);
    if (random_case_value(&r.given, SP_PLANNER_LOCKSTEP, 0) != 0)
        return false; /* its barriers are no part of the graph */
    assert_int_equal(random_case_open(&r.given, &r.handles), SP_OK);
    if (sp_plan_batch(r.handles.planner, r.handles.batch, &r.schedule) != SP_OK) {
        random_case_close(&r.handles);
        return false;
    }
    if (plain_read(r.schedule, r.handles.topology, r.given.limits.pad_multiple, &r.plan, why,
                   sizeof why) != 0)
        fail_msg("%s", why);
    /* Judges the plan, and numbers the packs that the graph is made of. */
    if (check_plan(&r.plan, r.given.length, r.given.count, &r.given.limits, why, sizeof why) != 0)
        fail_msg("%s", why);
    plan_graph_build(&r.plan, &r.graph);
    return true;
}

bool is_free_link(const run &r)
{
    return device_value(r, SP_DEVICE_INTRA_BANDWIDTH) == INT64_MAX &&
           device_value(r, SP_DEVICE_INTER_BANDWIDTH) == INT64_MAX;
}

/* A link between two ranks: bytes a picosecond, latency in picoseconds. */
void add_link(run &r, sg4::NetZone *zone, const std::string &name, int32_t replica, int32_t from,
              int32_t to)
{
    int64_t node = device_value(r, SP_DEVICE_DEVICES_PER_NODE);
    int32_t a = plain_rank_at(&r.plan, replica, from, 0),
            b = plain_rank_at(&r.plan, replica, to, 0);
    bool across = a / node != b / node;
    double bandwidth = static_cast<double>(
        device_value(r, across ? SP_DEVICE_INTER_BANDWIDTH : SP_DEVICE_INTRA_BANDWIDTH));
    auto *link = zone->create_link(name, bandwidth / 1e12);

    link->set_latency(static_cast<double>(
        device_value(r, across ? SP_DEVICE_INTER_LATENCY_PS : SP_DEVICE_INTRA_LATENCY_PS)));
    link->set_sharing_policy(sg4::Link::SharingPolicy::FATPIPE); /* hand-overs do not contend */
    link->seal();
    zone->add_route(r.hosts[replica * r.plan.pp + from]->get_netpoint(),
                    r.hosts[replica * r.plan.pp + to]->get_netpoint(), nullptr, nullptr,
                    {sg4::LinkInRoute(link)}, false);
}

void add_machine(run &r, sg4::NetZone *zone, int number)
{
    for (int32_t i = 0; i < r.plan.dp * r.plan.pp; i++) {
        auto *host = zone->create_host("h" + std::to_string(number) + "-" + std::to_string(i), 1.0);

        host->seal();
        r.hosts.push_back(host);
    }
    for (int32_t d = 0; d < r.plan.dp && !is_free_link(r); d++)
        for (int32_t s = 0; s + 1 < r.plan.pp; s++) {
            std::string name = "l" + std::to_string(number) + "-" + std::to_string(d) + "-" +
                               std::to_string(s);

            add_link(r, zone, name + "f", d, s, s + 1);
            add_link(r, zone, name + "b", d, s + 1, s);
        }
}

/* Replicas that run the pack of a node: all of its merge, or one. */
std::vector<int32_t> members(const run &r, const plan_node &n)
{
    const plain_pack &pack = r.plan.replica[n.replica].pack[n.pass][n.pack];
    std::vector<int32_t> out;

    if (pack.merge < 0)
        return {n.replica};
    for (int32_t i = 0; i < r.plan.merge[pack.merge].replicas; i++)
        out.push_back(r.plan.merge[pack.merge].first_replica + i);
    return out;
}

/* Tokens that the busiest CP rank of a replica hands over for a unit. */
int64_t tokens_of(const run &r, int32_t replica, const plan_node &n)
{
    int32_t unit = r.plan.replica[n.replica].pack[n.pass][n.pack].unit;
    int64_t most = 0;

    for (int32_t k = 0; k < r.plan.replica[replica].packs[n.pass]; k++)
        for (int32_t c = 0; r.plan.replica[replica].pack[n.pass][k].unit == unit && c < r.plan.cp;
             c++)
            most = std::max(most, plain_part_at(&r.plan, replica, n.pass, k, c)->tokens);
    return most;
}

/* The hand-over from one stage to the next: a message for each replica of the pack. */
void add_hand_over(run &r, const plan_node &from, const plan_node &to, const sg4::ExecPtr &a,
                   const sg4::ExecPtr &b, std::vector<sg4::CommPtr> &comms)
{
    int64_t width = model_value(r, SP_MODEL_HIDDEN) * model_value(r, SP_MODEL_ELEMENT_BYTES);
    int64_t bytes = (width + r.plan.tp - 1) / r.plan.tp;

    for (int32_t replica : members(r, from)) {
        int64_t tokens = tokens_of(r, replica, from);
        auto comm = sg4::Comm::sendto_init(r.hosts[replica * r.plan.pp + from.stage],
                                           r.hosts[replica * r.plan.pp + to.stage]);

        if (tokens == 0)
            continue;
        comm->set_payload_size(static_cast<uint64_t>(tokens * bytes));
        a->add_successor(comm);
        comm->add_successor(b);
        comms.push_back(comm);
        r.communications++;
    }
}

void add_graph(run &r, std::vector<sg4::CommPtr> &comms)
{
    bool is_free = is_free_link(r);

    for (int64_t i = 0; i < r.graph.nodes; i++) {
        const plan_node &n = r.graph.node[i];
        auto exec = sg4::Exec::init();

        exec->set_flops_amount(static_cast<double>(n.end - n.start));
        exec->set_host(r.hosts[n.replica * r.plan.pp + n.stage]);
        r.execs.push_back(exec);
    }
    for (int64_t i = 0; i < r.graph.nodes; i++) {
        std::set<int64_t> seen;

        for (int64_t e = r.graph.first[i]; e < r.graph.first[i + 1]; e++) {
            int64_t j = r.graph.out[e];
            const plan_node &from = r.graph.node[i], &to = r.graph.node[j];

            if (!seen.insert(j).second) /* the same successor twice throws */
                continue;
            r.execs[i]->add_successor(r.execs[j]);
            if (!is_free && from.stage != to.stage)
                add_hand_over(r, from, to, r.execs[i], r.execs[j], comms);
        }
    }
}

/* Times differ by less than a picosecond an op and a message: ours are rounded down. */
void compare(const run &r)
{
    double last = 0;
    int64_t allowed = 1 + r.communications;

    for (int64_t i = 0; i < r.graph.nodes; i++)
        last = std::max(last, r.execs[i]->get_finish_time());
    if (last - static_cast<double>(r.plan.stats.makespan_ps) > static_cast<double>(allowed) ||
        static_cast<double>(r.plan.stats.makespan_ps) - last > static_cast<double>(allowed)) {
        random_case_print(&r.given);
        fail_msg("seed %lu: makespan %ld ps, SimGrid says %.0f",
                 static_cast<unsigned long>(r.given.seed),
                 static_cast<long>(r.plan.stats.makespan_ps), last);
    }
}

void close(run &r)
{
    plain_free(&r.plan);
    sp_schedule_destroy(r.schedule);
    random_case_close(&r.handles);
}

void makespans_are_those_of_an_independent_simulator(void **)
{
    auto *zone = sg4::create_full_zone("machines");
    std::vector<std::unique_ptr<run>> runs;
    std::vector<sg4::CommPtr> comms;
    int64_t ops = 0, messages = 0, merged = 0;

    for (uint64_t seed = 1; runs.size() < plans; seed++) {
        auto r = std::make_unique<run>();

        if (make_plan(*r, seed))
            runs.push_back(std::move(r));
    }
    for (size_t i = 0; i < runs.size(); i++)
        add_machine(*runs[i], zone, static_cast<int>(i));
    zone->seal();
    for (auto &r : runs)
        add_graph(*r, comms);
    for (auto &r : runs)
        for (auto &exec : r->execs)
            exec->vetoable_start();
    for (auto &comm : comms)
        comm->vetoable_start();
    sg4::Engine::get_instance()->run();
    for (auto &r : runs) {
        compare(*r);
        ops += r->graph.nodes;
        messages += r->communications;
        merged += r->plan.merges;
        close(*r);
    }
    print_message("    %zu plans, %ld ops, %ld messages, %ld merges\n", runs.size(),
                  static_cast<long>(ops), static_cast<long>(messages), static_cast<long>(merged));
}

} // namespace

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(makespans_are_those_of_an_independent_simulator),
    };

    sg4::Engine engine(&argc, argv);
    sg4::Engine::set_config("network/model:CM02");
    sg4::Engine::set_config("network/TCP-gamma:0");
    sg4::Engine::set_config("network/latency-factor:1");
    sg4::Engine::set_config("network/bandwidth-factor:1");
    sg4::Engine::set_config("network/weight-S:0");
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
