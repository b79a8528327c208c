#include <serried/error.hpp>
#include <serried/reduce.hpp>

#include "local/views.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace serried::inline v0 {

int resolve_axis(std::int64_t axis, int ndim, const char* operation) {
  const std::int64_t d = axis < 0 ? axis + ndim : axis;
  if (d < 0 || d >= ndim)
    throw index_error(fmt::format("{}: axis {} is out of range for {} dimensions", operation, axis, ndim));
  return static_cast<int>(d);
}

dims resolve_axes(const dims& axes, int ndim, const char* operation) {
  dims result;
  for (const std::int64_t axis : axes) {
    const int d = resolve_axis(axis, ndim, operation);
    if (std::find(result.begin(), result.end(), d) != result.end())
      throw value_error(fmt::format("{}: axis {} is given twice", operation, axis));
    result.push_back(d);
  }
  return result;
}

dims all_axes(int ndim) {
  dims result;
  for (int d = 0; d < ndim; ++d) result.push_back(d);
  return result;
}

dims resolve_axes(const axes& which, int ndim, const char* operation) {
  return which.all() ? all_axes(ndim) : resolve_axes(which.list(), ndim, operation);
}

std::uint32_t axes::mask(int ndim, const char* operation) const {
  std::uint32_t result = 0;
  for (const std::int64_t d : resolve_axes(*this, ndim, operation)) result |= std::uint32_t{1} << d;
  return result;
}

}  // namespace serried::inline v0
