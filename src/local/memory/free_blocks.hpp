// The pool's blocks, and lists of the free ones in which one of a given size is found at once.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace serried::inline v0::memory {

struct arena;

/// A stretch of a segment (what came from the upstream resource in one piece), in use or free.
struct block {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  block* before = nullptr;  // neighbors in the segment
  block* behind = nullptr;
  block* previous = nullptr;  // neighbors in a list of free blocks
  block* next = nullptr;
  arena* owner = nullptr;
  std::uint64_t freed = 0;  // the owner's clock when it was last given back; 0: never used
  bool is_free = false;
  bool is_small = false;  // of a segment for small requests

  [[nodiscard]] bool is_whole_segment() const noexcept { return before == nullptr && behind == nullptr; }
};

/// Lists of free blocks by size: exact up to 32 KiB, then 32 to an octave. Nothing here allocates.
class free_blocks {
 public:
  static constexpr std::size_t unit = 512;

  void add(block& b) noexcept {
    const std::size_t bin = bin_of(b.bytes);
    b.is_free = true;
    b.previous = nullptr;
    b.next = heads_[bin];
    if (b.next != nullptr) b.next->previous = &b;
    heads_[bin] = &b;
    filled_[bin / 64] |= std::uint64_t{1} << bin % 64;
  }
  void remove(block& b) noexcept {
    b.is_free = false;
    if (b.next != nullptr) b.next->previous = b.previous;
    if (b.previous != nullptr) {
      b.previous->next = b.next;
      return;
    }
    const std::size_t bin = bin_of(b.bytes);
    heads_[bin] = b.next;
    if (b.next == nullptr) filled_[bin / 64] &= ~(std::uint64_t{1} << bin % 64);
  }
  /// The smallest block of at least `bytes` (give or take a bin's width) among those with accept(block); null when
  /// there is none.
  template <class Accept>
  [[nodiscard]] block* find(std::size_t bytes, Accept&& accept) const noexcept {
    const std::size_t own = bin_of(bytes);
    block* best = nullptr;
    for (block* b = heads_[own]; b != nullptr; b = b->next) {
      if (b->bytes < bytes || (best != nullptr && b->bytes >= best->bytes) || !accept(*b)) continue;
      best = b;
      if (b->bytes == bytes) break;
    }
    if (best != nullptr) return best;
    for (std::size_t bin = filled_from(own + 1); bin < bins; bin = filled_from(bin + 1))
      for (block* b = heads_[bin]; b != nullptr; b = b->next)
        if (accept(*b)) return b;
    return nullptr;
  }
  /// Any block; null when there is none.
  [[nodiscard]] block* first() const noexcept {
    const std::size_t bin = filled_from(0);
    return bin < bins ? heads_[bin] : nullptr;
  }
  /// f may remove the block.
  template <class F>
  void for_each(F&& f) {
    for (std::size_t bin = filled_from(0); bin < bins; bin = filled_from(bin + 1))
      for (block* b = heads_[bin]; b != nullptr;) {
        block* const next = b->next;
        f(*b);
        b = next;
      }
  }

 private:
  static constexpr std::size_t bins = 1600;  // up to 2^62 bytes

  static std::size_t bin_of(std::size_t bytes) noexcept {
    const std::size_t units = bytes / unit;
    if (units < 32) return units;
    const auto octave = static_cast<std::size_t>(std::bit_width(units)) - 1;
    return (octave - 4) * 32 + (units >> (octave - 5)) % 32;
  }
  /// The first bin from `bin` on that holds something; `bins` when none does.
  [[nodiscard]] std::size_t filled_from(std::size_t bin) const noexcept {
    if (bin >= bins) return bins;
    std::size_t word = bin / 64;
    std::uint64_t bits = filled_[word] >> bin % 64 << bin % 64;
    while (bits == 0) {
      if (++word == filled_.size()) return bins;
      bits = filled_[word];
    }
    return word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
  }

  std::array<block*, bins> heads_{};
  std::array<std::uint64_t, bins / 64> filled_{};
};

}  // namespace serried::inline v0::memory
