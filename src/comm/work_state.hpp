// A request under way, as `work` shows it.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include "comm/request.hpp"

namespace serried::inline v0::comm {

/// Holds the error of a work that was dropped unwaited, for the next call to throw.
class lost_error {
 public:
  void keep(std::exception_ptr error);
  void rethrow();

 private:
  std::mutex mutex_;
  std::exception_ptr error_;
};

struct work_state {
  work_state(request r, std::shared_ptr<lost_error> lost) : call(std::move(r)), lost_(std::move(lost)) {}
  virtual ~work_state() = default;
  work_state(const work_state&) = delete;
  work_state& operator=(const work_state&) = delete;

  virtual void wait() = 0;
  virtual bool done() { return finished(); }

  [[nodiscard]] bool finished() const { return finished_.load(std::memory_order_acquire); }
  [[nodiscard]] virtual double seconds() const;
  void keep_alive(std::shared_ptr<const void> owner);
  /// Throws the error that the operation ended with, if any.
  void rethrow();
  /// Nobody will ask any more.
  void abandon();

  const request call;

 protected:
  /// Releases the owners, then makes the work finished. Called once.
  void finish(std::exception_ptr error);
  /// It begins only now: what it had to wait for is done.
  void restart_clock() { started_ = clock::now(); }

 private:
  using clock = std::chrono::steady_clock;

  std::mutex mutex_;
  std::vector<std::shared_ptr<const void>> owners_;
  bool over_ = false;  // owners are no longer taken
  clock::time_point started_ = clock::now(), ended_ = started_;
  std::exception_ptr error_;
  std::atomic<bool> finished_ = false, observed_ = false;
  bool abandoned_ = false;
  std::shared_ptr<lost_error> lost_;
};

/// What a caller gets: when the last copy goes, the work is abandoned, though it may be under way still.
[[nodiscard]] std::shared_ptr<work_state> handle_of(std::shared_ptr<work_state> w);

}  // namespace serried::inline v0::comm
