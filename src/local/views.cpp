#include "local/views.hpp"

#include <serried/error.hpp>
#include <serried/manipulation.hpp>

#include "local/builder.hpp"
#include "local/evaluate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace serried::inline v0 {

namespace {

/// The item at these places of an index, all of the other axes.
std::vector<index_item> items_at(const dims& places, int ndim, const index_item& item) {
  std::vector<index_item> items(static_cast<std::size_t>(ndim), _);
  for (const std::int64_t d : places) items[static_cast<std::size_t>(d)] = item;
  return items;
}

void need_dimensions(const array& a, int ndim, const char* operation) {
  if (a.ndim() < ndim)
    throw shape_error(fmt::format("{}: an array of at least {} dimension{} is needed, not shape {}", operation, ndim,
                                  ndim == 1 ? "" : "s", to_string(a.shape())));
}

[[noreturn]] void too_long(std::int64_t x, const char* sign, std::int64_t y, const char* operation) {
  throw shape_error(fmt::format("{}: an extent of {} {} {} is more than 63 bits can count", operation, x, sign, y));
}

}  // namespace

std::int64_t sum_of_extents(std::int64_t x, std::int64_t y, const char* operation) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(x, y, &result)) too_long(x, "+", y, operation);
  return result;
}

std::int64_t product_of_extents(std::int64_t x, std::int64_t y, const char* operation) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(x, y, &result)) too_long(x, "*", y, operation);
  return result;
}

array along(const array& a, int axis, const index_item& item) { return a.select(items_at(axis, a.ndim(), item)); }

expr positions(const shape& s, int axis) {
  builder<array> b(s);
  return b.finish(b.emit(index_along(axis)));
}

array moveaxis(const array& a, const dims& source, const dims& destination) {
  const dims from = resolve_axes(source, a.ndim(), "moveaxis");
  const dims to = resolve_axes(destination, a.ndim(), "moveaxis");
  if (from.size() != to.size())
    throw value_error(fmt::format("moveaxis: source {} and destination {} must have as many axes", to_string(source),
                                  to_string(destination)));
  dims order = dims::filled(a.ndim(), -1);
  for (int i = 0; i < from.size(); ++i) order[static_cast<int>(to[i])] = from[i];
  std::int64_t rest = 0;
  for (std::int64_t& axis : order) {
    if (axis >= 0) continue;
    while (std::find(from.begin(), from.end(), rest) != from.end()) ++rest;
    axis = rest++;
  }
  return a.transpose(order);
}

array array::swapaxes(std::int64_t axis1, std::int64_t axis2) const {
  dims order = all_axes(ndim());
  std::swap(order[resolve_axis(axis1, ndim(), "swapaxes")], order[resolve_axis(axis2, ndim(), "swapaxes")]);
  return transpose(order);
}

array array::squeeze() const { return serried::squeeze(*this); }

array squeeze(const array& a, const axes_options& options) {
  dims gone;
  for (const std::int64_t d : resolve_axes(options.axis, a.ndim(), "squeeze")) {
    if (a.shape()[static_cast<int>(d)] == 1) gone.push_back(d);
    else if (!options.axis.all())
      throw shape_error(fmt::format("squeeze: axis {} of shape {} is not of length 1", d, to_string(a.shape())));
  }
  return a.select(items_at(gone, a.ndim(), 0));
}

array expand_dims(const array& a, const dims& axis) {
  const int ndim = a.ndim() + axis.size();
  return a.select(items_at(resolve_axes(axis, ndim, "expand_dims"), ndim, newaxis));
}

array flip(const array& a, const axes_options& options) {
  return a.select(items_at(resolve_axes(options.axis, a.ndim(), "flip"), a.ndim(), slice(_, _, -1)));
}

array rot90(const array& a, std::int64_t k, const rot90_options& options) {
  const dims plane = resolve_axes(options.axes, a.ndim(), "rot90");
  if (plane.size() != 2) throw value_error(fmt::format("rot90: two axes are needed, not {}", to_string(options.axes)));
  const auto turns = static_cast<int>((k % 4 + 4) % 4);
  if (turns == 0) return a;
  if (turns == 2) return flip(a, {.axis = {plane[0], plane[1]}});
  return turns == 1 ? flip(a, {.axis = plane[1]}).swapaxes(plane[0], plane[1])
                    : flip(a.swapaxes(plane[0], plane[1]), {.axis = plane[1]});
}

array atleast_1d(const array& a) { return a.ndim() == 0 ? a(newaxis) : a; }
array atleast_2d(const array& a) { return a.ndim() < 2 ? atleast_1d(a)(newaxis) : a; }
array atleast_3d(const array& a) { return a.ndim() < 3 ? atleast_2d(a)(ellipsis, newaxis) : a; }

array sliding_window_view(const array& a, const shape& window, const axes_options& options) {
  const char* const operation = "sliding_window_view";
  const dims axes = options.axis.all() ? all_axes(a.ndim()) : options.axis.list();
  if (window.size() != axes.size())
    throw value_error(fmt::format("{}: window {} has not one extent for each of the {} axes", operation,
                                  to_string(window), axes.size()));
  shape s = a.shape();
  strides st = a.strides();
  for (int i = 0; i < axes.size(); ++i) {
    const int d = resolve_axis(axes[i], a.ndim(), operation);
    if (window[i] < 0 || window[i] > s[d])
      throw value_error(
          fmt::format("{}: window {} does not fit in shape {}", operation, to_string(window), to_string(a.shape())));
    s[d] = sum_of_extents(s[d], 1 - window[i], operation);
    s.push_back(window[i]);
    st.push_back(a.strides()[d]);
  }
  return {a.data_storage(), a.offset(), s, st, a.dtype()};
}

array diagonal(const array& a, const diagonal_options& options) {
  const dims pair = resolve_axes(dims{options.axis1, options.axis2}, a.ndim(), "diagonal");
  const auto row = static_cast<int>(pair[0]);
  const auto column = static_cast<int>(pair[1]);
  const std::int64_t k = options.offset;
  const std::int64_t length =
      k < 0 ? std::min(a.shape()[row] + k, a.shape()[column]) : std::min(a.shape()[row], a.shape()[column] - k);
  shape s = a.shape();
  strides st = a.strides();
  for (const int d : {std::max(row, column), std::min(row, column)}) {
    s.erase(d);
    st.erase(d);
  }
  s.push_back(std::max<std::int64_t>(length, 0));
  st.push_back(a.strides()[row] + a.strides()[column]);
  const std::int64_t start = length <= 0 ? 0 : k < 0 ? -k * a.strides()[row] : k * a.strides()[column];
  return {a.data_storage(), a.offset() + start, s, st, a.dtype()};
}

namespace {

std::vector<array> cut(const array& a, const integers& where, std::int64_t along_axis, const char* operation) {
  const int axis = resolve_axis(along_axis, a.ndim(), operation);
  const std::int64_t n = a.shape()[axis];
  std::vector<std::int64_t> ends;
  if (where.is_list()) {
    ends = where.values();
  } else {
    const std::int64_t parts = where.values()[0];
    if (parts < 1) throw value_error(fmt::format("{}: {} parts; at least 1 is needed", operation, parts));
    for (std::int64_t i = 1; i < parts; ++i) ends.push_back(i * (n / parts) + std::min(i, n % parts));
  }
  ends.push_back(n);
  std::vector<array> result;
  std::int64_t start = 0;
  for (const std::int64_t end : ends) {
    result.push_back(along(a, axis, slice(start, end)));
    start = end;
  }
  return result;
}

std::vector<array> cut_evenly(const array& a, const integers& where, std::int64_t axis, const char* operation) {
  const std::int64_t n = a.shape()[resolve_axis(axis, a.ndim(), operation)];
  if (!where.is_list() && where.values()[0] > 0 && n % where.values()[0] != 0)
    throw value_error(fmt::format("{}: {} parts do not divide axis {} of shape {} (array_split makes uneven parts)",
                                  operation, where.values()[0], axis, to_string(a.shape())));
  return cut(a, where, axis, operation);
}

}  // namespace

std::vector<array> split(const array& a, const integers& where, const split_options& options) {
  return cut_evenly(a, where, options.axis, "split");
}
std::vector<array> array_split(const array& a, const integers& where, const split_options& options) {
  return cut(a, where, options.axis, "array_split");
}
std::vector<array> hsplit(const array& a, const integers& where) {
  need_dimensions(a, 1, "hsplit");
  return cut_evenly(a, where, a.ndim() > 1 ? 1 : 0, "hsplit");
}
std::vector<array> vsplit(const array& a, const integers& where) {
  need_dimensions(a, 2, "vsplit");
  return cut_evenly(a, where, 0, "vsplit");
}
std::vector<array> dsplit(const array& a, const integers& where) {
  need_dimensions(a, 3, "dsplit");
  return cut_evenly(a, where, 2, "dsplit");
}

namespace detail {
void broadcast_together(std::span<array> arrays) {
  shape common;
  for (const array& a : arrays) common = broadcast_shapes(common, a.shape(), "broadcast_arrays");
  for (array& a : arrays) a = a.broadcast_to(common);
}
}  // namespace detail

}  // namespace serried::inline v0
