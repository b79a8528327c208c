#include <serried/error.hpp>
#include <serried/manipulation.hpp>

#include "local/views.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace serried::inline v0 {

namespace {

template <class T>
const side_pair<T>& on_axis(const sides<T>& all, int d, int ndim) {
  const auto count = static_cast<int>(all.pairs().size());
  if (count != 1 && count != ndim)
    throw value_error(
        fmt::format("pad: {} pairs (before, after) for {} dimensions: one, or one for each, is needed", count, ndim));
  return all.pairs()[static_cast<std::size_t>(count == 1 ? 0 : d)];
}

/// What a part of an axis of the result is made of: a part of the same length, or one element for all.
struct piece {
  slice to;
  slice from;
  bool backwards = false;
};

void add_mirrored(std::vector<piece>& pieces, bool low, std::int64_t n, const side_pair<std::int64_t>& width,
                  pad_mode mode) {
  // Going outwards, what mirrors is read backwards and forwards by turns.
  const std::int64_t skipped = mode == pad_mode::reflect ? 1 : 0;
  const std::int64_t total = low ? width.before : width.after;
  bool backwards = mode != pad_mode::wrap;
  for (std::int64_t done = 0; done < total;) {
    const std::int64_t length = std::min(n - skipped, total - done);
    const std::int64_t to = low ? width.before - done - length : width.before + n + done;
    const std::int64_t from = low == backwards ? skipped : n - skipped - length;
    pieces.push_back({slice(to, to + length), slice(from, from + length), backwards});
    done += length;
    backwards = !backwards && mode != pad_mode::wrap;
  }
}

std::vector<piece> pieces_of(std::int64_t n, const side_pair<std::int64_t>& width, pad_mode mode) {
  std::vector<piece> pieces = {{slice(width.before, width.before + n), slice(_, _)}};
  if (mode == pad_mode::constant) return pieces;
  if (mode == pad_mode::edge || n == 1) {  // where the others are the same
    if (width.before > 0) pieces.push_back({slice(0, width.before), slice(0, 1)});
    if (width.after > 0) pieces.push_back({slice(width.before + n, _), slice(-1, _)});
  } else {
    add_mirrored(pieces, true, n, width, mode);
    add_mirrored(pieces, false, n, width, mode);
  }
  return pieces;
}

// Every combination of pieces of the axes d, d + 1, …
void assign_pieces(const array& to, const array& from, const std::vector<std::vector<piece>>& pieces, int d) {
  if (d == to.ndim()) return assign(to, from);
  for (const piece& p : pieces[static_cast<std::size_t>(d)]) {
    const array part = along(from, d, p.from);
    assign_pieces(along(to, d, p.to), p.backwards ? flip(part, {.axis = d}) : part, pieces, d + 1);
  }
}

}  // namespace

array pad(const array& a, const sides<std::int64_t>& width, const pad_options& options) {
  shape s = a.shape();
  std::vector<std::vector<piece>> pieces;
  for (int d = 0; d < a.ndim(); ++d) {
    const auto& w = on_axis(width, d, a.ndim());
    (void)on_axis(options.constant_values, d, a.ndim());
    if (w.before < 0 || w.after < 0)
      throw value_error(fmt::format("pad: widths {} and {} of axis {} cannot be negative", w.before, w.after, d));
    if (a.shape()[d] == 0 && w.before + w.after > 0 && options.mode != pad_mode::constant)
      throw value_error(
          fmt::format("pad: axis {} of shape {} is empty: only mode constant can extend it", d, to_string(a.shape())));
    if (__builtin_add_overflow(s[d], w.before, &s[d]) || __builtin_add_overflow(s[d], w.after, &s[d]))
      throw shape_error(fmt::format("pad: widths {} and {} of axis {} are too large", w.before, w.after, d));
    pieces.push_back(pieces_of(a.shape()[d], w, options.mode));
  }
  array result = empty_like(a, {.shape = s});
  if (options.mode == pad_mode::constant) {
    for (int d = 0; d < a.ndim(); ++d) {
      const auto& w = on_axis(width, d, a.ndim());
      const auto& value = on_axis(options.constant_values, d, a.ndim());
      along(result, d, slice(0, w.before)).fill(value.before);
      along(result, d, slice(w.before + a.shape()[d], _)).fill(value.after);
    }
  }
  assign_pieces(result, a, pieces, 0);
  return result;
}

}  // namespace serried::inline v0
