#include "local/memory/buffer.hpp"

#include <serried/error.hpp>

#include "local/memory/pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <typeinfo>

namespace serried::inline v0::memory {

buffer::buffer(std::shared_ptr<resource> from, std::size_t bytes, const std::shared_ptr<queue>& home)
    : source_(std::move(from)), bytes_(bytes), home_(home) {
  if (const resource& r = *source_; home_ && typeid(r) == typeid(pool)) pool_ = static_cast<pool*>(source_.get());
  data_ = pool_ != nullptr ? pool_->allocate(bytes, home_) : source_->allocate(bytes);
  if (data_ == nullptr && bytes != 0)
    throw out_of_memory(fmt::format("out of memory: the resource gave nothing for {} bytes", bytes));
}

buffer::~buffer() {
  if (data_ == nullptr) return;
  try {
    if (home_) {
      if (writer_) home_->wait_for(*writer_->record());
      for (const auto& q : readers_)
        if (q != home_) home_->wait_for(*q->record());
      // Another allocator may lend the memory to anyone.
      if (pool_ == nullptr) home_->record()->wait();
    }
    source_->deallocate(data_, bytes_);
  } catch (...) {
    // The device failed or is gone: the block is lost, and nobody gets it while something may still write to it.
  }
}

void buffer::read_on(const std::shared_ptr<queue>& q) {
  if (!home_ || q == last_writer() || std::find(readers_.begin(), readers_.end(), q) != readers_.end()) return;
  q->wait_for(*last_writer()->record());
  // Few at a time: an array that lives long must not keep every queue that ever read it. The work of those that someone
  // still holds may be yet to be issued.
  if (constexpr std::size_t most = 8; readers_.size() >= most) {
    const auto done = std::partition(readers_.begin(), readers_.end(), [](const auto& r) { return r.use_count() > 1; });
    for (auto r = done; r != readers_.end(); ++r) home_->wait_for(*(*r)->record());
    if (done != readers_.end()) {
      readers_.erase(done, readers_.end());
      const bool counted = !writer_ || home_ == q;
      if (!counted && std::find(readers_.begin(), readers_.end(), home_) == readers_.end()) readers_.push_back(home_);
    }
  }
  readers_.push_back(q);
}

void buffer::write_on(const std::shared_ptr<queue>& q) {
  if (!home_ || only_user() == q.get()) return;
  if (last_writer() != q) q->wait_for(*last_writer()->record());
  for (const auto& r : readers_)
    if (r != q) q->wait_for(*r->record());
  readers_.clear();
  writer_ = q == home_ ? nullptr : q;
}

void buffer::swap(buffer& other) noexcept {
  std::swap(source_, other.source_);
  std::swap(pool_, other.pool_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(home_, other.home_);
  std::swap(writer_, other.writer_);
  std::swap(readers_, other.readers_);
}

}  // namespace serried::inline v0::memory
