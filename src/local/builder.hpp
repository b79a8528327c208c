// Concatenates expressions into one program of a given output shape. Equal loads and equal instructions become one.
#pragma once

#include <serried/error.hpp>

#include "local/expr_state.hpp"
#include "local/scalar_value.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <memory_resource>
#include <utility>
#include <vector>

namespace serried::inline v0 {

template <class Array>
class builder {
 public:
  using state_ptr = std::shared_ptr<const expr_state<Array>>;

  explicit builder(const shape& s) : shape_(s) {}

  /// Appends an element-wise expression that broadcasts to the shape; returns its root's register.
  std::uint16_t append(state_ptr e);
  /// The same for an array, as it is now.
  std::uint16_t append(const Array& a) {
    const std::uint16_t slot = add_leaf(a, version_of(a), {}, true);
    return emit({opcode::load, a.dtype(), a.dtype(), {add_load({slot, {}})}});
  }
  std::uint16_t append(const scalar_value& value) {
    mine().code.scalars.push_back(value);
    return emit({opcode::scalar, value.type, value.type, {last(mine().code.scalars)}});
  }
  /// The array's elements of these numbers in C order (it is contiguous). `may_fail`: numbers may be beyond it.
  std::uint16_t gather(const Array& a, std::uint16_t numbers, bool may_fail) {
    const std::uint16_t slot = add_leaf(a, version_of(a), {}, true);
    return emit({opcode::gather, dtype::int64, a.dtype(), {numbers, slot, static_cast<std::uint16_t>(!may_fail)}});
  }
  std::uint16_t cast(std::uint16_t r, dtype to) {
    const dtype from = type_of(r);
    return from == to ? r : emit({opcode::cast, from, to, {r}});
  }
  std::uint16_t emit(const instruction& i) {
    auto& all = mine().code.code;
    const auto same = std::find(all.begin(), all.end(), i);
    if (same != all.end()) return static_cast<std::uint16_t>(same - all.begin());
    all.push_back(i);
    return last(all);
  }
  [[nodiscard]] dtype type_of(std::uint16_t r) { return mine().code.code[r].out; }

  /// The expression whose outputs are these registers; its dtype is the first one's.
  expr_state<Array> finish(std::vector<std::uint16_t> outputs) {
    mine().type = type_of(outputs.front());
    mine().code.outputs = std::move(outputs);
    return std::move(*state_);
  }
  basic_expr<Array> finish(std::uint16_t output) {
    mine().type = type_of(output);
    mine().code.outputs.assign(1, output);
    return basic_expr<Array>(std::move(state_));
  }

 private:
  template <class V>
  static std::uint16_t last(const V& v) {
    return static_cast<std::uint16_t>(v.size() - 1);
  }
  expr_state<Array>& mine() {
    if (!state_) begin();
    return *state_;
  }
  void begin();
  /// `inside`: no load of it goes beyond its faces.
  std::uint16_t add_leaf(const Array& a, std::uint64_t version, const std::vector<faces>& boundary, bool inside);
  std::uint16_t add_load(const leaf_load& l) {
    auto& all = mine().code.loads;
    const auto same = std::find(all.begin(), all.end(), l);
    if (same != all.end()) return static_cast<std::uint16_t>(same - all.begin());
    all.push_back(l);
    return last(all);
  }
  /// True when all loads of a leaf are at offset 0.
  static bool stays_inside(const program& p, std::size_t slot) {
    return std::all_of(p.loads.begin(), p.loads.end(),
                       [&](const leaf_load& l) { return l.leaf != slot || l.offset.empty(); });
  }

  const shape shape_;
  std::shared_ptr<expr_state<Array>> state_;  // null: nothing yet
};

template <class Array>
void builder<Array>::begin() {
  state_ = std::make_shared_for_overwrite<expr_state<Array>>();
  state_->shape = shape_;
  // What most operations take: growing step by step is slow.
  state_->leaves.reserve(2);
  state_->code.leaves.reserve(2);
  state_->code.loads.reserve(2);
  state_->code.code.reserve(4);
}

template <class Array>
std::uint16_t builder<Array>::add_leaf(const Array& a, std::uint64_t version, const std::vector<faces>& boundary,
                                       bool inside) {
  for (std::size_t s = 0; s < mine().leaves.size(); ++s) {
    leaf<Array>& known = mine().leaves[s];
    if (!same_view(known.data, a)) continue;
    // A boundary that no load can meet does not tell two leaves apart.
    if (known.boundary != boundary && !(known.boundary.empty() && stays_inside(mine().code, s)) &&
        !(boundary.empty() && inside))
      continue;
    if (known.boundary.empty()) known.boundary = boundary;
    known.version = std::min(known.version, version);
    return static_cast<std::uint16_t>(s);
  }
  mine().leaves.emplace_back(a, version, boundary);
  mine().code.leaves.push_back(a.dtype());
  return last(mine().leaves);
}

template <class Array>
std::uint16_t builder<Array>::append(state_ptr given) {
  if (!state_ && given->shape == shape_) {
    state_ = to_change(std::move(given));
    return mine().code.outputs.front();
  }

  const expr_state<Array>& e = *given;
  const int lead = shape_.size() - e.shape.size();
  // One index of an expression stands for all along a dimension that broadcasts; loads can only do that for leaves
  // of length 1.
  for (const leaf_load& ld : e.code.loads) {
    const shape& s = e.leaves[ld.leaf].data.shape();
    for (int d = 0; d < s.size(); ++d) {
      const int out = d + shape_.size() - s.size();
      if (s[d] != 1 && e.shape[out - lead] == 1 && shape_[out] != 1)
        return append(basic_expr<Array>(evaluate(e)).state());
    }
  }

  std::array<std::byte, 1024> space;
  std::pmr::monotonic_buffer_resource nearby(space.data(), space.size());
  std::pmr::vector<std::uint16_t> leaves(&nearby), loads(&nearby), registers(&nearby);
  leaves.reserve(e.leaves.size());
  loads.reserve(e.code.loads.size());
  registers.reserve(e.code.code.size());
  for (std::size_t s = 0; s < e.leaves.size(); ++s) {
    const leaf<Array>& l = e.leaves[s];
    leaves.push_back(add_leaf(l.data, l.version, l.boundary, stays_inside(e.code, s)));
  }
  for (const leaf_load& ld : e.code.loads) loads.push_back(add_load({leaves[ld.leaf], ld.offset}));
  for (instruction i : e.code.code) {
    switch (i.op) {
      case opcode::load: i.args[0] = loads[i.args[0]]; break;
      case opcode::scalar: registers.push_back(append(e.code.scalars[i.args[0]])); continue;
      case opcode::index: {
        const int axis = i.args[0] + lead;
        if (e.shape[i.args[0]] == 1 && shape_[axis] != 1) {
          registers.push_back(append(make_scalar(scalar(0), dtype::int64, "index")));
          continue;
        }
        i.args[0] = static_cast<std::uint16_t>(axis);
        break;
      }
      case opcode::gather:
        i.args[0] = registers[i.args[0]];
        i.args[1] = leaves[i.args[1]];
        break;
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
