// Concatenates expressions into one program of a given output shape. Equal loads and equal instructions become one.
#pragma once

#include <serried/error.hpp>

#include "local/expr_state.hpp"
#include "local/scalar_value.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace serried::inline v0 {

template <class Array>
class builder {
 public:
  explicit builder(const shape& s) { state_.shape = s; }

  /// Appends an element-wise expression that broadcasts to the shape; returns its root's register.
  std::uint16_t append(const expr_state<Array>& e);
  std::uint16_t append(const scalar_value& value) {
    state_.code.scalars.push_back(value);
    return emit({opcode::scalar, value.type, value.type, {last(state_.code.scalars)}});
  }
  std::uint16_t cast(std::uint16_t r, dtype to) {
    const dtype from = state_.code.code[r].out;
    return from == to ? r : emit({opcode::cast, from, to, {r}});
  }
  std::uint16_t emit(const instruction& i) {
    auto& code = state_.code.code;
    const auto same = std::find(code.begin(), code.end(), i);
    if (same != code.end()) return static_cast<std::uint16_t>(same - code.begin());
    code.push_back(i);
    return last(code);
  }
  [[nodiscard]] dtype type_of(std::uint16_t r) const { return state_.code.code[r].out; }

  /// The expression whose outputs are these registers; its dtype is the first one's.
  expr_state<Array> finish(std::vector<std::uint16_t> outputs) {
    state_.type = type_of(outputs.front());
    state_.code.outputs = std::move(outputs);
    return std::move(state_);
  }
  basic_expr<Array> finish(std::uint16_t output) {
    return basic_expr<Array>(std::make_shared<const expr_state<Array>>(finish(std::vector{output})));
  }

 private:
  template <class V>
  static std::uint16_t last(const V& v) {
    return static_cast<std::uint16_t>(v.size() - 1);
  }
  std::uint16_t add_leaf(const expr_state<Array>& e, std::size_t slot);

  expr_state<Array> state_;
};

template <class Array>
std::uint16_t builder<Array>::add_leaf(const expr_state<Array>& e, std::size_t slot) {
  const leaf<Array>& l = e.leaves[slot];
  // A boundary that no load can meet does not tell two leaves apart.
  const auto stays_inside = [](const program& p, std::size_t s) {
    return std::all_of(p.loads.begin(), p.loads.end(),
                       [&](const leaf_load& ld) { return ld.leaf != s || ld.offset.empty(); });
  };
  for (std::size_t s = 0; s < state_.leaves.size(); ++s) {
    leaf<Array>& mine = state_.leaves[s];
    if (!same_view(mine.data, l.data)) continue;
    if (mine.boundary != l.boundary && !(mine.boundary.empty() && stays_inside(state_.code, s)) &&
        !(l.boundary.empty() && stays_inside(e.code, slot)))
      continue;
    if (mine.boundary.empty()) mine.boundary = l.boundary;
    mine.version = std::min(mine.version, l.version);
    return static_cast<std::uint16_t>(s);
  }
  state_.leaves.push_back(l);
  state_.code.leaves.push_back(l.data.dtype());
  return last(state_.leaves);
}

template <class Array>
std::uint16_t builder<Array>::append(const expr_state<Array>& e) {
  const int lead = state_.shape.size() - e.shape.size();
  // One index of an expression stands for all along a dimension that broadcasts; loads can only do that for leaves
  // of length 1.
  for (const leaf_load& ld : e.code.loads) {
    const shape& s = e.leaves[ld.leaf].data.shape();
    for (int d = 0; d < s.size(); ++d) {
      const int out = d + state_.shape.size() - s.size();
      if (s[d] != 1 && e.shape[out - lead] == 1 && state_.shape[out] != 1)
        return append(*basic_expr<Array>(evaluate(e)).state());
    }
  }

  std::vector<std::uint16_t> leaves;
  for (std::size_t s = 0; s < e.leaves.size(); ++s) leaves.push_back(add_leaf(e, s));
  std::vector<std::uint16_t> loads;
  for (leaf_load ld : e.code.loads) {
    ld.leaf = leaves[ld.leaf];
    auto& mine = state_.code.loads;
    const auto same = std::find(mine.begin(), mine.end(), ld);
    loads.push_back(static_cast<std::uint16_t>(same - mine.begin()));
    if (same == mine.end()) mine.push_back(ld);
  }
  std::vector<std::uint16_t> registers;
  for (instruction i : e.code.code) {
    switch (i.op) {
      case opcode::load: i.args[0] = loads[i.args[0]]; break;
      case opcode::scalar: registers.push_back(append(e.code.scalars[i.args[0]])); continue;
      case opcode::index: {
        const int axis = i.args[0] + lead;
        if (e.shape[i.args[0]] == 1 && state_.shape[axis] != 1) {
          registers.push_back(append(make_scalar(scalar(0), dtype::int64, "index")));
          continue;
        }
        i.args[0] = static_cast<std::uint16_t>(axis);
        break;
      }
      default:
        for (int a = 0; a < argument_count(i.op); ++a) {
          auto& r = i.args[static_cast<std::size_t>(a)];
          r = registers[r];
        }
    }
    registers.push_back(emit(i));
  }
  return registers[e.code.outputs.front()];
}

}  // namespace serried::inline v0
