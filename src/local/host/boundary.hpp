// What lies outside an array's window, along one dimension.
#pragma once

#include "local/program.hpp"

#include <cstdint>

namespace serried::inline v0::host {

/// Either an index inside the window, or a value.
struct outside {
  std::int64_t index = 0;
  const scalar_value* value = nullptr;
};

/// Where leaf index `i`, outside the window [lo, hi) of a dimension of length `extent`, is read. The low face answers
/// for i < 0, the high one for i ≥ extent. Throws index_error where the faces do not say, or point outside the window.
[[nodiscard]] outside resolve_outside(std::int64_t i, std::int64_t lo, std::int64_t hi, std::int64_t extent,
                                      const faces& boundary);

}  // namespace serried::inline v0::host
