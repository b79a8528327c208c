#include "local/host/thread_pool.hpp"

#include <unistd.h>

#include <algorithm>

namespace serried::inline v0::host {

thread_pool::thread_pool(int threads) : threads_(std::max(threads, 1)), process_(getpid()) {}

thread_pool::~thread_pool() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  if (getpid() != process_) {
    for (std::thread& w : workers_) w.detach();
    return;
  }
  wake_.notify_all();
  for (std::thread& w : workers_) w.join();
}

void thread_pool::start() {
  workers_.reserve(static_cast<std::size_t>(threads_ - 1));
  failures_.resize(static_cast<std::size_t>(threads_));
  while (static_cast<int>(workers_.size()) < threads_ - 1) {
    const int part = static_cast<int>(workers_.size()) + 1;
    workers_.emplace_back([this, part] { work(part); });
  }
}

void thread_pool::run(int parts, const std::function<void(int)>& job) {
  // A forked child has none of the workers.
  if (parts <= 1 || getpid() != process_) {
    for (int part = 0; part < parts; ++part) job(part);
    return;
  }
  start();
  {
    const std::lock_guard lock(mutex_);
    job_ = &job;
    parts_ = parts;
    running_ = parts - 1;
    ++generation_;
  }
  wake_.notify_all();
  try {
    job(0);
  } catch (...) {
    failures_[0] = std::current_exception();
  }
  {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return running_ == 0; });
  }
  std::exception_ptr first;
  for (std::exception_ptr& f : failures_) {
    if (f && !first) first = f;
    f = nullptr;
  }
  if (first) std::rethrow_exception(first);
}

void thread_pool::work(int part) {
  std::uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [&] { return stop_ || (generation_ != seen && part < parts_); });
    if (stop_) return;
    seen = generation_;
    const auto& job = *job_;
    lock.unlock();
    try {
      job(part);
    } catch (...) {
      failures_[static_cast<std::size_t>(part)] = std::current_exception();
    }
    lock.lock();
    if (--running_ == 0) done_.notify_one();
  }
}

}  // namespace serried::inline v0::host
