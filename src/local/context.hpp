// What a context holds.
#pragma once

#include <serried/context.hpp>

#include "local/engine.hpp"
#include "local/trace.hpp"

#include <memory>

namespace serried::inline v0 {

struct context_state {
  std::shared_ptr<engine> device;
  int threads = 1;
  std::unique_ptr<event_trace> timeline = nullptr;  ///< null: nobody asked for one
};

/// A context on a device of the caller's making.
[[nodiscard]] context context_of(std::shared_ptr<context_state> state);

/// The calling thread's device, that of context::current(); good until the thread has another context.
[[nodiscard]] const std::shared_ptr<engine>& current_device();
/// The calling thread's device; null when it has no context yet. Unlike context::current(), makes none.
[[nodiscard]] std::shared_ptr<engine> device_in_use();

}  // namespace serried::inline v0
