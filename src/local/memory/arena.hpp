// What the pool knows of one queue.
#pragma once

#include "local/memory/free_blocks.hpp"
#include "local/queue.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace serried::inline v0::memory {

/// The free blocks whose home is `home`. Its clock counts the marks recorded there for the pool: once the mark of time
/// t is reached, all blocks that were freed at t or before are anybody's.
struct arena {
  explicit arena(std::shared_ptr<queue> q) : home(std::move(q)) {}

  const std::shared_ptr<queue> home;  // null: free at once
  free_blocks small, large;
  std::size_t blocks_in_use = 0;
  std::uint64_t clock = 1;
  std::uint64_t reached = 0;
  std::shared_ptr<mark> pending;  // of time clock − 1

  [[nodiscard]] free_blocks& list(bool is_small) noexcept { return is_small ? small : large; }
  [[nodiscard]] bool is_idle(const block& b) const noexcept { return !home || b.freed <= reached; }

  /// Looks how far the queue has come; records a mark when none is under way.
  void look() {
    if (!home) return;
    if (!pending) {
      pending = home->record();
      ++clock;
    }
    if (!pending->reached()) return;
    reached = clock - 1;
    pending.reset();
  }
  /// The calling thread waits until all free blocks are anybody's.
  void wait() {
    if (!home) return;
    pending = home->record();
    ++clock;
    pending->wait();
    reached = clock - 1;
    pending.reset();
  }
};

}  // namespace serried::inline v0::memory
