// Views, joining and padding, against NumPy.
#include <serried/context.hpp>
#include <serried/manipulation.hpp>
#include <serried/memory.hpp>

#include "local/numpy_values.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace serried {
namespace {

class manipulation : public testing::Test, protected operands_of_numpy {
 protected:
  static void check(const std::string& expression, const array& a) { numpy().check(expression, a); }
  template <class Arrays>
  static void check_each(const std::string& expression, const Arrays& arrays) {
    numpy().check_each(expression, arrays);
  }

 private:
  static const numpy_values& numpy() {
    static const numpy_values all("manipulation.txt");
    return all;
  }
};

using ints = std::vector<std::int64_t>;
ints values(const array& a) { return a.to_vector<std::int64_t>(); }

// Which function the message of the error names that a call ends in.
template <class E, class F>
std::string blamed(F&& call) {
  try {
    (void)call();
  } catch (const E& error) {
    const std::string message = error.what();
    return message.substr(0, message.find(':'));
  }
  return "no error";
}

constexpr std::int64_t huge = std::int64_t{1} << 62;

// True when writing to the one shows in the other.
bool share(const array& x, const array& y) { return x.data_storage() == y.data_storage(); }

TEST_F(manipulation, ravel_and_flatten) {
  check("np.ravel(a)", ravel(a));
  check("np.ravel(n)", n.ravel());
  check("np.ravel(s)", ravel(s));
  check("np.ravel(z)", ravel(z));
  check("np.ravel(o)", ravel(o));
  check("n.flatten()", n.flatten());
  EXPECT_TRUE(share(ravel(a), a));
  EXPECT_FALSE(share(ravel(n), n));
  EXPECT_FALSE(share(flatten(a), a));
  EXPECT_EQ(values(ravel(m + 1)), values(flatten(m) + 1));
}

TEST_F(manipulation, axes_change_places) {
  check("np.moveaxis(a, 0, -1)", moveaxis(a, 0, -1));
  check("np.moveaxis(a, (0, 1), (-1, 0))", moveaxis(a, {0, 1}, {-1, 0}));
  check("np.moveaxis(a, (2, 0), (0, 1))", moveaxis(a, {2, 0}, {0, 1}));
  check("np.moveaxis(a, (), ())", moveaxis(a, {}, {}));
  check("np.swapaxes(a, 0, 2)", swapaxes(a, 0, 2));
  check("np.swapaxes(a, -1, 1)", a.swapaxes(-1, 1));
  EXPECT_TRUE(share(moveaxis(a, 0, 1), a));
  EXPECT_THROW((void)moveaxis(a, 3, 0), index_error);
  EXPECT_THROW((void)moveaxis(a, 0, -4), index_error);
  EXPECT_THROW((void)moveaxis(a, {0, 0}, {0, 1}), value_error);
  EXPECT_THROW((void)moveaxis(a, {0, 1}, {1, -2}), value_error);
  EXPECT_THROW((void)moveaxis(a, {0, 1}, 1), value_error);
  EXPECT_THROW((void)swapaxes(a, 0, 3), index_error);
  EXPECT_THROW((void)swapaxes(s, 0, 0), index_error);
}

TEST_F(manipulation, axes_of_length_one) {
  check("np.squeeze(one)", one.squeeze());
  check("np.squeeze(one, 0)", squeeze(one, {.axis = 0}));
  check("np.squeeze(one, (0, -1))", squeeze(one, {.axis = {0, -1}}));
  check("np.squeeze(s)", squeeze(s));
  check("np.expand_dims(v, 0)", expand_dims(v, 0));
  check("np.expand_dims(m, (0, -1))", expand_dims(m, {0, -1}));
  check("np.expand_dims(m, 1)", expand_dims(m, 1));
  check("np.expand_dims(s, (0, 1))", expand_dims(s, {0, 1}));
  EXPECT_TRUE(share(squeeze(one), one));
  EXPECT_THROW((void)squeeze(one, {.axis = 1}), shape_error);
  EXPECT_THROW((void)squeeze(one, {.axis = 3}), index_error);
  EXPECT_THROW((void)squeeze(one, {.axis = {0, -3}}), value_error);
  EXPECT_THROW((void)expand_dims(m, 3), index_error);
  EXPECT_THROW((void)expand_dims(m, {0, -4}), value_error);
  EXPECT_THROW((void)expand_dims(zeros(dims::filled(32, 1)), 0), shape_error);
  check("np.atleast_1d(s)", atleast_1d(s));
  check("np.atleast_1d(v)", atleast_1d(v));
  check("np.atleast_2d(s)", atleast_2d(s));
  check("np.atleast_2d(v)", atleast_2d(v));
  check("np.atleast_2d(a)", atleast_2d(a));
  check("np.atleast_3d(s)", atleast_3d(s));
  check("np.atleast_3d(v)", atleast_3d(v));
  check("np.atleast_3d(m)", atleast_3d(m));
  check("np.atleast_3d(a)", atleast_3d(a));
}

TEST_F(manipulation, flip_and_rotate) {
  check("np.flip(a)", flip(a));
  check("np.flip(a, 1)", flip(a, {.axis = 1}));
  check("np.flip(a, (0, -1))", flip(a, {.axis = {0, -1}}));
  check("np.flip(n)", flip(n));
  check("np.flip(s)", flip(s));
  check("np.flip(z)", flip(z));
  check("np.fliplr(m)", fliplr(m));
  check("np.flipud(m)", flipud(m));
  check("np.rot90(m)", rot90(m));
  check("np.rot90(m, 2)", rot90(m, 2));
  check("np.rot90(m, 3)", rot90(m, 3));
  check("np.rot90(m, -1)", rot90(m, -1));
  check("np.rot90(m, 4)", rot90(m, 4));
  check("np.rot90(a, 1, (1, 2))", rot90(a, 1, {.axes = {1, 2}}));
  check("np.rot90(a, 1, (2, 0))", rot90(a, 1, {.axes = {2, 0}}));
  check("np.rot90(a, 3, (2, 0))", rot90(a, 3, {.axes = {2, 0}}));
  check("np.rot90(a, 2, (2, 0))", rot90(a, 2, {.axes = {2, 0}}));
  flip(m)(0, 0) = -5;
  EXPECT_EQ(m(2, 3).item<std::int64_t>(), -5);
  EXPECT_THROW((void)flip(m, {.axis = 2}), index_error);
  EXPECT_THROW((void)flip(m, {.axis = {0, 0}}), value_error);
  EXPECT_THROW((void)fliplr(v), index_error);
  EXPECT_THROW((void)flipud(s), index_error);
  EXPECT_THROW((void)rot90(v), index_error);
  EXPECT_THROW((void)rot90(m, 1, {.axes = {0, -2}}), value_error);
  EXPECT_THROW((void)rot90(a, 1, {.axes = {0, 1, 2}}), value_error);
}

TEST_F(manipulation, sliding_windows) {
  check("sliding_window_view(v, 3)", sliding_window_view(v, 3));
  check("sliding_window_view(v, 5)", sliding_window_view(v, 5));
  check("sliding_window_view(v, 0)", sliding_window_view(v, 0));
  check("sliding_window_view(m, (2, 3))", sliding_window_view(m, {2, 3}));
  check("sliding_window_view(m, 2, 0)", sliding_window_view(m, 2, {.axis = 0}));
  check("sliding_window_view(n, 2, 1)", sliding_window_view(n, 2, {.axis = 1}));
  check("sliding_window_view(m, (2, 3), (1, 1))", sliding_window_view(m, {2, 3}, {.axis = {1, 1}}));
  check("sliding_window_view(a, (2, 2), (2, 0))", sliding_window_view(a, {2, 2}, {.axis = {2, 0}}));
  EXPECT_TRUE(share(sliding_window_view(v, 2), v));
  EXPECT_THROW((void)sliding_window_view(v, 6), value_error);
  EXPECT_THROW((void)sliding_window_view(v, -1), value_error);
  EXPECT_THROW((void)sliding_window_view(m, 2), value_error);
  EXPECT_THROW((void)sliding_window_view(m, 2, {.axis = 2}), index_error);
}

TEST_F(manipulation, diagonals) {
  check("np.diagonal(m)", diagonal(m));
  check("np.diagonal(m, 1)", diagonal(m, {.offset = 1}));
  check("np.diagonal(m, -1)", diagonal(m, {.offset = -1}));
  check("np.diagonal(m, 9)", diagonal(m, {.offset = 9}));
  check("np.diagonal(m, -9)", diagonal(m, {.offset = -9}));
  check("np.diagonal(n)", diagonal(n));
  check("np.diagonal(a)", diagonal(a));
  check("np.diagonal(a, 1, 2, 0)", diagonal(a, {.axis1 = 2, .axis2 = 0, .offset = 1}));
  check("np.diagonal(a, -1, 1, 2)", diagonal(a, {.axis1 = 1, .axis2 = 2, .offset = -1}));
  check("np.trace(m)", trace(m));
  check("np.trace(a, 1, 1, 2)", trace(a, {.axis1 = 1, .axis2 = 2, .offset = 1}));
  check("np.trace(u.reshape(1, 2), 1)", trace(u.reshape({1, 2}), {.offset = 1}));
  diagonal(m, {.offset = 1})(_) = 0;
  EXPECT_EQ(values(m), (ints{0, 0, 2, 3, 4, 5, 0, 7, 8, 9, 10, 0}));
  EXPECT_THROW((void)diagonal(v), index_error);
  EXPECT_THROW((void)diagonal(m, {.axis1 = 1}), value_error);
}

TEST_F(manipulation, broadcast_arrays) {
  check_each("np.broadcast_arrays(v, np.arange(2).reshape(2, 1), s)", broadcast_arrays({v, arange(2)(_, newaxis), s}));
  const auto [x, y] = broadcast_arrays({v, v(_, newaxis) + 1});
  EXPECT_TRUE(share(x, v));
  EXPECT_EQ(y.shape(), (shape{5, 5}));
  EXPECT_THROW((void)broadcast_arrays({v, m}), shape_error);
  check_each("np.broadcast_arrays(v, np.arange(2).reshape(2, 1), s)",
             broadcast_arrays(std::vector<array>{v, arange(2)(_, newaxis), s}));
  EXPECT_TRUE(broadcast_arrays(std::vector<array>{}).empty());
}

TEST_F(manipulation, splitting) {
  check_each("np.split(a, 3, 1)", split(a, 3, {.axis = 1}));
  check_each("np.split(v, [3])", split(v, {3}));
  check_each("np.split(v, [1, 3])", split(v, {1, 3}));
  check_each("np.split(v, [3, 2, 10])", split(v, ints{3, 2, 10}));
  check_each("np.split(v, [-2])", split(v, {-2}));
  check_each("np.split(v, 5)", split(v, std::size_t{5}));
  check_each("np.array_split(v, 3)", array_split(v, 3));
  check_each("np.array_split(v, 7)", array_split(v, 7));
  check_each("np.array_split(n, 2, -1)", array_split(n, 2, {.axis = -1}));
  check_each("np.array_split(np.arange(11), 4)", array_split(arange(11), 4));
  check_each("np.hsplit(v, [2])", hsplit(v, {2}));
  check_each("np.hsplit(m, 2)", hsplit(m, 2));
  check_each("np.vsplit(m, 3)", vsplit(m, 3));
  check_each("np.dsplit(a, [1])", dsplit(a, {1}));
  const std::int64_t four = 4;
  check_each("np.split(v, [2, 4])", split(v, {2, four}));
  check_each("np.split(v, [2, 4])", split(v, {2, v.size() - 1}));
  check_each("np.split(v, [2, 4])", split(v, {std::size_t{2}, short{4}}));
  check_each("np.split(v, [2, 4])", split(v, std::vector<int>{2, 4}));
  check_each("np.split(v, [])", split(v, {}));
  split(v, {2})[1](0) = 9;
  EXPECT_EQ(values(v), (ints{0, 1, 9, 3, 4}));
  EXPECT_THROW((void)split(v, 2), value_error);
  EXPECT_THROW((void)split(v, 0), value_error);
  EXPECT_THROW((void)split(v, -1), value_error);
  EXPECT_THROW((void)array_split(v, 0), value_error);
  EXPECT_THROW((void)split(v, 1, {.axis = 1}), index_error);
  EXPECT_THROW((void)hsplit(s, 1), shape_error);
  EXPECT_THROW((void)vsplit(v, 1), shape_error);
  EXPECT_THROW((void)dsplit(m, 1), shape_error);
}

TEST_F(manipulation, errors_name_the_function) {
  EXPECT_EQ(blamed<value_error>([&] { return split(v, 2); }), "split");
  EXPECT_EQ(blamed<value_error>([&] { return array_split(v, 0); }), "array_split");
  EXPECT_EQ(blamed<index_error>([&] { return array_split(v, 1, {.axis = 1}); }), "array_split");
  EXPECT_EQ(blamed<value_error>([&] { return hsplit(m, 3); }), "hsplit");
  EXPECT_EQ(blamed<value_error>([&] { return vsplit(m, 2); }), "vsplit");
  EXPECT_EQ(blamed<value_error>([&] { return dsplit(a, 3); }), "dsplit");
  EXPECT_EQ(blamed<value_error>([] { return concatenate({}); }), "concatenate");
  EXPECT_EQ(blamed<value_error>([] { return stack({}); }), "stack");
  EXPECT_EQ(blamed<value_error>([] { return hstack({}); }), "hstack");
  EXPECT_EQ(blamed<value_error>([] { return vstack({}); }), "vstack");
  EXPECT_EQ(blamed<value_error>([] { return dstack({}); }), "dstack");
  EXPECT_EQ(blamed<value_error>([] { return column_stack({}); }), "column_stack");
  EXPECT_EQ(blamed<shape_error>([&] { return vstack({v, m}); }), "vstack");
  EXPECT_EQ(blamed<shape_error>([&] { return append(m, v, {.axis = 0}); }), "append");
  EXPECT_EQ(blamed<shape_error>([&] { return concatenate({s, s}); }), "concatenate");
  EXPECT_EQ(blamed<index_error>([&] { return sum(m, {.axis = 2}); }), "sum");
  EXPECT_EQ(blamed<value_error>([&] { return max(m, {.axis = {0, -2}}); }), "max");
}

TEST_F(manipulation, results_too_large_to_count) {
  const array many = full({}, 1).broadcast_to({huge});
  EXPECT_THROW((void)concatenate({many, many}), shape_error);
  EXPECT_THROW((void)insert(many, 0, many), shape_error);
  EXPECT_THROW((void)tile(v, huge), shape_error);
  EXPECT_THROW((void)tile(arange(4), huge), shape_error);
  EXPECT_THROW((void)tile(s, {huge, 2}), shape_error);
  EXPECT_THROW((void)repeat(v, huge), shape_error);
  EXPECT_THROW((void)repeat(arange(4), huge), shape_error);
  EXPECT_THROW((void)repeat(arange(2), {huge, huge}), shape_error);
  EXPECT_THROW((void)resize(v, std::numeric_limits<std::int64_t>::max()), shape_error);
  EXPECT_THROW((void)sliding_window_view(full({}, 1).broadcast_to({2 * (huge - 1) + 1}), 0), shape_error);
  for (const pad_mode mode :
       {pad_mode::constant, pad_mode::edge, pad_mode::reflect, pad_mode::symmetric, pad_mode::wrap}) {
    EXPECT_THROW((void)pad(arange(2), huge, {.mode = mode}), shape_error);
    EXPECT_THROW((void)pad(arange(2), {0, huge}, {.mode = mode}), shape_error);
    EXPECT_THROW((void)pad(z, {{0, 0}, {huge, huge}}, {.mode = mode}), shape_error);
  }
  EXPECT_THROW((void)pad(z, {{huge, huge}, {0, 0}}, {.mode = pad_mode::wrap}), value_error);
}

TEST_F(manipulation, padding_that_memory_does_not_hold) {
  const context_guard own(context::make());
  memory::set_limit(1'000'000);
  const array small = arange(2);
  for (const pad_mode mode :
       {pad_mode::constant, pad_mode::edge, pad_mode::reflect, pad_mode::symmetric, pad_mode::wrap})
    EXPECT_THROW((void)pad(small, std::int64_t{1} << 40, {.mode = mode}), out_of_memory);
}

TEST_F(manipulation, concatenate) {
  check("np.concatenate((m, n), 1)", concatenate({m, n}, {.axis = 1}));
  check("np.concatenate((m, t.T, o))", concatenate({m, t.T(), o}));
  check("np.concatenate((m, f))", concatenate({m, f}));
  check("np.concatenate((m, f), dtype=np.complex64)", concatenate({m, f}, {.dtype = complex64}));
  check("np.concatenate((v, c, u))", concatenate({v, c, u}));
  check("np.concatenate((u, np.array([True])))", concatenate({u, {true}}));
  check("np.concatenate((u, np.array([-1], np.int8)))", concatenate({u, array({-1}, {.dtype = int8})}));
  check("np.concatenate((m, v, s, z), None)", concatenate({m, v, s, z}, {.axis = std::nullopt}));
  check("np.concatenate((z, z, np.ones((2, 3))))", concatenate({z, z, ones({2, 3})}));
  check("np.concatenate((z, z), 1)", concatenate({z, z}, {.axis = 1}));
  check("np.concatenate((a, a[::-1]), -1)", concatenate({a, a(slice(_, _, -1))}, {.axis = -1}));
  const auto one_of = [](dtype type) { return ones({1}, {.dtype = type}); };
  const array from_int16 = one_of(int16);
  const array from_uint16 = one_of(uint16);
  check("np.concatenate((np.ones(1, np.int16), np.ones(1, np.uint16), np.ones(1, np.float32)))",
        concatenate({from_int16, from_uint16, one_of(float32)}));
  check("np.concatenate((np.ones(1, np.int8), np.ones(1, np.uint8), np.ones(1, np.float16)))",
        hstack({one_of(int8), one_of(uint8), one_of(float16)}));
  check("np.concatenate((np.ones(1, np.uint16), np.ones(1, np.complex64), np.ones(1, np.int16)))",
        concatenate({from_uint16, one_of(complex64), from_int16}));
  check("np.concatenate((np.ones(1, np.bool_), np.ones(1, np.int64), np.ones(1, np.uint64), np.ones(1, np.float32)))",
        concatenate({one_of(bool_), one_of(int64), one_of(uint64), one_of(float32)}));
  check("np.concatenate(np.broadcast_arrays(v, s))", concatenate(broadcast_arrays({v, s})));
  check("np.concatenate(np.broadcast_arrays(v, s))", concatenate(std::vector<array>{v, s.broadcast_to({5})}));
  check("np.stack(np.meshgrid(v, np.arange(3)))", stack(meshgrid({v, arange(3)})));
  EXPECT_EQ(values(concatenate({v * 2, v + 1})), (ints{0, 2, 4, 6, 8, 1, 2, 3, 4, 5}));
  EXPECT_FALSE(share(concatenate({v}), v));
  EXPECT_THROW((void)concatenate({}), value_error);
  EXPECT_THROW((void)concatenate({s, s}), shape_error);
  EXPECT_THROW((void)concatenate({m, v}), shape_error);
  EXPECT_THROW((void)concatenate({m, n}), shape_error);
  EXPECT_THROW((void)concatenate({m, m}, {.axis = 2}), index_error);
  EXPECT_THROW((void)concatenate({v, f(0)}, {.dtype = int64}), dtype_error);
}

TEST_F(manipulation, concatenate_takes_every_dtype) {
  for (int i = 0; i < dtype_count; ++i) {
    const auto type = static_cast<dtype>(i);
    const array joined = concatenate({ones({2}, {.dtype = type}), zeros({3}, {.dtype = type})(slice(_, _, 2))});
    EXPECT_EQ(joined.dtype(), type);
    EXPECT_EQ(joined.astype(complex128).to_vector<std::complex<double>>(),
              (std::vector<std::complex<double>>{1, 1, 0, 0}));
  }
}

TEST_F(manipulation, stacking) {
  check("np.stack((m, o))", stack({m, o}));
  check("np.stack((m, o, m[::-1]), 2)", stack({m, o, m(slice(_, _, -1))}, {.axis = 2}));
  check("np.stack((m, f), -2)", stack({m, f}, {.axis = -2}));
  check("np.stack((s, s))", stack({s, s}));
  check("np.hstack((s, v))", hstack({s, v}));
  check("np.hstack((m, n))", hstack({m, n}));
  check("np.vstack((v, v))", vstack({v, v}));
  check("np.vstack((m, o[0]))", vstack({m, o(0)}));
  check("np.vstack((s, s))", vstack({s, s}));
  check("np.dstack((v, v))", dstack({v, v}));
  check("np.dstack((m, o))", dstack({m, o}));
  check("np.dstack((a, a))", dstack({a, a}));
  check("np.column_stack((v, v))", column_stack({v, v}));
  check("np.column_stack((np.arange(3), m, f[:, 0]))", column_stack({arange(3), m, f(_, 0)}));
  EXPECT_EQ(hstack({v, v}, {.dtype = float32}).dtype(), float32);
  EXPECT_EQ(vstack({v, v}, {.dtype = float32}).dtype(), float32);
  EXPECT_THROW((void)stack({}), value_error);
  EXPECT_THROW((void)hstack({}), value_error);
  EXPECT_THROW((void)vstack({}), value_error);
  EXPECT_THROW((void)stack({m, t}), shape_error);
  EXPECT_THROW((void)stack({m, m}, {.axis = 3}), index_error);
  EXPECT_THROW((void)hstack({m, v}), shape_error);
}

TEST_F(manipulation, append_insert_delete) {
  check("np.append(m, v)", append(m, v));
  check("np.append(v, c)", append(v, c));
  check("np.append(m, m[:1], 0)", append(m, m(slice(0, 1)), {.axis = 0}));
  check("np.append(v, 5)", append(v, 5));
  check("np.append(u, 5)", append(u, 5));
  check("np.append(f, 0.5)", append(f, 0.5));
  check("np.insert(v, 1, 5)", insert(v, 1, 5));
  check("np.insert(u, 1, 5)", insert(u, 1, 5));
  check("np.insert(m, 1, 5, 1)", insert(m, 1, 5, {.axis = 1}));
  check("np.insert(v, 1, np.array([8, 9]))", insert(v, 1, {8, 9}));
  check("np.insert(v, -1, np.array([8]))", insert(v, -1, {8}));
  check("np.insert(v, 5, np.array(8))", insert(v, 5, full({}, 8)));
  check("np.insert(m, 2, np.array([7, 8, 9]), 1)", insert(m, 2, {7, 8, 9}, {.axis = 1}));
  check("np.insert(m, 2, np.array([7, 8, 9, 10]), 0)", insert(m, 2, {7, 8, 9, 10}, {.axis = 0}));
  check("np.insert(m, 0, np.array([7]), 0)", insert(m, 0, {7}, {.axis = 0}));
  check("np.insert(m, 3, np.array([7]))", insert(m, 3, {7}));
  check("np.delete(v, 2)", delete_(v, 2));
  check("np.delete(v, -1)", delete_(v, -1));
  check("np.delete(v, [0, 3, 0, -1])", delete_(v, {0, 3, 0, -1}));
  check("np.delete(v, [])", delete_(v, ints{}));
  check("np.delete(v, [])", delete_(v, {}));
  check("np.delete(v, [0, 1, 2, 3, 4])", delete_(v, {0, 1, 2, 3, 4}));
  check("np.delete(m, 1, 0)", delete_(m, 1, {.axis = 0}));
  check("np.delete(m, [1, 2], -1)", delete_(m, {1, 2}, {.axis = -1}));
  check("np.delete(m, 5)", delete_(m, 5));
  EXPECT_FALSE(share(delete_(v, 4), v));
  EXPECT_FALSE(share(delete_(v, ints{}), v));
  EXPECT_THROW((void)append(m, v, {.axis = 0}), shape_error);
  EXPECT_THROW((void)insert(v, 6, {1}), index_error);
  EXPECT_THROW((void)insert(v, -6, {1}), index_error);
  EXPECT_THROW((void)insert(v, 0, {1}, {.axis = 1}), index_error);
  EXPECT_THROW((void)insert(m, 0, {1, 2}, {.axis = 0}), shape_error);
  EXPECT_THROW((void)insert(v, 0, {1.5}), dtype_error);
  EXPECT_THROW((void)insert(v, 0, 1.5), dtype_error);
  EXPECT_THROW((void)insert(u, 0, 256), value_error);
  EXPECT_THROW((void)append(m, 5, {.axis = 0}), shape_error);
  EXPECT_THROW((void)delete_(v, 5), index_error);
  EXPECT_THROW((void)delete_(v, {0, -6}), index_error);
  EXPECT_THROW((void)delete_(m, 0, {.axis = 2}), index_error);
}

TEST_F(manipulation, tile_and_repeat) {
  check("np.tile(v, 2)", tile(v, 2));
  check("np.tile(v, (2, 1))", tile(v, {2, 1}));
  check("np.tile(m, 2)", tile(m, 2));
  check("np.tile(m, (2, 1, 3))", tile(m, {2, 1, 3}));
  check("np.tile(n, (2, 3))", tile(n, {2, 3}));
  check("np.tile(o, (1, 2))", tile(o, {1, 2}));
  check("np.tile(s, (2, 2))", tile(s, {2, 2}));
  check("np.tile(v, ())", tile(v, {}));
  check("np.tile(v, 0)", tile(v, 0));
  check("np.tile(z, (2, 2))", tile(z, {2, 2}));
  EXPECT_FALSE(share(tile(v, 1), v));
  EXPECT_THROW((void)tile(v, -1), shape_error);
  check("np.repeat(v, 3)", repeat(v, 3));
  check("np.repeat(m, 2)", repeat(m, 2));
  check("np.repeat(m, 2, 0)", repeat(m, 2, {.axis = 0}));
  check("np.repeat(m, 2, 1)", repeat(m, 2, {.axis = 1}));
  check("np.repeat(n, 2, -1)", repeat(n, 2, {.axis = -1}));
  check("np.repeat(a, 3, 1)", repeat(a, 3, {.axis = 1}));
  check("np.repeat(o, 2, 0)", repeat(o, 2, {.axis = 0}));
  check("np.repeat(s, 3)", repeat(s, 3));
  check("np.repeat(v, 0)", repeat(v, 0));
  check("np.repeat(z, 2, 1)", repeat(z, 2, {.axis = 1}));
  check("np.repeat(v, [1, 0, 2, 2, 1])", repeat(v, {1, 0, 2, 2, 1}));
  check("np.repeat(v, [2])", repeat(v, ints{2}));
  check("np.repeat(v[:0], [])", repeat(v(slice(0, 0)), {}));
  check("np.repeat(m, [0, 3, 1], 0)", repeat(m, {0, 3, 1}, {.axis = 0}));
  check("np.repeat(m, [2, 2, 0, 1], 1)", repeat(m, {2, 2, 0, 1}, {.axis = 1}));
  check("np.repeat(a, [1, 0, 2], 1)", repeat(a, {1, 0, 2}, {.axis = 1}));
  check("np.repeat(n, [1, 3], 1)", repeat(n, {1, 3}, {.axis = 1}));
  EXPECT_FALSE(share(repeat(v, 1), v));
  EXPECT_THROW((void)repeat(v, -1), value_error);
  EXPECT_THROW((void)repeat(v, {1, 1, -1, 1, 1}), value_error);
  EXPECT_THROW((void)repeat(v, {1, 2}), shape_error);
  EXPECT_THROW((void)repeat(v, ints{}), shape_error);
  EXPECT_THROW((void)repeat(v, 2, {.axis = 1}), index_error);
}

TEST_F(manipulation, roll_and_resize) {
  check("np.roll(v, 2)", roll(v, 2));
  check("np.roll(v, -1)", roll(v, -1));
  check("np.roll(v, 12)", roll(v, 12));
  check("np.roll(m, 1)", roll(m, 1));
  check("np.roll(m, 1, 0)", roll(m, 1, {.axis = 0}));
  check("np.roll(m, -1, 1)", roll(m, -1, {.axis = 1}));
  check("np.roll(m, (1, 2), (0, 1))", roll(m, {1, 2}, {.axis = {0, 1}}));
  check("np.roll(m, 1, (0, 1))", roll(m, 1, {.axis = {0, 1}}));
  check("np.roll(m, (1, 2), 1)", roll(m, {1, 2}, {.axis = 1}));
  check("np.roll(m, (1, 1, 1), (0, 1, 0))", roll(m, {1, 1, 1}, {.axis = {0, 1, 0}}));
  check("np.roll(n, 1)", roll(n, 1));
  check("np.roll(s, 1)", roll(s, 1));
  check("np.roll(z, 1)", roll(z, 1));
  check("np.roll(z, 1, 0)", roll(z, 1, {.axis = 0}));
  EXPECT_FALSE(share(roll(v, 0), v));
  EXPECT_THROW((void)roll(m, {1, 2}, {.axis = {0, 1, 0}}), value_error);
  EXPECT_THROW((void)roll(m, 1, {.axis = 2}), index_error);
  check("np.resize(v, (2, 4))", resize(v, {2, 4}));
  check("np.resize(m, 3)", resize(m, 3));
  check("np.resize(m, (0, 2))", resize(m, {0, 2}));
  check("np.resize(n, (4, 2))", resize(n, {4, 2}));
  check("np.resize(v, ())", resize(v, {}));
  check("np.resize(z, (2, 2))", resize(z, {2, 2}));
  EXPECT_THROW((void)resize(v, {2, -1}), shape_error);
}

TEST_F(manipulation, pad_with_constants) {
  check("np.pad(v, 2)", pad(v, 2));
  check("np.pad(v, (1, 2))", pad(v, {1, 2}));
  check("np.pad(v, (1, 2), constant_values=9)", pad(v, {1, 2}, {.constant_values = 9}));
  check("np.pad(v, (1, 2), constant_values=(8, 9))", pad(v, {1, 2}, {.constant_values = {8, 9}}));
  check("np.pad(m, 1)", pad(m, 1));
  check("np.pad(m, ((1, 2), (0, 3)), constant_values=5)", pad(m, {{1, 2}, {0, 3}}, {.constant_values = 5}));
  check("np.pad(m, ((1, 2), (2, 1)), constant_values=((1, 2), (3, 4)))",
        pad(m, {{1, 2}, {2, 1}}, {.constant_values = {{1, 2}, {3, 4}}}));
  check("np.pad(f, 1, constant_values=0.5)", pad(f, 1, {.constant_values = 0.5}));
  check("np.pad(z, 1)", pad(z, 1));
  const std::vector<side_pair<std::int64_t>> one_each(2, {1, std::size_t{1}});
  check("np.pad(m, 1)", pad(m, sides(one_each)));
  static_assert(!std::convertible_to<double, sides<std::int64_t>>);
  check("np.pad(s, 2)", pad(s, 2));
  EXPECT_THROW((void)pad(v, -1), value_error);
  EXPECT_THROW((void)pad(s, -1), value_error);
  EXPECT_THROW((void)pad(s, {0, -1}), value_error);
  EXPECT_THROW((void)pad(s, {{1, 2}, {3, 4}}), value_error);
  EXPECT_THROW((void)pad(s, 1, {.constant_values = {{1, 2}, {3, 4}}}), value_error);
  EXPECT_THROW((void)pad(v, {{1, 2}, {3, 4}}), value_error);
  EXPECT_THROW((void)pad(m, {{1, 2}, {3, 4}, {5, 6}}), value_error);
  EXPECT_THROW((void)pad(m, 1, {.constant_values = {{1, 2}, {3, 4}, {5, 6}}}), value_error);
  EXPECT_THROW((void)pad(u, 1, {.constant_values = 256}), value_error);
  EXPECT_THROW((void)pad(u, 1, {.constant_values = 0.5}), dtype_error);
  EXPECT_THROW((void)pad(v, std::numeric_limits<std::int64_t>::max()), shape_error);
}

TEST_F(manipulation, pad_with_what_is_there) {
  const std::pair<const char*, pad_mode> modes[] = {{"edge", pad_mode::edge},
                                                    {"reflect", pad_mode::reflect},
                                                    {"symmetric", pad_mode::symmetric},
                                                    {"wrap", pad_mode::wrap}};
  for (const auto& each : modes) {
    const char* const text = each.first;
    const pad_mode mode = each.second;
    const auto call = [&](const std::string& arguments) { return "np.pad(" + arguments + ", mode=\"" + text + "\")"; };
    check(call("v, 3"), pad(v, 3, {.mode = mode}));
    check(call("v, (7, 12)"), pad(v, {7, 12}, {.mode = mode}));
    check(call("m, ((1, 2), (2, 1))"), pad(m, {{1, 2}, {2, 1}}, {.mode = mode}));
    check(call("n, ((5, 4), (3, 8))"), pad(n, {{5, 4}, {3, 8}}, {.mode = mode}));
    check(call("o, 1"), pad(o, 1, {.mode = mode}));
    check(call("s, 1"), pad(s, 1, {.mode = mode}));
    check(call("s.reshape(1), (2, 3)"), pad(s.reshape({1}), {2, 3}, {.mode = mode}));
    check(call("a, ((1, 0), (0, 2), (3, 3))"), pad(a, {{1, 0}, {0, 2}, {3, 3}}, {.mode = mode}));
    check(call("z, ((0, 0), (1, 1))"), pad(z, {{0, 0}, {1, 1}}, {.mode = mode}));
    EXPECT_THROW((void)pad(z, 1, {.mode = mode}), value_error);
  }
  check("np.pad(n, (0, 1), mode=\"edge\")", pad(n, {0, 1}, {.mode = pad_mode::edge}));
}

// Longer than any block, and longer than what is mirrored.
TEST_F(manipulation, pad_widely) {
  constexpr std::int64_t n = 70'001;
  constexpr std::int64_t before = 150'000;
  const ints got = values(pad(arange(n), {before, 50'000}, {.mode = pad_mode::symmetric}));
  ASSERT_EQ(got.size(), static_cast<std::size_t>(before + n + 50'000));
  for (std::size_t i = 0; i < got.size(); ++i) {
    const std::int64_t phase = (static_cast<std::int64_t>(i) - before + 4 * n) % (2 * n);
    ASSERT_EQ(got[i], phase < n ? phase : 2 * n - 1 - phase) << i;
  }
}

TEST_F(manipulation, pad_takes_every_dtype) {
  for (int i = 0; i < dtype_count; ++i) {
    const auto type = static_cast<dtype>(i);
    const array padded = pad(array({{1, 0}}, {.dtype = type}), {{1, 0}, {0, 3}}, {.mode = pad_mode::wrap});
    EXPECT_EQ(padded.dtype(), type);
    EXPECT_EQ(padded.astype(complex128).to_vector<std::complex<double>>(),
              (std::vector<std::complex<double>>{1, 0, 1, 0, 1, 1, 0, 1, 0, 1}));
  }
}

}  // namespace
}  // namespace serried
