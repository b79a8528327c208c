// Between files and arrays: directly where the processor reaches the array's memory, else through pinned memory.
#pragma once

#include <serried/array.hpp>

#include "local/box.hpp"
#include "local/io/npy_file.hpp"

#include <algorithm>
#include <cstdint>

namespace serried::inline v0::io {

/// Reads a box of the file into `to`, a C-order array of the box's shape and the file's dtype.
void read_box(const npy_reader& file, const box& where, const array& to);
/// Writes `from`, a C-order array of the box's shape and the file's dtype, as a box of the file.
void write_box(npy_writer& file, const box& where, const array& from);

/// Cuts a box into boxes of at most `most` elements, each consecutive in the box's C order, and calls visit(part) for
/// them in that order.
template <class Visit>
void for_each_stretch(const box& where, std::int64_t most, Visit&& visit) {
  const std::int64_t volume = where.volume();
  if (volume == 0) return;
  if (volume <= most) {
    visit(where);
    return;
  }
  int d = 0;
  while (where.hi[d] - where.lo[d] == 1) ++d;
  const std::int64_t step = std::max<std::int64_t>(1, most / (volume / (where.hi[d] - where.lo[d])));
  box part = where;
  for (std::int64_t i = where.lo[d]; i < where.hi[d]; i += step) {
    part.lo[d] = i;
    part.hi[d] = std::min(i + step, where.hi[d]);
    for_each_stretch(part, most, visit);
  }
}

}  // namespace serried::inline v0::io
