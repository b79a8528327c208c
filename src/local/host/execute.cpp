#include "local/host/host_engine.hpp"

#include <algorithm>

namespace serried::inline v0::host {
namespace {

/// The work is cut into units, each a few rows times a run of columns, small enough to share out evenly.
struct units {
  std::int64_t rows;     ///< of a unit
  std::int64_t columns;  ///< of a unit
  std::int64_t row_groups, column_groups, count;
  bool gathered;  ///< a unit is one tile; otherwise it is computed row by row
};

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

units cut(const tiling& it) {
  units u{};
  constexpr std::int64_t long_row = 256;  // enough for a tile of its own
  constexpr std::int64_t unit_elements = 16 * tile_elements;
  u.gathered = it.transposed || it.columns() < long_row;
  if (u.gathered) {
    constexpr std::int64_t square = 32;  // whole cache lines both ways
    u.columns = std::min(it.columns(), it.transposed ? square : long_row);
    u.rows = std::min(it.rows(), tile_elements / u.columns);
  } else {
    u.columns = std::min(it.columns(), unit_elements);
    u.rows = std::min(it.rows(), std::max<std::int64_t>(1, unit_elements / it.columns()));
  }
  u.row_groups = divide_up(it.rows(), u.rows);
  u.column_groups = divide_up(it.columns(), u.columns);
  u.count = u.row_groups * u.column_groups;
  for (int d = 0; d < it.rows_dim(); ++d) u.count *= it.dims[static_cast<std::size_t>(d)].extent;
  return u;
}

/// Sets the tile to unit number `i`.
void locate(tile& t, const tiling& it, const units& u, std::int64_t i) {
  t.at.back() = i % u.column_groups * u.columns;
  i /= u.column_groups;
  t.at[t.at.size() - 2] = i % u.row_groups * u.rows;
  i /= u.row_groups;
  for (int d = it.rows_dim() - 1; d >= 0; --d) {
    const std::int64_t extent = it.dims[static_cast<std::size_t>(d)].extent;
    t.at[static_cast<std::size_t>(d)] = i % extent;
    i /= extent;
  }
  t.rows = std::min(u.rows, it.rows() - t.at[t.at.size() - 2]);
  t.columns = std::min(u.columns, it.columns() - t.at.back());
}

/// Whole grains of each row run on the arrays themselves; what is left at the row ends is gathered from several rows.
void compute_by_rows(tile_computer& computer, const tile& unit) {
  const std::int64_t whole = unit.columns / grain * grain;
  const std::int64_t row = unit.at[unit.at.size() - 2];
  const std::int64_t column = unit.at.back();
  tile t = unit;
  if (whole > 0) {
    const std::int64_t runs = divide_up(whole, tile_elements);
    const std::int64_t run = divide_up(whole / grain, runs) * grain;
    t.rows = 1;
    for (std::int64_t r = 0; r < unit.rows; ++r) {
      t.at[t.at.size() - 2] = row + r;
      for (std::int64_t c = 0; c < whole; c += run) {
        t.at.back() = column + c;
        t.columns = std::min(run, whole - c);
        computer.store(t);
      }
    }
  }
  t.columns = unit.columns - whole;
  if (t.columns == 0) return;
  t.at.back() = column + whole;
  const std::int64_t rows = tile_elements / t.columns;
  for (std::int64_t r = 0; r < unit.rows; r += rows) {
    t.at[t.at.size() - 2] = row + r;
    t.rows = std::min(rows, unit.rows - r);
    computer.store(t);
  }
}

}  // namespace

void execute(workers& w, const program& p, std::span<const leaf_binding> leaves,
             std::span<const output_binding> outputs, const box& where) {
  const plan code = lower(p, w.kernels);
  const tiling it = make_tiling(p, leaves, outputs, where);
  const units u = cut(it);
  const std::int64_t volume = where.volume();
  const std::int64_t capacity = divide_up(std::min(volume, tile_elements), grain) * grain;
  const auto compute = [&](int part, int parts) {
    tile_computer computer(p, code, it, w.scratch[static_cast<std::size_t>(part)], capacity);
    tile t;
    t.at.assign(it.dims.size(), 0);
    const std::int64_t end = u.count * (part + 1) / parts;
    for (std::int64_t i = u.count * part / parts; i < end; ++i) {
      locate(t, it, u, i);
      if (u.gathered) computer.store(t);
      else compute_by_rows(computer, t);
    }
  };
  const int parts =
      volume < parallel_elements ? 1 : static_cast<int>(std::min<std::int64_t>(w.pool.threads(), u.count));
  w.pool.run(parts, [&](int part) { compute(part, parts); });
}

}  // namespace serried::inline v0::host
