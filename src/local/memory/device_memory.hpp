// Where the buffers of a device come from: its pool, or an allocator that the user brought.
#pragma once

#include "local/memory/pool.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace serried::inline v0::memory {

/// Keeps a buffer that it can do without.
class spare_owner {
 public:
  /// May be called from any thread until the owner withdraws. Calls nothing of device_memory.
  virtual void drop_spare() noexcept = 0;

 protected:
  ~spare_owner() = default;
};

class device_memory {
 public:
  /// SERRIED_POOL=off goes around the pool, so that tools which watch memory see every buffer. Throws value_error for a
  /// value that is not understood.
  explicit device_memory(std::shared_ptr<memory::pool> p);

  [[nodiscard]] memory::pool& pool() noexcept { return *pool_; }
  /// What new buffers come from.
  [[nodiscard]] std::shared_ptr<resource> source() const {
    if (from_pool_.load(std::memory_order_acquire)) return pool_;
    const std::lock_guard lock(mutex_);
    return source_;
  }
  /// Null: the pool again.
  void set_source(std::shared_ptr<resource> mine) {
    const std::lock_guard lock(mutex_);
    source_ = mine ? std::move(mine) : pool_;
    from_pool_.store(source_ == pool_, std::memory_order_release);
  }

  /// `owner` has a spare, or has it no longer.
  void offer(spare_owner& owner) {
    const std::lock_guard lock(mutex_);
    spare_owners_.push_back(&owner);
  }
  void withdraw(spare_owner& owner) noexcept {
    const std::lock_guard lock(mutex_);
    std::erase(spare_owners_, &owner);
  }
  /// Makes all owners drop their spares; false when there were none.
  bool drop_spares() noexcept {
    const std::lock_guard lock(mutex_);
    for (spare_owner* const owner : spare_owners_) owner->drop_spare();
    return !std::exchange(spare_owners_, {}).empty();
  }

 private:
  const std::shared_ptr<memory::pool> pool_;
  mutable std::mutex mutex_;
  std::shared_ptr<resource> source_;
  std::atomic<bool> from_pool_ = true;
  std::vector<spare_owner*> spare_owners_;
};

}  // namespace serried::inline v0::memory
