/*
 * data_loader.cpp - a data loader in C++17: while a step runs, the next one's plan is
 * made by the planner's own thread.
 *
 * Handles are unique_ptrs with the library's destroy functions; a failed call becomes
 * an exception that carries the library's message.
 */
#include <slimpack.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

void check(sp_status status)
{
    if (status != SP_OK)
        throw std::runtime_error(std::string(sp_status_name(status)) + ": " + sp_error_message());
}

template <typename Handle, void (*destroy)(Handle *)>
struct deleter {
    void operator()(Handle *handle) const { destroy(handle); }
};

template <typename Handle, void (*destroy)(Handle *)>
using owned = std::unique_ptr<Handle, deleter<Handle, destroy>>;

using topology = owned<sp_topology, sp_topology_destroy>;
using model = owned<sp_model, sp_model_destroy>;
using device = owned<sp_device, sp_device_destroy>;
using planner = owned<sp_planner, sp_planner_destroy>;
using batch = owned<sp_batch, sp_batch_destroy>;
using schedule = owned<sp_schedule, sp_schedule_destroy>;

/* Calls a function that creates a handle through its last parameter. */
template <typename Owner, typename Create, typename... Arguments>
Owner make(Create create, Arguments... arguments)
{
    typename Owner::pointer handle = nullptr;

    check(create(arguments..., &handle));
    return Owner(handle);
}

class data_loader {
  public:
    data_loader(const char *ranks, const char *model_name, const char *device_name,
                std::vector<std::vector<std::int64_t>> steps)
        : steps_(std::move(steps))
    {
        auto t = make<topology>(sp_topology_parse, ranks);
        auto m = make<model>(sp_model_create, model_name, nullptr);
        auto d = make<device>(sp_device_create, device_name, nullptr);

        planner_ = make<planner>(sp_planner_create, t.get(), m.get(), d.get(), nullptr);
        submit(); /* the first plan is under way before the first step asks */
    }

    /* The plan of the next step, null behind the last; the one after it is begun. */
    schedule next()
    {
        if (taken_ == steps_.size())
            return nullptr;
        auto plan = make<schedule>(sp_planner_collect, planner_.get());
        taken_++;
        submit();
        return plan;
    }

  private:
    void submit()
    {
        if (submitted_ == steps_.size())
            return;
        const auto &lengths = steps_[submitted_++];
        auto b = make<batch>(sp_batch_create, lengths.data(),
                             static_cast<std::int64_t>(lengths.size()), nullptr);
        check(sp_planner_submit(planner_.get(), b.get()));
    }

    std::vector<std::vector<std::int64_t>> steps_;
    std::size_t submitted_ = 0, taken_ = 0;
    planner planner_;
};

/* What a training loop does with a plan: its own rank's ops, in order. */
std::int64_t run_step(const sp_schedule *plan, std::int32_t rank)
{
    std::int64_t tokens = 0;

    for (std::int32_t i = 0; i < sp_schedule_op_count(plan); i++) {
        sp_op_view op = SP_OP_VIEW_INIT;
        sp_pack_view pack = SP_PACK_VIEW_INIT;

        check(sp_schedule_op(plan, rank, i, &op));
        check(sp_schedule_pack(plan, rank, op.pass, op.pack, &pack));
        /* receive op.recv_tokens from op.recv_rank; run the pack with pack.cu_seqlens_q
         * and pack.cu_seqlens_k; send op.send_tokens to op.send_rank */
        tokens += op.pass == SP_FORWARD ? pack.tokens : 0;
    }
    return tokens;
}

} // namespace

int main()
{
    try {
        data_loader loader("dp=4 tp=8 pp=4", "llama2-7b", "h100",
                           {{120000, 900, 4100, 512, 30000, 2200, 7000, 64},
                            {64, 64, 2000, 31000, 5, 800},
                            {4096, 4096, 4096, 4096, 4096, 4096, 4096, 4096}});
        int step = 0;

        while (auto plan = loader.next()) {
            sp_stats stats = SP_STATS_INIT;

            check(sp_schedule_stats(plan.get(), &stats));
            std::printf("step %d: %lld of %lld tokens on rank 0, ratio %.3f\n", step++,
                        static_cast<long long>(run_step(plan.get(), 0)),
                        static_cast<long long>(stats.tokens),
                        static_cast<double>(stats.ratio_ppm) / 1e6);
        }
        return step == 3 ? 0 : 1;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
