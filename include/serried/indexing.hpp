// Elements picked by arrays of indices; `a(indices)` is in array.hpp.
#pragma once

#include <serried/array.hpp>

#include <cstdint>
#include <initializer_list>
#include <optional>

namespace serried::inline v0 {

/// What an index outside an axis of length n means. Negative ones down to −n count from its end only with `raise`.
enum class index_mode : std::uint8_t {
  raise,  ///< an error
  wrap,   ///< the index modulo n
  clip,   ///< the nearest one in the axis
};

struct take_options {
  std::optional<std::int64_t> axis = {};  ///< {}: of the flattened array
  index_mode mode = index_mode::raise;
};
/// The elements at these indices along the axis, whose place in the shape the indices' shape takes. The expression's
/// evaluation throws index_error for an index outside the axis (with `raise`); the call does for an axis outside the
/// array, or any index along an axis of length 0. Throws dtype_error for indices that are not integers (or bools: 0 and
/// 1).
[[nodiscard]] SERRIED_API expr take(const expr& a, const expr& indices, const take_options& options = {});
[[nodiscard]] inline expr take(const expr& a, std::initializer_list<detail::nested_list> indices,
                               const take_options& options = {}) {
  return take(a, array(indices), options);
}

struct along_axis_options {
  std::optional<std::int64_t> axis = -1;  ///< {}: of the flattened array
};
/// For each element of `indices`, the element of `a` that has this index along the axis and the same ones along the
/// others, in which the two broadcast. Throws shape_error unless both have as many dimensions and broadcast,
/// dtype_error for indices that are not integers, index_error as take does.
[[nodiscard]] SERRIED_API expr take_along_axis(const expr& a, const expr& indices,
                                               const along_axis_options& options = {});
[[nodiscard]] inline expr take_along_axis(const expr& a, std::initializer_list<detail::nested_list> indices,
                                          const along_axis_options& options = {}) {
  return take_along_axis(a, array(indices), options);
}

}  // namespace serried::inline v0
