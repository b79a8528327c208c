// Hand-built programs and arrays on an engine, for tests.
#pragma once

#include "local/engine.hpp"
#include "local/memory/buffer.hpp"
#include "local/ops/rules.hpp"
#include "local/scalar_value.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace serried::testing {

/// A scalar of T's dtype.
template <class T>
scalar_value number(T value) {
  scalar_value s;
  s.type = dtype_of<T>;
  std::memcpy(s.bytes.data(), &value, sizeof value);
  return s;
}

/// Writes programs down; every call returns a register.
class program_writer {
 public:
  explicit program_writer(std::vector<dtype> leaves = {}) { p_.leaves = std::move(leaves); }

  std::uint16_t load(int leaf, const dims& offset = {}) {
    p_.loads.push_back({static_cast<std::uint16_t>(leaf), offset});
    const dtype t = p_.leaves[static_cast<std::size_t>(leaf)];
    return emit({opcode::load, t, t, {static_cast<std::uint16_t>(p_.loads.size() - 1)}});
  }
  template <class T>
  std::uint16_t scalar(T value) {
    p_.scalars.push_back(number(value));
    return emit({opcode::scalar, dtype_of<T>, dtype_of<T>, {static_cast<std::uint16_t>(p_.scalars.size() - 1)}});
  }
  std::uint16_t index(int axis) {
    return emit({opcode::index, dtype::int64, dtype::int64, {static_cast<std::uint16_t>(axis)}});
  }
  /// `fails`: where a number is beyond the leaf.
  std::uint16_t gather(int leaf, std::uint16_t numbers, bool fails = true) {
    const auto slot = static_cast<std::uint16_t>(leaf);
    return emit({opcode::gather, dtype::int64, p_.leaves[slot], {numbers, slot, static_cast<std::uint16_t>(!fails)}});
  }
  std::uint16_t cast(std::uint16_t r, dtype to) {
    const dtype from = type_of(r);
    return from == to ? r : emit({opcode::cast, from, to, {r}});
  }
  /// Inserts the casts that the operation's rule asks for.
  template <class... R>
  std::uint16_t operator()(opcode op, R... operands) {
    std::array<std::uint16_t, 3> args{static_cast<std::uint16_t>(operands)...};
    std::vector<dtype> types;
    for (std::size_t a = 0; a < sizeof...(R); ++a) types.push_back(type_of(args[a]));
    const ops::signature s = ops::resolve(op, types);
    for (std::size_t a = 0; a < sizeof...(R); ++a)
      args[a] = cast(args[a], op == opcode::where && a == 0 ? dtype::bool_ : s.operand);
    return emit({op, s.operand, s.result, args});
  }
  [[nodiscard]] dtype type_of(std::uint16_t r) const { return p_.code[r].out; }
  template <class... R>
  program finish(R... outputs) {
    p_.outputs = {static_cast<std::uint16_t>(outputs)...};
    return p_;
  }

 private:
  std::uint16_t emit(const instruction& i) {
    p_.code.push_back(i);
    return static_cast<std::uint16_t>(p_.code.size() - 1);
  }
  program p_;
};

/// Memory on the engine's device.
class device_bytes {
 public:
  device_bytes(engine& e, std::size_t bytes) : engine_(&e), buffer_(e.allocate(bytes)) {}
  template <class T>
  device_bytes(engine& e, const std::vector<T>& values) : device_bytes(e, values.size() * sizeof(T)) {
    e.copy_from_host(buffer_.data(), values.data(), values.size() * sizeof(T));
  }
  [[nodiscard]] std::byte* data() const { return buffer_.data(); }
  template <class T>
  [[nodiscard]] std::vector<T> read(std::int64_t n) const {
    std::vector<T> values(static_cast<std::size_t>(n));
    engine_->synchronize();
    engine_->copy_to_host(values.data(), buffer_.data(), values.size() * sizeof(T));
    return values;
  }

 private:
  engine* engine_;
  memory::buffer buffer_;
};

/// A C-order array.
inline leaf_binding leaf_of(const std::byte* data, dtype type, const shape& s) {
  return {data, type, s, box::whole(s), contiguous_strides(s, item_size(type)), {}};
}
inline std::vector<faces> same_faces(int ndim, const face& f) {
  return std::vector<faces>(static_cast<std::size_t>(ndim), faces{f, f});
}

/// Executes into a fresh C-order array and returns its values.
template <class T>
std::vector<T> run(engine& e, const program& p, const std::vector<leaf_binding>& leaves, const box& where) {
  const std::int64_t n = where.volume();
  const device_bytes out(e, static_cast<std::size_t>(n) * sizeof(T));
  const output_binding o{out.data(), dtype_of<T>, contiguous_strides(where.extents(), sizeof(T))};
  e.execute(p, leaves, {&o, 1}, where);
  return out.read<T>(n);
}

/// Reduces, in one call and by way of states, which must give the same bits; results in C order.
template <class T>
std::vector<T> run_reduction(engine& e, const program& p, const std::vector<leaf_binding>& leaves, const box& where,
                             const reduction& r) {
  std::int64_t n = 1;
  for (int d = 0; d < where.ndim(); ++d)
    if ((r.axes >> d & 1u) == 0) n *= where.hi[d] - where.lo[d];
  const state_layout layout = layout_of(r);
  const device_bytes states(e, static_cast<std::size_t>(n * layout.words) * item_size(layout.type));
  const device_bytes out(e, static_cast<std::size_t>(n) * sizeof(T));
  e.reduce(p, leaves, where, r, out.data());
  const auto values = out.read<T>(n);
  e.reduce_to_states(p, leaves, where, r, states.data());
  e.finish(r, states.data(), n, out.data());
  const auto again = out.read<T>(n);
  EXPECT_TRUE(values.empty() || std::memcmp(values.data(), again.data(), values.size() * sizeof(T)) == 0)
      << "reduce and reduce_to_states differ";
  return values;
}

/// Calls f(index) for every index of the box, in C order.
template <class F>
void for_each_index(const box& b, F&& f) {
  if (b.empty()) return;
  dims i = b.lo;
  for (;;) {
    f(i);
    int d = b.ndim() - 1;
    while (d >= 0 && ++i[d] == b.hi[d]) i[d] = b.lo[d], --d;
    if (d < 0) return;
  }
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

/// An engine under test: what the suites are instantiated with.
struct engine_maker {
  std::string name;
  std::function<std::shared_ptr<engine>()> make;  ///< null where the machine lacks it
};
inline void PrintTo(const engine_maker& m, std::ostream* out) { *out << m.name; }

}  // namespace serried::testing
