#include "local/context.hpp"

#include <serried/error.hpp>

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>
#include <utility>

namespace serried::inline v0 {

namespace {

thread_local std::shared_ptr<context_state> current_state;

int available_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

int thread_count(int processes) {
  const char* const text = std::getenv("SERRIED_THREADS");
  if (text == nullptr || *text == '\0') return std::max(1, available_cores() / std::max(1, processes));
  int n = 0;
  const char* const end = text + std::strlen(text);
  const auto [stop, failure] = std::from_chars(text, end, n);
  if (failure != std::errc() || stop != end || n < 1 || n > 4096)
    throw value_error(fmt::format("SERRIED_THREADS={}: a number from 1 to 4096 is needed", text));
  return n;
}

/// Once a process, and only where there is a GPU: those who have none need not be told at every start.
void note_idle_gpu() {
  static std::atomic_flag said;
  if (access("/dev/nvidiactl", F_OK) != 0 || said.test_and_set()) return;
  fmt::print(stderr, "serried: running on the host, not on a GPU: {} (SERRIED_DEVICE=host if that is meant)\n",
             why_no_cuda_engine());
}

std::shared_ptr<context_state> make_state(int processes, int local_rank) {
  const char* const text = std::getenv("SERRIED_DEVICE");
  const std::string_view wanted = text == nullptr || *text == '\0' ? "auto" : text;
  if (wanted != "auto" && wanted != "cuda" && wanted != "host")
    throw value_error(fmt::format("SERRIED_DEVICE={}: auto, cuda or host is needed", wanted));
  auto state = std::make_shared<context_state>();
  state->threads = thread_count(processes);
  if (wanted != "host") state->device = make_cuda_engine(local_rank);
  if (wanted == "cuda" && !state->device)
    throw device_error(fmt::format("SERRIED_DEVICE=cuda: {} (auto would run on the host)", why_no_cuda_engine()));
  if (wanted == "auto" && !state->device && local_rank == 0) note_idle_gpu();
  if (!state->device) state->device = make_host_engine(state->threads);
  if (trace_prefix() != nullptr) state->timeline = std::make_unique<event_trace>(*state->device);
  return state;
}

std::atomic<const std::shared_ptr<context_state>*> default_made = nullptr;

// Made once, by the first thread that has no context of its own; never destroyed, since arrays may outlive main.
const std::shared_ptr<context_state>& default_state() {
  static const auto* const state = new std::shared_ptr<context_state>(make_state(1, 0));
  default_made.store(state, std::memory_order_release);
  return *state;
}

}  // namespace

context context::current() { return context(current_state ? current_state : default_state()); }
context context::make(int processes, int local_rank) { return context(make_state(processes, local_rank)); }
std::string_view context::device() const { return state_->device->name(); }
int context::threads() const { return state_->threads; }
const std::shared_ptr<engine>& context::device_engine() const { return state_->device; }
event_trace* context::timeline() const { return state_->timeline.get(); }

context context_of(std::shared_ptr<context_state> state) { return context(std::move(state)); }

const std::shared_ptr<engine>& current_device() { return (current_state ? current_state : default_state())->device; }

std::shared_ptr<engine> device_in_use() {
  if (current_state) return current_state->device;
  const auto* const made = default_made.load(std::memory_order_acquire);
  return made == nullptr ? nullptr : (*made)->device;
}

context_guard::context_guard(const context& c) : previous_(std::exchange(current_state, c.state_)) {}
context_guard::~context_guard() { current_state = std::move(previous_); }

}  // namespace serried::inline v0
