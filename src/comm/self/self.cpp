#include "comm/self/self.hpp"

#include <serried/error.hpp>

#include <fmt/format.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <iostream>
#include <mutex>

#include "local/engine.hpp"

namespace serried::inline v0::comm {

namespace {

/// Only a message to itself can be unfinished: until its other half is issued.
struct self_work final : work_state {
  using work_state::work_state;

  void wait() override {
    if (!finished())
      throw comm_error(
          fmt::format("{} waits for its other half, which this rank, the only one, has not issued", describe(call)));
    rethrow();
    if (copied_) call.device->current_queue().wait_for(*copied_);
  }
  bool done() override { return finished() && (!copied_ || copied_->reached()); }

  /// `copied`: for device buffers, reached when the copies are done.
  void finish(std::exception_ptr error, std::shared_ptr<mark> copied = nullptr) {
    copied_ = std::move(copied);
    work_state::finish(std::move(error));
  }

 private:
  std::shared_ptr<mark> copied_;
};

class self_backend final : public backend {
 public:
  explicit self_backend(bool is_run) : is_run_(is_run) {}

  int rank() const override { return 0; }
  int size() const override { return 1; }
  int node_rank() const override { return 0; }
  int node_size() const override { return 1; }
  std::string_view name() const override { return "self"; }
  bool checked() const override { return false; }  // there is nobody to compare with
  bool overlaps() const override { return true; }  // done when started
  bool spans_run() const override { return is_run_; }

  std::shared_ptr<work_state> start(request r) override {
    lost_->rethrow();
    auto w = std::make_shared<self_work>(std::move(r), lost_);
    const request& call = w->call;
    switch (call.op) {
      case operation::send:
      case operation::recv: match(w); return handle_of(w);
      case operation::exchange:
        copy_own_parts(call.sends, call.receives, 0,
                       [&](void* to, const void* from, std::size_t bytes) { copy(call, to, from, bytes); });
        break;
      case operation::all_to_allv: copy(call, call.out, call.in, call.send_counts[0] * item_size(call.type)); break;
      default: copy(call, call.out, call.in, call.count * item_size(call.type)); break;
    }
    w->finish(nullptr, mark_after(call));
    return handle_of(w);
  }

  std::shared_ptr<backend> split(int color, int) override { return color < 0 ? nullptr : make_self(is_run_); }
  void finish() override { lost_->rethrow(); }
  void abort(int exit_code) override {
    std::cout.flush();
    std::fflush(nullptr);
    std::_Exit(exit_code);
  }

 private:
  // Device buffers: on the calling thread's queue, like all work.
  static void copy(const request& r, void* to, const void* from, std::size_t bytes) {
    if (to == from || bytes == 0) return;
    if (r.device) r.device->issue_copy(to, from, bytes);
    else std::memmove(to, from, bytes);
  }
  static std::shared_ptr<mark> mark_after(const request& r) {
    return r.device ? r.device->current_queue().record() : nullptr;
  }

  /// Pairs sends with receives in the order of the calls.
  void match(std::shared_ptr<self_work> mine) {
    std::shared_ptr<self_work> other;
    {
      const std::lock_guard lock(mutex_);
      if (waiting_.empty() || waiting_.front()->call.op == mine->call.op) {
        waiting_.push_back(std::move(mine));
        return;
      }
      other = std::move(waiting_.front());
      waiting_.pop_front();
    }
    self_work& sender = mine->call.op == operation::send ? *mine : *other;
    self_work& receiver = mine->call.op == operation::send ? *other : *mine;
    const std::size_t sent = sender.call.count * item_size(sender.call.type);
    const std::size_t expected = receiver.call.count * item_size(receiver.call.type);
    std::exception_ptr failure;
    std::shared_ptr<mark> copied;
    if (sent != expected) {
      failure = std::make_exception_ptr(
          comm_error(fmt::format("{}: expected {} bytes but {} came", describe(receiver.call), expected, sent)));
    } else if (static_cast<bool>(sender.call.device) != static_cast<bool>(receiver.call.device)) {
      failure = std::make_exception_ptr(comm_error(
          fmt::format("{}: one side's buffer is memory of the device, the other's is not", describe(receiver.call))));
    } else {
      if (other->call.device) other->call.device->current_queue().wait_for(*other->call.ready);
      copy(receiver.call, receiver.call.out, sender.call.in, sent);
      copied = mark_after(receiver.call);
    }
    sender.finish(nullptr, copied);
    receiver.finish(std::move(failure), copied);
  }

  bool is_run_;
  std::mutex mutex_;
  std::deque<std::shared_ptr<self_work>> waiting_;  // halves of one kind, oldest first
  std::shared_ptr<lost_error> lost_ = std::make_shared<lost_error>();
};

}  // namespace

std::shared_ptr<backend> make_self(bool is_run) { return std::make_shared<self_backend>(is_run); }

}  // namespace serried::inline v0::comm
