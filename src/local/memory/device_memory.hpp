// Where the buffers of a device come from: its pool, or an allocator that the user brought.
#pragma once

#include "local/memory/pool.hpp"

#include <memory>
#include <mutex>
#include <utility>

namespace serried::inline v0::memory {

class device_memory {
 public:
  explicit device_memory(std::shared_ptr<memory::pool> p) : pool_(std::move(p)), source_(pool_) {}

  [[nodiscard]] memory::pool& pool() noexcept { return *pool_; }
  /// What new buffers come from.
  [[nodiscard]] std::shared_ptr<resource> source() const {
    const std::lock_guard lock(mutex_);
    return source_;
  }
  /// Null: the pool again.
  void set_source(std::shared_ptr<resource> mine) {
    const std::lock_guard lock(mutex_);
    source_ = mine ? std::move(mine) : pool_;
  }

 private:
  const std::shared_ptr<memory::pool> pool_;
  mutable std::mutex mutex_;
  std::shared_ptr<resource> source_;
};

}  // namespace serried::inline v0::memory
