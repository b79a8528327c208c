#include <serried/error.hpp>
#include <serried/shape.hpp>

#include <fmt/format.h>

#include <ostream>

namespace serried::inline v0 {
namespace {

[[noreturn]] void too_many_dimensions() {
  throw shape_error(fmt::format("an array has at most {} dimensions", max_ndim));
}

}  // namespace

dims dims::filled(int n, std::int64_t value) {
  if (n < 0) throw shape_error(fmt::format("a number of dimensions cannot be negative (got {})", n));
  if (n > max_ndim) too_many_dimensions();
  dims d;
  d.size_ = n;
  std::fill(d.begin(), d.end(), value);
  return d;
}

void dims::push_back(std::int64_t value) {
  if (size_ == max_ndim) too_many_dimensions();
  values_[static_cast<std::size_t>(size_++)] = value;
}

void dims::insert(int i, std::int64_t value) {
  if (size_ == max_ndim) too_many_dimensions();
  std::copy_backward(begin() + i, end(), end() + 1);
  (*this)[i] = value;
  ++size_;
}

void dims::erase(int i) noexcept {
  std::copy(begin() + i + 1, end(), begin() + i);
  --size_;
}

std::string to_string(const dims& d) {
  if (d.size() == 1) return fmt::format("({},)", d[0]);
  return fmt::format("({})", fmt::join(d.begin(), d.end(), ", "));
}

std::ostream& operator<<(std::ostream& out, const dims& d) { return out << to_string(d); }

std::int64_t element_count(const shape& s) {
  bool empty = false;
  for (const std::int64_t extent : s) {
    if (extent < 0) throw shape_error(fmt::format("extents cannot be negative: shape {}", to_string(s)));
    empty = empty || extent == 0;
  }
  if (empty) return 0;
  std::int64_t count = 1;
  for (const std::int64_t extent : s)
    if (__builtin_mul_overflow(count, extent, &count))
      throw shape_error(fmt::format("shape {} has more elements than 63 bits can count", to_string(s)));
  return count;
}

strides contiguous_strides(const shape& s, std::size_t item_size) {
  strides result = dims::filled(s.size(), 0);
  auto step = static_cast<std::int64_t>(item_size);
  for (int d = s.size() - 1; d >= 0; --d) {
    result[d] = step;
    // An empty array has no elements to stride over; its other extents may be of any size.
    if (__builtin_mul_overflow(step, std::max<std::int64_t>(s[d], 1), &step)) step = 0;
  }
  return result;
}

shape broadcast_shapes(const shape& a, const shape& b, const char* operation) {
  const shape& longer = a.size() >= b.size() ? a : b;
  const shape& shorter = a.size() >= b.size() ? b : a;
  shape result = longer;
  for (int d = 0; d < shorter.size(); ++d) {
    const int at = d + longer.size() - shorter.size();
    if (shorter[d] == longer[at] || shorter[d] == 1) continue;
    if (longer[at] != 1)
      throw shape_error(fmt::format("{}: shapes {} and {} do not broadcast: extents must be equal or 1", operation,
                                    to_string(a), to_string(b)));
    result[at] = shorter[d];
  }
  return result;
}

}  // namespace serried::inline v0
