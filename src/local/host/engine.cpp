#include "local/host/host_engine.hpp"
#include "local/host/queue.hpp"
#include "local/memory/pool.hpp"
#include "local/ops/reduction.hpp"

#include <algorithm>
#include <cstring>

namespace serried::inline v0 {
namespace host {
namespace {

class host_engine final : public engine {
 public:
  explicit host_engine(int threads)
      : engine(std::make_shared<memory::pool>(memory::host_memory())),
        workers_{thread_pool(threads), std::vector<scratch_memory>(static_cast<std::size_t>(std::max(threads, 1))),
                 choose_kernels()} {}

  std::string_view name() const override { return "host"; }
  std::string_view place() const override { return "host"; }

  void execute(const program& p, std::span<const leaf_binding> leaves, std::span<const output_binding> outputs,
               const box& where) override {
    if (where.empty()) return;
    const std::lock_guard lock(mutex_);
    host::execute(workers_, p, leaves, outputs, where);
  }

  void reduce(const program& p, std::span<const leaf_binding> leaves, const box& where, const reduction& r,
              std::byte* out) override {
    ops::check(r);
    if (where.empty()) return ops::set_results_of_nothing(r, out, ops::results_of(r, where));
    const std::lock_guard lock(mutex_);
    host::reduce(workers_, p, leaves, where, r, true, out);
  }
  void reduce_to_states(const program& p, std::span<const leaf_binding> leaves, const box& where, const reduction& r,
                        std::byte* states) override {
    ops::check(r);
    if (where.empty()) return ops::set_identities(r, states, ops::results_of(r, where));
    const std::lock_guard lock(mutex_);
    host::reduce(workers_, p, leaves, where, r, false, states);
  }

  void align(const reduction& r, std::byte* states, const std::byte* tops, std::int64_t count) override {
    ops::align(r, {states, count}, tops);
  }
  void finish(const reduction& r, const std::byte* states, std::int64_t count, std::byte* out) override {
    ops::finish(r, {const_cast<std::byte*>(states), count}, out);
  }

  void copy_to_host(void* host, const std::byte* from, std::size_t bytes) override { copy(host, from, bytes); }
  void copy_from_host(std::byte* to, const void* host, std::size_t bytes) override { copy(to, host, bytes); }
  void issue_copy(void* to, const void* from, std::size_t bytes) override { copy(to, from, bytes); }
  memory::pool& pinned() override { return memory().pool(); }
  bool holds(const void*) const override { return false; }

  bool asynchronous() const override { return false; }
  const std::shared_ptr<queue>& main_queue() override { return queue_; }
  std::shared_ptr<queue> make_queue(bool) override { return std::make_shared<host_queue>(); }

 private:
  static void copy(void* to, const void* from, std::size_t bytes) {
    if (bytes != 0) std::memcpy(to, from, bytes);
  }

  const std::shared_ptr<queue> queue_ = std::make_shared<host_queue>();
  std::mutex mutex_;
  workers workers_;
};

}  // namespace
}  // namespace host

std::shared_ptr<engine> make_host_engine(int threads) { return std::make_shared<host::host_engine>(threads); }

}  // namespace serried::inline v0
