#include <serried/creation.hpp>

#include <serried/error.hpp>
#include <serried/manipulation.hpp>

#include "local/context.hpp"
#include "local/evaluate.hpp"
#include "local/scalar_value.hpp"
#include "local/views.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <limits>
#include <utility>

namespace serried::inline v0 {

array empty(const shape& s, const create_options& options) {
  return allocate(current_device(), s, options.dtype.value_or(dtype::float64));
}
array full(const shape& s, const scalar& value, const create_options& options) {
  array a = empty(s, {.dtype = options.dtype.value_or(value.alone())});
  a.fill(value);
  return a;
}
array zeros(const shape& s, const create_options& options) {
  return full(s, 0, {.dtype = options.dtype.value_or(dtype::float64)});
}
array ones(const shape& s, const create_options& options) {
  return full(s, 1, {.dtype = options.dtype.value_or(dtype::float64)});
}

array empty_like(const array& a, const like_options& options) {
  const shape& s = options.shape == shape{-1} ? a.shape() : options.shape;
  return empty(s, {.dtype = options.dtype.value_or(a.dtype())});
}
array full_like(const array& a, const scalar& value, const like_options& options) {
  array result = empty_like(a, options);
  result.fill(value);
  return result;
}
array zeros_like(const array& a, const like_options& options) { return full_like(a, 0, options); }
array ones_like(const array& a, const like_options& options) { return full_like(a, 1, options); }

namespace {
// How far right of the main diagonal each element of a matrix stands.
expr diagonals(std::int64_t n, std::int64_t m) { return positions({n, m}, 1) - positions({n, m}, 0); }
}  // namespace

array eye(std::int64_t n, std::int64_t m, std::int64_t k, const create_options& options) {
  return (diagonals(n, m) == k).astype(options.dtype.value_or(dtype::float64)).eval();
}
array tri(std::int64_t n, std::int64_t m, std::int64_t k, const create_options& options) {
  return (diagonals(n, m) <= k).astype(options.dtype.value_or(dtype::float64)).eval();
}

namespace {
expr as_matrix(const expr& e, const char* operation) {
  if (e.ndim() == 0) throw shape_error(fmt::format("{}: a 0-dimensional array has no diagonal", operation));
  return e.ndim() == 1 ? expr(e.eval().broadcast_to({e.size(), e.size()})) : e;
}
}  // namespace

expr tril(const expr& e, std::int64_t k) {
  const expr a = as_matrix(e, "tril");
  return where(index(a, -1) - index(a, -2) <= k, a, false);
}
expr triu(const expr& e, std::int64_t k) {
  const expr a = as_matrix(e, "triu");
  return where(index(a, -1) - index(a, -2) >= k, a, false);
}

array diag(const array& a, std::int64_t k) {
  if (a.ndim() == 2) return diagonal(a, {.offset = k});
  if (a.ndim() != 1)
    throw shape_error(fmt::format("diag: one or two dimensions are needed, not shape {}", to_string(a.shape())));
  if (k == std::numeric_limits<std::int64_t>::min()) throw shape_error("diag: the matrix would be too large");
  const std::int64_t n = sum_of_extents(a.size(), std::abs(k), "diag");
  array result = zeros({n, n}, {.dtype = a.dtype()});
  assign(diagonal(result, {.offset = k}), a);
  return result;
}

namespace detail {
void make_meshgrid(std::span<array> axes, const meshgrid_options& options) {
  const auto ndim = static_cast<int>(axes.size());
  shape common;
  for (int d = 0; d < ndim; ++d) {
    array& a = axes[static_cast<std::size_t>(d)];
    // With xy, the first two change places.
    const int place = options.indexing == indexing::xy && ndim > 1 && d < 2 ? 1 - d : d;
    shape s = dims::filled(ndim, 1);
    s[place] = a.size();
    a = a.reshape(s);
    common = broadcast_shapes(common, s, "meshgrid");
  }
  for (array& a : axes) {
    if (!options.sparse) a = a.broadcast_to(common);
    if (options.copy) a = a.copy();
  }
}
}  // namespace detail

array indices(const shape& s, const create_options& options) {
  const dtype type = options.dtype.value_or(dtype::int64);
  shape all = s;
  all.insert(0, s.size());
  for (const std::int64_t n : s)
    if (is_bool(type) && n > 2)
      throw dtype_error(fmt::format("indices: shape {} has indices past 1, which bool does not hold", to_string(s)));
  array result = empty(all, {.dtype = type});
  for (int d = 0; d < s.size(); ++d) assign(result(d), positions(s, d).astype(type));
  return result;
}

namespace {

using nested_values = std::initializer_list<detail::nested_list>;

void collect(const nested_values& list, const shape& s, int d, std::vector<scalar>& values) {
  const auto ragged = [&] {
    return value_error(
        fmt::format("array: the lists in dimension {} differ in length or depth; by the first ones, the "
                    "shape is {}",
                    d, to_string(s)));
  };
  if (static_cast<std::int64_t>(list.size()) != s[d]) throw ragged();
  for (const auto& item : list) {
    if (item.is_list() != (d + 1 < s.size())) throw ragged();
    if (item.is_list()) collect(item.list(), s, d + 1, values);
    else values.push_back(item.value());
  }
}

array from_nested(const nested_values& list, const std::optional<dtype>& wanted) {
  shape s = {list.size()};
  for (const auto* first = list.begin(); s[s.size() - 1] > 0 && first->is_list(); first = first->list().begin())
    s.push_back(static_cast<std::int64_t>(first->list().size()));
  std::vector<scalar> values;
  collect(list, s, 0, values);
  dtype type = wanted.value_or(values.empty() ? dtype::float64 : values.front().alone());
  if (!wanted)
    for (const scalar& v : values) type = promote(type, v.alone());
  std::vector<std::byte> bytes;
  for (const scalar& v : values) {
    const scalar_value converted = make_scalar(v, type, "array");
    bytes.insert(bytes.end(), converted.bytes.begin(), converted.bytes.begin() + item_size(type));
  }
  return detail::from_host(bytes.data(), type, s);
}

}  // namespace

namespace detail {
array from_host(const void* values, dtype type, const shape& s) {
  // Foreign bytes may be other than 0 and 1.
  if (is_bool(type)) return from_host(values, dtype::uint8, s).astype(type).eval();
  const array a = empty(s, {.dtype = type});
  const storage& data = *a.data_storage();
  data.device()->copy_from_host(data.data(), values, data.bytes());
  return a;
}
}  // namespace detail

array::array(std::initializer_list<detail::nested_list> values, const create_options& options)
    : array(from_nested(values, options.dtype)) {}

array frombuffer(std::span<const std::byte> bytes, const frombuffer_options& options) {
  const dtype type = options.dtype.value_or(dtype::float64);
  const auto item = static_cast<std::int64_t>(item_size(type));
  const auto size = static_cast<std::int64_t>(bytes.size());
  if (options.offset < 0 || options.offset > size)
    throw value_error(fmt::format("frombuffer: offset {} is outside {} bytes", options.offset, size));
  const std::int64_t rest = size - options.offset;
  if (options.count < 0 && rest % item != 0)
    throw value_error(fmt::format("frombuffer: {} bytes are not a whole number of {}", rest, name(type)));
  if (options.count > rest / item)
    throw value_error(fmt::format("frombuffer: {} bytes do not hold {} {}", rest, options.count, name(type)));
  return detail::from_host(bytes.data() + options.offset, type, {options.count < 0 ? rest / item : options.count});
}

}  // namespace serried::inline v0
