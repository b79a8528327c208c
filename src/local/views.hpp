// What functions that take axes have in common.
#pragma once

#include <serried/array.hpp>
#include <serried/index.hpp>
#include <serried/reduce.hpp>
#include <serried/shape.hpp>

#include <cstdint>

namespace serried::inline v0 {

/// Negative axes count from the end. Throws index_error outside `ndim` dimensions, naming `operation`.
[[nodiscard]] int resolve_axis(std::int64_t axis, int ndim, const char* operation);
/// The same for each; throws value_error when one comes twice.
[[nodiscard]] dims resolve_axes(const dims& axes, int ndim, const char* operation);
[[nodiscard]] dims resolve_axes(const axes& which, int ndim, const char* operation);
/// 0, 1, …, ndim − 1.
[[nodiscard]] dims all_axes(int ndim);

/// Extents of a result. Throw shape_error, naming `operation`, when they do not fit in 63 bits.
[[nodiscard]] std::int64_t sum_of_extents(std::int64_t x, std::int64_t y, const char* operation);
[[nodiscard]] std::int64_t product_of_extents(std::int64_t x, std::int64_t y, const char* operation);

/// A view: the item applied to one axis, the others whole.
[[nodiscard]] array along(const array& a, int axis, const index_item& item);
/// The index along one axis of every element of a shape: int64.
[[nodiscard]] expr positions(const shape& s, int axis);

}  // namespace serried::inline v0
