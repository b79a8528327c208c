// Making arrays, against NumPy.
#include <serried/creation.hpp>

#include "local/numpy_values.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace serried {
namespace {

class creation : public testing::Test, protected operands_of_numpy {
 protected:
  static void check(const std::string& expression, const array& a, double units = 0) {
    numpy().check(expression, a, units);
  }
  template <class Arrays>
  static void check_each(const std::string& expression, const Arrays& arrays) {
    numpy().check_each(expression, arrays);
  }

 private:
  static const numpy_values& numpy() {
    static const numpy_values all("creation.txt");
    return all;
  }
};

TEST_F(creation, likes) {
  const array x = empty_like(t, {.dtype = int16, .shape = {2, 2}});
  EXPECT_EQ(x.dtype(), int16);
  EXPECT_EQ(x.shape(), (shape{2, 2}));
  EXPECT_EQ(zeros_like(t).shape(), t.shape());
  EXPECT_TRUE(zeros_like(t).is_contiguous());
  EXPECT_EQ(ones_like(f, {.shape = 2}).to_vector<float>(), (std::vector<float>{1, 1}));
  EXPECT_EQ(full_like(m, 3, {.shape = shape{}}).item<std::int64_t>(), 3);
  EXPECT_EQ(full_like(m, 0.5, {.dtype = float32}).dtype(), float32);
  EXPECT_THROW((void)full_like(m, 0.5), dtype_error);
  EXPECT_THROW((void)zeros_like(m, {.shape = {-1, 2}}), shape_error);
}

TEST_F(creation, arange) {
  check("np.arange(0, 1, 0.1)", arange(0, 1, 0.1));
  check("np.arange(1, 2, 0.1, dtype=np.float32)", arange(1, 2, 0.1, {.dtype = float32}));
  check("np.arange(0.1, 3000, 1000.3)", arange(0.1, 3000, 1000.3));
  check("np.arange(5, 0, -0.7, dtype=np.float16)", arange(5, 0, -0.7, {.dtype = float16}));
  check("np.arange(16777216, 16777221, dtype=np.float32)", arange(16777216, 16777221, {.dtype = float32}));
  check("np.arange(0, 3, 0.5, dtype=np.int64)", arange(0, 3, 0.5, {.dtype = int64}));
  check("np.arange(0.5, 3, dtype=np.int32)", arange(0.5, 3, {.dtype = int32}));
  check("np.arange(-0.5, 3, dtype=np.int8)", arange(-0.5, 3, {.dtype = int8}));
  check("np.arange(120, 130, dtype=np.int8)", arange(120, 130, {.dtype = int8}));
  check("np.arange(2, dtype=np.bool_)", arange(2, {.dtype = bool_}));
  check("np.arange(3, dtype=np.complex64)", arange(3, {.dtype = complex64}));
  constexpr double inf = std::numeric_limits<double>::infinity();
  check("np.arange(0, 5, np.inf)", arange(0, 5, inf));
  check("np.arange(0, -5, np.inf)", arange(0, -5, inf));
  check("np.arange(5, 5.0)", arange(5, 5.0));
  check("np.arange(10, 0, -3)", arange(10, 0, -3));
  EXPECT_EQ(arange(1, 2, 0.25, {.dtype = bfloat16}).to_vector<double>(), (std::vector<double>{1, 1.25, 1.5, 1.75}));
  constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t far = std::int64_t{1} << 62;
  using ints = std::vector<std::int64_t>;
  EXPECT_EQ(arange(lowest, highest, far).to_vector<std::int64_t>(), (ints{lowest, -far, 0, far}));
  EXPECT_EQ(arange(highest, lowest, lowest).to_vector<std::int64_t>(), (ints{highest, -1}));
  EXPECT_EQ(arange(highest, lowest, 1).size(), 0);
  EXPECT_THROW((void)arange(lowest, highest), shape_error);
  EXPECT_THROW((void)arange(highest, lowest, -1), shape_error);
  EXPECT_THROW((void)arange(highest), shape_error);
  EXPECT_THROW((void)arange(1e30), shape_error);
  EXPECT_THROW((void)arange(0, 1, 5e-324), shape_error);
  EXPECT_THROW((void)arange(-1e308, 1e308), shape_error);
  EXPECT_THROW((void)arange(-9e18, 2e19, 1.8e19, {.dtype = int64}), value_error);
  EXPECT_THROW((void)arange(inf, 0), value_error);
  EXPECT_THROW((void)arange(0, 1, std::nan("")), value_error);
  EXPECT_THROW((void)arange(0, inf), value_error);
  EXPECT_THROW((void)arange(0, std::nan("")), value_error);
  EXPECT_THROW((void)arange(0, 1, 0.0), value_error);
  EXPECT_THROW((void)arange(3, {.dtype = bool_}), dtype_error);
  EXPECT_THROW((void)arange(300, 302, {.dtype = int8}), value_error);
  EXPECT_THROW((void)arange(-1, 1, {.dtype = uint8}), value_error);
  EXPECT_THROW((void)arange(std::complex(0.0, 1.0)), dtype_error);
  EXPECT_THROW((void)arange(1e30, 2e30, 1e29, {.dtype = int64}), value_error);
}

TEST_F(creation, linspace) {
  check("np.linspace(0, 1, 7)", linspace(0, 1, 7));
  check("np.linspace(2, -3, 6)", linspace(2, -3, 6));
  check("np.linspace(0, 1, 5, endpoint=False)", linspace(0, 1, 5, {.endpoint = false}));
  check("np.linspace(0, 10, 4, endpoint=False, dtype=np.int64)",
        linspace(0, 10, 4, {.dtype = int64, .endpoint = false}));
  check("np.linspace(-1, 1, 4, dtype=np.int16)", linspace(-1, 1, 4, {.dtype = int16}));
  check("np.linspace(0, 1, 3, dtype=np.float32)", linspace(0, 1, 3, {.dtype = float32}));
  check("np.linspace(3, 4, 1)", linspace(3, 4, 1));
  check("np.linspace(3, 4, 1, endpoint=False)", linspace(3, 4, 1, {.endpoint = false}));
  check("np.linspace(3, 4, 0)", linspace(3, 4, 0));
  check("np.linspace(0, 5e-324, 4)", linspace(0, 5e-324, 4));
  check("np.linspace(0, np.inf, 1)", linspace(0, std::numeric_limits<double>::infinity(), 1));
  check("np.linspace(0, 1, endpoint=False)", linspace(0, 1, {.endpoint = false}));
  check("np.linspace(0, 1, dtype=np.float32)", linspace(0, 1, {.dtype = float32}));
  EXPECT_THROW((void)linspace(0, 1, -1), value_error);
  constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();
  EXPECT_THROW((void)linspace(0, 1, highest), shape_error);
  EXPECT_THROW((void)logspace(0, 1, highest), shape_error);
  EXPECT_THROW((void)geomspace(1, 2, highest), shape_error);
}

TEST_F(creation, logspace_and_geomspace) {
  constexpr double units = 4;  // of the power function
  check("np.logspace(0, 3, 4)", logspace(0, 3, 4), units);
  check("np.logspace(-1, 2, 5, endpoint=False)", logspace(-1, 2, 5, {.endpoint = false}), units);
  check("np.logspace(0, 4, 5, base=2)", logspace(0, 4, 5, {.base = 2}), units);
  check("np.logspace(0, 4, 9, base=2, dtype=np.float32)", logspace(0, 4, 9, {.dtype = float32, .base = 2}), units);
  check("np.logspace(0, 4, base=2)", logspace(0, 4, {.base = 2}), units);
  check("np.geomspace(1, 256, endpoint=False)", geomspace(1, 256, {.endpoint = false}), units);
  check("np.geomspace(1, 1000, 4)", geomspace(1, 1000, 4), units);
  check("np.geomspace(1000, 1, 7)", geomspace(1000, 1, 7), units);
  check("np.geomspace(-1, -256, 9)", geomspace(-1, -256, 9), units);
  check("np.geomspace(1, 256, 9, endpoint=False)", geomspace(1, 256, 9, {.endpoint = false}), units);
  check("np.geomspace(3, 48, 1)", geomspace(3, 48, 1));
  check("np.geomspace(3, 48, 0)", geomspace(3, 48, 0));
  check("np.geomspace(2, -8, 3)", geomspace(2, -8, 3));
  check("np.geomspace(1, 100, 3, dtype=np.float32)", geomspace(1, 100, 3, {.dtype = float32}));
  EXPECT_THROW((void)logspace(0, 1, -1), value_error);
  EXPECT_THROW((void)geomspace(0, 1), value_error);
  EXPECT_THROW((void)geomspace(1, 0), value_error);
  EXPECT_THROW((void)geomspace(1, 2, -1), value_error);
}

TEST_F(creation, ones_on_diagonals) {
  check("np.identity(3)", identity(3));
  check("np.eye(2, 3)", eye(2, 3));
  check("np.eye(3, 2, -1)", eye(3, 2, -1));
  check("np.eye(3, 4, 2, dtype=np.bool_)", eye(3, 4, 2, {.dtype = bool_}));
  check("np.eye(2, 2, 5)", eye(2, 2, 5));
  check("np.eye(3, 4, dtype=np.float32)", eye(3, 4, {.dtype = float32}));
  check("np.eye(0)", eye(0));
  check("np.tri(3)", tri(3));
  check("np.tri(3, 5, 2)", tri(3, 5, 2));
  check("np.tri(3, 4, -1, dtype=np.int32)", tri(3, 4, -1, {.dtype = int32}));
  check("np.tri(3, 4, dtype=np.float32)", tri(3, 4, {.dtype = float32}));
  check("np.tri(2, 3, -7)", tri(2, 3, -7));
  EXPECT_THROW((void)eye(-1), shape_error);
}

TEST_F(creation, triangles) {
  check("np.tril(m)", tril(m));
  check("np.tril(m, 1)", tril(m, 1));
  check("np.tril(a, -1)", tril(a, -1));
  check("np.tril(v)", tril(v));
  check("np.tril(m > 3)", tril(m > 3));
  check("np.triu(m)", triu(m));
  check("np.triu(m, -1)", triu(m, -1));
  check("np.triu(a, 2)", triu(a, 2));
  check("np.triu(v)", triu(v));
  check("np.triu(f)", triu(f));
  check("np.triu(t)", triu(t));
  EXPECT_THROW((void)tril(s), shape_error);
  EXPECT_THROW((void)triu(s), shape_error);
}

TEST_F(creation, diag) {
  check("np.diag(v)", diag(v));
  check("np.diag(v, 2)", diag(v, 2));
  check("np.diag(v, -1)", diag(v, -1));
  check("np.diag(v[:0])", diag(v(slice(0, 0))));
  check("np.diag(v[:0], 2)", diag(v(slice(0, 0)), 2));
  check("np.diag(m)", diag(m));
  check("np.diag(n, 1)", diag(n, 1));
  check("np.diag(c)", diag(c));
  check("np.diag(m > 3)", diag(m > 3));
  check("np.diagflat(n)", diagflat(n));
  check("np.diagflat(s, 1)", diagflat(s, 1));
  diag(m)(_) = -1;
  EXPECT_EQ(m(1, 1).item<std::int64_t>(), -1);
  constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t k : {lowest, lowest + 1, highest, std::int64_t{1} << 62})
    EXPECT_THROW((void)diag(v, k), shape_error) << k;
  EXPECT_EQ(diag(m, lowest).size(), 0);
  EXPECT_EQ(diag(m, highest).size(), 0);
  EXPECT_THROW((void)diag(s), shape_error);
  EXPECT_THROW((void)diag(a), shape_error);
}

TEST_F(creation, grids) {
  const array three = arange(3);
  const array halves = arange(2) / 2;
  check_each("np.meshgrid(v, np.arange(3))", meshgrid({v, three}));
  check_each("np.meshgrid(v, np.arange(3), indexing=\"ij\")", meshgrid({v, three}, {.indexing = indexing::ij}));
  check_each("np.meshgrid(v, np.arange(3), sparse=True)", meshgrid({v, three}, {.sparse = true}));
  check_each("np.meshgrid(v, np.arange(3), np.arange(2) / 2)", meshgrid({v, three, halves}));
  check_each("np.meshgrid(v, np.arange(3), np.arange(2) / 2, indexing=\"ij\", sparse=True)",
             meshgrid({v, three, halves}, {.indexing = indexing::ij, .sparse = true}));
  check_each("np.meshgrid(n, s)", meshgrid({n, s}));
  check_each("np.meshgrid(v)", meshgrid({v}));
  check_each("np.meshgrid(v, np.arange(0))", meshgrid({v, arange(0)}));
  const std::vector<array> coordinates = {v, three};
  check_each("np.meshgrid(v, np.arange(3))", meshgrid(coordinates));
  check_each("np.meshgrid(v, np.arange(3), sparse=True)", meshgrid(coordinates, {.sparse = true}));
  check_each("np.meshgrid(v, np.arange(3))", meshgrid({v + 0, three}));
  const auto [x, y] = meshgrid({v, three}, {.copy = false});
  v(0) = 9;
  EXPECT_EQ(x(2, 0).item<std::int64_t>(), 9);
  EXPECT_EQ(y(2, 0).item<std::int64_t>(), 2);
  check("np.indices((2, 3))", indices({2, 3}));
  check("np.indices((3,), dtype=np.float32)", indices(3, {.dtype = float32}));
  check("np.indices((2, 0))", indices({2, 0}));
  check("np.indices(())", indices({}));
  check("np.indices((2, 1), dtype=np.bool_)", indices({2, 1}, {.dtype = bool_}));
  EXPECT_THROW((void)indices({-1}), shape_error);
  EXPECT_THROW((void)indices({3}, {.dtype = bool_}), dtype_error);
  EXPECT_THROW((void)indices({0, 3}, {.dtype = bool_}), dtype_error);
}

TEST_F(creation, numbers_in_braces) {
  array x = {{1, 2}, {3, 4}};
  check("np.array([[1, 2], [3, 4]])", x);
  check("np.array([1.5, 2])", {1.5, 2});
  check("np.array([1.5, 2])", {1.5F, short{2}});
  check("np.array([True, False])", {true, false});
  check("np.array([True, 2])", {true, 2});
  check("np.array([1, 2 + 3j])", {1, std::complex(2.0F, 3.0F)});
  check("np.array([[[1], [2]], [[3], [4]]])", {{{1}, {2}}, {{3}, {4}}});
  check("np.array([])", {});
  check("np.array([[]])", {{}});
  check("np.array([[], []])", {{}, {}});
  check("np.array([2**63])", {std::uint64_t{1} << 63});
  check("np.array([2**63, -1])", {std::uint64_t{1} << 63, -1});
  check("np.array([1, 2], dtype=np.float32)", array({1, 2}, {.dtype = float32}));
  check("np.array([0, 2], dtype=np.bool_)", array({0, 2}, {.dtype = bool_}));

  const array alias = x;
  x(1) = {7, 8};
  EXPECT_EQ(alias.to_vector<std::int64_t>(), (std::vector<std::int64_t>{1, 2, 7, 8}));
  x(_) = {{0}, {5}};
  EXPECT_EQ(alias.to_vector<std::int64_t>(), (std::vector<std::int64_t>{0, 0, 5, 5}));
  x = {{1.5}};  // another array by this name
  EXPECT_EQ(x.shape(), (shape{1, 1}));
  EXPECT_EQ(alias.shape(), (shape{2, 2}));

  EXPECT_THROW((void)array({{1, 2}, {3}}), value_error);
  EXPECT_THROW((void)array({{1}, 2}), value_error);
  EXPECT_THROW((void)array({1, {2}}), value_error);
  EXPECT_THROW((void)array({{}, {1}}), value_error);
  EXPECT_THROW((void)array({{{1}, {2}}, {{3}, {4, 5}}}), value_error);
  EXPECT_THROW((void)array({300}, {.dtype = int8}), value_error);
  EXPECT_THROW((void)array({1.5}, {.dtype = int64}), dtype_error);
}

TEST_F(creation, from_host_memory) {
  const std::int16_t numbers[] = {0, 1, 2, 3};
  const auto bytes = std::as_bytes(std::span(numbers));
  check("np.frombuffer(np.arange(4, dtype=np.int16).tobytes(), np.int16)", frombuffer(bytes, {.dtype = int16}));
  check("np.frombuffer(np.arange(4, dtype=np.int16).tobytes(), np.int16, 2, 2)",
        frombuffer(bytes, {.dtype = int16, .count = 2, .offset = 2}));
  const double more[] = {0, 1, 2, 3};
  check("np.frombuffer(np.arange(4, dtype=np.float64).tobytes())", frombuffer(std::as_bytes(std::span(more))));
  const std::uint8_t flags[] = {0, 1, 2, 128, 255};
  const array truths = frombuffer(std::as_bytes(std::span(flags)), {.dtype = bool_});
  check("np.frombuffer(bytes([0, 1, 2, 128, 255]), np.bool_)", truths);
  EXPECT_EQ(sum(truths).eval().item<std::int64_t>(), 4);  // stored as 1 each
  EXPECT_EQ(frombuffer({}).shape(), (shape{0}));
  EXPECT_EQ(frombuffer({}, {.dtype = bool_}).shape(), (shape{0}));
  EXPECT_THROW((void)frombuffer(bytes, {.dtype = int32, .offset = 2}), value_error);
  EXPECT_THROW((void)frombuffer(bytes, {.dtype = int16, .offset = 9}), value_error);
  EXPECT_THROW((void)frombuffer(bytes, {.dtype = int16, .offset = -1}), value_error);
  EXPECT_THROW((void)frombuffer(bytes, {.dtype = int16, .count = 5}), value_error);
  const array x = from_pointer(numbers, {2, 2});
  EXPECT_EQ(x.dtype(), int16);
  EXPECT_EQ(x.to_vector<std::int16_t>(), (std::vector<std::int16_t>{0, 1, 2, 3}));
}

}  // namespace
}  // namespace serried
