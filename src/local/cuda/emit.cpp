#include "local/cuda/emit.hpp"

#include "local/ops/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>

namespace serried::inline v0::cuda {
namespace {

/// The table's expression of an operation, in a, b and c.
std::string_view expression_of(opcode op) {
  switch (op) {
#define SERRIED_OPERATION(name, arity, rule, expression) \
  case opcode::name: return #expression;
#include <serried/detail/operations.inc>
#undef SERRIED_OPERATION
    default: return {};
  }
}

/// Whether the operation's rule is the one of functions that are analytic.
bool is_analytic(opcode op) {
  switch (op) {
#define SERRIED_OPERATION(name, arity, rule, expression) \
  case opcode::name: return std::string_view(#rule) == "analytic";
#include <serried/detail/operations.inc>
#undef SERRIED_OPERATION
    default: return false;
  }
}

bool part_of_name(char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; }

/// The expression with the names a, b and c replaced.
std::string with_operands(std::string_view expression, const std::array<std::string, 3>& operands) {
  std::string result;
  for (std::size_t i = 0; i < expression.size();) {
    std::size_t end = i;
    while (end < expression.size() && part_of_name(expression[end])) ++end;
    if (end == i + 1 && expression[i] >= 'a' && expression[i] <= 'c')
      result += operands[static_cast<std::size_t>(expression[i] - 'a')];
    else result += expression.substr(i, end == i ? 1 : end - i);
    i = end == i ? i + 1 : end;
  }
  return result;
}

/// The registers that some output needs.
std::vector<bool> find_needed(const program& p) {
  std::vector<bool> needed(p.code.size(), false);
  for (const std::uint16_t r : p.outputs) needed[r] = true;
  for (std::size_t i = needed.size(); i-- > 0;) {
    if (!needed[i]) continue;
    for (int a = 0; a < argument_count(p.code[i].op); ++a) needed[p.code[i].args[static_cast<std::size_t>(a)]] = true;
  }
  return needed;
}

/// When the instruction fails.
std::string failing(const instruction& i, const operands& from, std::string_view prefix) {
  if (i.op == opcode::power) return fmt::format("{}{} < 0", prefix, i.args[1]);
  return fmt::format("static_cast<ops::u64>({}{}) >= a.w[{}]", prefix, i.args[0], from.gather(i.args[1]) + 1);
}

std::string value_of(const instruction& i, const operands& from, std::string_view prefix) {
  const auto name = [&](std::size_t a) { return fmt::format("{}{}", prefix, i.args[a]); };
  switch (i.op) {
    case opcode::load: return from.load(i.args[0]);
    case opcode::scalar: return from.scalar(i.args[0]);
    case opcode::index: return from.index(i.args[0]);
    case opcode::gather: {
      const int word = from.gather(i.args[1]);
      return fmt::format("element<{}>(a.w[{}], a.w[{}], {})", element_type(i.out), word, word + 1, name(0));
    }
    case opcode::cast: return fmt::format("ops::convert<{}>({})", element_type(i.out), name(0));
    default: break;
  }
  const bool wide = ops::computes_in_float(i.op, i.in);
  std::array<std::string, 3> names;
  for (std::size_t a = 0; a < static_cast<std::size_t>(argument_count(i.op)); ++a)
    names[a] = wide ? fmt::format("ops::to_float({})", name(a)) : name(a);
  const std::string value = with_operands(expression_of(i.op), names);
  return wide && ops::is_narrow(i.out) ? fmt::format("ops::convert<{}>({})", element_type(i.out), value) : value;
}

template <class T>
void append(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

std::string preamble_of(const program& p) {
  std::string text = "#include \"local/cuda/preamble.hpp\"\n";
  const auto any = [&](auto uses) { return std::any_of(p.code.begin(), p.code.end(), uses); };
  if (any([](const instruction& i) { return expression_of(i.op).find("special::") != std::string_view::npos; }))
    text += "#include \"local/ops/special.hpp\"\n";
  if (any([](const instruction& i) {
        return is_complex(i.in) && (is_analytic(i.op) || i.op == opcode::power || i.op == opcode::sign);
      }))
    text += "#include \"local/ops/complex_functions.hpp\"\n";
  return text;
}

std::string_view element_type(dtype type) {
  switch (type) {
    case dtype::bool_: return "bool";
    case dtype::int8: return "ops::i8";
    case dtype::int16: return "ops::i16";
    case dtype::int32: return "ops::i32";
    case dtype::int64: return "ops::i64";
    case dtype::uint8: return "ops::u8";
    case dtype::uint16: return "ops::u16";
    case dtype::uint32: return "ops::u32";
    case dtype::uint64: return "ops::u64";
    case dtype::float16: return "ops::half";
    case dtype::bfloat16: return "ops::bfloat";
    case dtype::float32: return "float";
    case dtype::float64: return "double";
    case dtype::complex64: return "ops::complex<float>";
    case dtype::complex128: break;
  }
  return "ops::complex<double>";
}

int words_of(dtype type) { return type == dtype::complex128 ? 2 : 1; }

void append_words(std::vector<std::uint64_t>& words, const scalar_value& value) {
  const auto count = static_cast<std::size_t>(words_of(value.type));
  words.resize(words.size() + count, 0);
  std::memcpy(words.data() + words.size() - count, value.bytes.data(), item_size(value.type));
}

std::string scalar_text(dtype type, int first) {
  switch (type) {
    case dtype::bool_: return fmt::format("a.w[{}] != 0", first);
    case dtype::float16:
    case dtype::bfloat16: return fmt::format("{}{{ops::u16(a.w[{}])}}", element_type(type), first);
    case dtype::float32: return fmt::format("ops::float_of(ops::u32(a.w[{}]))", first);
    case dtype::float64: return fmt::format("ops::double_of(a.w[{}])", first);
    case dtype::complex64:
      return fmt::format(
          "ops::complex<float>{{ops::float_of(ops::u32(a.w[{0}])), ops::float_of(ops::u32(a.w[{0}] >> 32))}}", first);
    case dtype::complex128:
      return fmt::format("ops::complex<double>{{ops::double_of(a.w[{}]), ops::double_of(a.w[{}])}}", first, first + 1);
    default: return fmt::format("{}(a.w[{}])", element_type(type), first);
  }
}

std::string statements(const program& p, const operands& from, std::string_view prefix, std::string_view indent) {
  const std::vector<bool> needed = find_needed(p);
  std::string text;
  for (std::size_t r = 0; r < p.code.size(); ++r) {
    const instruction& i = p.code[r];
    if (!needed[r]) continue;
    if (const failure f = failure_of(i); f != failure::none)
      text += fmt::format("{}if ({}) *failed = {}u;\n", indent, failing(i, from, prefix), static_cast<int>(f));
    text += fmt::format("{}const {} {}{} = {};\n", indent, element_type(i.out), prefix, r, value_of(i, from, prefix));
  }
  return text;
}

int weight_of(const program& p) {
  int weight = 0;
  for (const instruction& i : p.code) {
    switch (i.op) {
      case opcode::load:
      case opcode::scalar:
      case opcode::index: break;
      case opcode::gather: weight += 8; break;
      case opcode::cast:
      case opcode::add:
      case opcode::subtract:
      case opcode::negative:
      case opcode::absolute:
      case opcode::copysign:
      case opcode::minimum:
      case opcode::maximum:
      case opcode::fmin:
      case opcode::fmax:
      case opcode::where:
      case opcode::fma: weight += 2; break;
      case opcode::multiply:
      case opcode::square: weight += is_complex(i.in) ? 8 : 2; break;
      default: weight += i.op >= opcode::equal && !is_complex(i.in) ? 2 : 32;
    }
  }
  return weight;
}

std::string structure_key(const program& p, bool with_offsets) {
  std::string key;
  key.reserve(128 + 16 * p.code.size());  // the caller appends
  append(key, static_cast<std::uint16_t>(p.code.size()));
  for (const instruction& i : p.code) {
    append(key, i.op);
    append(key, i.in);
    append(key, i.out);
    const int args = i.op == opcode::gather ? 3 : std::max(argument_count(i.op), 1);
    for (int a = 0; a < args; ++a) append(key, i.args[static_cast<std::size_t>(a)]);
  }
  append(key, static_cast<std::uint16_t>(p.loads.size()));
  for (const leaf_load& l : p.loads) {
    append(key, l.leaf);
    if (!with_offsets) continue;
    append(key, static_cast<std::uint8_t>(l.offset.size()));
    for (const std::int64_t o : l.offset) append(key, o);
  }
  append(key, static_cast<std::uint16_t>(p.leaves.size()));
  for (const dtype t : p.leaves) append(key, t);
  append(key, static_cast<std::uint16_t>(p.scalars.size()));
  for (const scalar_value& s : p.scalars) append(key, s.type);
  append(key, static_cast<std::uint16_t>(p.outputs.size()));
  for (const std::uint16_t r : p.outputs) append(key, r);
  return key;
}

}  // namespace serried::inline v0::cuda
