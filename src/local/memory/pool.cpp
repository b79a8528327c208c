#include "local/memory/pool.hpp"

#include "local/memory/arena.hpp"

#include <serried/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace serried::inline v0::memory {
namespace {

constexpr std::size_t unit = free_blocks::unit;
constexpr std::size_t mebibyte = std::size_t{1} << 20;
constexpr std::size_t largest = std::size_t{1} << 62;

constexpr std::size_t round_up(std::size_t bytes, std::size_t step) { return (bytes + step - 1) / step * step; }

constexpr std::size_t segment_bytes(std::size_t bytes) {
  if (bytes <= mebibyte) return 4 * mebibyte;
  if (bytes < 10 * mebibyte) return 32 * mebibyte;
  return round_up(bytes, 2 * mebibyte);  // the pages of a GPU
}

constexpr auto any = [](const block&) { return true; };

}  // namespace

pool::pool(std::shared_ptr<resource> upstream) : upstream_(std::move(upstream)) {
  arenas_.push_back(std::make_unique<arena>(nullptr));
}

pool::~pool() {
  try {
    collect();
  } catch (...) {
    // A device that failed works on nothing any more.
    for (const auto& a : arenas_) move_free_blocks(*a, *arenas_.front());
  }
  release_segments();
}

std::byte* pool::allocate(std::size_t bytes, const std::shared_ptr<queue>& home) {
  if (bytes == 0) return nullptr;
  const std::lock_guard lock(mutex_);
  if (bytes > largest) give_up(bytes);
  const std::size_t rounded = round_up(bytes, unit);
  const bool small = rounded <= mebibyte;
  arena& own = arena_of(home);
  in_use_.reserve_one();
  block* b = own.list(small).find(rounded, any);
  if (b == nullptr) b = find_idle(rounded, small);
  if (b == nullptr) b = new_segment(rounded, small, own);
  if (b == nullptr) b = climb(rounded, small, own);
  if (b == nullptr) give_up(bytes);
  cut(*b, rounded, own);
  stats_.in_use += rounded;
  stats_.cached = held_ - stats_.in_use;
  stats_.peak_in_use = std::max(stats_.peak_in_use, stats_.in_use);
  ++stats_.allocations;
  return b->data;
}

void pool::deallocate(std::byte* data, std::size_t) noexcept {
  if (data == nullptr) return;
  const std::lock_guard lock(mutex_);
  block& b = *in_use_.take(data);
  arena& home = *b.owner;
  stats_.in_use -= b.bytes;
  stats_.cached += b.bytes;
  --home.blocks_in_use;
  b.freed = home.clock;
  give(b, home);
}

/// A block that no queue works on any more.
block* pool::find_idle(std::size_t bytes, bool small) {
  for (std::size_t i = 1; i < arenas_.size();) {
    if (retired(*arenas_[i])) arenas_.erase(arenas_.begin() + static_cast<std::ptrdiff_t>(i));
    else ++i;
  }
  for (const auto& a : arenas_) {
    free_blocks& list = a->list(small);
    if (list.find(bytes, any) == nullptr) continue;
    const auto idle = [&](const block& b) { return a->is_idle(b); };
    if (block* const b = list.find(bytes, idle)) return b;
    a->look();
    if (block* const b = list.find(bytes, idle)) return b;
  }
  return nullptr;
}

/// True for the arena of a queue that nobody else holds and that has come to its end; its blocks are then anybody's.
bool pool::retired(arena& a) {
  if (!a.home || a.home.use_count() > 1 || a.blocks_in_use > 0) return false;
  a.look();
  for (free_blocks* const list : {&a.small, &a.large}) {
    bool all_idle = true;
    list->for_each([&](const block& b) { all_idle &= a.is_idle(b); });
    if (!all_idle) return false;
  }
  move_free_blocks(a, *arenas_.front());
  return true;
}

/// A segment for at least one block of `bytes`, whole; null where the limit or the upstream resource allow none.
block* pool::new_segment(std::size_t bytes, bool small, arena& owner) {
  const std::size_t room = stats_.limit == 0 ? largest : stats_.limit - std::min(stats_.limit, held_);
  if (bytes > room) return nullptr;
  reserve_record();  // so that what upstream gives is not lost
  const auto ask = [&](std::size_t size) -> std::byte* {
    try {
      return upstream_->allocate(size);
    } catch (const out_of_memory&) {
      return nullptr;
    }
  };
  std::size_t size = std::max(bytes, std::min(segment_bytes(bytes), room / unit * unit));
  std::byte* data = ask(size);
  if (data == nullptr && size > bytes) data = ask(size = bytes);
  if (data == nullptr) return nullptr;
  block& b = new_record();
  b.data = data;
  b.bytes = size;
  b.is_small = small;
  b.owner = &owner;
  owner.list(small).add(b);
  held_ += size;
  return &b;
}

/// Memory has run out: others' blocks, then what is left when all have waited, then segments in the place of those that
/// are not used.
block* pool::climb(std::size_t bytes, bool small, arena& owner) {
  for (const auto& a : arenas_) {
    block* const b = a->list(small).find(bytes, any);
    if (b == nullptr) continue;
    const auto freed = a->home->record();
    if (owner.home) owner.home->wait_for(*freed);
    else freed->wait();
    return b;
  }
  collect();
  if (block* const b = arenas_.front()->list(small).find(bytes, any)) return b;
  release_segments();
  return new_segment(bytes, small, owner);
}

/// Takes the first `bytes` of a free block for `owner`.
void pool::cut(block& b, std::size_t bytes, arena& owner) {
  arena& from = *b.owner;
  block* const rest = b.bytes > bytes ? &new_record() : nullptr;
  from.list(b.is_small).remove(b);
  if (rest != nullptr) {
    *rest = b;
    rest->data += bytes;
    rest->bytes -= bytes;
    rest->before = &b;
    if (rest->behind != nullptr) rest->behind->before = rest;
    b.behind = rest;
    b.bytes = bytes;
    from.list(b.is_small).add(*rest);
  }
  b.owner = &owner;
  ++owner.blocks_in_use;
  in_use_.put(&b);
}

/// Adds a block, the last to be freed, to the free ones of an arena, joined with its neighbors there.
void pool::give(block& b, arena& to) noexcept {
  b.owner = &to;
  free_blocks& list = to.list(b.is_small);
  const auto joins = [&](const block* neighbor) {
    return neighbor != nullptr && neighbor->is_free && neighbor->owner == &to;
  };
  const auto absorb = [&](block& next) {  // next is b.behind
    b.bytes += next.bytes;
    b.behind = next.behind;
    if (b.behind != nullptr) b.behind->before = &b;
    recycle(next);
  };
  if (joins(b.behind)) {
    list.remove(*b.behind);
    absorb(*b.behind);
  }
  if (joins(b.before)) {
    block& before = *b.before;
    list.remove(before);
    before.bytes += b.bytes;
    before.freed = b.freed;
    before.behind = b.behind;
    if (before.behind != nullptr) before.behind->before = &before;
    recycle(b);
    list.add(before);
    return;
  }
  list.add(b);
}

void pool::move_free_blocks(arena& from, arena& to) noexcept {
  if (&from == &to) return;
  for (free_blocks* const list : {&from.small, &from.large})
    while (block* const b = list->first()) {
      list->remove(*b);
      b->freed = 0;
      give(*b, to);
    }
}

/// Waits for the work that free blocks are still in, and joins them all.
void pool::collect() {
  for (const auto& a : arenas_)
    if (a->small.first() != nullptr || a->large.first() != nullptr) a->wait();
  for (const auto& a : arenas_) move_free_blocks(*a, *arenas_.front());
}

/// Gives the segments back that are free as a whole and nobody's.
void pool::release_segments() noexcept {
  for (free_blocks* const list : {&arenas_.front()->small, &arenas_.front()->large})
    list->for_each([&](block& b) {
      if (!b.is_whole_segment()) return;
      list->remove(b);
      upstream_->deallocate(b.data, b.bytes);
      held_ -= b.bytes;
      recycle(b);
    });
  stats_.cached = held_ - stats_.in_use;
}

arena& pool::arena_of(const std::shared_ptr<queue>& home) {
  for (const auto& a : arenas_)
    if (a->home == home) return *a;
  return *arenas_.emplace_back(std::make_unique<arena>(home));
}

void pool::reserve_record() {
  constexpr std::size_t count = 64;
  if (spare_records_ != nullptr) return;
  records_.push_back(std::make_unique<block[]>(count));
  for (std::size_t i = 0; i < count; ++i) recycle(records_.back()[i]);
}

block& pool::new_record() {
  reserve_record();
  block& b = *std::exchange(spare_records_, spare_records_->next);
  b = {};
  return b;
}

void pool::recycle(block& b) noexcept { b.next = std::exchange(spare_records_, &b); }

void pool::give_up(std::size_t requested) const {
  const auto known = [](std::optional<std::size_t> bytes, const char* otherwise) {
    return bytes ? fmt::format("{}", *bytes) : std::string(otherwise);
  };
  const auto limit = stats_.limit == 0 ? std::nullopt : std::optional(stats_.limit);
  throw out_of_memory(fmt::format("out of memory: requested {} bytes; in use {}, cached {}, limit {}, free {}",
                                  requested, stats_.in_use, stats_.cached, known(limit, "none"),
                                  known(upstream_->available(), "unknown")));
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
  if (bytes == 0 || held_ <= bytes) return;
  collect();
  release_segments();
}

void pool::trim() {
  const std::lock_guard lock(mutex_);
  collect();
  release_segments();
}

}  // namespace serried::inline v0::memory
