// A program's instructions as CUDA C++ text, for all kernels.
#pragma once

#include "local/program.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace serried::inline v0::cuda {

/// First lines of every kernel's text: bring the operations that the program uses (namespace serried::ops, without
/// standard headers). Parsing what it does not use would take a good part of the time that compiling takes.
[[nodiscard]] std::string preamble_of(const program& p);

/// The C++ type in which kernels keep an element in memory: "float", "ops::half", "ops::complex<double>", "bool", …
[[nodiscard]] std::string_view element_type(dtype type);

/// A scalar argument held in words of the argument block, the first being word `first` (complex128 takes two), as an
/// expression of its element type.
[[nodiscard]] std::string scalar_text(dtype type, int first);
[[nodiscard]] int words_of(dtype type);  ///< argument words that a scalar takes
void append_words(std::vector<std::uint64_t>& words, const scalar_value& value);

/// What the structural instructions read; each gives an expression. A load's is of the leaf's element type.
struct operands {
  std::function<std::string(int load)> load;
  std::function<std::string(int scalar)> scalar;
  std::function<std::string(int axis)> index;  ///< of type long long
  std::function<int(int leaf)> gather = {};    ///< the first of two words: the leaf's address, its number of elements
};

/// Statements, one a line after `indent`, that compute every register r that an output needs as a `const` variable
/// called `prefix` + r, of the element type of its dtype; 16-bit floats compute in float and are rounded after every
/// operation, as on the host. Where may_fail(p), they store what fails as a number (an `unsigned* failed` in scope).
/// Gathers need access.hpp.
[[nodiscard]] std::string statements(const program& p, const operands& from, std::string_view prefix,
                                     std::string_view indent = "");

/// About how many machine instructions compute one element.
[[nodiscard]] int weight_of(const program& p);

/// Bytes that hold all of a program's structure (nothing of its scalars' values): the beginning of a kernel's key.
/// Without the loads' offsets if the text does not depend on them.
[[nodiscard]] std::string structure_key(const program& p, bool with_offsets = true);

}  // namespace serried::inline v0::cuda
