#include <serried/error.hpp>
#include <serried/reduce.hpp>

#include <fmt/format.h>

namespace serried::inline v0 {

std::uint32_t axes::mask(int ndim) const {
  if (all_) return static_cast<std::uint32_t>((std::uint64_t{1} << ndim) - 1);
  std::uint32_t result = 0;
  for (const std::int64_t axis : list_) {
    const std::int64_t d = axis < 0 ? axis + ndim : axis;
    if (d < 0 || d >= ndim) throw index_error(fmt::format("axis {} is out of range for {} dimensions", axis, ndim));
    const std::uint32_t bit = std::uint32_t{1} << d;
    if ((result & bit) != 0) throw value_error(fmt::format("axis {} is given twice", axis));
    result |= bit;
  }
  return result;
}

}  // namespace serried::inline v0
