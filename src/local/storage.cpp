#include "local/storage.hpp"

#include <utility>

namespace serried::inline v0 {

void storage::use_from_another(const std::shared_ptr<queue>& q,
                               void (memory::buffer::*how)(const std::shared_ptr<queue>&)) {
  const std::lock_guard lock(mutex_);
  (buffer_.*how)(q);
  only_user_.store(buffer_.only_user(), std::memory_order_release);
}

void storage::install(storage& fresh, const std::optional<placement>& part) {
  written();
  {
    const std::lock_guard lock(mutex_);
    std::swap(buffer_, fresh.buffer_);
    only_user_.store(buffer_.only_user(), std::memory_order_release);
    if (part) spare_ = spare{std::exchange(fresh.buffer_, {}), *part, version_};
  }
  if (!part) return;
  engine_->memory().offer(*this);
  offered_ = true;
}

memory::buffer storage::take_spare(const placement& part) {
  if (!offered_) return {};
  engine_->memory().withdraw(*this);
  offered_ = false;
  const std::lock_guard lock(mutex_);
  std::optional<spare> taken = std::exchange(spare_, std::nullopt);
  if (!taken || taken->part != part || taken->version != version_) return {};
  return std::move(taken->data);
}

void storage::discard_spare() noexcept {
  engine_->memory().withdraw(*this);
  offered_ = false;
  drop_spare();
}

void storage::drop_spare() noexcept {
  const std::lock_guard lock(mutex_);
  spare_.reset();
}

}  // namespace serried::inline v0
