#include "local/host/copy.hpp"

#include <array>
#include <cstring>

namespace serried::inline v0::host {
namespace {

/// Calls f with a compile-time element size, which turns every memcpy into a load and a store.
template <class F>
void with_size(std::int64_t item, F&& f) {
  switch (item) {
    case 1: return f.template operator()<1>();
    case 2: return f.template operator()<2>();
    case 4: return f.template operator()<4>();
    case 8: return f.template operator()<8>();
    default: return f.template operator()<16>();
  }
}

}  // namespace

void copy_strided(std::byte* to, std::int64_t to_stride, const std::byte* from, std::int64_t from_stride,
                  std::int64_t n, std::int64_t item) {
  if (to_stride == item && from_stride == item) {
    std::memcpy(to, from, static_cast<std::size_t>(n * item));
    return;
  }
  if (to_stride == item && from_stride == 0) return fill(to, from, n, item);
  with_size(item, [&]<std::size_t Size>() {
    for (std::int64_t i = 0; i < n; ++i) std::memcpy(to + i * to_stride, from + i * from_stride, Size);
  });
}

void fill(std::byte* to, const std::byte* value, std::int64_t n, std::int64_t item) {
  with_size(item, [&]<std::size_t Size>() {
    std::array<std::byte, Size> element;
    std::memcpy(element.data(), value, Size);
    for (std::int64_t i = 0; i < n; ++i) std::memcpy(to + i * static_cast<std::int64_t>(Size), element.data(), Size);
  });
}

bool gather(std::byte* to, const std::byte* from, std::int64_t count, const std::int64_t* numbers, std::int64_t step,
            std::int64_t n, std::int64_t item) {
  bool all = true;
  with_size(item, [&]<std::size_t Size>() {
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t number = numbers[i * step];
      const bool there = number >= 0 && number < count;
      std::array<std::byte, Size> element{};
      if (there) std::memcpy(element.data(), from + number * static_cast<std::int64_t>(Size), Size);
      std::memcpy(to + i * static_cast<std::int64_t>(Size), element.data(), Size);
      all &= there;
    }
  });
  return all;
}

void transpose(std::byte* to, const std::byte* from, std::int64_t rows, std::int64_t columns, std::int64_t item) {
  for (std::int64_t c = 0; c < columns; ++c)
    copy_strided(to + c * rows * item, item, from + c * item, columns * item, rows, item);
}

}  // namespace serried::inline v0::host
