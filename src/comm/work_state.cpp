#include "comm/work_state.hpp"

#include <utility>

namespace serried::inline v0::comm {

void lost_error::keep(std::exception_ptr error) {
  const std::lock_guard lock(mutex_);
  if (!error_) error_ = std::move(error);
}

void lost_error::rethrow() {
  std::unique_lock lock(mutex_);
  if (std::exception_ptr error = std::exchange(error_, nullptr)) {
    lock.unlock();
    std::rethrow_exception(error);
  }
}

double work_state::seconds() const { return finished() ? std::chrono::duration<double>(ended_ - started_).count() : 0; }

void work_state::keep_alive(std::shared_ptr<const void> owner) {
  const std::lock_guard lock(mutex_);
  if (!over_) owners_.push_back(std::move(owner));
}

void work_state::rethrow() {
  if (!error_) return;
  observed_ = true;
  std::rethrow_exception(error_);
}

void work_state::finish(std::exception_ptr error) {
  std::vector<std::shared_ptr<const void>> owners;
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
    owners.swap(owners_);
  }
  owners.clear();  // outside of the lock: a destructor may do anything
  const std::lock_guard lock(mutex_);
  ended_ = clock::now();
  error_ = std::move(error);
  if (error_ && abandoned_) lost_->keep(error_);
  finished_.store(true, std::memory_order_release);
}

void work_state::abandon() {
  const std::lock_guard lock(mutex_);
  abandoned_ = true;
  if (finished() && error_ && !observed_) lost_->keep(error_);
}

std::shared_ptr<work_state> handle_of(std::shared_ptr<work_state> w) {
  work_state* const state = w.get();
  return {state, [w = std::move(w)](work_state*) { w->abandon(); }};
}

}  // namespace serried::inline v0::comm
