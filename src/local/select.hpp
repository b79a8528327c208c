// Index expressions resolved against a shape.
#pragma once

#include <serried/array.hpp>
#include <serried/index.hpp>
#include <serried/shape.hpp>

#include <vector>

namespace serried::inline v0 {

/// For each source dimension the first index and the step; for the result its shape and which source dimension each
/// of its dimensions walks (−1: a new axis).
struct selection {
  dims start;
  dims step;
  shape result;
  dims source;
  bool is_box;  ///< every dimension is kept, in place, with step 1
};

/// Throws index_error for an integer outside the shape or too many indices, value_error for a step of 0 or an array.
[[nodiscard]] selection resolve_selection(const std::vector<index_item>& items, const shape& s, const char* operation);

[[nodiscard]] bool has_index_arrays(const std::vector<index_item>& items);
/// What an array gives at items with index arrays among them (array::operator()).
[[nodiscard]] expr select_elements(const array& a, const std::vector<index_item>& items);

}  // namespace serried::inline v0
