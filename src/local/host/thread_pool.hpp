// A few threads that run the same job side by side and sleep in between.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace serried::inline v0::host {

class thread_pool {
 public:
  /// `threads` ≥ 1, the caller's included. Threads start with the first job that needs them.
  explicit thread_pool(int threads);
  ~thread_pool();
  thread_pool(const thread_pool&) = delete;
  thread_pool& operator=(const thread_pool&) = delete;

  [[nodiscard]] int threads() const noexcept { return threads_; }

  /// Runs job(0), …, job(parts − 1) at the same time, 1 ≤ parts ≤ threads(), job(0) on the caller. Returns when all
  /// are done; throws the exception of the first part (by number) that threw. One caller at a time.
  void run(int parts, const std::function<void(int)>& job);

 private:
  void start();
  void work(int part);

  int threads_;
  const int process_;  // whose workers they are
  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  const std::function<void(int)>* job_ = nullptr;
  std::uint64_t generation_ = 0;
  int parts_ = 0;
  int running_ = 0;
  bool stop_ = false;
  std::vector<std::exception_ptr> failures_;
};

}  // namespace serried::inline v0::host
