// Stencil kernels: where they serve, what their text depends on, that it compiles; and where there is a GPU, that they
// give the host engine's bits.
#include "local/cuda/compiler.hpp"
#include "local/cuda/stencil.hpp"
#include "local/engine_support.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace serried::testing {
namespace {

constexpr std::int64_t field_gap = std::int64_t{1} << 40;  // between arrays that nobody touches

/// u + s·(the neighbors' sum − s·u) for `fields` fields, each of which also takes the others' results: leaf f is a
/// field, leaf fields + f the same field without boundary.
program diffusion(int ndim, dtype type, int fields = 1) {
  program_writer w(std::vector<dtype>(static_cast<std::size_t>(2 * fields), type));
  const auto factor = w.cast(w.scalar(0.25f), type);
  std::vector<std::uint16_t> results;
  for (int f = 0; f < fields; ++f) {
    const auto center = w.load(fields + f);
    std::optional<std::uint16_t> sum;
    for (int d = 0; d < ndim; ++d)
      for (const int side : {1, -1}) {
        dims offset = dims::filled(ndim, 0);
        offset[d] = side;
        const auto x = w.load(f, offset);
        sum = sum ? w(opcode::add, *sum, x) : x;
      }
    const auto change = w(opcode::subtract, *sum, w(opcode::multiply, factor, center));
    results.push_back(w(opcode::add, center, w(opcode::multiply, factor, change)));
  }
  auto mixed = results;
  for (std::size_t f = 1; f < results.size(); ++f) {
    mixed[f] = w(opcode::add, results[f], results[f - 1]);
    mixed[0] = w(opcode::subtract, mixed[0], results[f]);
  }
  program p = w.finish(0);
  p.outputs = mixed;
  return p;
}

/// A diffusion step over arrays that do not exist: plans look at addresses, never behind them.
struct step {
  program p;
  std::vector<leaf_binding> leaves;
  std::vector<output_binding> outputs;
  box where;

  step(const shape& s, dtype type, boundary_kind kind, int fields = 1) : p(diffusion(s.size(), type, fields)) {
    where = box::whole(s);
    if (kind == boundary_kind::none)  // the inside
      for (int d = 0; d < s.size(); ++d) ++where.lo[d], --where.hi[d];
    const auto address = [](std::int64_t i) {
      return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(i * field_gap));
    };
    for (int f = 0; f < fields; ++f) leaves.push_back(leaf_of(address(1 + f), type, s));
    leaves.insert(leaves.end(), leaves.begin(), leaves.begin() + fields);
    for (int f = 0; f < fields && kind != boundary_kind::none; ++f)
      leaves[static_cast<std::size_t>(f)].boundary = same_faces(s.size(), {kind, scalar_value{type, {}}});
    for (int f = 0; f < fields; ++f) {
      const strides stride = contiguous_strides(s, item_size(type));
      std::byte* data = address(100 + f);
      for (int d = 0; d < s.size(); ++d) data += where.lo[d] * stride[d];
      outputs.push_back({data, type, stride});
    }
  }
  /// The outputs continue the fields: around the box are their values.
  step& with_rim() {
    for (std::size_t f = 0; f < outputs.size(); ++f) {
      const std::byte* first = leaves[f].data;
      for (int d = 0; d < where.ndim(); ++d) first += where.lo[d] * leaves[f].stride[d];
      outputs[f].around = {first, 1, 1};
    }
    return *this;
  }
  [[nodiscard]] std::optional<cuda::launch> plan() const {
    return cuda::plan_stencil(p, make_iteration(p, leaves, outputs, where), {});
  }
};

void expect_compiles(const std::optional<cuda::launch>& l, std::string_view architecture) {
  ASSERT_TRUE(l);
  ASSERT_NO_THROW(EXPECT_FALSE(cuda::compile(l->text(), architecture, l->quick).empty())) << architecture;
}

TEST(cuda_stencil, compiles_for_every_kind_of_boundary_dimension_and_row) {
  using k = boundary_kind;
  const std::vector<step> steps{
      {{64, 64, 64}, dtype::float32, k::none},
      {{64, 64, 64}, dtype::float32, k::periodic},
      {{64, 64, 64}, dtype::float64, k::edge},
      {{64, 64, 64}, dtype::float32, k::value},
      {{33, 65, 129}, dtype::float32, k::none},
      {{33, 65, 129}, dtype::float64, k::periodic},
      {{33, 65, 129}, dtype::float64, k::value},
      {{100, 300}, dtype::float16, k::periodic},
      {{5000}, dtype::int8, k::edge},
      {{4, 5, 6, 32}, dtype::complex128, k::value},
      {{40, 40, 32}, dtype::float64, k::periodic, 5},
      {{4, 5, 6, 33}, dtype::bfloat16, k::edge},
  };
  for (const step& s : steps) expect_compiles(s.plan(), "sm_90");
  for (const std::size_t inside : {0u, 4u}) expect_compiles(step(steps[inside]).with_rim().plan(), "sm_90");
  expect_compiles(steps[0].plan(), "sm_75");
  expect_compiles(steps[5].plan(), "sm_75");
  expect_compiles(steps[3].plan(), "sm_120");
  expect_compiles(steps[10].plan(), "sm_120");
}

TEST(cuda_stencil, text_depends_on_structure_alone) {
  using k = boundary_kind;
  const auto small = step({64, 64, 128}, dtype::float32, k::periodic).plan();
  step other({128, 64, 256}, dtype::float32, k::periodic);
  other.p.scalars[0] = number(0.125f);
  const auto large = other.plan();
  ASSERT_TRUE(small && large);
  EXPECT_EQ(small->key, large->key);
  EXPECT_EQ(small->text(), large->text());
  EXPECT_NE(small->words, large->words);

  // The same pattern somewhere else in the array.
  step shifted({64, 64, 128}, dtype::float32, k::none);
  const auto inside = shifted.plan();
  shifted.where.hi[0] -= 7;
  for (leaf_load& l : shifted.p.loads) {
    if (l.offset.empty()) l.offset = {0, 0, 0};
    l.offset[0] += 7;
  }
  const auto moved = shifted.plan();
  ASSERT_TRUE(inside && moved);
  EXPECT_EQ(inside->key, moved->key);
  EXPECT_EQ(inside->text(), moved->text());

  const auto edge = step({64, 64, 128}, dtype::float32, k::edge).plan();
  const auto wide = step({64, 64, 128}, dtype::float64, k::periodic).plan();
  const auto odd = step({64, 64, 127}, dtype::float32, k::periodic).plan();
  ASSERT_TRUE(edge && wide && odd);
  for (const auto* l : {&edge, &wide, &odd, &inside}) {
    EXPECT_NE(small->key, (*l)->key);
    EXPECT_NE(small->text(), (*l)->text());
  }
}

std::size_t occurrences(const std::string& text, std::string_view what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

TEST(cuda_stencil, fetches_the_center_once) {
  // The boundary makes it another leaf, but it is the same array.
  const auto l = step({64, 64, 64}, dtype::float32, boundary_kind::periodic).plan();
  ASSERT_TRUE(l);
  // Two planes at the start; then the newest one and the rows beside.
  EXPECT_EQ(occurrences(l->text(), "load_wide<float, 4, true>(&"), 5u);
}

TEST(cuda_stencil, fills_the_gaps_between_rows) {
  for (const std::int64_t n : {64, 65}) {
    step inside({64, 64, n}, dtype::float32, boundary_kind::none);
    const auto plain = inside.plan();
    const auto filled = inside.with_rim().plan();
    ASSERT_TRUE(plain && filled);
    const std::string_view choice = "j < (int)a.w[2] ? ";  // in the row: the result, else what was there
    EXPECT_EQ(occurrences(plain->text(), choice), 0u) << n;
    EXPECT_GE(occurrences(filled->text(), choice), 1u) << n;
    inside.outputs[0].around.data += 4;  // other values than those that the program reads
    EXPECT_EQ(inside.plan()->key, plain->key) << n;
    inside.outputs[0].around = {inside.with_rim().outputs[0].around.data, 1, 2};  // more than it reads
    EXPECT_EQ(inside.plan()->key, plain->key) << n;
  }
}

TEST(cuda_stencil, follows_rows_that_begin_elsewhere) {
  // Rows of 4 k ± 1 elements: as many wide accesses in the plain loop, but for the plane below at the start, of which
  // only a corner is needed; results in one where they fit.
  for (const std::int64_t n : {65, 63}) {
    const auto l = step({64, n, n}, dtype::float32, boundary_kind::periodic).plan();
    ASSERT_TRUE(l);
    const std::string text = l->text();
    EXPECT_GE(occurrences(text, "load_wide<float, 4, true>(&"), 4u) << n;
    EXPECT_EQ(occurrences(text, "for (; i0 < end; ++i0)"), 2u) << n;
  }
  EXPECT_EQ(occurrences(step({64, 65, 66}, dtype::float32, boundary_kind::none).plan()->text(), "load_wide<float, 2"),
            5u);
}

TEST(cuda_stencil, leaves_the_rest_to_the_general_kernel) {
  const auto serves = [](const program& p, const leaf_binding& l, const output_binding& o, const box& where) {
    return cuda::plan_stencil(p, make_iteration(p, {&l, 1}, {&o, 1}, where), {}).has_value();
  };
  auto* const out = reinterpret_cast<std::byte*>(2 * field_gap);
  auto* const in = reinterpret_cast<std::byte*>(field_gap);
  const shape s{64, 64};
  const output_binding o{out, dtype::float32, contiguous_strides(s, 4)};
  leaf_binding l = leaf_of(in, dtype::float32, s);
  l.boundary = same_faces(2, {boundary_kind::edge, {}});

  program_writer w({dtype::float32});
  const program pair = w.finish(w(opcode::subtract, w.load(0, {0, 1}), w.load(0)));
  EXPECT_TRUE(serves(pair, l, o, box::whole(s)));
  program_writer one({dtype::float32});
  EXPECT_FALSE(serves(one.finish(one(opcode::negative, one.load(0, {0, 1}))), l, o, box::whole(s)));

  leaf_binding transposed = l;
  std::swap(transposed.stride[0], transposed.stride[1]);
  EXPECT_FALSE(serves(pair, transposed, o, box::whole(s)));
  leaf_binding unaligned = l;
  unaligned.data += 1;
  EXPECT_FALSE(serves(pair, unaligned, o, box::whole(s)));
  // complex128 moves in 16 bytes, which half of one does not begin.
  program_writer c({dtype::complex128});
  const program complex_pair = c.finish(c(opcode::subtract, c.load(0, {0, 1}), c.load(0)));
  leaf_binding numbers = leaf_of(in, dtype::complex128, s);
  numbers.boundary = same_faces(2, {boundary_kind::edge, {}});
  const output_binding to{out, dtype::complex128, numbers.stride};
  EXPECT_TRUE(serves(complex_pair, numbers, to, box::whole(s)));
  EXPECT_FALSE(serves(complex_pair, numbers, {out + 8, to.type, to.stride}, box::whole(s)));
  leaf_binding halfway = numbers;
  halfway.data += 8;
  EXPECT_FALSE(serves(complex_pair, halfway, to, box::whole(s)));
  halfway = numbers;
  halfway.stride[0] += 8;
  EXPECT_FALSE(serves(complex_pair, halfway, to, box::whole(s)));
  const output_binding spread{out, dtype::float32, {1024, 8}};
  EXPECT_FALSE(serves(pair, l, spread, box::whole(s)));

  // Twice around.
  const auto around = [&](int offset) {
    program_writer r({dtype::float32});
    const program p = r.finish(r(opcode::subtract, r.load(0, {offset, 0}), r.load(0)));
    leaf_binding ring = leaf_of(in, dtype::float32, {3, 64});
    ring.boundary = same_faces(2, {boundary_kind::periodic, {}});
    return serves(p, ring, {out, dtype::float32, contiguous_strides({3, 64}, 4)}, box::whole({3, 64}));
  };
  EXPECT_TRUE(around(3));
  EXPECT_FALSE(around(4));

  const shape vast{std::int64_t{1} << 31};
  program_writer v({dtype::float32});
  const program line = v.finish(v(opcode::subtract, v.load(0, {1}), v.load(0)));
  leaf_binding far = leaf_of(in, dtype::float32, vast);
  far.boundary = same_faces(1, {boundary_kind::edge, {}});
  EXPECT_FALSE(serves(line, far, {out, dtype::float32, {4}}, box::whole(vast)));

  program_writer f({dtype::int32});
  const program may_fail = f.finish(f(opcode::power, f.load(0, {0, 1}), f.load(0)));
  l.type = dtype::int32;
  EXPECT_FALSE(serves(may_fail, l, {out, dtype::int32, o.stride}, box::whole(s)));

  program_writer h({dtype::int32});
  const auto difference = h(opcode::subtract, h.load(0, {0, 1}), h.load(0));
  EXPECT_TRUE(serves(h.finish(difference), l, {out, dtype::int32, o.stride}, box::whole(s)));
  const program gathers = h.finish(h(opcode::add, difference, h.gather(0, h.index(1), false)));
  EXPECT_FALSE(serves(gathers, l, {out, dtype::int32, o.stride}, box::whole(s)));
}

// --- results, on a GPU ------------------------------------------------------------------------------------------

using generator = std::mt19937;
int pick(generator& g, int lo, int hi) { return std::uniform_int_distribution<int>(lo, hi)(g); }

/// A random stencil over random boxes, windows and boundaries; both engines give the same bits.
template <class T>
void compare_engines(engine& gpu, engine& host, unsigned seed) {
  generator g(seed);
  const int extents[] = {1, 2, 3, 7, 31, 64, 100, 128, 130};
  shape s = dims::filled(pick(g, 1, 4), 1);
  for (int d = s.size() - 1; d >= 0; --d) do
      s[d] = extents[pick(g, 0, 8)];
    while (element_count(s) > 100'000);
  if (pick(g, 0, 1) == 0) s[s.size() - 1] = 16 * pick(g, 1, 9);

  const dtype type = dtype_of<T>;
  leaf_binding l = leaf_of(nullptr, type, s);
  for (int d = 0; d < s.size(); ++d) {
    const auto side = [&] {
      const boundary_kind kinds[] = {boundary_kind::periodic, boundary_kind::edge, boundary_kind::value};
      return face{kinds[pick(g, 0, 2)], number(static_cast<T>(pick(g, 50, 90)))};
    };
    l.boundary.push_back({side(), side()});
    if (pick(g, 0, 3) != 0) continue;
    l.window.lo[d] -= pick(g, 0, 3);
    l.window.hi[d] += pick(g, 0, 3);
  }
  l.stride = contiguous_strides(l.window.extents(), sizeof(T));
  box where = box::whole(s);
  for (int d = 0; d < s.size() && pick(g, 0, 1) == 0; ++d) {
    where.lo[d] = pick(g, 0, static_cast<int>(s[d]) - 1);
    where.hi[d] = pick(g, static_cast<int>(where.lo[d]) + 1, static_cast<int>(s[d]));
  }

  program_writer w({type});
  auto sum = w.scalar(static_cast<T>(3));
  for (int n = pick(g, 2, 9); n > 0; --n) {
    dims offset = dims::filled(s.size(), 0);
    for (std::int64_t& o : offset)
      if (pick(g, 0, 2) == 0) o = pick(g, -3, 3);
    sum = w(opcode::add, sum, w.load(0, offset));
  }
  const program p = w.finish(w(opcode::multiply, sum, w.load(0)));

  std::vector<T> values(static_cast<std::size_t>(l.window.volume()));
  for (T& v : values) v = static_cast<T>(pick(g, -20, 20));
  const auto result = [&](engine& e) {
    const device_bytes memory(e, values);
    l.data = memory.data();
    return run<T>(e, p, {l}, where);
  };
  EXPECT_TRUE(same_bits(result(gpu), result(host))) << "seed " << seed << ", shape " << to_string(s);
}

TEST(cuda_stencil, gives_the_host_engines_bits) {
  const auto gpu = make_cuda_engine();
  if (!gpu) GTEST_SKIP() << "this machine does not have a GPU";
  const auto host = make_host_engine(2);
  for (unsigned seed = 0; seed < 60 && !HasFailure(); ++seed) {
    compare_engines<float>(*gpu, *host, seed);
    compare_engines<double>(*gpu, *host, seed + 1000);
    compare_engines<std::int8_t>(*gpu, *host, seed + 2000);
  }
}

}  // namespace
}  // namespace serried::testing
