// Bytes from a resource, given back to it on destruction.
#pragma once

#include <serried/memory.hpp>

#include <cstddef>
#include <memory>
#include <utility>

namespace serried::inline v0::memory {

class buffer {
 public:
  buffer() = default;
  /// Throws out_of_memory.
  buffer(std::shared_ptr<resource> from, std::size_t bytes)
      : resource_(std::move(from)), data_(resource_->allocate(bytes)), bytes_(bytes) {}
  buffer(buffer&& other) noexcept
      : resource_(std::move(other.resource_)),
        data_(std::exchange(other.data_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0)) {}
  buffer& operator=(buffer&& other) noexcept {
    buffer taken(std::move(other));
    std::swap(resource_, taken.resource_);
    std::swap(data_, taken.data_);
    std::swap(bytes_, taken.bytes_);
    return *this;
  }
  buffer(const buffer&) = delete;
  buffer& operator=(const buffer&) = delete;
  ~buffer() {
    if (data_ != nullptr) resource_->deallocate(data_, bytes_);
  }

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_; }

 private:
  std::shared_ptr<resource> resource_;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace serried::inline v0::memory
