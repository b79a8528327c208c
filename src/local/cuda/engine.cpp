// The CUDA engine: plans become launches on the calling thread's current stream.
#include "local/engine.hpp"

#include "local/cuda/device.hpp"
#include "local/cuda/emit.hpp"
#include "local/cuda/kernel_cache.hpp"
#include "local/cuda/linear.hpp"
#include "local/cuda/memory.hpp"
#include "local/cuda/plan_cache.hpp"
#include "local/cuda/queue.hpp"
#include "local/cuda/reduce.hpp"
#include "local/cuda/stencil.hpp"
#include "local/cuda/transposed.hpp"
#include "local/iteration.hpp"
#include "local/memory/pool.hpp"
#include "local/ops/reduction.hpp"

#include <future>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace serried::inline v0 {
namespace cuda {
namespace {

int attribute(int device, cudaDeviceAttr which) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, device), "asking what a GPU can do");
  return value;
}

device_traits traits_of(int device) {
  return {attribute(device, cudaDevAttrMultiProcessorCount), attribute(device, cudaDevAttrComputeCapabilityMajor),
          attribute(device, cudaDevAttrComputeCapabilityMinor)};
}

std::string place_of(int device) {
  char bus[32] = {};
  check(cudaDeviceGetPCIBusId(bus, sizeof bus, device), "asking for the bus of a GPU");
  return std::string("cuda ") + bus;
}

class cuda_engine final : public engine {
 public:
  explicit cuda_engine(int device)
      : engine(std::make_shared<memory::pool>(gpu_memory(device))),
        device_(device),
        place_(place_of(device)),
        traits_(traits_of(device)),
        kernels_(traits_),
        pinned_(pinned_memory(device)),
        main_queue_(cuda::make_queue(device, false)) {}

  std::string_view name() const override { return "cuda"; }
  std::string_view place() const override { return place_; }

  void execute(const program& p, std::span<const leaf_binding> leaves, std::span<const output_binding> outputs,
               const box& where) override {
    if (where.empty()) return;
    cudaStream_t const s = stream();  // kernels are loaded on the thread's GPU
    const plan_key key(p, leaves, outputs, where);
    thread_local plan known;  // keeps its memory
    if (plans_.find(key, known)) {
      known.set_scalars(p.scalars);
    } else {
      const iteration it = make_iteration(p, leaves, outputs, where);
      std::optional<launch> planned = plan_stencil(p, it, traits_);
      if (!planned) planned = plan_transposed(p, it);
      if (!planned) planned = plan_linear(p, it, traits_);
      if (may_fail(p)) return run(p, std::move(*planned));
      known = {&kernels_.get(*planned), planned->blocks, planned->threads, std::move(planned->words)};
      plans_.keep(key, known);
    }
    kernels_.run(*known.kernel, known.blocks, known.threads, known.words.data(), s);
  }

  void reduce(const program& p, std::span<const leaf_binding> leaves, const box& where, const reduction& r,
              std::byte* out) override {
    ops::check(r);
    const std::int64_t results = ops::results_of(r, where);
    if (!where.empty()) return reduce(p, leaves, where, r, results, true, out);
    std::vector<std::byte> nothing(static_cast<std::size_t>(results) * item_size(r.type));
    ops::set_results_of_nothing(r, nothing.data(), results);
    copy_from_host(out, nothing.data(), nothing.size());
  }
  void reduce_to_states(const program& p, std::span<const leaf_binding> leaves, const box& where, const reduction& r,
                        std::byte* states) override {
    ops::check(r);
    const std::int64_t results = ops::results_of(r, where);
    if (!where.empty()) return reduce(p, leaves, where, r, results, false, states);
    const state_layout layout = layout_of(r);
    std::vector<std::byte> nothing(static_cast<std::size_t>(results * layout.words) * item_size(layout.type));
    ops::set_identities(r, nothing.data(), results);
    copy_from_host(states, nothing.data(), nothing.size());
  }
  void align(const reduction& r, std::byte* states, const std::byte* tops, std::int64_t count) override {
    if (count > 0) kernels_.run(plan_align(r, states, tops, count), stream());
  }
  void finish(const reduction& r, const std::byte* states, std::int64_t count, std::byte* out) override {
    if (count > 0) kernels_.run(plan_finish(r, states, count, out), stream());
  }

  void copy_to_host(void* host, const std::byte* from, std::size_t bytes) override { copy(host, from, bytes); }
  void copy_from_host(std::byte* to, const void* host, std::size_t bytes) override { copy(to, host, bytes); }
  void issue_copy(void* to, const void* from, std::size_t bytes) override {
    if (bytes == 0) return;
    cudaStream_t const s = stream();
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, s), "copying");
    kernels_.settle(s, "copying");
  }
  memory::pool& pinned() override { return pinned_; }
  bool holds(const void* address) const override {
    use_device(device_);
    cudaPointerAttributes attributes{};
    check(cudaPointerGetAttributes(&attributes, address), "asking whose memory an address is");
    return attributes.type == cudaMemoryTypeDevice;
  }

  bool asynchronous() const override { return true; }
  const std::shared_ptr<queue>& main_queue() override { return main_queue_; }
  std::shared_ptr<queue> make_queue(bool urgent) override { return cuda::make_queue(device_, urgent); }

 private:
  /// The calling thread's current stream, its GPU made the thread's.
  cudaStream_t stream() {
    use_device(device_);
    return stream_of(current_queue());
  }

  /// Issues a launch that runs a program, and what follows it. Throws what made the program fail.
  void run(const program& p, launch first, const launch* second = nullptr) {
    cudaStream_t const s = stream();
    const bool checked = may_fail(p);
    memory::buffer flag;
    if (checked) {
      flag = allocate(sizeof(unsigned));
      check(cudaMemsetAsync(flag.data(), 0, sizeof(unsigned), s), "preparing a kernel");
      kernels_.settle(s, "preparing a kernel");
      first.words.push_back(reinterpret_cast<std::uintptr_t>(flag.data()));
    }
    if (second != nullptr) compile_both(first, *second);
    kernels_.run(first, s);
    if (second != nullptr) kernels_.run(*second, s);
    if (!checked) return;
    unsigned failed = 0;
    copy_to_host(&failed, flag.data(), sizeof failed);
    report(static_cast<failure>(failed));
  }

  /// Side by side, since each takes a while.
  void compile_both(const launch& first, const launch& second) {
    if (kernels_.has(second)) return;
    std::future<void> other;
    try {
      other = std::async(std::launch::async, [&] {
        use_device(device_);
        (void)kernels_.get(second);
      });
    } catch (const std::system_error&) {
      return;  // no more threads are to be had: one after the other, as they are run
    }
    (void)kernels_.get(first);
    other.get();
  }

  void reduce(const program& p, std::span<const leaf_binding> leaves, const box& where, const reduction& r,
              std::int64_t results, bool finished, std::byte* out) {
    memory::buffer scratch;  // may be given back before the kernels ran: what is issued later runs later
    reduction_launches launches = plan_reduce(p, make_iteration(p, leaves, where, r, where), r, results, finished, out,
                                              traits_, [&](std::size_t bytes) {
                                                scratch = allocate(bytes);
                                                return scratch.data();
                                              });
    run(p, std::move(launches.first), launches.second ? &*launches.second : nullptr);
  }

  void copy(void* to, const void* from, std::size_t bytes) {
    // Of memory that is not pinned CUDA copies some through its own.
    cudaStream_t const s = stream();
    if (bytes != 0) check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, s), "copying");
    check(cudaStreamSynchronize(s), "copying");
  }

  const int device_;
  const std::string place_;
  const device_traits traits_;
  kernel_cache kernels_;
  plan_cache plans_;
  memory::pool pinned_;
  const std::shared_ptr<queue> main_queue_;
};

}  // namespace
}  // namespace cuda

std::shared_ptr<engine> make_cuda_engine(int local_rank) {
  const int devices = cuda::count_devices();
  if (devices == 0) return nullptr;
  return std::make_shared<cuda::cuda_engine>(local_rank % devices);
}

std::string why_no_cuda_engine() { return cuda::why_no_devices(); }

}  // namespace serried::inline v0
