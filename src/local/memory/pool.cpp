#include "local/memory/pool.hpp"

#include <serried/error.hpp>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <utility>

namespace serried::inline v0::memory {
namespace {

constexpr std::size_t smallest = 512;
constexpr std::size_t largest = std::size_t{1} << 62;

struct rounded_size {
  std::size_t index;
  std::size_t bytes;
};

/// Four classes to an octave: 512, 640, 768, 896, 1024, 1280, …
rounded_size round_up(std::size_t bytes) {
  if (bytes <= smallest) return {0, smallest};
  const auto octave = static_cast<std::size_t>(std::bit_width(bytes - 1)) - 1;  // 2^octave < bytes ≤ 2^(octave + 1)
  const std::size_t step = std::size_t{1} << (octave - 2);
  const std::size_t steps = (bytes - (std::size_t{1} << octave) + step - 1) / step;  // 1 to 4
  return {(octave - 9) * 4 + steps, (std::size_t{1} << octave) + steps * step};
}

/// Bytes of a class: the inverse of round_up.
constexpr std::size_t bytes_of_class(std::size_t index) {
  if (index == 0) return smallest;
  const std::size_t octave = (index - 1) / 4 + 9;
  return (std::size_t{1} << octave) + ((index - 1) % 4 + 1) * (std::size_t{1} << (octave - 2));
}

class system_memory final : public resource {
 public:
  std::byte* allocate(std::size_t bytes) override {
    if (bytes == 0) return nullptr;
    const bool huge = bytes >= huge_page;
    const std::size_t alignment = huge ? huge_page : smallest;
    const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    void* const data = bytes > address_space ? nullptr : std::aligned_alloc(alignment, rounded);
    if (data == nullptr) throw out_of_memory(fmt::format("the system has no {} bytes of memory", bytes));
    if (huge) madvise(data, bytes, MADV_HUGEPAGE);  // a hint; a kernel without it says no
    return static_cast<std::byte*>(data);
  }
  void deallocate(std::byte* data, std::size_t) noexcept override { std::free(data); }

 private:
  static constexpr std::size_t huge_page = std::size_t{2} << 20;
  static constexpr std::size_t address_space = std::size_t{1} << 47;
};

}  // namespace

pool::pool(std::shared_ptr<resource> upstream) : upstream_(std::move(upstream)) {}
pool::~pool() { trim_locked(); }

std::byte* pool::allocate(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  const std::lock_guard lock(mutex_);
  if (bytes > largest) give_up(bytes);
  const rounded_size size = round_up(bytes);
  std::byte* const data = take(size.index, size.bytes, bytes);
  stats_.in_use += size.bytes;
  stats_.peak_in_use = std::max(stats_.peak_in_use, stats_.in_use);
  ++stats_.allocations;
  return data;
}

std::byte* pool::take(std::size_t index, std::size_t bytes, std::size_t requested) {
  size_class& c = classes_[index];
  if (!c.free.empty()) {
    std::byte* const data = c.free.back();
    c.free.pop_back();
    stats_.cached -= bytes;
    return data;
  }
  const auto over_limit = [&] {
    return stats_.limit != 0 && (bytes > stats_.limit || stats_.in_use + stats_.cached > stats_.limit - bytes);
  };
  if (over_limit()) trim_locked();
  if (over_limit()) give_up(requested);
  c.free.reserve(c.blocks + 1);
  std::byte* data = nullptr;
  try {
    data = upstream_->allocate(bytes);
  } catch (const out_of_memory&) {
    if (stats_.cached == 0) give_up(requested);
    trim_locked();
    try {
      data = upstream_->allocate(bytes);
    } catch (const out_of_memory&) {
      give_up(requested);
    }
  }
  ++c.blocks;
  return data;
}

void pool::give_up(std::size_t requested) const {
  const std::string limit = stats_.limit == 0 ? "none" : fmt::format("{}", stats_.limit);
  const auto free =
      static_cast<std::size_t>(sysconf(_SC_AVPHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  throw out_of_memory(fmt::format("out of memory: requested {} bytes; in use {}, cached {}, limit {}, free {}",
                                  requested, stats_.in_use, stats_.cached, limit, free));
}

void pool::deallocate(std::byte* data, std::size_t bytes) noexcept {
  if (data == nullptr) return;
  const rounded_size size = round_up(bytes);
  const std::lock_guard lock(mutex_);
  classes_[size.index].free.push_back(data);
  stats_.in_use -= size.bytes;
  stats_.cached += size.bytes;
}

statistics pool::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

void pool::set_limit(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes != 0 && bytes < stats_.in_use)
    throw value_error(fmt::format("set_limit: {} bytes are in use, more than the limit of {}", stats_.in_use, bytes));
  stats_.limit = bytes;
  if (bytes != 0 && stats_.in_use + stats_.cached > bytes) trim_locked();
}

void pool::trim() noexcept {
  const std::lock_guard lock(mutex_);
  trim_locked();
}

void pool::trim_locked() noexcept {
  for (std::size_t index = 0; index < class_count; ++index) {
    size_class& c = classes_[index];
    if (c.free.empty()) continue;
    const std::size_t bytes = bytes_of_class(index);
    for (std::byte* const data : c.free) {
      upstream_->deallocate(data, bytes);
      stats_.cached -= bytes;
    }
    c.blocks -= c.free.size();
    c.free.clear();
  }
}

std::shared_ptr<resource> host_memory() { return std::make_shared<system_memory>(); }

}  // namespace serried::inline v0::memory
