#include <serried/error.hpp>

#include <fmt/format.h>
#include <cstdlib>
#include <numeric>
#include <string_view>

#include "comm/nccl/nccl.hpp"
#include "comm/nccl/nccl_calls.hpp"
#include "comm/nccl/nccl_run.hpp"
#include "comm/settings.hpp"

namespace serried::inline v0::comm {

namespace {

class nccl_backend final : public backend {
 public:
  /// `comm` is null until a collective needs it; messages go over the run's own.
  nccl_backend(std::shared_ptr<nccl_run> run, communicator control, std::vector<int> world_rank, ncclComm_t comm)
      : run_(std::move(run)), control_(std::move(control)), world_rank_(std::move(world_rank)), comm_(comm) {}

  int rank() const override { return control_.rank(); }
  int size() const override { return control_.size(); }
  int node_rank() const override { return control_.node_rank(); }
  int node_size() const override { return control_.node_size(); }
  std::string_view name() const override { return "nccl"; }
  bool overlaps() const override { return true; }
  bool checked() const override { return control_.checked(); }
  bool spans_run() const override { return control_.backend()->spans_run(); }

  std::shared_ptr<work_state> start(request r) override;
  std::shared_ptr<backend> split(int color, int key) override;
  void finish() override {
    run_->drain();
    control_.backend()->finish();
    run_->close();
  }
  void abort(int exit_code) override {
    control_.backend()->abort(exit_code);
    std::abort();  // never reached
  }

 private:
  /// In checked mode throws the same error on all ranks unless all make this call.
  void check(const request& r);

  std::shared_ptr<nccl_run> run_;
  communicator control_;
  std::vector<int> world_rank_;  // of each rank
  ncclComm_t comm_;
};

void nccl_backend::check(const request& r) {
  if (r.op == operation::all_to_allv) {
    // A rank with nothing to move cannot know where the others' buffers are: it calls the control plane. So all do,
    // with nothing to move.
    request empty{.op = r.op, .type = r.type};
    empty.send_counts.assign(world_rank_.size(), 0);
    empty.recv_counts = empty.send_counts;
    control_.backend()->start(std::move(empty))->wait();
  } else if (checked() && is_collective(r.op)) {
    request same = r;
    same.check_only = true;
    control_.backend()->start(std::move(same))->wait();
  }
}

std::shared_ptr<work_state> nccl_backend::start(request r) {
  if (r.op == operation::exchange) {  // the other side may not know where a buffer of nothing is
    std::erase_if(r.sends, [](const send_part& part) { return part.bytes == 0; });
    std::erase_if(r.receives, [](const recv_part& part) { return part.bytes == 0; });
  }
  run_->lost()->rethrow();
  if (!r.device || !nccl_does(r)) return control_.backend()->start(std::move(r));
  check(r);
  const auto w = std::make_shared<nccl_work>(run_, std::move(r));
  const request& call = w->call;
  if (is_nccl_collective(call)) {
    if (comm_ == nullptr) comm_ = run_->make_comm(control_);
    run_->issue(w, [&](cudaStream_t stream) { issue_collective(call, comm_, stream); });
  } else {
    const nccl_messages m = nccl_messages_of(call, size(), rank());
    copy_own_parts(m.sends, m.receives, rank(), [](void*, const void*, std::size_t) {});  // throws if they do not match
    run_->issue(w, [&](cudaStream_t stream) {
      copy_own_parts(m.sends, m.receives, rank(),
                     [&](void* to, const void* from, std::size_t bytes) { call.device->issue_copy(to, from, bytes); });
      issue_messages(m, rank(), world_rank_, run_->world(), stream);
    });
  }
  return handle_of(std::shared_ptr<work_state>(w));
}

std::shared_ptr<backend> nccl_backend::split(int color, int key) {
  communicator part = control_.split(color, key);
  if (!part.valid()) return nullptr;
  std::vector<int> members(static_cast<std::size_t>(part.size()));
  const int me = world_rank_[static_cast<std::size_t>(rank())];
  part.all_gather(&me, members.data(), 1, dtype::int32).wait();
  // The same ranks in the same order need no communicator of their own.
  ncclComm_t const same = members == world_rank_ ? comm_ : nullptr;
  return std::make_shared<nccl_backend>(run_, std::move(part), std::move(members), same);
}

}  // namespace

std::string nccl_version() {
  prepare_nccl();
  int v = 0;
  check_nccl(ncclGetVersion(&v), "ncclGetVersion");
  return fmt::format("{}.{}.{}", v / 10000, v / 100 % 100, v % 100);
}

bool nccl_shares_gpus() {
  prepare_nccl();
  int v = 0;
  check_nccl(ncclGetVersion(&v), "ncclGetVersion");
  const char* const wish = std::getenv("NCCL_MULTI_RANK_GPU_ENABLE");
  return v >= NCCL_VERSION(2, 30, 3) && wish != nullptr && std::string_view(wish) == "1";
}

std::shared_ptr<backend> make_nccl(const communicator& control, const std::shared_ptr<engine>& device) {
  prepare_nccl();
  std::shared_ptr<nccl_run> run;
  control.together([&] {
    if (device->name() != "cuda") throw comm_error("NCCL needs a GPU on every rank");
    run = nccl_run::make(control, device, settings_from_environment().stall_limit);
  });
  ncclComm_t const world = run->make_comm(control);
  std::vector<int> ranks(static_cast<std::size_t>(control.size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  return std::make_shared<nccl_backend>(std::move(run), control, std::move(ranks), world);
}

}  // namespace serried::inline v0::comm
