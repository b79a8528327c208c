#include "local/queue.hpp"

#include "local/engine.hpp"

#include <utility>

namespace serried::inline v0 {

namespace {
// What a queue_guard made current. An engine looks whether it is its own: under another context the main queue counts.
thread_local const engine* current_device = nullptr;
thread_local std::shared_ptr<queue> current;
}  // namespace

const std::shared_ptr<queue>& engine::shared_current_queue() { return current_device == this ? current : main_queue(); }

queue_guard::queue_guard(const engine& device, std::shared_ptr<queue> q)
    : previous_device_(std::exchange(current_device, &device)), previous_(std::exchange(current, std::move(q))) {}

queue_guard::~queue_guard() {
  current_device = previous_device_;
  current = std::move(previous_);
}

}  // namespace serried::inline v0
