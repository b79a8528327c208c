// Rims that are kept, arrays read across their rows, gathers: what engines reach in ways of its own.
#include "local/engine_conformance.hpp"

#include <serried/error.hpp>

#include <complex>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

namespace serried::testing {

/// The sum of the neighbors two places away along the last dimension and one along the others, in what `before` and
/// `behind` leave of the rows; the array's memory takes the results, whose rims are the old values.
template <class T>
void update_inside(engine& e, const shape& s, std::int64_t before, std::int64_t behind, bool center) {
  SCOPED_TRACE(to_string(s) + " of " + std::string(name(dtype_of<T>)));
  box where = box::whole(s);
  for (int d = 0; d < s.size(); ++d) ++where.lo[d], --where.hi[d];
  const int row = s.size() - 1;
  where.lo[row] = before;
  where.hi[row] = s[row] - behind;
  std::vector<T> values(static_cast<std::size_t>(element_count(s)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(i * i % 31);

  program_writer w({dtype_of<T>});
  const strides stride = contiguous_strides(s, sizeof(T));
  auto sum = center ? w.load(0, dims::filled(s.size(), 0)) : w.scalar(T{0});
  std::vector<std::int64_t> apart;  // elements
  if (center) apart.push_back(0);
  for (int d = 0; d < s.size(); ++d)
    for (const int side : {-1, 1}) {
      dims offset = dims::filled(s.size(), 0);
      offset[d] = d == row ? 2 * side : side;
      sum = w(opcode::add, sum, w.load(0, offset));
      apart.push_back(offset[d] * stride[d] / static_cast<std::int64_t>(sizeof(T)));
    }
  std::vector<T> expected = values;
  std::int64_t first = 0;
  for (int d = 0; d < s.size(); ++d) first += where.lo[d] * stride[d];
  for_each_index(where, [&](const dims& i) {
    std::int64_t at = 0;
    for (int d = 0; d < s.size(); ++d) at += i[d] * stride[d] / static_cast<std::int64_t>(sizeof(T));
    T total = 0;
    for (const std::int64_t a : apart) total += values[static_cast<std::size_t>(at + a)];
    expected[static_cast<std::size_t>(at)] = total;
  });

  const device_bytes from(e, values), to(e, values);
  const leaf_binding leaf = leaf_of(from.data(), dtype_of<T>, s);
  const output_binding out{to.data() + first, dtype_of<T>, stride, {from.data() + first, before, behind}};
  e.execute(w.finish(sum), {&leaf, 1}, {&out, 1}, where);
  EXPECT_EQ(to.read<T>(element_count(s)), expected);
}

TEST_P(engine_conformance, keeps_the_rim_of_what_it_updates) {
  for (const bool center : {true, false}) {
    update_inside<float>(e(), {6, 11, 64}, 2, 2, center);
    update_inside<float>(e(), {11, 9, 65}, 2, 2, center);
  }
  update_inside<float>(e(), {11, 9, 63}, 2, 2, true);
  update_inside<float>(e(), {11, 19, 62}, 2, 3, true);
  update_inside<float>(e(), {12, 66}, 7, 2, true);
  update_inside<double>(e(), {5, 12, 33}, 2, 2, true);
  update_inside<double>(e(), {40}, 2, 2, true);
  update_inside<std::int8_t>(e(), {5, 7, 80}, 2, 2, true);
}

/// x.T + y + c for x of shape (n, m), y of (m, n) and c of (m, 1), in `planes` planes that x counts last.
template <class T>
void add_transposed(engine& e, std::int64_t planes, std::int64_t m, std::int64_t n, std::int64_t skipped) {
  SCOPED_TRACE(to_string(shape{planes, m, n}) + " of " + std::string(name(dtype_of<T>)));
  constexpr auto item = static_cast<std::int64_t>(sizeof(T));
  const auto number_at = [](std::int64_t i) { return static_cast<T>(static_cast<double>(i * i % 41)); };
  std::vector<T> x(static_cast<std::size_t>(skipped + n * planes * m)), y(static_cast<std::size_t>(planes * m * n)),
      c(static_cast<std::size_t>(m)), expected;
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = number_at(static_cast<std::int64_t>(i));
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = number_at(static_cast<std::int64_t>(3 * i));
  for (std::size_t i = 0; i < c.size(); ++i) c[i] = number_at(static_cast<std::int64_t>(7 * i));
  const box where = box::whole({planes, m, n});
  for_each_index(where, [&](const dims& i) {
    const auto at = [](const std::vector<T>& v, std::int64_t k) { return v[static_cast<std::size_t>(k)]; };
    expected.push_back(static_cast<T>(at(x, skipped + (i[2] * planes + i[0]) * m + i[1]) +
                                      at(y, (i[0] * m + i[1]) * n + i[2]) + at(c, i[1])));
  });
  const device_bytes in_x(e, x), in_y(e, y), in_c(e, c);
  leaf_binding turned = leaf_of(in_x.data() + skipped * item, dtype_of<T>, {planes, m, n});
  turned.stride = {m * item, item, planes * m * item};
  program_writer w({dtype_of<T>, dtype_of<T>, dtype_of<T>});
  const auto sum = w(opcode::add, w(opcode::add, w.load(0), w.load(1)), w.load(2));
  const auto got = run<T>(
      e, w.finish(sum),
      {turned, leaf_of(in_y.data(), dtype_of<T>, {planes, m, n}), leaf_of(in_c.data(), dtype_of<T>, {m, 1})}, where);
  EXPECT_EQ(got, expected);
}

TEST_P(engine_conformance, transposed_operands) {
  add_transposed<float>(e(), 1, 64, 128, 0);
  add_transposed<float>(e(), 1, 100, 36, 0);
  add_transposed<float>(e(), 3, 33, 70, 0);
  add_transposed<float>(e(), 2, 128, 64, 1);
  add_transposed<float>(e(), 2, 16, 200, 0);
  add_transposed<float>(e(), 2, 15, 17, 0);
  add_transposed<double>(e(), 1, 66, 130, 0);
  add_transposed<std::complex<double>>(e(), 2, 20, 40, 0);
  add_transposed<std::int8_t>(e(), 1, 256, 144, 0);
  add_transposed<std::int16_t>(e(), 2, 130, 131, 3);
}

TEST_P(engine_conformance, transposed_programs) {
  // Two arrays across the rows, indices, and a scalar that changes between two runs; two outputs.
  const std::int64_t rows = 50, columns = 70;
  const auto count = static_cast<std::size_t>(rows * columns);
  std::vector<std::int32_t> x(count), z(count);
  for (std::size_t i = 0; i < count; ++i) {
    x[i] = static_cast<std::int32_t>(i * i % 1000);
    z[i] = static_cast<std::int32_t>(7 * i % 911);
  }
  const device_bytes in_x(e(), x), in_z(e(), z), first(e(), 4 * count), second(e(), 8 * count);
  leaf_binding leaves[] = {leaf_of(in_x.data(), dtype::int32, {rows, columns}),
                           leaf_of(in_z.data(), dtype::int32, {rows, columns})};
  for (leaf_binding& l : leaves) l.stride = {4, 4 * rows};
  const box where{{0, 10}, {rows, 10 + columns}};
  for (leaf_binding& l : leaves) l.window = where, l.extent = {rows, 100};
  const strides order = contiguous_strides({rows, columns}, 4);
  const output_binding out[] = {{first.data(), dtype::int32, order}, {second.data(), dtype::int64, {8 * columns, 8}}};
  for (const std::int32_t factor : {3, -5}) {
    program_writer w({dtype::int32, dtype::int32});
    const auto a = w.load(0), b = w.load(1);
    const auto scaled = w(opcode::add, w(opcode::multiply, a, w.scalar(factor)), b);
    const auto placed = w(opcode::add, w(opcode::multiply, w.index(0), w.scalar(std::int64_t{1000})),
                          w(opcode::add, w.index(1), w.cast(b, dtype::int64)));
    e().execute(w.finish(scaled, placed), leaves, out, where);
    std::vector<std::int32_t> want_first;
    std::vector<std::int64_t> want_second;
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) {
        const auto at = static_cast<std::size_t>(j * rows + i);
        want_first.push_back(factor * x[at] + z[at]);
        want_second.push_back(1000 * i + 10 + j + z[at]);
      }
    EXPECT_EQ(first.read<std::int32_t>(rows * columns), want_first) << factor;
    EXPECT_EQ(second.read<std::int64_t>(rows * columns), want_second) << factor;
  }
}

/// x[numbers] for numbers of shape s, at a part of it too.
template <class T>
void gather_elements(engine& e, const shape& s) {
  SCOPED_TRACE(to_string(s) + " of " + std::string(name(dtype_of<T>)));
  const std::int64_t count = 997;
  std::vector<T> x(count);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(static_cast<double>(i * i % 101));
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(element_count(s)));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int64_t>(i * 7919 % count);
  const device_bytes values(e, x), places(e, numbers);
  const leaf_binding leaves[] = {leaf_of(values.data(), dtype_of<T>, {count}), leaf_of(places.data(), dtype::int64, s)};
  program_writer w({dtype_of<T>, dtype::int64});
  const program p = w.finish(w.gather(0, w.load(1)));
  box part = box::whole(s);
  if (s.size() > 0) part = {dims::filled(s.size(), 1), s};
  for (const box& where : {box::whole(s), part}) {
    std::vector<T> expected;
    const strides step = contiguous_strides(s, 1);
    for_each_index(where, [&](const dims& i) {
      std::int64_t at = 0;
      for (int d = 0; d < s.size(); ++d) at += i[d] * step[d];
      expected.push_back(x[static_cast<std::size_t>(numbers[static_cast<std::size_t>(at)])]);
    });
    EXPECT_EQ(run<T>(e, p, {leaves[0], leaves[1]}, where), expected);
  }
}

TEST_P(engine_conformance, gathers) {
  for (const shape& s : {shape{}, shape{1}, shape{3}, shape{64}, shape{5000}, shape{7, 300}, shape{40, 3}}) {
    gather_elements<std::int8_t>(e(), s);
    gather_elements<std::uint16_t>(e(), s);
    gather_elements<float>(e(), s);
    gather_elements<double>(e(), s);
    gather_elements<std::complex<double>>(e(), s);
  }
  gather_elements<float>(e(), {100000});
}

TEST_P(engine_conformance, gathers_at_what_was_computed) {
  // A matrix turned over, by numbers of its elements; a second leaf, and the first one's elements as they are.
  const std::int64_t n = 70, m = 90;
  std::vector<float> x(static_cast<std::size_t>(n * m)), y(static_cast<std::size_t>(n));
  std::iota(x.begin(), x.end(), 0.0f);
  std::iota(y.begin(), y.end(), 0.5f);
  const device_bytes in_x(e(), x), in_y(e(), y);
  program_writer w({dtype::float32, dtype::float32});
  const auto row = w.index(1), column = w.index(0);
  const auto number = w(opcode::add, w(opcode::multiply, row, w.scalar(m)), column);
  const auto turned = w.gather(0, number);
  const auto other = w.gather(1, row);
  const auto first = w.gather(0, w.scalar(std::int64_t{5}));
  const program p = w.finish(w(opcode::add, w(opcode::multiply, turned, first), other));
  const std::vector<leaf_binding> leaves = {leaf_of(in_x.data(), dtype::float32, {n, m}),
                                            leaf_of(in_y.data(), dtype::float32, {n})};
  const auto got = run<float>(e(), p, leaves, box::whole({m, n}));
  std::size_t k = 0;
  for_each_index(box::whole({m, n}), [&](const dims& i) {
    ASSERT_EQ(got[k++], static_cast<float>(i[1] * m + i[0]) * 5.0f + static_cast<float>(i[1]) + 0.5f);
  });
  // Sums of it along each axis, of all of it, and of nothing.
  const auto sums = run_reduction<float>(e(), p, leaves, box::whole({m, n}), {reduce_kind::sum, 1, dtype::float32});
  for (std::int64_t i = 0; i < n; ++i) {
    const double expected = 5.0 * static_cast<double>(i * m * m + m * (m - 1) / 2) + (static_cast<double>(i) + 0.5) * m;
    ASSERT_EQ(sums[static_cast<std::size_t>(i)], static_cast<float>(expected));
  }
  const auto rows = run_reduction<float>(e(), p, leaves, box::whole({m, n}), {reduce_kind::max, 2, dtype::float32});
  for (std::int64_t j = 0; j < m; ++j)
    ASSERT_EQ(rows[static_cast<std::size_t>(j)],
              static_cast<float>((n - 1) * m + j) * 5.0f + static_cast<float>(n) - 0.5f);
  EXPECT_EQ(run_reduction<float>(e(), p, leaves, {{3, 4}, {3, 9}}, {reduce_kind::sum, 3, dtype::float32}),
            std::vector<float>{0});
}

TEST_P(engine_conformance, gathers_nothing_from_outside) {
  for (const std::int64_t n : {5, 3000, 200000}) {
    const std::vector<double> x{1, 2, 3};
    const device_bytes in(e(), x);
    for (const std::int64_t wrong :
         {std::int64_t{3}, std::int64_t{-1}, std::int64_t{1} << 60, -(std::int64_t{1} << 60)}) {
      std::vector<std::int64_t> numbers(static_cast<std::size_t>(n), 1);
      numbers[static_cast<std::size_t>(n - 2)] = wrong;
      const device_bytes places(e(), numbers);
      const std::vector<leaf_binding> leaves{leaf_of(in.data(), dtype::float64, {3}),
                                             leaf_of(places.data(), dtype::int64, {n})};
      const box where = box::whole({n});
      program_writer failing({dtype::float64, dtype::int64});
      const program fails = failing.finish(failing.gather(0, failing.load(1)));
      const reduction total{reduce_kind::sum, 1, dtype::float64};
      EXPECT_THROW((void)run<double>(e(), fails, leaves, where), index_error);
      EXPECT_THROW((void)run_reduction<double>(e(), fails, leaves, where, total), index_error);
      EXPECT_NO_THROW((void)run<double>(e(), fails, leaves, {{0}, {n - 2}}));

      program_writer zero({dtype::float64, dtype::int64});
      const program zeros = zero.finish(zero.gather(0, zero.load(1), false));
      EXPECT_FALSE(may_fail(zeros));
      auto expected = std::vector<double>(static_cast<std::size_t>(n), 2.0);
      expected[static_cast<std::size_t>(n - 2)] = 0;
      EXPECT_EQ(run<double>(e(), zeros, leaves, where), expected);
      EXPECT_EQ(run_reduction<double>(e(), zeros, leaves, where, total)[0], 2.0 * static_cast<double>(n - 1));
    }
    // An empty leaf, at no address.
    program_writer w({dtype::float64});
    const program nothing = w.finish(w.gather(0, w.index(0), false));
    EXPECT_EQ(run<double>(e(), nothing, {leaf_of(nullptr, dtype::float64, {0})}, box::whole({n})),
              std::vector<double>(static_cast<std::size_t>(n), 0));
  }
}

}  // namespace serried::testing
