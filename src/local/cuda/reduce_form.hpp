// What the text of a reduction's kernel depends on, and the words of one launch.
#pragma once

#include "local/iteration.hpp"
#include "local/program.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace serried::inline v0::cuda {

/// Threads of all blocks of reductions.
inline constexpr std::int64_t reduction_threads = 256;
/// What launch bounds ask for: blocks on a multiprocessor at a time.
inline constexpr std::int64_t resident_blocks = 4;

/// A dimension of the box.
struct reduction_axis {
  int dim;  ///< of the iteration
  std::int64_t extent;
  std::string name;  ///< of the coordinate in the text
};

struct reduction_form {
  /// Argument words, by their numbers; −1: none.
  struct divisor {
    int extent, factor, shift;
  };
  struct guard_words {
    int first, lo, hi, extent, stride, low_value, high_value;
  };
  struct load_words {
    int base = 0;
    std::vector<int> stride;  // per dimension; −1: 0
    std::vector<guard_words> guards;
  };

  program code;
  iteration walk;
  reduction what;
  bool finished = false;                      ///< numbers, not states
  std::vector<reduction_axis> kept, reduced;  ///< outermost first
  std::int64_t elements = 1;                  ///< of one result
  std::int64_t results = 1;
  bool results_inner = false;  ///< neighboring threads have neighboring results, not parts of one
  int vector = 1;              ///< neighboring elements that a thread reads at once
  int steps = 1;               ///< such accesses in flight
  bool wide = false;           ///< elements are counted in 64 bits
  std::int64_t along = 1;      ///< threads of a block for each result
  std::int64_t splits = 1;     ///< blocks for each result

  std::vector<std::uint64_t> words;
  int elements_word = 0, along_word = 0, splits_word = 0, positions_word = 0, out_word = 0, results_word = 0;
  int inner_word = 0;
  std::vector<divisor> kept_divisors, reduced_divisors;
  std::vector<int> result_strides, indices, scalars;
  std::vector<int> gathers;  ///< per leaf
  std::vector<load_words> loads;

  /// A load's stride along the innermost reduced dimension.
  [[nodiscard]] std::int64_t last_stride(const load_path& l) const;
  /// Largest power of two up to 16 that divides the addresses of a load's elements, or of all vectors of them.
  [[nodiscard]] std::int64_t alignment(const load_path& l, bool vectors) const;
  /// Bytes of one access to a single element.
  [[nodiscard]] std::int64_t width(const load_path& l) const;
  /// Whether the program reads this index.
  [[nodiscard]] bool used(const index_path& i) const;
};

[[nodiscard]] std::string reduction_text(const reduction_form& form);
/// For `splits` states of each result: words are their address, results, splits, threads of a block for each result,
/// and where to write.
[[nodiscard]] std::string merge_text(const reduction& what, bool finished);
inline constexpr std::size_t merge_words = 5;
/// Words: states, tops, results, components.
[[nodiscard]] std::string align_text();
inline constexpr std::size_t align_words = 4;

}  // namespace serried::inline v0::cuda
