// What array handles share: a buffer that may be swapped for another, and a count of the writes to it.
#pragma once

#include "local/engine.hpp"
#include "local/memory/buffer.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace serried::inline v0 {

/// A part of a storage, as an array shows it.
struct placement {
  std::int64_t offset;  ///< bytes
  shape extent;
  strides stride;
  dtype type;
  friend bool operator==(const placement&, const placement&) = default;
};

/// Several threads may read one at once, each in a queue of its own; while one writes to it, in whatever part, no other
/// may use it.
class storage final : public memory::spare_owner {
 public:
  storage(const std::shared_ptr<engine>& device, std::size_t bytes)
      : engine_(device), buffer_(device->allocate(bytes)), only_user_(buffer_.only_user()) {}
  storage(const std::shared_ptr<engine>& device, memory::buffer contents)
      : engine_(device), buffer_(std::move(contents)), only_user_(buffer_.only_user()) {}
  ~storage() {
    if (offered_) engine_->memory().withdraw(*this);
  }

  [[nodiscard]] std::byte* data() const noexcept { return buffer_.data(); }
  [[nodiscard]] std::size_t bytes() const noexcept { return buffer_.size(); }
  [[nodiscard]] const std::shared_ptr<engine>& device() const noexcept { return engine_; }

  /// Call one before issuing work that reads or writes the data to the current queue of `on` (which may be another
  /// engine of the same device): that work will begin after what it depends on in other queues.
  void read_on(engine& on) { use(on, &memory::buffer::read_on); }
  void write_on(engine& on) { use(on, &memory::buffer::write_on); }

  /// Grows with every write: an expression made before the last one is stale.
  [[nodiscard]] std::uint64_t version() const noexcept { return version_; }
  void written() noexcept {
    ++version_;
    if (offered_) discard_spare();
  }

  /// True once a pointer to the data was handed out: the data must then stay where it is.
  [[nodiscard]] bool pinned_down() const noexcept { return exported_; }
  void pin_down() noexcept { exported_ = true; }

  /// Takes over the contents of `fresh`, which nobody else uses; all views see them. Where these differ from the
  /// present ones in `part` alone, the latter are kept as a spare.
  void install(storage& fresh, const std::optional<placement>& part = std::nullopt);
  /// A buffer that differs from the present contents in `part` alone; empty if there is none.
  [[nodiscard]] memory::buffer take_spare(const placement& part);
  void drop_spare() noexcept override;

 private:
  void use(engine& on, void (memory::buffer::*how)(const std::shared_ptr<queue>&)) {
    if (!engine_->asynchronous()) return;
    const std::shared_ptr<queue>& q = on.shared_current_queue();
    // As long as all is one queue, there is nothing to order.
    if (only_user_.load(std::memory_order_acquire) != q.get()) use_from_another(q, how);
  }
  void use_from_another(const std::shared_ptr<queue>& q, void (memory::buffer::*how)(const std::shared_ptr<queue>&));
  void discard_spare() noexcept;

  struct spare {
    memory::buffer data;
    placement part;
    std::uint64_t version;  // of the storage, while the rest is the same
  };

  const std::shared_ptr<engine> engine_;
  memory::buffer buffer_;
  std::optional<spare> spare_;
  bool offered_ = false;  // to the device, which may have dropped it since
  std::mutex mutex_;      // of what the buffer remembers of queues, and of the spare
  std::atomic<const queue*> only_user_;
  std::atomic<std::uint64_t> version_ = 0;
  std::atomic<bool> exported_ = false;
};

}  // namespace serried::inline v0
