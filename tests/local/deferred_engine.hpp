// An asynchronous device for tests: it does nothing until it must, and then takes its queues' work in an order drawn by
// lot, as far as the queues and their waiting allow. What is not ordered goes wrong sooner or later.
#pragma once

#include "local/engine.hpp"

#include <serried/error.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace serried::testing {

class deferred_device {
 public:
  struct task {
    std::function<bool()> ready;
    std::function<void()> run;
  };
  using line = std::deque<task>;

  explicit deferred_device(unsigned seed) : random_(seed) {}

  std::shared_ptr<line> make_line() { return lines_.emplace_back(std::make_shared<line>()); }

  /// Runs tasks until `done`.
  void run_until(const std::function<bool()>& done) {
    while (!done()) {
      std::vector<line*> able;
      for (const auto& l : lines_)
        if (!l->empty() && (!l->front().ready || l->front().ready())) able.push_back(l.get());
      if (able.empty()) throw std::logic_error("what is waited for never happens");
      line& chosen = *able[random_() % able.size()];
      const task next = std::move(chosen.front());
      chosen.pop_front();
      next.run();
      ++tasks_run;
    }
  }
  void run_all() {
    run_until([&] {
      for (const auto& l : lines_)
        if (!l->empty()) return false;
      return true;
    });
  }

  int marks = 0;  ///< recorded so far
  int waits = 0;  ///< of a queue for a mark
  int tasks_run = 0;

 private:
  std::mt19937 random_;
  std::vector<std::shared_ptr<line>> lines_;
};

class deferred_mark final : public mark {
 public:
  explicit deferred_mark(std::shared_ptr<deferred_device> device) : device_(std::move(device)) {}
  bool reached() override { return *reached_; }
  void wait() override {
    device_->run_until([&] { return *reached_; });
  }
  double seconds_since(const mark&) const override { return 0; }

  [[nodiscard]] const std::shared_ptr<bool>& flag() const { return reached_; }

 private:
  std::shared_ptr<deferred_device> device_;
  std::shared_ptr<bool> reached_ = std::make_shared<bool>(false);
};

class deferred_queue final : public queue {
 public:
  explicit deferred_queue(std::shared_ptr<deferred_device> device)
      : device_(std::move(device)), line_(device_->make_line()) {}

  void issue(std::function<void()> work) { line_->push_back({nullptr, std::move(work)}); }
  [[nodiscard]] std::size_t waiting() const { return line_->size(); }

  std::shared_ptr<mark> record(bool = false) override {
    if (broken) throw device_error("the device failed");
    ++device_->marks;
    auto m = std::make_shared<deferred_mark>(device_);
    issue([flag = m->flag()] { *flag = true; });
    return m;
  }
  void wait_for(const mark& m) override {
    ++device_->waits;
    const auto flag = dynamic_cast<const deferred_mark&>(m).flag();
    line_->push_back({[flag] { return *flag; }, [] {}});
  }
  void synchronize() override {
    device_->run_until([&] { return line_->empty(); });
  }

  bool broken = false;

 private:
  std::shared_ptr<deferred_device> device_;
  std::shared_ptr<deferred_device::line> line_;
};

/// Computes as the host engine does, later.
class deferred_engine : public engine {
 public:
  explicit deferred_engine(unsigned seed = 0)
      : engine(std::make_shared<memory::pool>(memory::host_memory())),
        device_(std::make_shared<deferred_device>(seed)),
        main_(make_queue(false)),
        inner_(make_host_engine(1)),
        pinned_(memory::host_memory()) {}
  ~deferred_engine() override { device_->run_all(); }

  deferred_device& device() { return *device_; }
  deferred_queue& current() { return static_cast<deferred_queue&>(current_queue()); }

  std::string_view name() const override { return "deferred"; }
  std::string_view place() const override { return "deferred"; }
  void execute(const program& p, std::span<const leaf_binding> leaves, std::span<const output_binding> outputs,
               const box& where) override {
    current().issue(
        [=, this, leaves = std::vector(leaves.begin(), leaves.end()),
         outputs = std::vector(outputs.begin(), outputs.end())] { inner_->execute(p, leaves, outputs, where); });
  }
  void reduce(const program& p, std::span<const leaf_binding> leaves, const box& where, const reduction& r,
              std::byte* out) override {
    current().issue(
        [=, this, leaves = std::vector(leaves.begin(), leaves.end())] { inner_->reduce(p, leaves, where, r, out); });
  }
  void reduce_to_states(const program& p, std::span<const leaf_binding> leaves, const box& where, const reduction& r,
                        std::byte* states) override {
    current().issue([=, this, leaves = std::vector(leaves.begin(), leaves.end())] {
      inner_->reduce_to_states(p, leaves, where, r, states);
    });
  }
  void align(const reduction& r, std::byte* states, const std::byte* tops, std::int64_t count) override {
    current().issue([=, this] { inner_->align(r, states, tops, count); });
  }
  void finish(const reduction& r, const std::byte* states, std::int64_t count, std::byte* out) override {
    current().issue([=, this] { inner_->finish(r, states, count, out); });
  }
  void copy_to_host(void* host, const std::byte* from, std::size_t bytes) override {
    current_queue().synchronize();
    if (bytes != 0) std::memcpy(host, from, bytes);
  }
  void copy_from_host(std::byte* to, const void* host, std::size_t bytes) override {
    current_queue().synchronize();
    if (bytes != 0) std::memcpy(to, host, bytes);
  }
  void issue_copy(void* to, const void* from, std::size_t bytes) override {
    current().issue([=] { std::memcpy(to, from, bytes); });
  }
  memory::pool& pinned() override { return pinned_; }
  bool holds(const void*) const override { return false; }
  bool asynchronous() const override { return true; }
  const std::shared_ptr<queue>& main_queue() override { return main_; }
  std::shared_ptr<queue> make_queue(bool) override { return std::make_shared<deferred_queue>(device_); }

 private:
  std::shared_ptr<deferred_device> device_;
  std::shared_ptr<queue> main_;
  std::shared_ptr<engine> inner_;
  memory::pool pinned_;
};

}  // namespace serried::testing
