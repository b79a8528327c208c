// How a stencil kernel walks a box and what it keeps in registers: everything its text depends on.
#pragma once

#include "local/cuda/launch.hpp"
#include "local/iteration.hpp"
#include "local/program.hpp"

#include <optional>
#include <string>
#include <vector>

namespace serried::inline v0::cuda::stencil {

inline constexpr int threads = 256;

/// A dimension in which a leaf is read beyond its window. Four words: the leaf's index at iteration index 0 and offset
/// 0, the window's two ends, the leaf's extent.
struct bend {
  int dim;
  boundary_kind low, high;
  int words;
  [[nodiscard]] bool has_value() const { return low == boundary_kind::value || high == boundary_kind::value; }
};

/// Arrays with equal strides, one word (bytes) per dimension. Offsets of a thread's cell are kept once per place.
struct place {
  bool contiguous;  ///< along the rows; then that stride is the item size
  int item;
  int words;
};

/// A bend of a line, and where its face values are among the words (−1: none).
struct line_bend {
  int bend;
  int low, high;
};

/// A position along a row, counted from the first cell of a thread's group, and the offsets along the march at which
/// some cell of the group needs it: fetched at the highest, then handed down from plane to plane.
struct position {
  int lowest = 0, highest = -1;
  [[nodiscard]] bool used() const { return lowest <= highest; }
  [[nodiscard]] bool chained() const { return lowest < highest; }
};

/// What one fetch takes of a row: one position, or `wide` of them in one aligned access.
struct piece {
  int at;
  int wide;
  bool checked;  ///< may lie outside of what can be read for some thread (unless the plan is slanted)
};

/// One address per plane and what the program reads there: consecutive positions around it.
struct fetch {
  int plane;    ///< offset along the march
  int word;     ///< the address at iteration index 0
  bool turned;  ///< some planes lie beyond the window along the march
  std::vector<piece> pieces;
};

/// All rows of one array that differ only in the offset along the march.
struct line {
  dtype type;
  int place;
  bool kept;                ///< nothing is stored there: fetches may overtake stores
  bool uniform;             ///< all cells of a row read one and the same element
  std::vector<int> offset;  ///< per dimension; 0 along rows and march
  int first_plane, planes;  ///< kept in registers
  int first_position;
  std::vector<position> positions;
  std::vector<line_bend> bends;  ///< not along the rows; by dimension of the leaf
  line_bend along{-1, -1, -1};   ///< along the rows
  bool bent;                     ///< some load reads beyond the ends of the rows
  int range;                     ///< two words: the row indices that can be read as they are
  std::vector<fetch> each_step;
  std::vector<fetch> at_start;
};

struct load_place {
  int line;
  int plane, position;
};

/// Addresses that a thread reads, relative to a place's: two words, what is left to the ends of the memory that holds
/// the array.
struct reach {
  int place;
  int words;
};

struct output {
  dtype type;
  int place;
  int word;
  bool wide;     ///< whole groups are stored in one access
  int rim_load;  ///< the load whose values the plan's rim keeps
};

/// A coordinate that the program asks for: word `first` plus the iteration's index along dim (−1: none).
struct coordinate {
  int dim;
  int word;
};

/// A thread's cells: `wide` consecutive ones in each plane of its march. A block is `width` threads along the rows, and
/// the others along dimension `across`.
///
/// Accesses of `wide` elements must begin at multiples of their size. Where rows do not all begin at the same place
/// between such multiples, threads follow them: one index further along dimension d, a thread's cells begin slant[d]
/// cells earlier, at the multiple nearest to their old neighbors. Then offsets along d are also offsets along the rows:
/// positions count from there. Such a kernel has two loops: a plain one for threads that stay clear of the boundaries
/// other than the rows' ends, and a careful one that looks up every element.
struct plan {
  int ndim;
  int march, across;  ///< dimensions; −1: none
  int wide, width;
  int blocks;              ///< on a multiprocessor, at least
  int unroll;              ///< steps of the march
  bool ragged;             ///< a thread's cells may hang over a row's ends
  int lead;                ///< cells by which the first thread's begin before the row
  std::vector<int> slant;  ///< per dimension; 0 along rows
  bool slanted;            ///< some slant is not 0
  int extents;             ///< words: extents per dimension, then planes per chunk
  int overhang;            ///< words, where slanted: cells before and after the row for the march
  int rim;                 ///< words: cells before and behind the row that are stored with their old values; −1: none
  int digits;              ///< words: count and divisor of each part of the block's number
  std::vector<bend> bends;
  std::vector<place> places;
  std::vector<line> lines;
  std::vector<load_place> loads;
  std::vector<reach> reaches;  ///< where slanted
  std::vector<output> outputs;
  std::vector<coordinate> coordinates;  ///< per output axis
  std::vector<int> scalars;             ///< first word

  /// Positions by which a row of a line is shifted against the cells.
  [[nodiscard]] int lean(const line& l, int plane) const {
    int sum = 0;
    for (int d = 0; d + 1 < ndim; ++d)
      sum += slant[static_cast<std::size_t>(d)] * (d == march ? plane : l.offset[static_cast<std::size_t>(d)]);
    return sum;
  }
};

/// All that the source depends on, as bytes.
[[nodiscard]] std::string key_of(const program& p, const plan& how, std::size_t words);

/// The kernel's source; `words` is the length of the argument block.
[[nodiscard]] std::string text_of(const program& p, const plan& how, std::size_t words);

}  // namespace serried::inline v0::cuda::stencil
