// Members of basic_expr and the functions that make expressions, for any array type that has
//   shape(), dtype(), select(items), version_of(a), same_view(a, b), evaluate(expr_state).
// Instantiated once for local arrays (local/expr.cpp) and once for distributed ones (dist/expr.cpp).
#pragma once

#include <serried/boundary.hpp>
#include <serried/elementwise.hpp>
#include <serried/error.hpp>
#include <serried/expr.hpp>
#include <serried/reduce.hpp>

#include "local/builder.hpp"
#include "local/check_leaves.hpp"
#include "local/expr_state.hpp"
#include "local/ops/rules.hpp"
#include "local/scalar_value.hpp"
#include "local/select.hpp"
#include "local/views.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace serried::inline v0 {

namespace detail {

template <class Array>
basic_expr<Array> leaf_expr(const Array& a, std::vector<faces> boundary) {
  auto state = std::make_shared_for_overwrite<expr_state<Array>>();
  state->shape = a.shape();
  state->type = a.dtype();
  state->code.leaves = {a.dtype()};
  state->code.loads.emplace_back();
  state->code.code = {{opcode::load, a.dtype(), a.dtype(), {0}}};
  state->code.outputs = {0};
  state->leaves.push_back({a, version_of(a), std::move(boundary)});
  return basic_expr<Array>(std::move(state));
}

// An operand ready to be appended: element-wise only.
template <class Array>
std::shared_ptr<const expr_state<Array>> elementwise(basic_expr<Array> e) {
  return e.state()->root ? basic_expr<Array>(e.eval()).state() : std::move(e).state();
}

/// True for an expression that is nothing but a leaf at offset 0.
template <class Array>
bool is_leaf(const expr_state<Array>& e) {
  return !e.root && e.code.code.size() == 1 && e.code.code[0].op == opcode::load && e.code.loads[0].offset.empty();
}

/// The leaf itself, sharing its data, where the expression is nothing else; otherwise its values.
template <class Array>
Array as_array(const basic_expr<Array>& e) {
  if (!is_leaf(*e.state())) return e.eval();
  check_leaves(*e.state());
  return e.state()->leaves[0].data;
}

inline faces resolve_boundary(const boundary_pair& p, dtype type) {
  const auto one = [&](const boundary& b) {
    face f;
    switch (b.type()) {
      case boundary::kind::periodic: f.kind = boundary_kind::periodic; break;
      case boundary::kind::edge: f.kind = boundary_kind::edge; break;
      case boundary::kind::value:
        f.kind = boundary_kind::value;
        f.value = make_scalar(b.constant(), type, "with_boundary");
        break;
    }
    return f;
  };
  const faces f{one(p.low), one(p.high)};
  if ((f.low.kind == boundary_kind::periodic) != (f.high.kind == boundary_kind::periodic))
    throw value_error("with_boundary: a dimension is periodic on both faces or on neither");
  return f;
}

// Comparing with an integer that the arrays' dtype does not hold has an answer all the same.
inline dtype type_beside(opcode op, const scalar& number, dtype arrays) {
  if (op == opcode::ldexp) return number.alone();  // an exponent is an integer, whatever the numbers are
  const dtype type = number.beside(arrays);
  const bool compares = op >= opcode::equal && op <= opcode::greater_equal;
  return compares && is_integer(type) && !number.fits(type) ? promote(type, number.alone()) : type;
}

/// What an operation is applied to, unless it is a number: an array or an element-wise expression.
template <class Array>
struct part {
  const Array* whole = nullptr;
  std::shared_ptr<const expr_state<Array>> made;

  explicit operator bool() const { return whole != nullptr || made; }
  [[nodiscard]] const serried::shape& shape() const { return made ? made->shape : whole->shape(); }
  [[nodiscard]] dtype type() const { return made ? made->type : whole->dtype(); }
  // 0 for a number.
  [[nodiscard]] std::size_t leaves() const { return made ? made->leaves.size() : whole != nullptr; }
  [[nodiscard]] std::size_t instructions() const { return made ? made->code.code.size() : whole != nullptr; }
  [[nodiscard]] std::size_t loads() const { return made ? made->code.loads.size() : whole != nullptr; }
};

template <class Array>
basic_expr<Array> apply(opcode op, std::span<argument<Array>> operands) {
  std::array<part<Array>, 3> held;
  const std::span parts(held.data(), operands.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    parts[i].whole = operands[i].array();
    if (auto* const e = operands[i].expression()) parts[i].made = elementwise(std::move(*e));
  }

  // Too large to go on: the larger operands become arrays.
  const auto too_large = [&] {
    std::size_t leaves = 0;
    std::size_t instructions = 0;
    std::size_t words = 0;
    for (const auto& p : parts) {
      if (!p) continue;
      leaves += p.leaves();
      instructions += p.instructions();
      words += p.loads() * words_of_load(p.shape().size());
    }
    return leaves > max_leaves || instructions > max_instructions || words > max_words;
  };
  while (too_large()) {
    // (Not a single instruction over a single leaf, which evaluating would not make smaller.)
    const auto largest = std::max_element(parts.begin(), parts.end(), [](const auto& x, const auto& y) {
      return x.leaves() + x.instructions() < y.leaves() + y.instructions();
    });
    largest->made = basic_expr<Array>(evaluate(*largest->made)).state();
  }

  shape common;
  for (const auto& p : parts)
    if (p && p.shape() != common) common = broadcast_shapes(common, p.shape(), name(op));

  // C++ scalars are weak: they take the dtype of the arrays beside them where their kind allows.
  const std::size_t first = op == opcode::where ? 1 : 0;  // the condition has no part in the promotion
  std::optional<dtype> strong;
  for (std::size_t i = first; i < parts.size(); ++i)
    if (parts[i]) strong = strong ? promote(*strong, parts[i].type()) : parts[i].type();
  std::array<dtype, 3> types;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i]) types[i] = parts[i].type();
    else
      types[i] = i >= first && strong ? type_beside(op, *operands[i].number(), *strong) : operands[i].number()->alone();
  }
  const ops::signature rule = ops::resolve(op, std::span<const dtype>(types.data(), parts.size()));

  builder<Array> b(common);
  instruction result{op, rule.operand, rule.result, {}};
  const auto wanted = [&](std::size_t i) { return i < first ? dtype::bool_ : rule.operand; };
  for (std::size_t i = 0; i < parts.size(); ++i) {
    auto& [whole, made] = parts[i];
    if (made) result.args[i] = b.cast(b.append(std::move(made)), wanted(i));
    else if (whole != nullptr) result.args[i] = b.cast(b.append(*whole), wanted(i));
  }
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (operands[i].number()) result.args[i] = b.append(make_scalar(*operands[i].number(), wanted(i), name(op)));
  return b.finish(b.emit(result));
}

template <class Array>
bounded<Array> make_bounded(const basic_expr<Array>& e, std::vector<boundary_pair> pairs) {
  const Array a = as_array(e);
  if (static_cast<int>(pairs.size()) != a.ndim())
    throw value_error(fmt::format("with_boundary: {} boundaries for an array of {} dimensions, shape {}", pairs.size(),
                                  a.ndim(), to_string(a.shape())));
  for (const auto& p : pairs) (void)resolve_boundary(p, a.dtype());
  return bounded<Array>(a, std::move(pairs));
}

template <class Array>
basic_expr<Array> make_at(basic_expr<Array> e, const dims& offset) {
  if (offset.size() != e.ndim())
    throw shape_error(fmt::format("at: offset {} for an array of shape {}: one entry per dimension is needed",
                                  to_string(offset), to_string(e.shape())));
  for (const std::int64_t o : offset)
    if (o > largest_offset || o < -largest_offset)
      throw index_error(fmt::format("at: offset {} is out of range", to_string(offset)));
  if (!is_leaf(*e.state())) e = basic_expr<Array>(e.eval());
  auto state = to_change(std::move(e).state());
  for (const std::int64_t o : offset)
    if (o != 0) state->code.loads[0].offset = offset;
  return basic_expr<Array>(std::move(state));
}

template <class Array>
basic_expr<Array> make_index(const basic_expr<Array>& like, int axis) {
  const int d = resolve_axis(axis, like.ndim(), "index");
  // The leaves stay: they say where a distributed result lives.
  auto state = to_change(elementwise(like));
  state->type = dtype::int64;
  state->code.loads.clear();
  state->code.scalars.clear();
  state->code.code = {index_along(d)};
  state->code.outputs = {0};
  for (auto& l : state->leaves) l.version = unread;
  return basic_expr<Array>(std::move(state));
}

template <class Array>
basic_expr<Array> make_invert(const basic_expr<Array>& e) {
  const auto part = elementwise(e);
  if (is_bool(part->type)) return operation(opcode::logical_not, e);
  const ops::signature rule = ops::resolve(opcode::bitwise_xor, std::array{part->type, part->type});
  scalar_value ones;
  ones.type = part->type;
  ones.bytes.fill(std::byte{0xff});
  builder<Array> b(part->shape);
  const std::uint16_t r = b.append(part);
  return b.finish(b.emit({opcode::bitwise_xor, rule.operand, rule.result, {r, b.append(ones)}}));
}

template <class Array>
basic_expr<Array> make_on_border(const basic_expr<Array>& like, std::int64_t width) {
  if (width < 0) throw value_error(fmt::format("on_border: width {}", width));
  if (like.ndim() == 0) throw shape_error("on_border: a 0-dimensional array has no border");
  std::optional<basic_expr<Array>> result;
  for (int d = 0; d < like.ndim(); ++d) {
    const auto i = make_index(like, d);
    const auto here = (i < width) | (i >= like.shape()[d] - width);
    result = result ? *result | here : here;
  }
  return *result;
}

template <class Array>
basic_expr<Array> make_reduction(reduce_kind what, const basic_expr<Array>& e, const reduce_options& options) {
  const char* const operation = name(what);
  const auto part = elementwise(e);
  const bool accumulates = what == reduce_kind::sum || what == reduce_kind::prod;

  dtype type = options.dtype.value_or(part->type);
  if (accumulates && !options.dtype) {
    if (is_bool(type) || is_signed_integer(type)) type = dtype::int64;
    else if (is_unsigned_integer(type)) type = dtype::uint64;
  }
  if (!accumulates && is_complex(type)) throw dtype_error(fmt::format("{}: not defined for {}", operation, name(type)));

  // Of truth values, "some" and "all".
  if (accumulates && is_bool(type)) {
    reduce_options wide = options;
    wide.dtype = dtype::int64;
    return make_reduction(what, basic_expr<Array>(part).astype(type), wide).astype(type);
  }
  // 16-bit products are formed in float32: their intermediate values soon leave the range.
  if (what == reduce_kind::prod && (type == dtype::float16 || type == dtype::bfloat16)) {
    reduce_options wide = options;
    wide.dtype = dtype::float32;
    return make_reduction(what, e, wide).astype(type);
  }

  builder<Array> b(part->shape);
  auto state = std::make_shared<expr_state<Array>>(b.finish(std::vector{b.cast(b.append(part), type)}));
  reduction_root root{{what, options.axis.mask(part->shape.size(), operation), type}, options.keepdims, {}};
  bool empty_axis = false;
  for (int d = 0; d < part->shape.size(); ++d) {
    const std::int64_t n = part->shape[d];
    if (!root.reduces(d)) {
      root.shape.push_back(n);
      continue;
    }
    empty_axis |= n == 0;
    if (options.keepdims) root.shape.push_back(1);
  }
  if (!accumulates && empty_axis)
    throw value_error(fmt::format("{}: a reduced axis of shape {} is empty, and {} has no identity", operation,
                                  to_string(part->shape), operation));
  state->root = root;
  return basic_expr<Array>(std::move(state));
}

}  // namespace detail

template <class Array>
basic_expr<Array>::basic_expr(const Array& a) : basic_expr(detail::leaf_expr(a, {})) {}

template <class Array>
basic_expr<Array>::basic_expr(const bounded<Array>& a)
    : basic_expr(detail::leaf_expr(a.base(), [&] {
        std::vector<faces> boundary;
        for (const auto& p : a.pairs()) boundary.push_back(detail::resolve_boundary(p, a.base().dtype()));
        return boundary;
      }())) {}

template <class Array>
const serried::shape& basic_expr<Array>::shape() const {
  return state()->root ? state()->root->shape : state()->shape;
}

template <class Array>
serried::dtype basic_expr<Array>::dtype() const {
  return state()->type;
}

template <class Array>
Array basic_expr<Array>::eval() const {
  return evaluate(*state());
}

template <class Array>
basic_expr<Array> basic_expr<Array>::astype(serried::dtype type) const {
  const auto part = detail::elementwise(*this);
  builder<Array> b(part->shape);
  return b.finish(b.cast(b.append(part), type));
}

template <class Array>
basic_expr<Array> basic_expr<Array>::sum() const {
  return serried::sum(*this);
}
template <class Array>
basic_expr<Array> basic_expr<Array>::sum(const reduce_options& options) const {
  return serried::sum(*this, options);
}
template <class Array>
basic_expr<Array> basic_expr<Array>::prod() const {
  return serried::prod(*this);
}
template <class Array>
basic_expr<Array> basic_expr<Array>::prod(const reduce_options& options) const {
  return serried::prod(*this, options);
}
template <class Array>
basic_expr<Array> basic_expr<Array>::min() const {
  return serried::min(*this);
}
template <class Array>
basic_expr<Array> basic_expr<Array>::min(const reduce_options& options) const {
  return serried::min(*this, options);
}
template <class Array>
basic_expr<Array> basic_expr<Array>::max() const {
  return serried::max(*this);
}
template <class Array>
basic_expr<Array> basic_expr<Array>::max(const reduce_options& options) const {
  return serried::max(*this, options);
}

template <class Array>
basic_expr<Array> basic_expr<Array>::select(const std::vector<index_item>& items) const {
  if constexpr (std::is_same_v<Array, array>)
    if (has_index_arrays(items)) return select_elements(detail::as_array(*this), items);
  const auto part = detail::elementwise(*this);
  const selection s = resolve_selection(items, part->shape, "index");
  if (detail::is_leaf(*part)) return basic_expr(detail::as_array(*this).select(items));
  if (!s.is_box) return basic_expr(evaluate(*part).select(items));

  // A box of the expression: the same program, its loads and indices shifted by the box's corner.
  auto state = std::make_shared<expr_state<Array>>(*part);
  state->shape = s.result;
  for (leaf_load& ld : state->code.loads) {
    const serried::shape& extent = part->leaves[ld.leaf].data.shape();
    if (ld.offset.empty()) ld.offset = dims::filled(extent.size(), 0);
    for (int d = 0; d < extent.size(); ++d) {
      const int out = d + part->shape.size() - extent.size();
      if (extent[d] != 1 || part->shape[out] == 1) ld.offset[d] += s.start[out];
    }
  }
  auto& code = state->code.code;
  code.clear();
  std::vector<std::uint16_t> registers;  // old to new
  const auto emit = [&](const instruction& i) {
    code.push_back(i);
    return static_cast<std::uint16_t>(code.size() - 1);
  };
  for (instruction i : part->code.code) {
    const int operands = argument_count(i.op);
    for (int k = 0; k < operands; ++k)
      i.args[static_cast<std::size_t>(k)] = registers[i.args[static_cast<std::size_t>(k)]];
    std::uint16_t r = emit(i);
    if (i.op == opcode::index && s.start[i.args[0]] != 0) {
      state->code.scalars.push_back(make_scalar(s.start[i.args[0]], serried::dtype::int64, "index"));
      const auto shift = static_cast<std::uint16_t>(state->code.scalars.size() - 1);
      r = emit({opcode::add,
                serried::dtype::int64,
                serried::dtype::int64,
                {r, emit({opcode::scalar, serried::dtype::int64, serried::dtype::int64, {shift}})}});
    }
    registers.push_back(r);
  }
  state->code.outputs = {registers[part->code.outputs.front()]};
  return basic_expr(std::move(state));
}

}  // namespace serried::inline v0
