#include <serried/error.hpp>
#include <serried/indexing.hpp>
#include <serried/manipulation.hpp>

#include "local/views.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace serried::inline v0 {

namespace {

template <class T>
void check_count(const sides<T>& all, int ndim) {
  const auto count = static_cast<int>(all.pairs().size());
  if (count != 1 && count != ndim)
    throw value_error(
        fmt::format("pad: {} pairs (before, after) for {} dimensions: one, or one for each, is needed", count, ndim));
}

template <class T>
const side_pair<T>& on_axis(const sides<T>& all, int d) {
  return all.pairs()[static_cast<std::size_t>(all.pairs().size() == 1 ? 0 : d)];
}

// What continues an array along an axis at these indices, outside it.
expr continued(const array& a, int axis, const expr& at, pad_mode mode) {
  if (mode == pad_mode::edge) return take(a, at, {.axis = axis, .mode = index_mode::clip});
  if (mode == pad_mode::wrap) return take(a, at, {.axis = axis, .mode = index_mode::wrap});
  // Forwards and backwards by turns.
  const std::int64_t n = a.shape()[axis];
  const std::int64_t period = mode == pad_mode::symmetric ? 2 * n : std::max<std::int64_t>(2 * n - 2, 1);
  const std::int64_t mirror = mode == pad_mode::symmetric ? period - 1 : period;
  const expr forwards = at % period;
  return take(a, minimum(forwards, mirror - forwards), {.axis = axis, .mode = index_mode::clip});
}

}  // namespace

array pad(const array& a, const sides<std::int64_t>& width, const pad_options& options) {
  const int ndim = a.ndim();
  check_count(width, ndim);
  check_count(options.constant_values, ndim);
  for (const auto& w : width.pairs())
    if (w.before < 0 || w.after < 0)
      throw value_error(fmt::format("pad: widths {} and {} cannot be negative", w.before, w.after));
  shape s = a.shape();
  for (int d = 0; d < ndim; ++d) {
    const auto& w = on_axis(width, d);
    if (s[d] == 0 && (w.before > 0 || w.after > 0) && options.mode != pad_mode::constant)
      throw value_error(
          fmt::format("pad: axis {} of shape {} is empty: only mode constant can extend it", d, to_string(a.shape())));
    s[d] = sum_of_extents(sum_of_extents(s[d], w.before, "pad"), w.after, "pad");
  }
  array result = empty_like(a, {.shape = s});

  const auto middle = [&](const array& from, int d) {
    const std::int64_t before = on_axis(width, d).before;
    return along(from, d, slice(before, before + a.shape()[d]));
  };
  const auto middle_from = [&](int first) {
    array part = result;
    for (int d = first; d < ndim; ++d) part = middle(part, d);
    return part;
  };
  assign(middle_from(0), a);
  // The sides of an axis continue those of the axes before it.
  for (int d = 0; d < ndim; ++d) {
    const auto& w = on_axis(width, d);
    const array band = middle_from(d + 1);
    const array inside = middle(band, d);
    const auto fill_side = [&](std::int64_t start, std::int64_t length, const scalar& value) {
      const array side = along(band, d, slice(start, start + length));
      if (options.mode == pad_mode::constant) side.fill(value);
      else if (length > 0)
        assign(side, continued(inside, d, positions({length}, 0) + (start - w.before), options.mode));
    };
    const auto& value = on_axis(options.constant_values, d);
    fill_side(0, w.before, value.before);
    fill_side(w.before + a.shape()[d], w.after, value.after);
  }
  return result;
}

}  // namespace serried::inline v0
