// Timelines of a run: what ran when on which queue, in the JSON that Perfetto and chrome://tracing show
// (SERRIED_TRACE=PREFIX writes PREFIX.RANK.json).
#pragma once

#include "local/engine.hpp"

#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace serried::inline v0 {

/// SERRIED_TRACE; null: no timelines are wanted.
[[nodiscard]] const char* trace_prefix();

class event_trace {
 public:
  /// Times count from now on. The engine must outlive the trace.
  explicit event_trace(engine& device);

  /// Marks the calling thread's current queue, for add().
  [[nodiscard]] std::shared_ptr<mark> now() { return device_.current_queue().record(true); }
  /// `lane`: the line of the picture that it stands on.
  void add(const char* name, const char* lane, std::shared_ptr<mark> begin, std::shared_ptr<mark> end);
  /// Waits for the spans' ends. Throws io_error.
  void write(const std::string& path, int rank);

 private:
  struct span {
    const char* name;
    const char* lane;
    std::shared_ptr<mark> begin, end;
  };
  struct event {
    const char* name;
    const char* lane;
    double begin, seconds;
  };
  void settle(bool wait);

  engine& device_;
  std::shared_ptr<mark> origin_;
  double origin_microseconds_;  // of the system's clock, so that the ranks' files fit together
  std::deque<span> pending_;
  std::vector<event> events_;
  std::size_t dropped_ = 0;
};

}  // namespace serried::inline v0
