// The one interface between arrays and the machine that computes. An engine is a folder (host, cuda) that passes
// tests/local/engine_conformance.
#pragma once

#include "local/memory/buffer.hpp"
#include "local/memory/device_memory.hpp"
#include "local/program.hpp"
#include "local/queue.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace serried::inline v0 {

/// How the state of a reduction is stored while it is under way: `words` numbers of dtype `type` for each of n
/// results, word w of result i at [w·n + i].
///
/// - Sums of floating and complex numbers are binned (ops/bins.hpp): int64 words, 1 + bins::payload_words for each real
///   component (complex: the real part's words, then the imaginary part's). Word 0 of a component is the top; tops
///   merge by max, then — once `align`ed to the merged top — the other words merge by sum.
/// - Minima and maxima of floating numbers are one int64 whose order is the numbers' order, NaN beyond all; they
///   merge by min or max.
/// - Everything else is one number of the accumulator's dtype and merges by the reduction's own operation.
struct state_layout {
  dtype type;
  int words;
  bool binned;
};
[[nodiscard]] state_layout layout_of(const reduction& r);

class engine {
 public:
  explicit engine(std::shared_ptr<memory::pool> pool) : memory_(std::move(pool)) {}
  virtual ~engine() = default;
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;

  [[nodiscard]] virtual std::string_view name() const = 0;  ///< "host", "cuda"
  /// Names the physical device among those of the machine: "host", "cuda 0000:17:00.0" (the GPU's PCI bus id). Engines
  /// of one place can use each other's memory and marks.
  [[nodiscard]] virtual std::string_view place() const = 0;
  /// The device's memory.
  [[nodiscard]] memory::device_memory& memory() noexcept { return memory_; }
  /// Bytes of it for work on the calling thread's current queue: at home there. Throws out_of_memory.
  [[nodiscard]] memory::buffer allocate(std::size_t bytes);

  /// For every index of `where` (global output indices), runs the program and stores its outputs.
  virtual void execute(const program& p, std::span<const leaf_binding> leaves, std::span<const output_binding> outputs,
                       const box& where) = 0;

  /// Reduces the program's single output over r.axes of `where` into numbers of r.type for the kept indices, in C order
  /// and contiguous at `out`. An empty box: what a reduction of nothing gives.
  virtual void reduce(const program& p, std::span<const leaf_binding> leaves, const box& where, const reduction& r,
                      std::byte* out) = 0;
  /// The same, but stops at the states, which other ranks' can be merged with (for an empty box: identities).
  /// Overwrites `states`.
  virtual void reduce_to_states(const program& p, std::span<const leaf_binding> leaves, const box& where,
                                const reduction& r, std::byte* states) = 0;
  /// Binned states only: raises each top to at least `tops` (one int64 for each component of each result, in the
  /// states' own order of tops: component 0 of all results, then component 1), dropping the bins that fall out.
  virtual void align(const reduction& r, std::byte* states, const std::byte* tops, std::int64_t count) = 0;
  /// Turns `count` states into numbers of r.type, contiguous at `out`.
  virtual void finish(const reduction& r, const std::byte* states, std::int64_t count, std::byte* out) = 0;

  /// After what the calling thread's current queue holds; done on return.
  virtual void copy_to_host(void* host, const std::byte* from, std::size_t bytes) = 0;
  virtual void copy_from_host(std::byte* to, const void* host, std::size_t bytes) = 0;
  /// Issues a copy between two places, each on the device or in memory of pinned(), to the current queue.
  virtual void issue_copy(void* to, const void* from, std::size_t bytes) = 0;
  /// Host memory that issue_copy reaches without a stop; the host engine's own memory. Give it back when the copies are
  /// done: it is handed out again at once.
  [[nodiscard]] virtual memory::pool& pinned() = 0;
  /// True for addresses that only this device can read.
  [[nodiscard]] virtual bool holds(const void* address) const = 0;

  /// True when calls return before their work is done. All work goes to the calling thread's current queue.
  [[nodiscard]] virtual bool asynchronous() const = 0;
  /// The queue of threads that chose no other.
  [[nodiscard]] virtual const std::shared_ptr<queue>& main_queue() = 0;
  /// `urgent`: its work goes before others' where the device must choose.
  [[nodiscard]] virtual std::shared_ptr<queue> make_queue(bool urgent) = 0;
  /// Returns when all work in the calling thread's current queue is done; throws what went wrong in it.
  void synchronize() { current_queue().synchronize(); }
  /// The calling thread's: what a queue_guard made current, if it is one of this engine's, else the main one.
  [[nodiscard]] queue& current_queue() { return *shared_current_queue(); }
  [[nodiscard]] const std::shared_ptr<queue>& shared_current_queue();

 private:
  memory::device_memory memory_;
};

/// Makes a queue of `device` the calling thread's current one for the guard's lifetime.
class queue_guard {
 public:
  queue_guard(const engine& device, std::shared_ptr<queue> q);
  ~queue_guard();
  queue_guard(const queue_guard&) = delete;
  queue_guard& operator=(const queue_guard&) = delete;

 private:
  const engine* previous_device_;
  std::shared_ptr<queue> previous_;
};

/// `threads` ≥ 1 compute threads, the caller's included.
[[nodiscard]] std::shared_ptr<engine> make_host_engine(int threads);
/// On GPU `local_rank` mod the number of GPUs that are visible. Null when this build or this machine has none to use.
[[nodiscard]] std::shared_ptr<engine> make_cuda_engine(int local_rank = 0);
/// Why make_cuda_engine gives none, for messages.
[[nodiscard]] std::string why_no_cuda_engine();

}  // namespace serried::inline v0
