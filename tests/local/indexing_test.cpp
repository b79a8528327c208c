// Elements picked by arrays of indices, against NumPy.
#include <serried/indexing.hpp>

#include "local/numpy_values.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace serried {
namespace {

template <class A, class B>
concept assigns = requires(const A& a, const B& b) { assign(a, b); };

using ints = std::vector<std::int64_t>;
ints values(const array& a) { return a.to_vector<std::int64_t>(); }

class indexing : public testing::Test, protected operands_of_numpy {
 protected:
  array i = {1, 0, -1};
  array j = {{0, 2}, {1, -3}};
  array k = array{2, 0}.reshape({2, 1});
  array p = full({}, 1);
  array e = zeros({0}, {.dtype = int64});
  array h = array({0, -2, 1}, {.dtype = int8});
  array w = array({1, 0}, {.dtype = uint16});
  array far = {{5, -7}, {0, 100}};

  static void check(const std::string& expression, const array& a) {
    static const numpy_values all("indexing.txt");
    all.check(expression, a);
  }
};

TEST_F(indexing, one_axis) {
  check("v[i]", v(i));
  check("v[j]", v(j));
  check("v[p]", v(p));
  check("v[e]", v(e));
  check("v[h]", v(h));
  check("v[w]", v(w));
  check("v[i + 1]", v(i + 1));
  check("v[i][::-1]", v(i)(slice(_, _, -1)));
  check("v[::-1][i]", v(slice(_, _, -1))(i));
  check("v[::2][i]", v(slice(_, _, 2))(i));
  check("v[None][:, i]", v(newaxis)(_, i));
  check("m[i]", m(i));
  check("m[j]", m(j));
  check("m[w]", m(w));
  check("m[p]", m(p));
  check("m[e]", m(e));
  check("m[:, i]", m(_, i));
  check("m[:, j]", m(_, j));
  check("m[..., i]", m(ellipsis, i));
  check("m[:, e]", m(_, e));
  check("a[w]", a(w));
  check("a[:, j]", a(_, j));
  check("a[:, :, j]", a(_, _, j));
  check("a[:, p]", a(_, p));
  check("one[:, i]", one(_, i));
  check("z[e]", z(e));
  check("z[:, i]", z(_, i));
}

TEST_F(indexing, several_arrays_broadcast) {
  check("m[i, i]", m(i, i));
  check("m[k, i]", m(k, i));
  check("m[i, k]", m(i, k));
  check("m[i, h]", m(i, h));
  check("m[e, e]", m(e, e));
  check("m[p, p]", m(p, p));
  check("a[w, w]", a(w, w));
  check("a[w, w, w]", a(w, w, w));
  check("a[:, w, w]", a(_, w, w));
  check("a[..., w, w]", a(ellipsis, w, w));
  check("a[w, w, ...]", a(w, w, ellipsis));
}

TEST_F(indexing, arrays_that_stand_apart_come_first) {
  check("a[w, :, w]", a(w, _, w));
  check("a[w, ..., w]", a(w, ellipsis, w));
  check("a[:, i, ..., h]", a(_, i, ellipsis, h));
  check("a[w, None, :, w]", a(w, newaxis, _, w));
  check("a[:, w, None, w]", a(_, w, newaxis, w));
  check("m[i, None, h]", m(i, newaxis, h));
  check("a[j[:, :1] * 0, :, i]", a(j(_, slice(0, 1)) * 0, _, i));
  check("a[p, :, p]", a(p, _, p));
}

TEST_F(indexing, beside_integers) {
  check("m[1, i]", m(1, i));
  check("m[i, 1]", m(i, 1));
  check("m[i, -1]", m(i, -1));
  check("a[:, w, 2]", a(_, w, 2));
  check("a[:, 2, w]", a(_, 2, w));
  check("a[0, :, w]", a(0, _, w));
  check("a[0, w]", a(0, w));
  check("a[0, None, w]", a(0, newaxis, w));
}

TEST_F(indexing, beside_slices_and_new_axes) {
  check("m[i, ::2]", m(i, slice(_, _, 2)));
  check("m[::-1, i]", m(slice(_, _, -1), i));
  check("m[1:, i]", m(slice(1, _), i));
  check("m[None, i]", m(newaxis, i));
  check("m[i, None]", m(i, newaxis));
  check("a[None, :, w]", a(newaxis, _, w));
  check("a[::-1, i, ::2]", a(slice(_, _, -1), i, slice(_, _, 2)));
}

TEST_F(indexing, of_views) {
  check("n[i]", n(i));
  check("n[:, w]", n(_, w));
  check("n[i, w[:1]]", n(i, w(slice(0, 1))));
  check("t[i]", t(i));
  check("t[i, h]", t(i, h));
  check("o[i]", o(i));
  check("o[i, i]", o(i, i));
  check("o[:, i]", o(_, i));
}

TEST_F(indexing, of_expressions_and_in_them) {
  check("(m > 3)[i]", (m > 3)(i));
  check("v[i] + m[1, i]", v(i) + m(1, i));
  check("v[v[i]]", v(v(i)));
  check("m[i].sum()", sum(m(i)));
  check("m[i, 1:].sum(0)", sum(m(i, slice(1, _)), {.axis = 0}));
  EXPECT_EQ(values((m(i) + 0)(slice(1, 3), slice(2, 4))), (ints{2, 3, 10, 11}));
  EXPECT_EQ(values(v(i(_, newaxis)) + m(i)), (ints{5, 6, 7, 8, 0, 1, 2, 3, 12, 13, 14, 15}));
  // A reduction gives indices.
  EXPECT_EQ(values(v(sum(m, {.axis = 0}) % 5)), (ints{2, 0, 3, 1}));
}

TEST_F(indexing, of_all_dtypes) {
  check("c[w]", c(w));
  check("u[w]", u(w));
  check("f[i]", f(i));
  check("m.astype(np.float16)[i]", m.astype(float16).eval()(i));
  check("c.astype(np.complex64)[w]", c.astype(complex64).eval()(w));
  for (int type = 0; type < dtype_count; ++type) {
    const auto t = static_cast<dtype>(type);
    if (is_bool(t)) continue;
    const array typed = m.astype(t);
    EXPECT_EQ(expr(typed(i)).dtype(), t);
    check("m[i]", real(typed(i)).astype(int64));
    if (is_integer(t)) check("m[w]", m(w.astype(t)));
  }
}

TEST_F(indexing, take) {
  using enum index_mode;
  check("np.take(v, i)", take(v, i));
  check("np.take(m, i)", take(m, i));
  check("np.take(n, i)", take(n, i));
  check("np.take(t, far, mode=\"wrap\")", take(t, far, {.mode = wrap}));
  check("np.take(m, far, mode=\"clip\")", take(m, far, {.mode = clip}));
  check("np.take(m, far, axis=0, mode=\"clip\")", take(m, far, {.axis = 0, .mode = clip}));
  check("np.take(m, far, axis=0, mode=\"wrap\")", take(m, far, {.axis = 0, .mode = wrap}));
  check("np.take(m, far, axis=-1, mode=\"wrap\")", take(m, far, {.axis = -1, .mode = wrap}));
  check("np.take(n, far, axis=1, mode=\"wrap\")", take(n, far, {.axis = 1, .mode = wrap}));
  check("np.take(a, i, axis=1)", take(a, {1, 0, -1}, {.axis = 1}));
  check("np.take(a, j, axis=1)", take(a, j, {.axis = 1}));
  check("np.take(a, i, axis=2)", take(a, i, {.axis = 2}));
  check("np.take(a, w, axis=0)", take(a, w, {.axis = 0}));
  check("np.take(a, p, axis=1)", take(a, p, {.axis = 1}));
  check("np.take(a, e, axis=1)", take(a, e, {.axis = 1}));
  check("np.take(s, e)", take(s, e));
  check("np.take(s, w * 0)", take(s, w * 0));
  check("np.take(z, e, axis=0)", take(z, e, {.axis = 0}));
  check("np.take(z, i, axis=1)", take(z, i, {.axis = 1}));
  check("np.take(v, m > 3)", take(v, m > 3));
  check("np.take(v + 1, i)", take(v + 1, i));
}

TEST_F(indexing, take_along_axis) {
  check("np.take_along_axis(m, k[:1], 0)", take_along_axis(m, k(slice(0, 1)), {.axis = 0}));
  check("np.take_along_axis(m, k[:1])", take_along_axis(m, k(slice(0, 1))));
  check("np.take_along_axis(m, j[:, :1].repeat(2, 1)[:1], 1)",
        take_along_axis(m, j(slice(0, 1), slice(0, 1)).broadcast_to({1, 2}), {.axis = 1}));
  check("np.take_along_axis(m[:1], j, 1)", take_along_axis(m(slice(0, 1)), j, {.axis = 1}));
  check("np.take_along_axis(m, m % 3, 0)", take_along_axis(m, m % 3, {.axis = 0}));
  check("np.take_along_axis(m, m[::-1] % 4, 1)", take_along_axis(m, m(slice(_, _, -1)) % 4, {.axis = 1}));
  check("np.take_along_axis(n, n % 2, 1)", take_along_axis(n, n % 2, {.axis = 1}));
  check("np.take_along_axis(a, k[None], 1)", take_along_axis(a, k(newaxis), {.axis = 1}));
  check("np.take_along_axis(m, i, None)", take_along_axis(m, i, {.axis = {}}));
  check("np.take_along_axis(one, j[None], 1)", take_along_axis(one, j(newaxis), {.axis = 1}));
}

TEST_F(indexing, many) {
  const std::int64_t count = 100003;
  const array x = arange(count);
  const array mixed = (x * 7919 + 13) % count;  // a permutation: the count is a prime
  EXPECT_EQ(values(x(mixed)), values(mixed));
  EXPECT_EQ(values(x(mixed - count)), values(mixed));
  EXPECT_EQ(sum(x(mixed)).item<std::int64_t>(), count * (count - 1) / 2);
  EXPECT_EQ(max(x.astype(float32).eval()(mixed)).item<float>(), static_cast<float>(count - 1));
  const array rows = x(slice(0, 100000)).reshape({1000, 100});
  const array some = mixed(slice(0, 50)) % 1000;
  EXPECT_EQ(values(rows(some)), values(some.reshape({50, 1}) * 100 + arange(100)));
  EXPECT_EQ(values(sum(rows(some), {.axis = 1})), values(some * 10000 + 4950));
}

TEST_F(indexing, indices_may_be_constant) {
  const array x = arange(1000);
  EXPECT_EQ(values(x(full({}, 7).broadcast_to({3000}))), ints(3000, 7));
  EXPECT_EQ(values(x(x * 0 + 7)), ints(1000, 7));
}

TEST_F(indexing, the_right_side_is_as_if_read_first) {
  array x = arange(1000);
  const array backwards = 999 - x;
  const array expected = backwards.copy();
  assign(x, x(backwards));
  EXPECT_EQ(values(x), values(expected));
  x(slice(0, 500)) = x(arange(500) + 400);
  EXPECT_EQ(values(x(slice(0, 500))), values(599 - arange(500)));
}

TEST_F(indexing, what_was_written_since_is_refused) {
  const auto picked = v(i);
  v(0) = 9;
  EXPECT_THROW((void)picked.eval(), value_error);
}

template <class Error, class F>
void expect_refused(F&& f, const std::string& part) {
  try {
    (void)f();
    ADD_FAILURE() << "nothing thrown where a message should have \"" << part << '"';
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST_F(indexing, outside) {
  const std::string bounds = "out of bounds";
  for (const std::int64_t index : {5L, -6L, 1L << 40, -(1L << 62)}) {
    expect_refused<index_error>([&] { return v(array{0, index}).eval(); }, bounds);
    expect_refused<index_error>([&] { return v(slice(_, _, -1))(array{0, index}).eval(); }, bounds);
    expect_refused<index_error>([&] { return sum(v(array{0, index})).eval(); }, bounds);
    expect_refused<index_error>([&] { return take(v, {index}).eval(); }, bounds);
    expect_refused<index_error>([&] { return take_along_axis(v, {index}).eval(); }, bounds);
  }
  // These are elements of other rows.
  for (const std::int64_t index : {4L, -5L}) {
    expect_refused<index_error>([&] { return m(array{1}, array{index}).eval(); }, bounds);
    expect_refused<index_error>([&] { return m(_, array{index}).eval(); }, bounds);
    expect_refused<index_error>([&] { return m(1, array{index}).eval(); }, bounds);
    expect_refused<index_error>([&] { return take(m, {index}, {.axis = 1}).eval(); }, bounds);
  }
  // One element over and over.
  const array square = arange(4).broadcast_to({4, 4});
  expect_refused<index_error>([&] { return square(array{4}).eval(); }, bounds);
  expect_refused<index_error>([&] { return full({}, 1).broadcast_to({1})(array{1}).eval(); }, bounds);
  // Among so many that several threads look.
  const array x = arange(200000);
  expect_refused<index_error>([&] { return x(where(x == 150000, 200000, x)).eval(); }, bounds);

  array kept = arange(3);
  expect_refused<index_error>([&] { return assign(kept, v(array{4, 5, 0})), 0; }, bounds);
  EXPECT_EQ(values(kept), (ints{0, 1, 2}));
}

TEST_F(indexing, outside_what_is_empty) {
  const array empty_columns = zeros({3, 0});
  expect_refused<index_error>([&] { return empty_columns(array{5}); }, "index 5 is out of bounds");
  expect_refused<index_error>([&] { return z(_, array{-4}); }, "index -4 is out of bounds");
  EXPECT_EQ(expr(empty_columns(i)).shape(), (shape{3, 0}));
  for (const index_mode mode : {index_mode::raise, index_mode::wrap, index_mode::clip})
    expect_refused<index_error>([&] { return take(z, {0}, {.axis = 0, .mode = mode}); }, "empty");
  expect_refused<index_error>([&] { return z(array{0}); }, "empty");
  expect_refused<index_error>([&] { return take(z, {0}); }, "empty");
  // NumPy's take looks at no index either where there is nothing to take.
  EXPECT_EQ(take(z, {7}, {.axis = 1}).eval().shape(), (shape{0, 1}));
}

TEST_F(indexing, refuses) {
  expect_refused<dtype_error>([&] { return m(f); }, "integers");
  expect_refused<dtype_error>([&] { return take(m, f); }, "take");
  expect_refused<dtype_error>([&] { return m(m > 3); }, "mask");
  expect_refused<dtype_error>([&] { return take_along_axis(m, m > 3); }, "take_along_axis");
  expect_refused<shape_error>([&] { return m(i, w); }, "(3,)");
  expect_refused<index_error>([&] { return m(i, i, i); }, "3 indices");
  expect_refused<index_error>([&] { return m(i, 4); }, "index 4");
  expect_refused<index_error>([&] { return m(ellipsis, i, ellipsis); }, "ellipsis");
  expect_refused<index_error>([&] { return s(i); }, "1 indices");
  expect_refused<index_error>([&] { return take(m, i, {.axis = 2}); }, "axis 2");
  expect_refused<index_error>([&] { return take_along_axis(m, j, {.axis = -3}); }, "axis -3");
  expect_refused<shape_error>([&] { return take_along_axis(m, i); }, "dimensions");
  expect_refused<shape_error>([&] { return take_along_axis(m, j); }, "(2, 1)");
  expect_refused<value_error>([&] { return m.select({i}); }, "no view");
  // Outside of one axis, though inside the memory.
  const array one = {{5}};
  expect_refused<index_error>([&] { return one(array{1}, array{-2}).eval(); }, "index");
  EXPECT_EQ(zeros({2, 3})(array{9}, array(zeros({0}, {.dtype = int64}))).size(), 0);  // nothing is picked
  // What an array of indices picks is no place to write to.
  static_assert(!assigns<decltype(m(i)), array> && assigns<array, expr> && assigns<decltype(m(0)), array>);
  static_assert(!std::is_assignable_v<decltype(m(i)(slice(1))), array>);
  static_assert(!std::is_assignable_v<decltype(m(i)), array>);
  static_assert(!std::is_assignable_v<decltype(m(i)), expr>);
  static_assert(!std::is_assignable_v<decltype(m(i)), int>);
  static_assert(std::is_assignable_v<decltype(m(0)), expr>);
}

}  // namespace
}  // namespace serried
