// Every operation on special values of every dtype, and every rule, against NumPy (data/make_operations.py).
#include "local/engine_support.hpp"
#include "local/operation_table.hpp"

#include <serried/error.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <random>

namespace serried::testing {
namespace {

opcode opcode_of(const std::string& operation) {
  for (int op = 0; op < static_cast<int>(opcode::count_); ++op)
    if (operation == name(static_cast<opcode>(op))) return static_cast<opcode>(op);
  throw std::runtime_error("no operation " + operation);
}

bytes compute(engine& e, const table_line& l) {
  const bytes& v = numpy().values.at(l.operand);
  const auto n = static_cast<std::int64_t>(v.size() / item_size(l.operand));
  const device_bytes memory(e, v);
  program_writer w({l.operand, l.operand});
  const opcode op = opcode_of(l.operation);
  const auto a = w.load(0);
  const auto r = l.kind == "unary" ? w(op, a) : w(op, a, w.load(1));
  EXPECT_EQ(w.type_of(r), l.result) << l.operation << " of " << name(l.operand);
  const program p = w.finish(r);
  const shape s = l.kind == "unary" ? shape{n} : shape{n, n};
  const leaf_binding leaves[] = {leaf_of(memory.data(), l.operand, l.kind == "unary" ? shape{n} : shape{n, 1}),
                                 leaf_of(memory.data(), l.operand, {n})};
  const auto item = item_size(w.type_of(r));
  const device_bytes out(e, static_cast<std::size_t>(element_count(s)) * item);
  const output_binding o{out.data(), w.type_of(r), contiguous_strides(s, item)};
  e.execute(p, leaves, {&o, 1}, box::whole(s));
  return out.read<std::byte>(element_count(s) * static_cast<std::int64_t>(item));
}

class operations : public ::testing::TestWithParam<const char*> {};

/// Null where the machine lacks the instructions.
std::shared_ptr<engine> make(const char* simd) {
  setenv("SERRIED_SIMD", simd, 1);
  std::shared_ptr<engine> e;
  try {
    e = make_host_engine(1);
  } catch (const value_error&) {
  }
  unsetenv("SERRIED_SIMD");
  return e;
}

TEST_P(operations, equal_numpys) {
  const auto e = make(GetParam());
  if (!e) GTEST_SKIP() << "this machine does not have " << GetParam();
  ASSERT_GT(numpy().lines.size(), 500u);
  for (const table_line& l : numpy().lines) {
    // NumPy refuses these as a whole; here they are refused one by one (engine_conformance).
    if (l.operation == "power" && is_signed_integer(l.operand)) continue;
    compare(l, compute(*e, l));
  }
}

/// A function on many numbers of its domain, against the C library's in a wider type.
template <class T, class Bits, class Wide>
void check_function(engine& e, opcode op, Wide (*exact)(Wide), double low, double high) {
  std::mt19937_64 g(9);
  std::vector<T> x(20011);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<T>(std::uniform_real_distribution<double>(low, high)(g));
    if (i % 4 == 0) x[i] = static_cast<T>(std::ldexp(static_cast<double>(x[i]), -static_cast<int>(g() % 60)));
    if (x[i] < low) x[i] = static_cast<T>(low);
  }
  const device_bytes memory(e, x);
  program_writer w({dtype_of<T>});
  const auto n = static_cast<std::int64_t>(x.size());
  const auto got = run<T>(e, w.finish(w(op, w.load(0))), {leaf_of(memory.data(), dtype_of<T>, {n})}, box::whole({n}));
  std::int64_t worst = 0;
  T where = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto off = std::abs(place<T, Bits>(got[i]) - place<T, Bits>(static_cast<T>(exact(static_cast<Wide>(x[i])))));
    if (off > worst) where = x[i];
    worst = std::max(worst, off);
  }
  EXPECT_LE(worst, 4) << name(op) << " of " << name(dtype_of<T>) << " at " << where;
}

TEST_P(operations, functions_are_within_four_units) {
  const auto e = make(GetParam());
  if (!e) GTEST_SKIP() << "this machine does not have " << GetParam();
  struct row {
    opcode op;
    double (*exact64)(double);
    long double (*exact80)(long double);
    double low, high, high64;
  };
  const row rows[] = {{opcode::exp, std::exp, std::exp, -80, 80, 700},
                      {opcode::exp2, std::exp2, std::exp2, -120, 120, 1000},
                      {opcode::expm1, std::expm1, std::expm1, -20, 80, 700},
                      {opcode::log, std::log, std::log, 1e-30, 1e30, 1e30},
                      {opcode::log2, std::log2, std::log2, 1e-30, 1e30, 1e30},
                      {opcode::log10, std::log10, std::log10, 1e-30, 1e30, 1e30},
                      {opcode::log1p, std::log1p, std::log1p, -0.99, 1e10, 1e10},
                      {opcode::sin, std::sin, std::sin, -1000, 1000, 1000},
                      {opcode::cos, std::cos, std::cos, -1000, 1000, 1000},
                      {opcode::tan, std::tan, std::tan, -1000, 1000, 1000},
                      {opcode::arcsin, std::asin, std::asin, -1, 1, 1},
                      {opcode::arccos, std::acos, std::acos, -1, 1, 1},
                      {opcode::arctan, std::atan, std::atan, -1e5, 1e5, 1e5},
                      {opcode::sinh, std::sinh, std::sinh, -80, 80, 700},
                      {opcode::cosh, std::cosh, std::cosh, -80, 80, 700},
                      {opcode::tanh, std::tanh, std::tanh, -10, 10, 20},
                      {opcode::sqrt, std::sqrt, std::sqrt, 0, 1e30, 1e30},
                      {opcode::cbrt, std::cbrt, std::cbrt, -1e30, 1e30, 1e30},
                      {opcode::arcsinh, std::asinh, std::asinh, -1e30, 1e30, 1e30},
                      {opcode::arccosh, std::acosh, std::acosh, 1, 1e30, 1e30},
                      {opcode::arctanh, std::atanh, std::atanh, -0.999, 0.999, 0.999},
                      {opcode::erf, std::erf, std::erf, -4, 4, 6},
                      {opcode::erfc, std::erfc, std::erfc, -4, 9, 25},
                      {opcode::gamma, std::tgamma, std::tgamma, 0, 34, 170},
                      {opcode::lgamma, std::lgamma, std::lgamma, 3, 1e30, 1e30}};
  for (const row& r : rows) {
    check_function<float, std::int32_t, double>(*e, r.op, r.exact64, r.low, r.high);
    check_function<double, std::int64_t, long double>(*e, r.op, r.exact80, r.low, r.high64);
  }
}

/// A function of complex numbers of all sizes up to a limit, many close to 1, i and their negatives, against the C
/// library's in a wider type: units in the last place of the whole number.
template <class T, class Wide>
void check_complex(engine& e, opcode op, std::complex<Wide> (*exact)(const std::complex<Wide>&), double limit) {
  std::mt19937_64 g(5);
  const auto uniform = [&](double low, double high) { return std::uniform_real_distribution<double>(low, high)(g); };
  std::vector<std::complex<T>> z(20032);
  for (std::size_t i = 0; i < z.size(); ++i) {
    const double size =
        i % 2 == 0 ? 1 + uniform(-1, 1) * std::exp2(-uniform(0, 30)) : limit * std::exp2(-uniform(0, 50));
    const double turn = i % 3 == 0 ? uniform(-4, 4) : std::floor(uniform(-2, 3)) + std::exp2(-uniform(1, 40));
    z[i] = std::complex<T>(std::polar(size, turn * std::numbers::pi / 2));
  }
  constexpr dtype type = dtype_of<std::complex<T>>;
  const device_bytes memory(e, z);
  program_writer w({type});
  const auto n = static_cast<std::int64_t>(z.size());
  const auto got =
      run<std::complex<T>>(e, w.finish(w(op, w.load(0))), {leaf_of(memory.data(), type, {n})}, box::whole({n}));
  Wide worst = 0;
  std::complex<T> where = 0;
  for (std::size_t i = 0; i < z.size(); ++i) {
    const std::complex<Wide> want = exact(std::complex<Wide>(z[i]));
    const Wide off = std::abs(std::complex<Wide>(got[i]) - want) / std::abs(want);
    if (off <= worst || std::isnan(worst)) continue;  // NaN stays the worst
    worst = off;
    where = z[i];
  }
  EXPECT_LE(worst, 4 * std::numeric_limits<T>::epsilon()) << name(op) << " of " << name(type) << " at " << where;
}

TEST_P(operations, complex_functions_are_within_four_units) {
  const auto e = make(GetParam());
  if (!e) GTEST_SKIP() << "this machine does not have " << GetParam();
  const auto check = [&](opcode op, auto exact64, auto exact80, double limit, double limit64) {
    check_complex<float, double>(*e, op, exact64, limit);
    check_complex<double, long double>(*e, op, exact80, limit64);
  };
#define SERRIED_CHECK_COMPLEX(op, function, limit, limit64) \
  check(opcode::op, std::function<double>, std::function<long double>, limit, limit64)
  SERRIED_CHECK_COMPLEX(exp, exp, 80, 700);
  SERRIED_CHECK_COMPLEX(log, log, 1e30, 1e300);
  SERRIED_CHECK_COMPLEX(sqrt, sqrt, 1e38, 1e308);
  SERRIED_CHECK_COMPLEX(sin, sin, 80, 700);
  SERRIED_CHECK_COMPLEX(cos, cos, 80, 700);
  SERRIED_CHECK_COMPLEX(tan, tan, 80, 700);
  SERRIED_CHECK_COMPLEX(sinh, sinh, 80, 700);
  SERRIED_CHECK_COMPLEX(cosh, cosh, 80, 700);
  SERRIED_CHECK_COMPLEX(tanh, tanh, 80, 700);
  SERRIED_CHECK_COMPLEX(arcsin, asin, 1e38, 1e308);
  SERRIED_CHECK_COMPLEX(arccos, acos, 1e38, 1e308);
  SERRIED_CHECK_COMPLEX(arctan, atan, 1e38, 1e308);
  SERRIED_CHECK_COMPLEX(arcsinh, asinh, 1e38, 1e308);
  SERRIED_CHECK_COMPLEX(arccosh, acosh, 1e38, 1e308);
  SERRIED_CHECK_COMPLEX(arctanh, atanh, 1e38, 1e308);
#undef SERRIED_CHECK_COMPLEX
}

INSTANTIATE_TEST_SUITE_P(host, operations, ::testing::Values("baseline", "avx2", "avx512"),
                         [](const auto& info) { return std::string(info.param); });

constexpr dtype lettered[] = {bool_,  int8,   int16,   int32,   int64,   uint8,     uint16,
                              uint32, uint64, float16, float32, float64, complex64, complex128};
constexpr const char* letters = "?bhilBHILefdFD";

/// Result dtype by the rule as NumPy's letter; "-" where it is refused.
char rule(opcode op, std::vector<dtype> operands) {
  try {
    const dtype t = ops::resolve(op, operands).result;
    return letters[std::find(std::begin(lettered), std::end(lettered), t) - std::begin(lettered)];
  } catch (const dtype_error&) {
    return '-';
  }
}

TEST(rules, equal_numpys) {
  int checked = 0;
  for (const auto& [key, codes] : numpy().types) {
    const std::string operation = key.substr(key.find(' ') + 1);
    if (key == "promote " || codes.size() < 14) continue;
    const opcode op = opcode_of(operation);
    for (std::size_t a = 0; a < 14; ++a) {
      if (key.starts_with("types1")) {
        const char got = rule(op, {lettered[a]});
        if (got == '-' && is_complex(lettered[a])) continue;  // not offered for complex numbers
        EXPECT_EQ(got, codes[a]) << operation << " of " << name(lettered[a]);
        ++checked;
        continue;
      }
      for (std::size_t b = 0; b < 14; ++b) {
        const char got = rule(op, {lettered[a], lettered[b]});
        if (got == '-' && (is_complex(lettered[a]) || is_complex(lettered[b]))) continue;
        EXPECT_EQ(got, codes[a * 14 + b]) << operation << " of " << name(lettered[a]) << ", " << name(lettered[b]);
        ++checked;
      }
    }
  }
  EXPECT_GT(checked, 4000);
}

TEST(rules, say_what_is_wrong) {
  const dtype bools[] = {bool_, bool_};
  try {
    (void)ops::resolve(opcode::subtract, bools);
    ADD_FAILURE() << "bools were subtracted";
  } catch (const dtype_error& e) {
    EXPECT_STREQ(e.what(), "subtract(bool, bool): not defined for bool; use bitwise_xor, logical_xor or logical_not");
  }
  const dtype mixed[] = {float32, int8};
  EXPECT_THROW((void)ops::resolve(opcode::bitwise_and, mixed), dtype_error);
  const dtype z[] = {complex64};
  EXPECT_THROW((void)ops::resolve(opcode::cbrt, z), dtype_error);
  const dtype pair[] = {float32, float32};
  EXPECT_THROW((void)ops::resolve(opcode::ldexp, pair), dtype_error);
}

TEST(rules, where_and_fma) {
  const dtype choose[] = {bool_, int8, float32};
  EXPECT_EQ(ops::resolve(opcode::where, choose).operand, float32);
  const dtype integers[] = {int32, int32, int32};
  EXPECT_EQ(ops::resolve(opcode::fma, integers).result, float64);
}

TEST(rules, integer_powers_are_exact_and_wrap) {
  const auto e = make_host_engine(1);
  const device_bytes base(*e, std::vector<std::int32_t>{0, 1, -1, 2, -3, 10, 46341, 7});
  const device_bytes exponent(*e, std::vector<std::int32_t>{0, 9, 5, 31, 3, 9, 2, 20});
  program_writer w({int32, int32});
  const program p = w.finish(w(opcode::power, w.load(0), w.load(1)));
  const auto wrapped = [](std::int64_t x) { return static_cast<std::int32_t>(static_cast<std::uint32_t>(x)); };
  EXPECT_EQ(run<std::int32_t>(*e, p, {leaf_of(base.data(), int32, {8}), leaf_of(exponent.data(), int32, {8})},
                              box::whole({8})),
            (std::vector<std::int32_t>{1, 1, -1, wrapped(1LL << 31), -27, 1000000000, wrapped(46341LL * 46341),
                                       wrapped(79792266297612001LL)}));
}

TEST(rules, where_picks_and_fma_rounds_once) {
  const auto e = make_host_engine(1);
  const device_bytes flags(*e, std::vector<std::uint8_t>{1, 0, 1});
  const device_bytes x(*e, std::vector<double>{1, 2, 3});
  program_writer w({bool_, float64});
  const auto picked = w(opcode::where, w.load(0), w.load(1), w.scalar(-1.0));
  EXPECT_EQ(run<double>(*e, w.finish(picked), {leaf_of(flags.data(), bool_, {3}), leaf_of(x.data(), float64, {3})},
                        box::whole({3})),
            (std::vector<double>{1, -1, 3}));

  program_writer f({float64});
  const double a = 1 + 0x1p-30;
  const auto fused = f(opcode::fma, f.scalar(a), f.scalar(a), f.scalar(-1.0));
  EXPECT_EQ(run<double>(*e, f.finish(fused), {leaf_of(x.data(), float64, {3})}, box::whole({1}))[0], 0x1p-29 + 0x1p-60);
  program_writer u({float64});
  const auto apart = u(opcode::add, u(opcode::multiply, u.scalar(a), u.scalar(a)), u.scalar(-1.0));
  EXPECT_EQ(run<double>(*e, u.finish(apart), {leaf_of(x.data(), float64, {3})}, box::whole({1}))[0], 0x1p-29);
}

TEST(casts, float_to_integer_is_defined_for_all_numbers) {
  const auto e = make_host_engine(1);
  const std::vector<double> x{0.9,   -0.9,         300,      -300,      1e30,
                              -1e30, std::nan(""), INFINITY, -INFINITY, 9223372036854775807.0};
  const device_bytes memory(*e, x);
  const auto cast_to = [&]<class T>() {
    program_writer w({float64});
    const program p = w.finish(w.cast(w.load(0), dtype_of<T>));
    return run<T>(*e, p, {leaf_of(memory.data(), float64, {10})}, box::whole({10}));
  };
  EXPECT_EQ(cast_to.operator()<std::int8_t>(),
            (std::vector<std::int8_t>{0, 0, 127, -128, 127, -128, 0, 127, -128, 127}));
  EXPECT_EQ(cast_to.operator()<std::uint8_t>(), (std::vector<std::uint8_t>{0, 0, 255, 0, 255, 0, 0, 255, 0, 255}));
  EXPECT_EQ(cast_to.operator()<std::int64_t>(),
            (std::vector<std::int64_t>{0, 0, 300, -300, INT64_MAX, INT64_MIN, 0, INT64_MAX, INT64_MIN, INT64_MAX}));
  EXPECT_EQ(cast_to.operator()<std::uint64_t>(),
            (std::vector<std::uint64_t>{0, 0, 300, 0, UINT64_MAX, 0, 0, UINT64_MAX, 0, 9223372036854775808u}));
}

TEST(casts, anything_but_zero_is_true) {
  const auto e = make_host_engine(1);
  const device_bytes memory(*e, std::vector<float>{0, -0.0f, 1e-45f, -2, std::nanf(""), INFINITY});
  program_writer w({float32});
  const program p = w.finish(w.cast(w.load(0), bool_));
  const device_bytes out(*e, 6);
  const leaf_binding l = leaf_of(memory.data(), float32, {6});
  const output_binding o{out.data(), bool_, {1}};
  e->execute(p, {&l, 1}, {&o, 1}, box::whole({6}));
  EXPECT_EQ(out.read<std::uint8_t>(6), (std::vector<std::uint8_t>{0, 0, 1, 1, 1, 1}));
}

}  // namespace
}  // namespace serried::testing
