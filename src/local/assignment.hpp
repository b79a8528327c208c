// What assignment checks and converts, for local and distributed targets alike.
#pragma once

#include <serried/error.hpp>

#include "local/builder.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <type_traits>
#include <vector>

namespace serried::inline v0 {

/// Appends values that are to be written into a target: broadcast to its shape and cast to its dtype. Throws
/// shape_error, or dtype_error where NumPy's same_kind rule forbids the cast.
template <class Array>
std::uint16_t append_for(builder<Array>& b, const basic_expr<Array>& values, const shape& target, dtype type) {
  basic_expr<Array> source = values.state()->root ? basic_expr<Array>(values.eval()) : values;
  // NumPy drops leading dimensions of length 1 from the values of an assignment.
  if (std::is_same_v<Array, array> && source.ndim() > target.size()) {
    Array flat = source.eval();
    std::vector<index_item> items;
    for (int d = 0; d < source.ndim() - target.size() && source.shape()[d] == 1; ++d) items.emplace_back(0);
    items.emplace_back(ellipsis);
    source = basic_expr<Array>(flat.select(items));
  }
  const char* const operation = "assignment";
  if (source.ndim() > target.size() || broadcast_shapes(target, source.shape(), operation) != target)
    throw shape_error(fmt::format("{}: values of shape {} do not broadcast to the target's shape {}", operation,
                                  to_string(values.shape()), to_string(target)));
  const dtype from = source.dtype();
  const auto kind = [](dtype t) {
    return is_complex(t) ? 4 : is_floating(t) ? 3 : is_signed_integer(t) ? 2 : is_integer(t) ? 1 : 0;
  };
  if (kind(from) > kind(type))
    throw dtype_error(
        fmt::format("{}: {} values do not go into an array of {} (NumPy's same_kind rule); astype converts", operation,
                    name(from), name(type)));
  return b.cast(b.append(std::move(source).state()), type);
}

}  // namespace serried::inline v0
