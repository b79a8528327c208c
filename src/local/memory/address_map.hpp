// A hash table from addresses to what begins there, for the pool: taking something out never allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace serried::inline v0::memory {

/// T has a member `data`, the address. Open addressing with linear steps, at most half full.
template <class T>
class address_map {
 public:
  address_map() : slots_(16) {}

  /// Makes room for one more; put() then cannot fail.
  void reserve_one() {
    if (2 * (count_ + 1) <= slots_.size()) return;
    std::vector<T*> old(2 * slots_.size());
    old.swap(slots_);
    count_ = 0;
    for (T* const x : old)
      if (x != nullptr) put(x);
  }
  void put(T* x) noexcept {
    std::size_t i = home_of(x->data);
    while (slots_[i] != nullptr) i = after(i);
    slots_[i] = x;
    ++count_;
  }
  /// Finds what begins at `data` and removes it; it must be there.
  T* take(const std::byte* data) noexcept {
    std::size_t hole = home_of(data);
    while (slots_[hole]->data != data) hole = after(hole);
    T* const found = slots_[hole];
    // What stands behind moves up, unless that would put it before its home.
    for (std::size_t i = after(hole); slots_[i] != nullptr; i = after(i)) {
      const std::size_t mask = slots_.size() - 1;
      if (((i - home_of(slots_[i]->data)) & mask) < ((i - hole) & mask)) continue;
      slots_[hole] = slots_[i];
      hole = i;
    }
    slots_[hole] = nullptr;
    --count_;
    return found;
  }

 private:
  [[nodiscard]] std::size_t home_of(const std::byte* data) const noexcept {
    const auto mixed = (reinterpret_cast<std::uintptr_t>(data) >> 9) * 0x9E3779B97F4A7C15U;
    return static_cast<std::size_t>(mixed >> 32) & (slots_.size() - 1);
  }
  [[nodiscard]] std::size_t after(std::size_t i) const noexcept { return (i + 1) & (slots_.size() - 1); }

  std::vector<T*> slots_;  // a power of two of them
  std::size_t count_ = 0;
};

}  // namespace serried::inline v0::memory
