// The host engine's queues: work is done when the call that issues it returns, so there is nothing to wait for.
#pragma once

#include "local/queue.hpp"

#include <chrono>
#include <memory>

namespace serried::inline v0::host {

class host_mark final : public mark {
 public:
  bool reached() override { return true; }
  void wait() override {}
  double seconds_since(const mark& earlier) const override {
    return std::chrono::duration<double>(time_ - dynamic_cast<const host_mark&>(earlier).time_).count();
  }

 private:
  std::chrono::steady_clock::time_point time_ = std::chrono::steady_clock::now();
};

class host_queue final : public queue {
 public:
  std::shared_ptr<mark> record(bool) override { return std::make_shared<host_mark>(); }
  void wait_for(const mark&) override {}
  void synchronize() override {}
};

}  // namespace serried::inline v0::host
