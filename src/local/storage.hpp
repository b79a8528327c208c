// What array handles share: a buffer that may be swapped for another, and a count of the writes to it.
#pragma once

#include "local/engine.hpp"
#include "local/memory/buffer.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace serried::inline v0 {

class storage {
 public:
  storage(std::shared_ptr<engine> device, std::size_t bytes)
      : engine_(std::move(device)), buffer_(engine_->memory().source(), bytes) {}

  [[nodiscard]] std::byte* data() const noexcept { return buffer_.data(); }
  [[nodiscard]] std::size_t bytes() const noexcept { return buffer_.size(); }
  [[nodiscard]] const std::shared_ptr<engine>& device() const noexcept { return engine_; }

  /// Grows with every write: an expression made before the last one is stale.
  [[nodiscard]] std::uint64_t version() const noexcept { return version_; }
  void written() noexcept { ++version_; }

  /// True once a pointer to the data was handed out: the data must then stay where it is.
  [[nodiscard]] bool pinned_down() const noexcept { return exported_; }
  void pin_down() noexcept { exported_ = true; }

  /// Takes over the contents of `fresh`; all views see them.
  void install(storage& fresh) noexcept {
    std::swap(buffer_, fresh.buffer_);
    written();
  }

 private:
  std::shared_ptr<engine> engine_;
  memory::buffer buffer_;
  std::atomic<std::uint64_t> version_ = 0;
  std::atomic<bool> exported_ = false;
};

}  // namespace serried::inline v0
