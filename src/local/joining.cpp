// New arrays out of others: one allocation, one assignment for each part.
#include <serried/error.hpp>
#include <serried/manipulation.hpp>

#include "local/views.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

namespace serried::inline v0 {

namespace {

template <class F>
std::vector<array> each(const std::vector<array>& arrays, F&& f) {
  std::vector<array> result;
  result.reserve(arrays.size());
  for (const array& a : arrays) result.push_back(f(a));
  return result;
}

// The array and the axis that functions with `{}: flattened` work along.
std::pair<array, int> lay_out(const array& a, const flat_axis_options& options, const char* operation) {
  if (!options.axis) return {a.ravel(), 0};
  return {a, resolve_axis(*options.axis, a.ndim(), operation)};
}

// NumPy's result_type. Promotion two by two depends on the order (int16 and uint16 meet in int32, which float32 does
// not hold, yet it holds both); from the highest dtype down, it gives the smallest that holds all.
dtype common_dtype(const std::vector<array>& arrays) {
  std::vector<dtype> types;
  for (const array& a : arrays) types.push_back(a.dtype());
  std::sort(types.begin(), types.end(), std::greater<>());
  return std::accumulate(types.begin(), types.end(), types.front(), promote);
}

void check_joinable(const std::vector<array>& arrays, const char* operation) {
  if (arrays.empty()) throw value_error(fmt::format("{}: at least one array is needed", operation));
}

array join(const std::vector<array>& arrays, const concatenate_options& options, const char* operation) {
  check_joinable(arrays, operation);
  if (!options.axis) return join(each(arrays, ravel), {.axis = 0, .dtype = options.dtype}, operation);
  const array& first = arrays.front();
  if (first.ndim() == 0)
    throw shape_error(fmt::format("{}: 0-dimensional arrays have no axis to join along", operation));
  const int axis = resolve_axis(*options.axis, first.ndim(), operation);

  shape s = first.shape();
  s[axis] = 0;
  for (const array& a : arrays) {
    shape others = a.shape();
    if (a.ndim() == s.size()) others[axis] = s[axis];
    if (others != s)
      throw shape_error(fmt::format("{}: shapes {} and {} must agree but for axis {}", operation,
                                    to_string(first.shape()), to_string(a.shape()), axis));
    s[axis] = sum_of_extents(s[axis], a.shape()[axis], operation);
  }
  array result = empty(s, {.dtype = options.dtype ? *options.dtype : common_dtype(arrays)});
  std::int64_t start = 0;
  for (const array& a : arrays) {
    const std::int64_t end = start + a.shape()[axis];
    assign(along(result, axis, slice(start, end)), a);
    start = end;
  }
  return result;
}

}  // namespace

array concatenate(const array_list& arrays, const concatenate_options& options) {
  return join(arrays.values(), options, "concatenate");
}

array stack(const array_list& list, const stack_options& options) {
  const std::vector<array>& arrays = list.values();
  check_joinable(arrays, "stack");
  const shape& s = arrays.front().shape();
  const int axis = resolve_axis(options.axis, s.size() + 1, "stack");
  const auto expanded = each(arrays, [&](const array& a) {
    if (a.shape() != s)
      throw shape_error(fmt::format("stack: shapes {} and {} must be the same", to_string(s), to_string(a.shape())));
    return expand_dims(a, axis);
  });
  return join(expanded, {.axis = axis, .dtype = options.dtype}, "stack");
}

array hstack(const array_list& arrays, const create_options& options) {
  check_joinable(arrays.values(), "hstack");
  const auto parts = each(arrays.values(), atleast_1d);
  return join(parts, {.axis = parts.front().ndim() == 1 ? 0 : 1, .dtype = options.dtype}, "hstack");
}
array vstack(const array_list& arrays, const create_options& options) {
  return join(each(arrays.values(), atleast_2d), {.dtype = options.dtype}, "vstack");
}
array dstack(const array_list& arrays) { return join(each(arrays.values(), atleast_3d), {.axis = 2}, "dstack"); }
array column_stack(const array_list& arrays) {
  const auto columns = each(arrays.values(), [](const array& a) { return a.ndim() < 2 ? atleast_2d(a).T() : a; });
  return join(columns, {.axis = 1}, "column_stack");
}

array append(const array& a, const array& values, const flat_axis_options& options) {
  return join({a, values}, {.axis = options.axis}, "append");
}

array insert(const array& a, std::int64_t index, const array& values, const flat_axis_options& options) {
  const auto [from, axis] = lay_out(a, options, "insert");
  const std::int64_t n = from.shape()[axis];
  const std::int64_t at = index < 0 ? index + n : index;
  if (at < 0 || at > n)
    throw index_error(fmt::format("insert: index {} is out of bounds for axis {} of size {}", index, axis, n));
  array added = values;
  while (added.ndim() < from.ndim()) added = added(newaxis);
  added = moveaxis(added, 0, axis);
  shape s = from.shape();
  const std::int64_t count = added.shape()[axis];
  s[axis] = sum_of_extents(s[axis], count, "insert");
  array result = empty(s, {.dtype = a.dtype()});
  assign(along(result, axis, slice(at, at + count)), added);
  assign(along(result, axis, slice(0, at)), along(from, axis, slice(0, at)));
  assign(along(result, axis, slice(at + count, _)), along(from, axis, slice(at, _)));
  return result;
}

array delete_(const array& a, const integers& indices, const flat_axis_options& options) {
  const auto [from, axis] = lay_out(a, options, "delete_");
  const std::int64_t n = from.shape()[axis];
  std::vector<std::int64_t> gone;
  for (const std::int64_t i : indices.values()) {
    gone.push_back(i < 0 ? i + n : i);
    if (gone.back() < 0 || gone.back() >= n)
      throw index_error(fmt::format("delete_: index {} is out of bounds for axis {} of size {}", i, axis, n));
  }
  std::sort(gone.begin(), gone.end());
  gone.push_back(n);
  std::vector<array> kept;
  std::int64_t start = 0;
  for (const std::int64_t i : gone) {
    if (start < i) kept.push_back(along(from, axis, slice(start, i)));
    start = i + 1;
  }
  return kept.empty() ? along(from, axis, slice(0, 0)).copy() : concatenate(kept, {.axis = axis});
}

array tile(const array& a, const dims& repetitions) {
  // Each axis that repeats goes through an axis of its own, along which nothing moves.
  dims s = a.shape();
  dims repeats = repetitions;
  while (s.size() < repeats.size()) s.insert(0, 1);
  while (repeats.size() < s.size()) repeats.insert(0, 1);
  dims apart;
  dims broadcast;
  dims result;
  for (int d = 0; d < s.size(); ++d) {
    if (repeats[d] < 0) throw shape_error(fmt::format("tile: {} repetitions", to_string(repetitions)));
    if (repeats[d] != 1) {
      apart.push_back(1);
      broadcast.push_back(repeats[d]);
    }
    apart.push_back(s[d]);
    broadcast.push_back(s[d]);
    result.push_back(product_of_extents(s[d], repeats[d], "tile"));
  }
  return a.reshape(apart).broadcast_to(broadcast).copy().reshape(result);
}

array repeat(const array& a, const integers& repeats, const flat_axis_options& options) {
  const auto [from, axis] = lay_out(a, options, "repeat");
  const std::vector<std::int64_t>& counts = repeats.values();
  const std::int64_t n = from.shape()[axis];
  struct run {
    slice elements;
    std::int64_t length;
    std::int64_t count;
  };
  std::vector<run> runs;
  if (counts.size() == 1) {
    runs.push_back({slice(_, _), n, counts[0]});
  } else if (static_cast<std::int64_t>(counts.size()) != n) {
    throw shape_error(fmt::format("repeat: {} counts for axis {} of size {}", counts.size(), axis, n));
  } else {
    for (std::int64_t i = 0; i < n;) {
      const std::int64_t start = i;
      const std::int64_t count = counts[static_cast<std::size_t>(i)];
      while (i < n && counts[static_cast<std::size_t>(i)] == count) ++i;
      runs.push_back({slice(start, i), i - start, count});
    }
  }
  shape s = from.shape();
  s[axis] = 0;
  for (const run& r : runs) {
    if (r.count < 0) throw value_error(fmt::format("repeat: a count of {}", r.count));
    s[axis] = sum_of_extents(s[axis], product_of_extents(r.length, r.count, "repeat"), "repeat");
  }
  array result = empty(s, {.dtype = a.dtype()});
  std::int64_t start = 0;
  for (const run& r : runs) {
    // Where one run goes, its axis taken apart into elements and their repetitions: a view.
    shape apart = s;
    apart[axis] = r.length;
    apart.insert(axis + 1, r.count);
    const std::int64_t end = start + r.length * r.count;
    assign(along(result, axis, slice(start, end)).reshape(apart), expand_dims(along(from, axis, r.elements), axis + 1));
    start = end;
  }
  return result;
}

namespace {

// to[i + shift] = from[i] along the axes d, d + 1, …, cyclic in each; every shift is at least 0 and less than the axis.
void assign_shifted(const array& to, const array& from, const dims& shift, int d) {
  if (d == to.ndim()) return assign(to, from);
  const std::int64_t s = shift[d];
  if (s == 0) return assign_shifted(to, from, shift, d + 1);
  assign_shifted(along(to, d, slice(s, _)), along(from, d, slice(0, -s)), shift, d + 1);
  assign_shifted(along(to, d, slice(0, s)), along(from, d, slice(-s, _)), shift, d + 1);
}

}  // namespace

array roll(const array& a, const dims& shift, const axes_options& options) {
  if (options.axis.all() && a.ndim() != 1) return roll(a.ravel(), shift, {.axis = 0}).reshape(a.shape());
  const dims axes = options.axis.all() ? dims{0} : options.axis.list();
  if (shift.size() != axes.size() && shift.size() != 1 && axes.size() != 1)
    throw value_error(fmt::format("roll: {} shifts for {} axes", shift.size(), axes.size()));
  dims by = dims::filled(a.ndim(), 0);
  const int count = shift.size() == 1 ? axes.size() : shift.size();
  for (int i = 0; i < count; ++i) {
    const int d = resolve_axis(axes[axes.size() == 1 ? 0 : i], a.ndim(), "roll");
    const std::int64_t n = a.shape()[d];
    if (n > 0) by[d] = ((by[d] + shift[shift.size() == 1 ? 0 : i] % n) % n + n) % n;
  }
  array result = empty_like(a);
  assign_shifted(result, a, by, 0);
  return result;
}

array resize(const array& a, const shape& s) {
  const std::int64_t count = element_count(s);
  if (a.size() == 0) return zeros(s, {.dtype = a.dtype()});
  return tile(a.ravel(), count / a.size() + (count % a.size() != 0))(slice(0, count)).reshape(s);
}

}  // namespace serried::inline v0
