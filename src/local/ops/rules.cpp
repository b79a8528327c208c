#include "local/ops/rules.hpp"

#include <serried/elementwise.hpp>
#include <serried/error.hpp>

#include "local/scalar_value.hpp"

#include <fmt/format.h>

#include <limits>
#include <variant>

namespace serried::inline v0::ops {
namespace {

struct request {
  opcode op;
  std::span<const dtype> operands;
};

[[noreturn]] void refuse(const request& r, std::string_view reason) {
  std::string dtypes;
  for (const dtype t : r.operands) dtypes += fmt::format("{}{}", dtypes.empty() ? "" : ", ", name(t));
  throw dtype_error(fmt::format("{}({}): {}", name(r.op), dtypes, reason));
}

dtype common(std::span<const dtype> operands) {
  dtype result = operands.front();
  for (const dtype t : operands) result = promote(result, t);
  return result;
}

bool integral(dtype t) { return is_bool(t) || is_integer(t); }
dtype number_of(dtype t) { return is_bool(t) ? dtype::int8 : t; }

/// The floating type in which NumPy evaluates a function of an integer.
dtype floating_of(dtype integer) {
  switch (item_size(integer)) {
    case 1: return dtype::float16;
    case 2: return dtype::float32;
    default: return dtype::float64;
  }
}

dtype not_complex(const request& r, dtype t) {
  if (is_complex(t)) refuse(r, "complex numbers are not supported");
  return t;
}

// The rules, under the names that the table uses.

signature arithmetic(const request& r) {
  const dtype t = common(r.operands);
  return {t, t};
}
signature subtraction(const request& r) {
  const dtype t = common(r.operands);
  if (is_bool(t)) refuse(r, "not defined for bool; use bitwise_xor, logical_xor or logical_not");
  return {t, t};
}
signature division(const request& r) {
  const dtype t = common(r.operands);
  const dtype quotient = integral(t) ? dtype::float64 : t;
  return {quotient, quotient};
}
signature real(const request& r) {
  const dtype t = number_of(not_complex(r, common(r.operands)));
  return {t, t};
}
signature magnitude(const request& r) {
  const dtype t = common(r.operands);
  return {t, component_of(t)};
}
signature signum(const request& r) {
  const dtype t = common(r.operands);
  if (is_bool(t)) refuse(r, "not defined for bool");
  return {t, t};
}
signature number(const request& r) {
  const dtype t = number_of(common(r.operands));
  return {t, t};
}
signature analytic(const request& r) {
  dtype t = common(r.operands);
  if (integral(t)) {  // each operand by itself: int8 beside uint8 is float16
    t = floating_of(r.operands.front());
    for (const dtype operand : r.operands) t = promote(t, floating_of(operand));
  }
  return {t, t};
}
signature function(const request& r) {
  const dtype t = not_complex(r, analytic(r).operand);
  return {t, t};
}
signature neighbor(const request& r) { return function(r); }
signature exponent(const request& r) { return {function(r).operand, dtype::int32}; }
signature scaling(const request& r) {
  if (!integral(r.operands[1])) refuse(r, "the exponent is an integer");
  const dtype t = function({r.op, r.operands.first(1)}).operand;
  return {t, t};
}
signature assembly(const request& r) {
  const dtype t = function(r).operand;
  return t == dtype::float64 ? signature{t, dtype::complex128} : signature{dtype::float32, dtype::complex64};
}
signature rounding(const request& r) {
  const dtype t = not_complex(r, common(r.operands));
  return {t, t};
}
signature extremum(const request& r) {
  const dtype t = common(r.operands);
  return {t, t};
}
signature equality(const request& r) { return {common(r.operands), dtype::bool_}; }
signature comparison(const request& r) { return equality(r); }
signature logical(const request&) { return {dtype::bool_, dtype::bool_}; }
signature bitwise(const request& r) {
  const dtype t = common(r.operands);
  if (!integral(t)) refuse(r, "takes bool and integers only");
  return {t, t};
}
signature divisor(const request& r) {
  const dtype t = bitwise(r).operand;
  if (is_bool(t)) refuse(r, "not defined for bool");
  return {t, t};
}
signature whole(const request& r) {
  const dtype t = number_of(bitwise(r).operand);
  return {t, t};
}
signature classification(const request& r) { return {common(r.operands), dtype::bool_}; }
signature component(const request& r) {
  const dtype t = common(r.operands);
  return {t, component_of(t)};
}
signature selection(const request& r) {
  const dtype t = common(r.operands.subspan(1));
  return {t, t};
}

}  // namespace

signature resolve(opcode op, std::span<const dtype> operands) {
  const request r{op, operands};
  switch (op) {
#define SERRIED_OPERATION(name, arity, rule, expression) \
  case opcode::name: return rule(r);
#include <serried/detail/operations.inc>
#undef SERRIED_OPERATION
    default: break;
  }
  refuse(r, "not an element-wise operation");
}

}  // namespace serried::inline v0::ops

namespace serried::inline v0::detail {

dtype function_dtype(const char* function, dtype t) {
  if (is_complex(t)) throw dtype_error(fmt::format("{}({}): complex numbers are not supported", function, name(t)));
  return is_floating(t) ? t : ops::floating_of(t);
}

double largest_number(dtype t) {
  switch (t) {
    case dtype::float16: return 65504;
    case dtype::bfloat16: return 0x1.fep127;
    case dtype::float32: return std::numeric_limits<float>::max();
    default: return std::numeric_limits<double>::max();
  }
}

bool is_below(const scalar& number, dtype t) {
  const auto* const value = std::get_if<std::int64_t>(&number.value());
  return value != nullptr && *value < 0 && !number.fits(t);
}
bool is_above(const scalar& number, dtype t) { return !number.fits(t) && !is_below(number, t); }

}  // namespace serried::inline v0::detail
