// Bytes from a resource, given back to it on destruction, safely also while queues still work on them.
#pragma once

#include <serried/memory.hpp>

#include "local/queue.hpp"

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace serried::inline v0::memory {

class pool;

/// A buffer with a home queue (engine::allocate makes such) remembers which queues used it, as read_on and write_on
/// tell, and its destructor makes the home wait for them. One without is the calling thread's own.
class buffer {
 public:
  buffer() = default;
  /// Throws out_of_memory.
  buffer(std::shared_ptr<resource> from, std::size_t bytes, const std::shared_ptr<queue>& home = nullptr);
  buffer(buffer&& other) noexcept { swap(other); }
  buffer& operator=(buffer&& other) noexcept {
    buffer taken(std::move(other));
    swap(taken);
    return *this;
  }
  buffer(const buffer&) = delete;
  buffer& operator=(const buffer&) = delete;
  ~buffer();

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_; }
  [[nodiscard]] const std::shared_ptr<queue>& home() const noexcept { return home_; }

  /// Work that reads the bytes is about to be issued to `q`: it will begin after the last write.
  void read_on(const std::shared_ptr<queue>& q);
  /// Work that writes them: it will begin after the last write and all reads.
  void write_on(const std::shared_ptr<queue>& q);
  /// The queue that used the bytes if there is only one, else null.
  [[nodiscard]] const queue* only_user() const noexcept { return readers_.empty() ? last_writer().get() : nullptr; }

 private:
  [[nodiscard]] const std::shared_ptr<queue>& last_writer() const noexcept { return writer_ ? writer_ : home_; }
  void swap(buffer& other) noexcept;

  std::shared_ptr<resource> source_;
  pool* pool_ = nullptr;  // the source, if it is one: takes back what its home still works on
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::shared_ptr<queue> home_;
  std::shared_ptr<queue> writer_;                // the last, unless it is the home
  std::vector<std::shared_ptr<queue>> readers_;  // others that will have waited for the last write
};

}  // namespace serried::inline v0::memory
