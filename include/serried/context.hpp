// What the calling thread works with: the current device.
#pragma once

#include <serried/export.hpp>

#include <memory>
#include <string_view>

namespace serried::inline v0 {

class engine;
struct context_state;
class event_trace;

/// A handle to a device and what hangs from it. A thread starts with the process's default context (made when first
/// used); a runtime gives its thread one of its own; other threads join it with a context_guard.
class SERRIED_API context {
 public:
  /// The calling thread's.
  [[nodiscard]] static context current();
  /// A context of its own on the device that SERRIED_DEVICE=auto|cuda|host asks for, with
  /// the cores of this process's affinity shared by `processes` (SERRIED_THREADS=N overrides) and the best vector
  /// instructions that the processor has (SERRIED_SIMD=baseline|avx2|avx512 overrides). `local_rank`, this process's
  /// number on its machine, chooses among several GPUs: they are dealt out in turn. Throws value_error for
  /// an environment variable it does not understand, device_error for a device that is not there.
  [[nodiscard]] static context make(int processes = 1, int local_rank = 0);

  [[nodiscard]] std::string_view device() const;                       ///< "host", "cuda"
  [[nodiscard]] int threads() const;                                   ///< compute threads of the host engine
  [[nodiscard]] const std::shared_ptr<engine>& device_engine() const;  // internal
  [[nodiscard]] event_trace* timeline() const;                         // internal

 private:
  friend class context_guard;
  friend context context_of(std::shared_ptr<context_state> state);  // internal
  explicit context(std::shared_ptr<context_state> state) : state_(std::move(state)) {}
  std::shared_ptr<context_state> state_;
};

/// Makes a context the calling thread's for the guard's lifetime.
class SERRIED_API context_guard {
 public:
  explicit context_guard(const context& c);
  ~context_guard();
  context_guard(const context_guard&) = delete;
  context_guard& operator=(const context_guard&) = delete;

 private:
  std::shared_ptr<context_state> previous_;
};

}  // namespace serried::inline v0
