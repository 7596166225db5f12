/*
 * test_simgrid.cc - the simulated times against SimGrid, which knows nothing of ours.
 *
 * Each op of a plan is an execution on a host of its own stage, each hand-over between
 * stages a communication over a link with its latency and bandwidth; what waits for
 * what comes from the test tree's own graph (support/plan_graph.h). SimGrid's second is
 * our picosecond: a double holds such times exactly up to 2^53. Its network model is
 * stripped of TCP effects. All plans run in one engine, side by side.
 *
 * Where a stage's messages queue, the link is a host of its own that runs one
 * transfer after another, and the communication behind it takes the latency alone.
 * Where sends block, the next op of the sender waits for the communication as well.
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
    std::vector<sg4::Host *> wires; /* [dp * pp] links that queue */
    std::vector<sg4::ExecPtr> execs; /* [nodes] */
    std::vector<sg4::ExecPtr> transfers;
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
        auto *wire = zone->create_host("w" + std::to_string(number) + "-" + std::to_string(i), 1.0);

        wire->seal();
        r.wires.push_back(wire);
    }
    for (int32_t d = 0; d < r.plan.dp && !is_free_link(r); d++) {
        std::set<std::pair<int32_t, int32_t>> pairs;

        for (int32_t u = 0; u + 1 < r.plan.pp * r.plan.chunks; u++) {
            pairs.insert({u % r.plan.pp, (u + 1) % r.plan.pp});
            pairs.insert({(u + 1) % r.plan.pp, u % r.plan.pp});
        }
        for (auto [from, to] : pairs)
            add_link(r, zone, "l" + std::to_string(number) + "-" + std::to_string(d) + "-" +
                                  std::to_string(from) + "-" + std::to_string(to), d, from, to);
    }
}

/* Tokens that the busiest CP rank of a replica hands over for a unit. */
int64_t tokens_of(const run &r, int32_t replica, const plan_node &n)
{
    if (n.pass == SP_WEIGHT)
        return 0;
    int32_t unit = r.plan.replica[n.replica].pack[n.pass][n.pack].unit;
    int64_t most = 0;

    for (int32_t k = 0; k < r.plan.replica[replica].packs[n.pass]; k++)
        for (int32_t c = 0; r.plan.replica[replica].pack[n.pass][k].unit == unit && c < r.plan.cp;
             c++)
            most = std::max(most, plain_part_at(&r.plan, replica, n.pass, k, c)->tokens);
    return most;
}

int64_t message_bytes(const run &r, int32_t replica, const plan_node &from)
{
    int64_t width = model_value(r, SP_MODEL_HIDDEN) * model_value(r, SP_MODEL_ELEMENT_BYTES);

    return tokens_of(r, replica, from) * ((width + r.plan.tp - 1) / r.plan.tp);
}

/* Time that a message keeps its link, in SimGrid's seconds. */
double transfer_time(const run &r, int32_t replica, int32_t from, int32_t to, int64_t bytes)
{
    int64_t node = device_value(r, SP_DEVICE_DEVICES_PER_NODE);
    bool across = plain_rank_at(&r.plan, replica, from, 0) / node !=
                  plain_rank_at(&r.plan, replica, to, 0) / node;

    return static_cast<double>(bytes) * 1e12 /
           static_cast<double>(device_value(r, across ? SP_DEVICE_INTER_BANDWIDTH
                                                      : SP_DEVICE_INTRA_BANDWIDTH));
}

/* The message that an op of a stage sends: behind its node, before the taker's. Where
 * messages queue, behind the stage's last transfer too. */
sg4::CommPtr add_message(run &r, int32_t replica, const plan_node &from, int32_t to,
                         const sg4::ExecPtr &a, const sg4::ExecPtr &b, sg4::ExecPtr &last)
{
    int64_t bytes = message_bytes(r, replica, from);
    auto comm = sg4::Comm::sendto_init(r.hosts[replica * r.plan.pp + from.stage],
                                       r.hosts[replica * r.plan.pp + to]);

    if (r.given.queued_sends) {
        auto transfer = sg4::Exec::init();

        transfer->set_flops_amount(transfer_time(r, replica, from.stage, to, bytes));
        transfer->set_host(r.wires[replica * r.plan.pp + from.stage]);
        a->add_successor(transfer);
        if (last != nullptr)
            last->add_successor(transfer);
        transfer->add_successor(comm);
        r.transfers.push_back(transfer);
        last = transfer;
        comm->set_payload_size(0);
    } else {
        a->add_successor(comm);
        comm->set_payload_size(static_cast<uint64_t>(bytes));
    }
    comm->add_successor(b);
    r.communications++;
    return comm;
}

/* The messages of one stage, in the order of its ops. */
void add_messages(run &r, int32_t replica, int32_t stage, std::vector<sg4::CommPtr> &comms)
{
    const sp_op_view *op = plain_ops_at(&r.plan, replica, stage, 0);
    sg4::ExecPtr last = nullptr;

    for (int32_t i = 0; i < r.plan.replica[replica].ops; i++) {
        int32_t to = op[i].chunk * r.plan.pp + stage + (op[i].pass == SP_FORWARD ? 1 : -1);
        int64_t node = plan_node_of(&r.plan, replica, stage, &op[i]);

        if (op[i].pass == SP_WEIGHT || to < 0 || to >= r.plan.pp * r.plan.chunks ||
            tokens_of(r, replica, r.graph.node[node]) == 0)
            continue;
        sp_op_view taken = op[i];
        taken.chunk = to / r.plan.pp;
        int64_t taker = plan_node_of(&r.plan, replica, to % r.plan.pp, &taken);
        auto comm = add_message(r, replica, r.graph.node[node], to % r.plan.pp, r.execs[node],
                                r.execs[taker], last);

        if (r.given.blocking_sends && i + 1 < r.plan.replica[replica].ops) {
            int64_t next = plan_node_of(&r.plan, replica, stage, &op[i + 1]);

            if (next != taker)
                comm->add_successor(r.execs[next]);
        }
        comms.push_back(comm);
    }
}

void add_graph(run &r, std::vector<sg4::CommPtr> &comms)
{
    for (int64_t i = 0; i < r.graph.nodes; i++) {
        const plan_node &n = r.graph.node[i];
        auto exec = sg4::Exec::init();

        exec->set_flops_amount(static_cast<double>(n.end - n.start));
        exec->set_host(r.hosts[n.replica * r.plan.pp + n.stage]);
        r.execs.push_back(exec);
    }
    for (int64_t i = 0; i < r.graph.nodes; i++) {
        std::set<int64_t> seen;

        for (int64_t e = r.graph.first[i]; e < r.graph.first[i + 1]; e++)
            if (seen.insert(r.graph.out[e]).second) /* the same successor twice throws */
                r.execs[i]->add_successor(r.execs[r.graph.out[e]]);
    }
    for (int32_t d = 0; d < r.plan.dp && !is_free_link(r); d++)
        for (int32_t s = 0; s < r.plan.pp; s++)
            add_messages(r, d, s, comms);
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
    int64_t ops = 0, messages = 0, merged = 0, chunked = 0, split = 0, queued = 0, blocking = 0;

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
    for (auto &r : runs) {
        for (auto &exec : r->execs)
            exec->vetoable_start();
        for (auto &transfer : r->transfers)
            transfer->vetoable_start();
    }
    for (auto &comm : comms)
        comm->vetoable_start();
    sg4::Engine::get_instance()->run();
    for (auto &r : runs) {
        compare(*r);
        ops += r->graph.nodes;
        messages += r->communications;
        merged += r->plan.merges;
        chunked += r->plan.chunks > 1;
        split += r->plan.split;
        queued += r->given.queued_sends && r->communications > 0;
        blocking += r->given.blocking_sends && r->communications > 0;
        close(*r);
    }
    print_message("    %zu plans (%ld interleaved, %ld zero-bubble, %ld with queued and %ld with "
                  "blocking sends), %ld ops, %ld messages, %ld merges\n", runs.size(),
                  static_cast<long>(chunked), static_cast<long>(split), static_cast<long>(queued),
                  static_cast<long>(blocking), static_cast<long>(ops),
                  static_cast<long>(messages), static_cast<long>(merged));
    assert_true(chunked >= 10 && split >= 30 && queued >= 10 && blocking >= 10);
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
