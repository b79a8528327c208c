// A caching allocator over any resource, for memory that queues of a device work on.
#pragma once

#include <serried/memory.hpp>

#include "local/memory/address_map.hpp"
#include "local/memory/free_blocks.hpp"
#include "local/queue.hpp"

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace serried::inline v0::memory {

/// Takes segments from its upstream resource and cuts blocks out of them: the smallest free block that is large enough,
/// split in units of 512 bytes; what comes back joins its free neighbors. Requests up to 1 MiB share segments of 4 MiB,
/// those below 10 MiB segments of 32 MiB, larger ones have their own.
///
/// A block has a home queue and comes back while the work that uses it may still be waiting there. It is at once free
/// for later work on that queue; for other queues once its home has reached a mark recorded behind that work, or, when
/// memory runs out, by making them wait for the mark. Blocks without a home (the host's) are free at once.
///
/// Thread-safe. The figures count bytes rounded to units of 512.
class pool final : public resource {
 public:
  explicit pool(std::shared_ptr<resource> upstream);
  /// All blocks must have come back.
  ~pool() override;
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;

  /// For work on `home`; null: for the calling thread itself, now.
  [[nodiscard]] std::byte* allocate(std::size_t bytes, const std::shared_ptr<queue>& home);
  [[nodiscard]] std::byte* allocate(std::size_t bytes) override { return allocate(bytes, nullptr); }
  /// Queues other than the home must be done with the block, or the home wait for them.
  void deallocate(std::byte* data, std::size_t bytes) noexcept override;
  [[nodiscard]] std::optional<std::size_t> available() const noexcept override { return upstream_->available(); }

  [[nodiscard]] const std::shared_ptr<resource>& upstream() const noexcept { return upstream_; }
  [[nodiscard]] statistics stats() const;
  /// As memory::set_limit.
  void set_limit(std::size_t bytes);
  /// As memory::trim: waits for the work that freed blocks are still in.
  void trim();

 private:
  [[nodiscard]] block* find_idle(std::size_t bytes, bool small);
  [[nodiscard]] block* find_elsewhere(std::size_t bytes, bool small, const std::shared_ptr<queue>& home);
  [[nodiscard]] block* new_segment(std::size_t bytes, bool small, arena& owner);
  [[nodiscard]] block* climb(std::size_t bytes, bool small, arena& owner);
  [[nodiscard]] bool retired(arena& a);
  void cut(block& b, std::size_t bytes, arena& owner);
  void give(block& b, arena& to) noexcept;
  void move_free_blocks(arena& from, arena& to) noexcept;
  void collect();
  void release_segments() noexcept;

  [[nodiscard]] arena& arena_of(const std::shared_ptr<queue>& home);
  void reserve_record();
  [[nodiscard]] block& new_record();
  void recycle(block& b) noexcept;
  [[noreturn]] void give_up(std::size_t requested) const;

  const std::shared_ptr<resource> upstream_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<arena>> arenas_;  // the first has no home
  address_map<block> in_use_;
  std::vector<std::unique_ptr<block[]>> records_;
  block* spare_records_ = nullptr;
  std::size_t held_ = 0;  // bytes of all segments
  statistics stats_;
};

/// The system's memory, uncached: aligned to 512, untouched, in huge pages where that pays.
[[nodiscard]] std::shared_ptr<resource> host_memory();

}  // namespace serried::inline v0::memory
