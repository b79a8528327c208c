// A caching allocator over any resource: blocks that come back are kept by size class and handed out again.
#pragma once

#include <serried/memory.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace serried::inline v0::memory {

/// Thread-safe. Every number of bytes is rounded up to a size class (four to an octave, 512 bytes at least), and the
/// figures count rounded bytes.
class pool final : public resource {
 public:
  explicit pool(std::shared_ptr<resource> upstream);
  /// All blocks must have come back.
  ~pool() override;
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;

  [[nodiscard]] std::byte* allocate(std::size_t bytes) override;
  void deallocate(std::byte* data, std::size_t bytes) noexcept override;

  [[nodiscard]] statistics stats() const;
  /// As memory::set_limit.
  void set_limit(std::size_t bytes);
  void trim() noexcept;

 private:
  struct size_class {
    std::vector<std::byte*> free;  // its capacity is never below `blocks`, so that deallocate does not allocate
    std::size_t blocks = 0;        // in use and free
  };
  static constexpr std::size_t class_count = 213;  // up to 2^62 bytes

  std::byte* take(std::size_t index, std::size_t bytes, std::size_t requested);
  [[noreturn]] void give_up(std::size_t requested) const;
  void trim_locked() noexcept;

  std::shared_ptr<resource> upstream_;
  mutable std::mutex mutex_;
  std::array<size_class, class_count> classes_;
  statistics stats_;
};

/// The system's memory, uncached: aligned to 512, untouched, in huge pages where that pays.
[[nodiscard]] std::shared_ptr<resource> host_memory();

}  // namespace serried::inline v0::memory
