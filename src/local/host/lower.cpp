#include "local/host/lower.hpp"

#include <serried/error.hpp>

#include "local/ops/rules.hpp"
#include "local/scalar_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace serried::inline v0::host {
namespace {

/// The unsigned type of the same bits, for operations that only see bits.
dtype bits_of(dtype t) {
  switch (item_size(t)) {
    case 1: return dtype::uint8;
    case 2: return dtype::uint16;
    case 4: return dtype::uint32;
    case 8: return dtype::uint64;
    default: return t;
  }
}

dtype unsigned_if_integer(dtype t) { return is_integer(t) || is_bool(t) ? bits_of(t) : t; }

class lowering {
 public:
  lowering(const program& p, const kernel_table& kernels) : program_(p), kernels_(kernels) {}

  plan run(bool widen) {
    const std::vector<bool> needed = find_needed();
    registers_.resize(program_.code.size());
    for (std::size_t i = 0; i < program_.code.size(); ++i)
      if (needed[i]) registers_[i] = lower(program_.code[i]);
    for (const std::uint16_t r : program_.outputs) {
      std::uint16_t s = registers_[r];
      if (widen && ops::is_narrow(program_.code[r].out)) s = cast(s, program_.code[r].out, dtype::float32);
      plan_.outputs.push_back(s);
    }
    chain_steps();
    place_scratch();
    return std::move(plan_);
  }

 private:
  std::vector<bool> find_needed() const {
    std::vector<bool> needed(program_.code.size(), false);
    for (const std::uint16_t r : program_.outputs) needed[r] = true;
    for (std::size_t i = needed.size(); i-- > 0;) {
      const instruction& ins = program_.code[i];
      if (!needed[i]) continue;
      for (int a = 0; a < argument_count(ins.op); ++a) needed[ins.args[static_cast<std::size_t>(a)]] = true;
    }
    return needed;
  }

  std::uint16_t add_slot(slot::kind from, dtype type, std::uint16_t which = 0) {
    plan_.slots.push_back({from, which, type});
    return static_cast<std::uint16_t>(plan_.slots.size() - 1);
  }

  std::uint16_t emit(kernel k, dtype out, std::uint16_t a, std::uint16_t b, std::uint16_t c, int width = 1) {
    const std::uint16_t s = add_slot(slot::kind::scratch, out);
    plan_.steps.push_back({k, width, a, b, c, s});
    return s;
  }

  std::uint16_t lower(const instruction& i) {
    switch (i.op) {
      case opcode::load: return add_slot(slot::kind::load, i.out, i.args[0]);
      case opcode::scalar: return add_slot(slot::kind::constant, i.out, i.args[0]);
      case opcode::index: return add_slot(slot::kind::index, i.out, i.args[0]);
      case opcode::gather: return gather(i);
      case opcode::cast: return cast(registers_[i.args[0]], i.in, i.out);
      default: return operation(i);
    }
  }

  std::uint16_t gather(const instruction& i) {
    const std::uint16_t index = registers_[i.args[0]];
    const std::uint16_t s = emit(nullptr, i.out, index, index, index);
    plan_.steps.back().may_fail = failure_of(i);
    plan_.steps.back().gather =
        static_cast<int>(std::find(gathered_.begin(), gathered_.end(), i.args[1]) - gathered_.begin());
    return s;
  }

  // ---- Conversions, in as few kernels as give every value.

  kernel cast_kernel(dtype from, dtype to) const {
    return kernels_.casts[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
  }
  std::uint16_t convert(std::uint16_t s, dtype from, dtype to) { return emit(cast_kernel(from, to), to, s, s, s); }

  std::uint16_t cast(std::uint16_t s, dtype from, dtype to) {
    if (from == to) return s;
    if (ops::is_narrow(from)) return cast(convert(s, from, dtype::float32), dtype::float32, to);
    if (ops::is_narrow(to) && (from != dtype::float32 && from != dtype::float64)) {
      // Integers: float is exact up to where float16 has overflowed; bfloat16 needs double.
      const dtype by = is_complex(from) ? component_of(from) : to == dtype::bfloat16 ? dtype::float64 : dtype::float32;
      return cast(cast(s, from, by), by, to);
    }
    if (is_complex(from) && !is_complex(to) && !is_bool(to)) {
      const dtype part = component_of(from);
      return cast(emit(find(opcode::real, from), part, s, s, s), part, to);
    }
    if (is_complex(to) && !is_complex(from)) {
      const dtype part = component_of(to);
      return convert(cast(s, from, part), part, to);
    }
    const bool integers = (is_bool(from) || is_integer(from)) && is_integer(to);
    if (integers && item_size(from) == item_size(to)) return s;
    // Cutting bits off does not look at the sign, and to what bits are extended depends on the source alone.
    const dtype source =
        is_bool(from) || (integers && item_size(to) < item_size(from)) || (is_integer(from) && is_bool(to))
            ? bits_of(from)
            : from;
    return convert(s, source, integers ? bits_of(to) : to);
  }

  // ---- Operations.

  kernel find(opcode op, dtype type) const {
    return kernels_.operations[static_cast<std::size_t>(op)][static_cast<std::size_t>(type)];
  }

  std::uint16_t operation(const instruction& i) {
    std::uint16_t operands[3] = {};
    const int count = argument_count(i.op);
    for (int a = 0; a < count; ++a) operands[a] = registers_[i.args[static_cast<std::size_t>(a)]];
    for (int a = count; a < 3; ++a) operands[a] = operands[0];
    const auto [a, b, c] = operands;

    if (ops::computes_in_float(i.op, i.in)) return in_float(i, operands, count);
    switch (i.op) {
      case opcode::square: return call(opcode::multiply, i.in, i.out, a, a);
      case opcode::greater: return call(opcode::less, i.in, i.out, b, a);
      case opcode::greater_equal: return call(opcode::less_equal, i.in, i.out, b, a);
      case opcode::logical_and: return call(opcode::bitwise_and, dtype::bool_, i.out, a, b);
      case opcode::logical_or: return call(opcode::bitwise_or, dtype::bool_, i.out, a, b);
      case opcode::logical_xor: return call(opcode::bitwise_xor, dtype::bool_, i.out, a, b);
      case opcode::isnan: return call(opcode::not_equal, i.in, i.out, a, a);
      case opcode::isinf:
        if (is_integer(i.in) || is_bool(i.in)) return call(opcode::not_equal, i.in, i.out, a, a);
        break;
      case opcode::isfinite:
        if (is_integer(i.in) || is_bool(i.in)) return call(opcode::equal, i.in, i.out, a, a);
        break;
      case opcode::floor:
      case opcode::ceil:
      case opcode::trunc:
        if (is_integer(i.in) || is_bool(i.in)) return a;
        break;
      case opcode::absolute:
        if (is_unsigned_integer(i.in) || is_bool(i.in)) return a;
        break;
      case opcode::fmin:
      case opcode::fmax:
        if (is_integer(i.in) || is_bool(i.in))
          return call(i.op == opcode::fmin ? opcode::minimum : opcode::maximum, i.in, i.out, a, b);
        break;
      case opcode::real:
      case opcode::conj:
        if (!is_complex(i.in)) return a;
        break;
      case opcode::imag:
        if (!is_complex(i.in)) return call(opcode::bitwise_xor, bits_of(i.in), i.out, a, a);
        break;
      default: break;
    }
    return call(i.op, i.in, i.out, a, b, c);
  }

  /// Finds the kernel for operands of dtype `in`, which may be one for other types of the same bits.
  std::uint16_t call(opcode op, dtype in, dtype out, std::uint16_t a, std::uint16_t b, std::uint16_t c) {
    int width = 1;
    dtype type = in;
    switch (op) {
      case opcode::add:
      case opcode::subtract:
      case opcode::negative:
        if (is_complex(in)) {
          width = 2;
          type = component_of(in);
        }
        [[fallthrough]];
      case opcode::multiply:
        if (is_bool(in)) {  // as NumPy: or, and
          op = op == opcode::add ? opcode::bitwise_or : opcode::bitwise_and;
        }
        type = unsigned_if_integer(type);
        break;
      case opcode::minimum:
      case opcode::maximum:
      case opcode::less:
      case opcode::less_equal:
      case opcode::bitwise_and:
      case opcode::bitwise_or:
      case opcode::bitwise_xor:
        if (is_bool(in) || op >= opcode::bitwise_and) type = bits_of(in);
        break;
      case opcode::equal:
      case opcode::not_equal: type = unsigned_if_integer(in); break;
      case opcode::where: type = bits_of(in); break;
      default: break;
    }
    const kernel k = find(op, type);
    if (k == nullptr)
      throw dtype_error(fmt::format("{}: the host engine does not compute it for {}", name(op), name(in)));
    const std::uint16_t s = emit(k, out, a, b, c, width);
    if (op <= opcode::multiply && op >= opcode::add && width == 1 && is_floating(type)) plan_.steps.back().chained = op;
    plan_.steps.back().may_fail = failure_of({op, in, out});
    return s;
  }
  std::uint16_t call(opcode op, dtype in, dtype out, std::uint16_t a, std::uint16_t b) {
    return call(op, in, out, a, b, a);
  }

  /// 16-bit floats: widened, computed in float, rounded.
  std::uint16_t in_float(const instruction& i, const std::uint16_t* operands, int count) {
    instruction wide = i;
    wide.in = dtype::float32;
    if (ops::is_narrow(i.out)) wide.out = dtype::float32;
    const auto saved = registers_;
    for (int a = 0; a < count; ++a)
      registers_[i.args[static_cast<std::size_t>(a)]] = cast(operands[a], i.in, dtype::float32);
    const std::uint16_t result = operation(wide);
    registers_ = saved;
    return cast(result, wide.out, i.out);
  }

  // ---- Two operations in one kernel save a store and a load.

  void chain_steps() {
    std::vector<int> uses(plan_.slots.size(), 0);
    std::vector<int> producer(plan_.slots.size(), -1);
    for (std::size_t k = 0; k < plan_.steps.size(); ++k) {
      const step& s = plan_.steps[k];
      ++uses[s.a];
      if (s.b != s.a || s.chained != opcode::count_) ++uses[s.b];
      if (s.c != s.a) ++uses[s.c];
      producer[s.out] = static_cast<int>(k);
    }
    for (const std::uint16_t s : plan_.outputs) uses[s] += 2;
    std::vector<bool> gone(plan_.steps.size(), false);
    for (step& second : plan_.steps) {
      if (second.chained == opcode::count_) continue;
      for (const bool left : {true, false}) {
        const std::uint16_t r = left ? second.a : second.b;
        const int k = producer[r];
        if (k < 0 || uses[r] != 1) continue;
        const step& first = plan_.steps[static_cast<std::size_t>(k)];
        if (first.chained == opcode::count_) continue;
        const chain how = second.chained == opcode::add        ? chain::add
                          : second.chained == opcode::multiply ? chain::multiply
                          : left                               ? chain::subtract
                                                               : chain::subtract_from;
        const std::uint16_t other = left ? second.b : second.a;
        const auto row = static_cast<std::size_t>(first.chained) - static_cast<std::size_t>(opcode::add);
        const auto type = static_cast<std::size_t>(plan_.slots[second.out].type);
        second.run = kernels_.chains[row][static_cast<std::size_t>(how)][type];
        second.a = first.a;
        second.b = first.b;
        second.c = other;
        second.chained = opcode::count_;
        gone[static_cast<std::size_t>(k)] = true;
        break;
      }
    }
    std::size_t kept = 0;
    for (std::size_t k = 0; k < plan_.steps.size(); ++k)
      if (!gone[k]) plan_.steps[kept++] = plan_.steps[k];
    plan_.steps.resize(kept);
  }

  // ---- Scratch memory: a block is free again after the last step that reads it.

  void place_scratch() {
    constexpr std::size_t forever = ~std::size_t{0};
    std::vector<std::size_t> last(plan_.slots.size(), 0);
    for (std::size_t k = 0; k < plan_.steps.size(); ++k)
      for (const std::uint16_t s : {plan_.steps[k].a, plan_.steps[k].b, plan_.steps[k].c}) last[s] = k;
    for (const std::uint16_t s : plan_.outputs) last[s] = forever;

    // Loads and constants are filled before the first step; only kernels' results share places.
    for (slot& s : plan_.slots)
      if (s.from != slot::kind::scratch) take(s);
    std::vector<slot> free;
    std::vector<std::vector<std::uint16_t>> ending(plan_.steps.size());
    for (std::size_t k = 0; k < plan_.steps.size(); ++k) {
      // A result may take the place of an operand that is not needed any more: kernels allow it.
      for (const std::uint16_t s : ending[k]) free.push_back(plan_.slots[s]);
      slot& out = plan_.slots[plan_.steps[k].out];
      const std::size_t item = item_size(out.type);
      const auto fit =
          std::find_if(free.rbegin(), free.rend(), [&](const slot& f) { return item_size(f.type) == item; });
      if (fit != free.rend()) {
        out.place = fit->place;
        out.block = fit->block;
        free.erase(std::next(fit).base());
      } else {
        take(out);
      }
      const std::size_t end = last[plan_.steps[k].out];
      if (end == 0) free.push_back(out);  // nobody reads it
      else if (end != forever) ending[end].push_back(plan_.steps[k].out);
    }
  }
  void take(slot& s) {
    s.place = plan_.scratch;
    s.block = plan_.blocks++;
    plan_.scratch += static_cast<std::int64_t>(item_size(s.type));
  }

  const program& program_;
  const std::vector<std::uint16_t> gathered_ = gathered_leaves(program_);
  const kernel_table& kernels_;
  plan plan_;
  std::vector<std::uint16_t> registers_;
};

}  // namespace

plan lower(const program& p, const kernel_table& kernels, bool widen) { return lowering(p, kernels).run(widen); }

}  // namespace serried::inline v0::host
