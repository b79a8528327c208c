// Loads, boundaries, outputs and programs; engine_reductions.cpp has the reductions.
#include "local/engine_conformance.hpp"

#include <serried/error.hpp>

#include <cmath>
#include <numeric>
#include <random>
#include <thread>

namespace serried::testing {
namespace {

using generator = std::mt19937;
int pick(generator& g, int lo, int hi) { return std::uniform_int_distribution<int>(lo, hi)(g); }

/// The definition, index by index, of what a load of leaf `l` reads (program.hpp); `at` gives the window's elements.
template <class T>
T expected_load(const leaf_binding& l, const dims& offset, const dims& out_index,
                const std::function<T(const dims&)>& at) {
  dims i = l.extent;
  const int lead = out_index.size() - l.extent.size();
  const scalar_value* value = nullptr;
  for (int d = 0; d < l.extent.size(); ++d) {
    i[d] = (l.extent[d] == 1 ? 0 : out_index[d + lead]) + (offset.empty() ? 0 : offset[d]);
    if (i[d] >= l.window.lo[d] && i[d] < l.window.hi[d]) continue;
    const faces& f = l.boundary[static_cast<std::size_t>(d)];
    const face& beyond = i[d] < 0 ? f.low : f.high;
    const std::int64_t n = l.extent[d];
    if (beyond.kind == boundary_kind::periodic) {
      while (i[d] < 0) i[d] += n;
      while (i[d] >= n) i[d] -= n;
    } else if (beyond.kind == boundary_kind::edge) {
      i[d] = i[d] < 0 ? 0 : n - 1;
    } else if (value == nullptr) {
      value = &beyond.value;
    }
  }
  if (value == nullptr) return at(i);
  T v;
  std::memcpy(&v, value->bytes.data(), sizeof v);
  return v;
}

/// A leaf of random shape, strides, window and boundary whose every element is different.
template <class T>
struct random_leaf {
  random_leaf(engine& e, generator& g, const shape& out, bool with_boundary) {
    const int ndim = pick(g, 0, out.size());
    leaf.type = dtype_of<T>;
    leaf.extent = dims::filled(ndim, 1);
    for (int d = 0; d < ndim; ++d)
      if (pick(g, 0, 4) != 0) leaf.extent[d] = out[d + out.size() - ndim];
    leaf.window = box::whole(leaf.extent);
    if (with_boundary) {
      for (int d = 0; d < ndim; ++d) {
        const auto side = [&] {
          const boundary_kind kinds[] = {boundary_kind::periodic, boundary_kind::edge, boundary_kind::value};
          return face{kinds[pick(g, 0, 2)], number(static_cast<T>(100 + pick(g, 0, 20)))};
        };
        leaf.boundary.push_back({side(), side()});
        if (pick(g, 0, 3) == 0) {  // a halo that is in place
          leaf.window.lo[d] -= pick(g, 0, 2);
          leaf.window.hi[d] += pick(g, 0, 2);
        }
      }
    }
    // Strides of a random memory order, some backward, some with holes.
    std::vector<int> order(static_cast<std::size_t>(ndim));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), g);
    leaf.stride = dims::filled(ndim, 0);
    std::int64_t step = 1;
    std::int64_t start = 0;
    for (const int d : order) {
      step *= pick(g, 0, 3) == 0 ? 2 : 1;
      const std::int64_t length = leaf.window.hi[d] - leaf.window.lo[d];
      const bool backward = pick(g, 0, 3) == 0;
      leaf.stride[d] = (backward ? -step : step) * static_cast<std::int64_t>(sizeof(T));
      if (backward && length > 0) start += (length - 1) * step;
      step *= length;
    }
    values.resize(static_cast<std::size_t>(std::max<std::int64_t>(step, 1)));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(i % 97);
    start_ = start;
    memory = std::make_unique<device_bytes>(e, values);
    leaf.data = memory->data() + start * static_cast<std::int64_t>(sizeof(T));
  }

  T at(const dims& i) const {
    std::int64_t position = start_;
    for (int d = 0; d < i.size(); ++d)
      position += (i[d] - leaf.window.lo[d]) * leaf.stride[d] / static_cast<std::int64_t>(sizeof(T));
    return values[static_cast<std::size_t>(position)];
  }

  leaf_binding leaf;
  std::vector<T> values;
  std::unique_ptr<device_bytes> memory;

 private:
  std::int64_t start_ = 0;
};

shape random_shape(generator& g) {
  const int ndim = pick(g, 0, 4);
  shape s = dims::filled(ndim, 1);
  for (std::int64_t& extent : s) extent = pick(g, 0, 4) == 0 ? 1 : pick(g, 1, 6);
  if (ndim > 0 && pick(g, 0, 3) == 0) s[pick(g, 0, ndim - 1)] = pick(g, 60, 400);
  return s;
}

template <class T>
void check_random_loads(engine& e, unsigned seed) {
  generator g(seed);
  const shape s = random_shape(g);
  box where = box::whole(s);
  for (int d = 0; d < s.size(); ++d) {
    if (pick(g, 0, 2) != 0) continue;
    where.lo[d] = pick(g, 0, static_cast<int>(s[d]));
    where.hi[d] = pick(g, static_cast<int>(where.lo[d]), static_cast<int>(s[d]));
  }
  const random_leaf<T> a(e, g, s, true);
  const random_leaf<T> b(e, g, s, false);
  dims offset = a.leaf.extent;
  for (std::int64_t& o : offset) o = pick(g, 0, 4) == 0 ? pick(g, -9, 9) : pick(g, -1, 1);

  program_writer w({dtype_of<T>, dtype_of<T>});
  const auto x = w.load(0, offset);
  const auto y = w.load(1);
  const auto sum = w(opcode::bitwise_xor, w.cast(x, dtype::int64), w.cast(y, dtype::int64));
  const program p = w.finish(x, sum);

  // The first output has a random memory order of its own.
  const shape extents = where.extents();
  const std::int64_t n = where.volume();
  strides order = contiguous_strides(extents, sizeof(T));
  if (s.size() > 1 && pick(g, 0, 1) == 0) {
    std::int64_t step = sizeof(T);
    for (int d = 0; d < s.size(); ++d) {
      order[d] = step;
      step *= std::max<std::int64_t>(extents[d], 1);
    }
  }
  const device_bytes first(e, static_cast<std::size_t>(n) * sizeof(T));
  const device_bytes second(e, static_cast<std::size_t>(n) * sizeof(std::int64_t));
  const output_binding outputs[] = {{first.data(), dtype_of<T>, order},
                                    {second.data(), dtype::int64, contiguous_strides(extents, sizeof(std::int64_t))}};
  const leaf_binding leaves[] = {a.leaf, b.leaf};
  e.execute(p, leaves, outputs, where);

  const auto got_first = first.read<T>(n);
  const auto got_second = second.read<std::int64_t>(n);
  std::size_t k = 0;
  for_each_index(where, [&](const dims& i) {
    const T want = expected_load<T>(a.leaf, offset, i, [&](const dims& at) { return a.at(at); });
    const T other = expected_load<T>(b.leaf, {}, i, [&](const dims& at) { return b.at(at); });
    std::int64_t position = 0;
    for (int d = 0; d < i.size(); ++d)
      position += (i[d] - where.lo[d]) * order[d] / static_cast<std::int64_t>(sizeof(T));
    ASSERT_EQ(got_first[static_cast<std::size_t>(position)], want)
        << "seed " << seed << ", index " << to_string(i) << ", offset " << to_string(offset) << ", shape "
        << to_string(s);
    ASSERT_EQ(got_second[k++], static_cast<std::int64_t>(want) ^ static_cast<std::int64_t>(other)) << "seed " << seed;
  });
}

}  // namespace

TEST_P(engine_conformance, random_loads) {
  for (unsigned seed = 0; seed < 150 && !HasFatalFailure(); ++seed) {
    check_random_loads<std::int32_t>(e(), seed);
    check_random_loads<double>(e(), seed + 1000);
    check_random_loads<std::uint8_t>(e(), seed + 2000);
    check_random_loads<std::int16_t>(e(), seed + 3000);
  }
}

TEST_P(engine_conformance, five_point_stencil_rounds_operation_by_operation) {
  for (const shape& s : {shape{1, 1}, shape{1, 5}, shape{2, 3}, shape{5, 64}, shape{70, 67}, shape{9, 1100}}) {
    std::vector<float> u(static_cast<std::size_t>(element_count(s)));
    generator g(1);
    for (float& v : u) v = std::uniform_real_distribution<float>(-1, 1)(g);
    const device_bytes memory(e(), u);
    program_writer w({dtype::float32});
    const auto sum =
        w(opcode::add, w(opcode::add, w(opcode::add, w.load(0, {1, 0}), w.load(0, {-1, 0})), w.load(0, {0, 1})),
          w.load(0, {0, -1}));
    const auto inner = w(opcode::subtract, sum, w(opcode::multiply, w.scalar(4.0f), w.load(0)));
    const program p = w.finish(w(opcode::add, w.load(0), w(opcode::multiply, w.scalar(0.1f), inner)));
    for (const boundary_kind kind : {boundary_kind::periodic, boundary_kind::edge, boundary_kind::value}) {
      leaf_binding l = leaf_of(memory.data(), dtype::float32, s);
      l.boundary = same_faces(2, {kind, number(0.5f)});
      const auto got = run<float>(e(), p, {l}, box::whole(s));
      std::size_t k = 0;
      for_each_index(box::whole(s), [&](const dims& i) {
        const auto at = [&](std::int64_t di, std::int64_t dj) {
          return expected_load<float>(l, {di, dj}, i,
                                      [&](const dims& x) { return u[static_cast<std::size_t>(x[0] * s[1] + x[1])]; });
        };
        volatile float t = at(1, 0) + at(-1, 0);
        t = t + at(0, 1);
        t = t + at(0, -1);
        volatile float four = 4.0f * at(0, 0);
        t = t - four;
        t = 0.1f * t;
        t = at(0, 0) + t;
        ASSERT_EQ(got[k++], t) << to_string(s) << " at " << to_string(i);
      });
    }
  }
}

TEST_P(engine_conformance, parts_of_a_box_equal_the_whole) {
  const shape s{37, 211};
  std::vector<float> u(static_cast<std::size_t>(element_count(s)));
  generator g(2);
  for (float& v : u) v = std::uniform_real_distribution<float>(-3, 3)(g);
  const device_bytes memory(e(), u);
  leaf_binding l = leaf_of(memory.data(), dtype::float32, s);
  l.boundary = same_faces(2, {boundary_kind::periodic, {}});
  program_writer w({dtype::float32});
  const auto x = w(opcode::exp, w(opcode::sin, w.load(0, {0, 1})));
  const program p = w.finish(w(opcode::divide, x, w(opcode::arctan2, w.load(0, {-1, 0}), w.scalar(0.3f))));
  const auto whole = run<float>(e(), p, {l}, box::whole(s));
  for (int trial = 0; trial < 40; ++trial) {
    box part;
    for (int d = 0; d < 2; ++d) {
      part.lo.push_back(pick(g, 0, static_cast<int>(s[d]) - 1));
      part.hi.push_back(pick(g, static_cast<int>(part.lo[d]), static_cast<int>(s[d])));
    }
    const auto got = run<float>(e(), p, {l}, part);
    std::size_t k = 0;
    for_each_index(part, [&](const dims& i) {
      ASSERT_EQ(got[k++], whole[static_cast<std::size_t>(i[0] * s[1] + i[1])]) << to_string(part);
    });
  }
}

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

TEST_P(engine_conformance, index_nodes_count_globally) {
  program_writer w;
  const program p = w.finish(w(opcode::add, w(opcode::multiply, w.index(0), w.scalar(std::int64_t{1000})), w.index(1)));
  const box where{{5, 900}, {9, 1400}};
  const auto got = run<std::int64_t>(e(), p, {}, where);
  std::size_t k = 0;
  for_each_index(where, [&](const dims& i) { ASSERT_EQ(got[k++], i[0] * 1000 + i[1]); });
  program_writer v;
  EXPECT_EQ(run<std::int64_t>(e(), v.finish(v.index(1)), {}, {{3, 8, 2}, {4, 9, 3}}), std::vector<std::int64_t>{8});
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

TEST_P(engine_conformance, zero_dimensional_and_empty) {
  const device_bytes x(e(), std::vector<double>{2.5});
  program_writer w({dtype::float64});
  const program p = w.finish(w(opcode::multiply, w.load(0), w.scalar(2.0)));
  EXPECT_EQ(run<double>(e(), p, {leaf_of(x.data(), dtype::float64, {})}, box::whole({})), std::vector<double>{5.0});
  EXPECT_EQ(run<double>(e(), p, {leaf_of(x.data(), dtype::float64, {1})}, box::whole({3})),
            std::vector<double>(3, 5.0));
  EXPECT_TRUE(run<double>(e(), p, {leaf_of(x.data(), dtype::float64, {1})}, {{4}, {4}}).empty());
  EXPECT_TRUE(run<double>(e(), p, {leaf_of(x.data(), dtype::float64, {1, 1})}, {{0, 2}, {7, 1}}).empty());
}

TEST_P(engine_conformance, unaligned_data) {
  const std::int64_t n = 1000;
  std::vector<double> x(static_cast<std::size_t>(n));
  std::iota(x.begin(), x.end(), 1.0);
  std::vector<std::byte> shifted(x.size() * sizeof(double) + 3);
  std::memcpy(shifted.data() + 3, x.data(), x.size() * sizeof(double));
  const device_bytes in(e(), shifted);
  const device_bytes out(e(), std::vector<std::byte>(shifted.size()));
  program_writer w({dtype::float64});
  const program p = w.finish(w(opcode::add, w.load(0), w.load(0)));
  const leaf_binding l = leaf_of(in.data() + 3, dtype::float64, {n});
  const output_binding o{out.data() + 3, dtype::float64, {8}};
  e().execute(p, {&l, 1}, {&o, 1}, box::whole({n}));
  const auto bytes = out.read<std::byte>(static_cast<std::int64_t>(shifted.size()));
  for (std::size_t i = 0; i < x.size(); ++i) {
    double got;
    std::memcpy(&got, bytes.data() + 3 + i * sizeof got, sizeof got);
    ASSERT_EQ(got, 2 * x[i]);
  }
}

TEST_P(engine_conformance, outputs_see_nothing_that_is_written) {
  // Both outputs replace the leaves they are made of.
  const std::int64_t n = 5000;
  std::vector<float> x(static_cast<std::size_t>(n)), y(x);
  std::iota(x.begin(), x.end(), 0.0f);
  std::iota(y.begin(), y.end(), 7.0f);
  const device_bytes dx(e(), x);
  const device_bytes dy(e(), y);
  program_writer w({dtype::float32, dtype::float32});
  const program p = w.finish(w(opcode::add, w.load(0), w.load(1)), w(opcode::multiply, w.load(0), w.load(1)));
  const leaf_binding leaves[] = {leaf_of(dx.data(), dtype::float32, {n}), leaf_of(dy.data(), dtype::float32, {n})};
  const output_binding outputs[] = {{dx.data(), dtype::float32, {4}}, {dy.data(), dtype::float32, {4}}};
  e().execute(p, leaves, outputs, box::whole({n}));
  const auto sum = dx.read<float>(n);
  const auto product = dy.read<float>(n);
  for (std::size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(sum[i], x[i] + y[i]);
    ASSERT_EQ(product[i], x[i] * y[i]);
  }
}

TEST_P(engine_conformance, stored_constants_and_copies) {
  const device_bytes x(e(), std::vector<std::int16_t>{1, 2, 3});
  program_writer w({dtype::int16});
  const auto load = w.load(0);
  const program p = w.finish(w.scalar(std::int32_t{7}), load, load);
  const device_bytes a(e(), 3000 * 4), b(e(), 6), c(e(), 6);
  const leaf_binding l = leaf_of(x.data(), dtype::int16, {3});
  const output_binding outputs[] = {
      {a.data(), dtype::int32, {4}}, {b.data(), dtype::int16, {2}}, {c.data(), dtype::int16, {2}}};
  e().execute(p, {&l, 1}, outputs, box::whole({3}));
  EXPECT_EQ(a.read<std::int32_t>(3), std::vector<std::int32_t>(3, 7));
  EXPECT_EQ(b.read<std::int16_t>(3), (std::vector<std::int16_t>{1, 2, 3}));
  EXPECT_EQ(c.read<std::int16_t>(3), (std::vector<std::int16_t>{1, 2, 3}));
  program_writer v;
  EXPECT_EQ(run<std::int32_t>(e(), v.finish(v.scalar(std::int32_t{9})), {}, box::whole({3, 1000})),
            std::vector<std::int32_t>(3000, 9));
}

TEST_P(engine_conformance, refuses) {
  const device_bytes x(e(), std::vector<std::int32_t>(8, -1));
  const leaf_binding l = leaf_of(x.data(), dtype::int32, {8});
  const device_bytes out(e(), 64);
  const output_binding o{out.data(), dtype::int32, {4}};
  program_writer leaving({dtype::int32});
  const program leaves_array = leaving.finish(leaving.load(0, {1}));
  EXPECT_THROW(e().execute(leaves_array, {&l, 1}, {&o, 1}, box::whole({8})), index_error);
  EXPECT_NO_THROW(e().execute(leaves_array, {&l, 1}, {&o, 1}, box::whole({7})));

  // Both ends of what is read are there, but something between them is not: nothing is written then.
  const auto partial = [&](std::int64_t lo, std::int64_t hi, boundary_kind kind) {
    leaf_binding part = l;
    part.window = {{lo}, {hi}};
    part.boundary = same_faces(1, {kind, number(std::int32_t{5})});
    return part;
  };
  using k = boundary_kind;
  for (const auto& [leaf, offset] : {std::pair{partial(1, 8, k::value), -1},
                                     {partial(2, 8, k::periodic), -2},
                                     {partial(0, 7, k::value), 1},
                                     {partial(0, 6, k::periodic), 2}}) {
    program_writer v({dtype::int32});
    const program shifted = v.finish(v.load(0, {offset}));
    const output_binding all{out.data(), dtype::int32, {4}};
    e().copy_from_host(out.data(), std::vector<std::int32_t>(8, 7).data(), 32);
    EXPECT_THROW(e().execute(shifted, {&leaf, 1}, {&all, 1}, box::whole({8})), index_error) << offset;
    EXPECT_EQ(out.read<std::int32_t>(8), std::vector<std::int32_t>(8, 7));
  }

  program_writer w({dtype::int32});
  const program power = w.finish(w(opcode::power, w.scalar(std::int32_t{2}), w.load(0)));
  EXPECT_THROW(e().execute(power, {&l, 1}, {&o, 1}, box::whole({8})), value_error);

  program_writer v({dtype::int32});
  const output_binding shared{out.data(), dtype::int32, {0}};
  EXPECT_THROW(e().execute(v.finish(v.load(0)), {&l, 1}, {&shared, 1}, box::whole({8})), value_error);
}

TEST_P(engine_conformance, serves_several_threads) {
  const std::int64_t n = 100000;
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const device_bytes x(e(), std::vector<double>(static_cast<std::size_t>(n), t));
      program_writer w({dtype::float64});
      const program p = w.finish(w(opcode::add, w.load(0), w.scalar(1.0)));
      for (int repeat = 0; repeat < 10; ++repeat) {
        const auto got = run<double>(e(), p, {leaf_of(x.data(), dtype::float64, {n})}, box::whole({n}));
        for (const double v : got) wrong[static_cast<std::size_t>(t)] += v != t + 1.0;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

}  // namespace serried::testing
