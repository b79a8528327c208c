#include <serried/indexing.hpp>

#include <serried/error.hpp>

#include "local/evaluate.hpp"
#include "local/expr_impl.hpp"
#include "local/select.hpp"
#include "local/views.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace serried::inline v0 {
namespace {

/// The memory between a view's first and last byte. Element (i, j, …) of the view is number
/// first + i · step[0] + j · step[1] + … of `elements`.
struct flat_view {
  array elements;
  std::int64_t first;
  dims step;
};

flat_view flatten(const array& a) {
  const auto item = static_cast<std::int64_t>(item_size(a.dtype()));
  const bool empty = a.size() == 0;
  std::int64_t before = 0;
  std::int64_t count = empty ? 0 : 1;
  dims step;
  for (int d = 0; d < a.ndim(); ++d) {
    step.push_back(a.strides()[d] / item);
    const std::int64_t reach = empty ? 0 : (a.shape()[d] - 1) * step[d];
    if (reach < 0) before -= reach;
    count += std::abs(reach);
  }
  return {{a.data_storage(), a.offset() - before * item, {count}, {item}, a.dtype()}, before, step};
}

/// Where the index along an axis comes from: the result's axis that walks it, or an array that broadcasts to the
/// result.
using index_source = std::variant<int, expr>;

/// Writes down programs that count: the operations of 64-bit integers.
class counter {
 public:
  explicit counter(const shape& s) : code_(s) {}

  builder<array>& code() { return code_; }
  std::uint16_t number(std::int64_t value) { return code_.append(make_scalar(value, dtype::int64, "index")); }
  std::uint16_t apply(opcode op, std::uint16_t x, std::uint16_t y) {
    const ops::signature rule = ops::resolve(op, std::array{code_.type_of(x), code_.type_of(y)});
    return code_.emit({op, rule.operand, rule.result, {x, y}});
  }
  std::uint16_t choose(std::uint16_t condition, std::uint16_t x, std::uint16_t y) {
    return code_.emit({opcode::where, dtype::int64, dtype::int64, {condition, x, y}});
  }
  /// Adds step · index to the sum.
  void add(std::uint16_t index, std::int64_t step) {
    if (step == 0) return;
    if (step != 1) index = apply(opcode::multiply, index, number(step));
    sum_ = sum_ ? apply(opcode::add, *sum_, index) : index;
  }
  std::uint16_t sum() { return sum_ ? *sum_ : number(0); }

 private:
  builder<array> code_;
  std::optional<std::uint16_t> sum_;
};

/// What the arrays add to an element's number; where one of their elements is outside, a number far outside.
expr picked_numbers(const flat_view& from, const shape& extents, const std::vector<index_source>& sources,
                    index_mode mode) {
  shape s;
  int arrays = 0;
  for (const auto& source : sources)
    if (const auto* const array = std::get_if<expr>(&source)) {
      s = broadcast_shapes(s, array->shape(), "index");
      ++arrays;
    }
  counter c(s);
  std::optional<std::uint16_t> inside;
  for (int d = 0; d < extents.size(); ++d) {
    const auto* const array = std::get_if<expr>(&sources[static_cast<std::size_t>(d)]);
    if (array == nullptr) continue;
    const std::int64_t n = extents[d];
    std::uint16_t i = c.code().cast(c.code().append(array->state()), dtype::int64);
    switch (mode) {
      case index_mode::raise: {
        i = c.choose(c.apply(opcode::less, i, c.number(0)), c.apply(opcode::add, i, c.number(n)), i);
        // Where this axis is all there is, what is outside it is outside the memory.
        if (arrays == 1 && std::abs(from.step[d]) == 1 && n == from.elements.size()) break;
        const std::uint16_t here = c.apply(opcode::logical_and, c.apply(opcode::greater_equal, i, c.number(0)),
                                           c.apply(opcode::less, i, c.number(n)));
        inside = inside ? c.apply(opcode::logical_and, *inside, here) : here;
        break;
      }
      case index_mode::wrap: i = c.apply(opcode::remainder, i, c.number(n)); break;
      case index_mode::clip:
        i = c.apply(opcode::minimum, c.apply(opcode::maximum, i, c.number(0)), c.number(n - 1));
        break;
    }
    c.add(i, from.step[d]);
  }
  constexpr std::int64_t far_outside = -(std::int64_t{1} << 62);
  return c.code().finish(inside ? c.choose(*inside, c.sum(), c.number(far_outside)) : c.sum());
}

expr pick(const array& a, const shape& result, const std::vector<index_source>& sources,
          index_mode mode = index_mode::raise) {
  const flat_view from = flatten(a);
  expr picked = picked_numbers(from, a.shape(), sources, mode);
  // Where each of them serves many elements, they are computed once.
  constexpr std::int64_t many = 4;
  if (picked.size() > 0 && element_count(result) / picked.size() >= many) picked = picked.eval();
  counter c(result);
  c.add(c.code().append(picked.state()), 1);
  for (int d = 0; d < a.ndim(); ++d)
    if (const auto* const axis = std::get_if<int>(&sources[static_cast<std::size_t>(d)]))
      c.add(c.code().emit(index_along(*axis)), from.step[d]);
  if (from.first != 0) c.add(c.number(from.first), 1);
  return c.code().finish(c.code().gather(from.elements, c.sum(), mode == index_mode::raise));
}

void check_indices(const expr& indices, const char* operation) {
  if (is_bool(indices.dtype()))
    throw dtype_error(fmt::format("{}: a bool array is no array of indices, and masks are not supported", operation));
  if (!is_integer(indices.dtype()))
    throw dtype_error(fmt::format("{}: indices are integers, not {}", operation, name(indices.dtype())));
}

void check_axis_not_empty(const expr& indices, const array& a, int axis, const char* operation) {
  if (a.shape()[axis] == 0 && indices.size() > 0)
    throw index_error(fmt::format("{}: indices of shape {} pick from axis {} of shape {}, which is empty", operation,
                                  to_string(indices.shape()), axis, to_string(a.shape())));
}

/// With `behind` axes of length 1 more, and small enough to be one of `count` parts of a program.
expr as_part(const expr& indices, int behind, std::size_t count) {
  const auto& state = *indices.state();
  const bool large =
      state.leaves.size() * count > max_leaves / 2 || state.code.code.size() * count > max_instructions / 2;
  const expr part = state.root || large ? expr(indices.eval()) : indices;
  if (behind == 0) return part;
  std::vector<index_item> items(static_cast<std::size_t>(behind), newaxis);
  items.insert(items.begin(), ellipsis);
  return part.select(items);
}

/// A result without elements evaluates nothing: what is outside is found here.
void check_inside(const expr& indices, std::int64_t extent, const char* operation) {
  const array values = indices.eval().astype(dtype::int64);
  if (values.size() == 0) return;
  for (const auto i : {min(values).item<std::int64_t>(), max(values).item<std::int64_t>()})
    if (i < -extent || i >= extent)
      throw index_error(fmt::format("{}: index {} is out of bounds for an axis of size {}", operation, i, extent));
}

}  // namespace

expr take(const expr& a, const expr& indices, const take_options& options) {
  array from = detail::as_array(a);
  int axis = 0;
  if (options.axis) axis = resolve_axis(*options.axis, from.ndim(), "take");
  else from = from.ravel();
  if (!is_bool(indices.dtype())) check_indices(indices, "take");
  check_axis_not_empty(indices, from, axis, "take");

  shape result;
  std::vector<index_source> sources;
  for (int d = 0; d < from.ndim(); ++d) {
    if (d == axis) {
      sources.emplace_back(as_part(indices, from.ndim() - 1 - axis, 1));
      for (const std::int64_t n : indices.shape()) result.push_back(n);
    } else {
      sources.emplace_back(result.size());
      result.push_back(from.shape()[d]);
    }
  }
  return pick(from, result, sources, options.mode);
}

expr take_along_axis(const expr& a, const expr& indices, const along_axis_options& options) {
  const char* const operation = "take_along_axis";
  array from = detail::as_array(a);
  if (!options.axis) from = from.ravel();
  const int axis = resolve_axis(options.axis.value_or(0), from.ndim(), operation);
  check_indices(indices, operation);
  if (indices.ndim() != from.ndim())
    throw shape_error(fmt::format("{}: indices of shape {} for an array of shape {}: both need as many dimensions",
                                  operation, to_string(indices.shape()), to_string(from.shape())));
  check_axis_not_empty(indices, from, axis, operation);

  shape ours = from.shape();
  shape theirs = indices.shape();
  ours[axis] = theirs[axis] = 1;
  shape result = broadcast_shapes(ours, theirs, operation);
  shape whole = result;
  whole[axis] = from.shape()[axis];
  result[axis] = indices.shape()[axis];
  std::vector<index_source> sources;
  for (int d = 0; d < from.ndim(); ++d) sources.emplace_back(d);
  sources[static_cast<std::size_t>(axis)] = as_part(indices, 0, 1);
  return pick(from.broadcast_to(whole), result, sources);
}

expr select_elements(const array& a, const std::vector<index_item>& items) {
  using kind = index_item::kind;
  const char* const operation = "index";
  // All but the arrays make a view, along some of whose axes the arrays then pick.
  std::vector<index_item> plain;
  std::vector<std::pair<int, expr>> picks;  // axis of the view, indices
  const auto takes_axis = [](const index_item& i) { return i.type() != kind::rest && i.type() != kind::added; };
  const auto rest = a.ndim() - static_cast<int>(std::count_if(items.begin(), items.end(), takes_axis));
  shape common;
  int axis = 0;
  std::optional<int> first;  // axes of the view before the first array or integer
  bool apart = false;        // something stands between the arrays and integers
  bool beside = false;
  for (const index_item& item : items) {
    const bool picked = item.type() == kind::array || item.type() == kind::integer;
    if (picked && first && !beside) apart = true;
    if (picked && !first) first = axis;
    beside = picked;
    plain.push_back(item.type() == kind::array ? index_item(_) : item);
    if (item.type() == kind::array) {
      check_indices(item.indices(), operation);
      common = broadcast_shapes(common, item.indices().shape(), operation);
      picks.emplace_back(axis, item.indices());
    }
    if (item.type() == kind::rest) axis += std::max(rest, 0);
    else if (item.type() != kind::integer) ++axis;
  }
  const array view = a.select(plain);

  const int walked = view.ndim() - static_cast<int>(picks.size());
  const int place = apart ? 0 : *first;
  std::vector<index_source> sources(static_cast<std::size_t>(view.ndim()), -1);
  for (const auto& [d, indices] : picks) {
    check_axis_not_empty(indices, view, d, operation);
    sources[static_cast<std::size_t>(d)] = as_part(indices, walked - place, picks.size());
  }
  shape result;
  const auto insert_picked = [&] {
    for (const std::int64_t n : common) result.push_back(n);
  };
  int count = 0;
  for (int d = 0; d < view.ndim(); ++d) {
    auto& source = sources[static_cast<std::size_t>(d)];
    if (std::holds_alternative<expr>(source)) continue;
    if (count++ == place) insert_picked();
    source = result.size();
    result.push_back(view.shape()[d]);
  }
  if (count <= place) insert_picked();
  if (element_count(result) == 0 && element_count(common) > 0)
    for (const auto& [d, indices] : picks) check_inside(indices, view.shape()[d], operation);
  return pick(view, result, sources);
}

}  // namespace serried::inline v0
