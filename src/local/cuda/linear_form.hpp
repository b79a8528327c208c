// What the text of a linear kernel depends on, besides the program.
#pragma once

#include "local/program.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace serried::inline v0::cuda {

/// How an array's elements are reached.
struct access_form {
  enum class kind : std::uint8_t {
    contiguous,  ///< along the innermost dimension
    strided,     ///< along the innermost dimension, at a run-time stride
    constant,    ///< along the innermost dimension
    mapped,      ///< element by element: the innermost dimension is guarded
  };
  kind inner = kind::contiguous;
  std::uint8_t width = 1;   ///< bytes of one access at most: the alignment of all groups
  std::uint32_t outer = 0;  ///< bit d: moves along outer dimension d
};

struct guard_form {
  std::int8_t dim;  ///< of the iteration; −1: all elements are the low face's value
  boundary_kind low, high;
};

struct index_form {
  std::uint16_t axis;
  std::int8_t dim;  ///< of the iteration; −1: constant
};

struct linear_form {
  std::uint8_t ndim = 1;   ///< the last dimension is the innermost
  std::uint8_t group = 1;  ///< elements
  std::uint8_t groups_per_thread = 1;
  bool rolled = false;       ///< the code that computes a group stands there once, not for every group
  bool wide_index = false;   ///< groups are counted in 64 bits
  bool wide_offset = false;  ///< offsets and indices have 64 bits
  std::vector<access_form> loads, outputs;
  std::vector<std::vector<guard_form>> guards;  ///< per load
  std::vector<index_form> indices;              ///< per index instruction
};

inline constexpr std::uint32_t linear_threads = 128;

[[nodiscard]] std::string linear_text(const program& p, const linear_form& form);

}  // namespace serried::inline v0::cuda
