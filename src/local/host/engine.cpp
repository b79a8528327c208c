#include "local/host/host_engine.hpp"
#include "local/memory/pool.hpp"
#include "local/ops/reduction.hpp"

#include <serried/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace serried::inline v0 {
namespace host {
namespace {

void check(std::span<const output_binding> outputs, const box& where) {
  for (const output_binding& o : outputs)
    for (int d = 0; d < where.ndim(); ++d)
      if (o.stride[d] == 0 && where.hi[d] - where.lo[d] > 1)
        throw value_error("an output whose elements share memory cannot be written (a stride is 0)");
}

class host_engine final : public engine {
 public:
  explicit host_engine(int threads)
      : engine(std::make_shared<memory::pool>(memory::host_memory())),
        workers_{thread_pool(threads), std::vector<scratch_memory>(static_cast<std::size_t>(std::max(threads, 1))),
                 choose_kernels()} {}

  std::string_view name() const override { return "host"; }

  void execute(const program& p, std::span<const leaf_binding> leaves, std::span<const output_binding> outputs,
               const box& where) override {
    if (where.empty()) return;
    check(outputs, where);
    const std::lock_guard lock(mutex_);
    host::execute(workers_, p, leaves, outputs, where);
  }

  void reduce(const program& p, std::span<const leaf_binding> leaves, const box& where, const reduction& r,
              std::byte* states) override {
    ops::check(r);
    if (where.empty()) {
      std::int64_t results = 1;
      for (int d = 0; d < where.ndim(); ++d)
        if ((r.axes >> d & 1u) == 0) results *= std::max<std::int64_t>(where.hi[d] - where.lo[d], 0);
      ops::set_identities(r, states, results);
      return;
    }
    const std::lock_guard lock(mutex_);
    host::reduce(workers_, p, leaves, where, r, states);
  }

  void align(const reduction& r, std::byte* states, const std::byte* tops, std::int64_t count) override {
    ops::align(r, {states, count}, tops);
  }
  void finish(const reduction& r, const std::byte* states, std::int64_t count, std::byte* out) override {
    ops::finish(r, {const_cast<std::byte*>(states), count}, out);
  }

  void copy_to_host(void* host, const std::byte* from, std::size_t bytes) override { copy(host, from, bytes); }
  void copy_from_host(std::byte* to, const void* host, std::size_t bytes) override { copy(to, host, bytes); }
  void synchronize() override {}

 private:
  static void copy(void* to, const void* from, std::size_t bytes) {
    if (bytes != 0) std::memcpy(to, from, bytes);
  }

  std::mutex mutex_;
  workers workers_;
};

}  // namespace
}  // namespace host

std::shared_ptr<engine> make_host_engine(int threads) { return std::make_shared<host::host_engine>(threads); }

}  // namespace serried::inline v0
