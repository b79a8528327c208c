#include "local/host/tiling.hpp"

#include <cstdlib>
#include <numeric>
#include <utility>
#include <vector>

namespace serried::inline v0::host {
namespace {

void add_unit_dim(tiling& t, int before) {
  std::vector<int> from(t.dims.size());
  std::iota(from.begin(), from.end(), 0);
  from.insert(from.begin() + before, -1);
  t.rearrange(from);
}

void move_to_rows(tiling& t, int d) {
  std::vector<int> from(t.dims.size());
  std::iota(from.begin(), from.end(), 0);
  from.erase(from.begin() + d);
  from.insert(from.end() - 1, d);
  t.rearrange(from);
}

int longest_outer(const tiling& t) {
  int best = t.rows_dim();
  for (int d = 0; d < t.columns_dim(); ++d)
    if (t.dims[static_cast<std::size_t>(d)].extent > t.dims[static_cast<std::size_t>(best)].extent) best = d;
  return best;
}

void choose_rows(tiling& t) {
  for (const load_path& l : t.loads) {
    const std::int64_t along = std::abs(l.stride.back());
    for (int d = 0; along > l.item && d < t.columns_dim(); ++d) {
      if (std::abs(l.stride[static_cast<std::size_t>(d)]) != l.item) continue;
      move_to_rows(t, d);
      t.transposed = t.rows() > 1;
      return;
    }
  }
  if (t.columns() * t.rows() < 512) move_to_rows(t, longest_outer(t));
}

/// Rows whose class differs from the columns' make tiles that reduce in one direction.
void choose_rows_of_reduction(tiling& t) {
  const bool columns_reduced = t.dims.back().reduced;
  for (int d = t.rows_dim(); d >= 0; --d) {
    if (t.dims[static_cast<std::size_t>(d)].reduced == columns_reduced) continue;
    move_to_rows(t, d);
    return;
  }
  if (columns_reduced) {
    move_to_rows(t, longest_outer(t));
  } else {
    add_unit_dim(t, t.columns_dim());
    t.dims[t.dims.size() - 2].reduced = true;
  }
}

tiling with_rows_and_columns(iteration it) {
  tiling t{std::move(it)};
  while (t.dims.size() < 2) add_unit_dim(t, 0);
  return t;
}

}  // namespace

tiling make_tiling(const program& p, std::span<const leaf_binding> leaves, std::span<const output_binding> outputs,
                   const box& where) {
  tiling t = with_rows_and_columns(make_iteration(p, leaves, outputs, where));
  choose_rows(t);
  return t;
}

tiling make_tiling(const program& p, std::span<const leaf_binding> leaves, const box& where, const reduction& r,
                   const box& whole) {
  tiling t = with_rows_and_columns(make_iteration(p, leaves, where, r, whole));
  choose_rows_of_reduction(t);
  return t;
}

}  // namespace serried::inline v0::host
