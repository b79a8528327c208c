// Element-wise kernels without a GPU: their text compiles, and plans are what the arrays ask for.
#include "local/cuda/compiler.hpp"
#include "local/cuda/divisor.hpp"
#include "local/cuda/emit.hpp"
#include "local/cuda/kernel_cache.hpp"
#include "local/cuda/linear.hpp"
#include "local/cuda/linear_form.hpp"
#include "local/engine_support.hpp"

#include <serried/error.hpp>

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace serried::testing {
namespace {

constexpr int operations_begin = static_cast<int>(opcode::cast) + 1;
constexpr int operations_end = static_cast<int>(opcode::count_);

std::optional<ops::signature> signature_of(opcode op, const std::vector<dtype>& operands) {
  try {
    return ops::resolve(op, operands);
  } catch (const dtype_error&) {
    return {};
  }
}

/// One program for each operation and dtype that it computes in.
std::vector<program> all_operations() {
  std::vector<program> all;
  for (int k = operations_begin; k < operations_end; ++k) {
    for (int t = 0; t < dtype_count; ++t) {
      const auto op = static_cast<opcode>(k);
      std::vector<dtype> operands(static_cast<std::size_t>(argument_count(op)), static_cast<dtype>(t));
      if (op == opcode::where) operands[0] = dtype::bool_;
      const auto s = signature_of(op, operands);
      if (!s || s->operand != operands.back()) continue;
      program_writer w(operands);
      for (std::size_t a = 0; a < operands.size(); ++a) w.load(static_cast<int>(a));
      if (operands.size() == 1) all.push_back(w.finish(w(op, 0)));
      else if (operands.size() == 2) all.push_back(w.finish(w(op, 0, 1)));
      else all.push_back(w.finish(w(op, 0, 1, 2)));
    }
  }
  for (const dtype t : {dtype::float16, dtype::float32, dtype::float64}) {  // its exponent alone is an integer
    program_writer w({t, dtype::int32});
    const auto x = w.load(0);
    all.push_back(w.finish(w(opcode::ldexp, x, w.load(1))));
  }
  return all;
}

std::vector<program> all_casts() {
  std::vector<program> all;
  for (int from = 0; from < dtype_count; ++from) {
    for (int to = 0; to < dtype_count; ++to) {
      if (from == to) continue;
      program_writer w({static_cast<dtype>(from)});
      all.push_back(w.finish(w.cast(w.load(0), static_cast<dtype>(to))));
    }
  }
  return all;
}

/// One text with a kernel for each program, which computes one element.
std::string one_text(const std::vector<program>& programs, std::size_t every) {
  std::string text;
  for (std::size_t k = 0; k < programs.size(); k += every) {
    const program& p = programs[k];
    text += cuda::preamble_of(p) + "extern \"C\" __global__ void kernel" + std::to_string(k) + "(";
    for (std::size_t l = 0; l < p.leaves.size(); ++l)
      text += "const " + std::string(cuda::element_type(p.leaves[l])) + "* x" + std::to_string(l) + ", ";
    const std::uint16_t out = p.outputs[0];
    text += std::string(cuda::element_type(p.code[out].out)) + "* y, unsigned* failed) {\n";
    text += cuda::statements(p, {[](int load) { return "x" + std::to_string(load) + "[threadIdx.x]"; }, {}, {}}, "r");
    text += "y[threadIdx.x] = r" + std::to_string(out) + ";\n}\n";
  }
  return text;
}

void expect_compiles(const std::string& text, const char* architecture, bool quick = false) {
  try {
    EXPECT_FALSE(cuda::compile(text, architecture, quick).empty());
  } catch (const library_error& e) {
    ADD_FAILURE() << architecture << ": " << e.what();
  }
}

TEST(cuda_kernels, all_operations_compile) {
  const std::vector<program> all = all_operations();
  EXPECT_GT(all.size(), 500u);
  expect_compiles(one_text(all, 1), "sm_90");
  expect_compiles(one_text(all, 7), "sm_75");
  expect_compiles(one_text(all, 7), "sm_120");
}

TEST(cuda_kernels, all_casts_compile) {
  const std::vector<program> all = all_casts();
  EXPECT_EQ(all.size(), 15u * 14u);
  expect_compiles(one_text(all, 1), "sm_90");
  expect_compiles(one_text(all, 1), "sm_75");
  expect_compiles(one_text(all, 1), "sm_120");
}

TEST(cuda_kernels, statements_read_like_the_program) {
  program_writer w({dtype::float32, dtype::float16});
  const auto x = w.load(0);
  const auto unused = w(opcode::sin, x);
  const auto scaled = w(opcode::multiply, x, w.scalar(2.0f));
  const auto left = w.load(1);
  const auto right = w.load(1);
  const auto small = w(opcode::less, left, right);
  const auto chosen = w(opcode::where, small, scaled, x);
  const program p = w.finish(chosen, w(opcode::square, left));
  EXPECT_EQ(w.type_of(unused), dtype::float32);
  const std::string text = cuda::statements(p,
                                            {[](int load) { return "x" + std::to_string(load); },
                                             [](int scalar) { return cuda::scalar_text(dtype::float32, 5 + scalar); },
                                             {}},
                                            "r");
  EXPECT_EQ(text,
            "const float r0 = x0;\n"
            "const float r2 = ops::float_of(ops::u32(a.w[5]));\n"
            "const float r3 = ops::multiply(r0, r2);\n"
            "const ops::half r4 = x1;\n"
            "const ops::half r5 = x2;\n"
            "const bool r6 = ops::to_float(r4) < ops::to_float(r5);\n"
            "const float r7 = r6 ? r3 : r0;\n"
            "const ops::half r8 = ops::convert<ops::half>(ops::multiply(ops::to_float(r4), ops::to_float(r4)));\n");
}

TEST(cuda_kernels, include_no_more_than_they_use) {
  const auto includes = [](opcode op, dtype t) {
    program_writer w({t});
    const std::string text = cuda::preamble_of(w.finish(w(op, w.load(0))));
    return std::pair(text.find("special.hpp") != std::string::npos,
                     text.find("complex_functions.hpp") != std::string::npos);
  };
  EXPECT_EQ(includes(opcode::sin, dtype::float32), std::pair(false, false));
  EXPECT_EQ(includes(opcode::erf, dtype::float32), std::pair(true, false));
  EXPECT_EQ(includes(opcode::sin, dtype::complex64), std::pair(false, true));
  EXPECT_EQ(includes(opcode::square, dtype::complex64), std::pair(false, false));
}

TEST(cuda_kernels, only_checked_powers_can_fail) {
  const auto power = [](dtype t) {
    program_writer w({t});
    const auto x = w.load(0);
    return w.finish(w(opcode::power, x, x));
  };
  EXPECT_TRUE(may_fail(power(dtype::int32)));
  EXPECT_FALSE(may_fail(power(dtype::uint32)));
  EXPECT_FALSE(may_fail(power(dtype::float32)));
}

TEST(cuda_kernels, gathers_look_at_their_indices) {
  program_writer w({dtype::float16, dtype::int64});
  const auto at = w.load(1);
  const auto checked = w.gather(0, at);
  const auto unchecked = w.gather(0, at, false);
  const program p = w.finish(checked, unchecked);
  const std::string text =
      cuda::statements(p, {[](int) { return std::string("x"); }, {}, {}, [](int leaf) { return 7 + 2 * leaf; }}, "r");
  EXPECT_EQ(text,
            "const ops::i64 r0 = x;\n"
            "if (static_cast<ops::u64>(r0) >= a.w[8]) *failed = 2u;\n"
            "const ops::half r1 = element<ops::half>(a.w[7], a.w[8], r0);\n"
            "const ops::half r2 = element<ops::half>(a.w[7], a.w[8], r0);\n");
  EXPECT_TRUE(may_fail(p));
  EXPECT_NE(cuda::structure_key(w.finish(checked)), cuda::structure_key(w.finish(unchecked)));
}

TEST(cuda_kernels, structure_keys_differ_where_programs_do) {
  const auto make = [](const std::function<void(program&)>& change) {
    program_writer w({dtype::float32, dtype::float32});
    const auto x = w.load(0, {1});
    const auto sum = w(opcode::add, x, w.load(1));
    program p = w.finish(w(opcode::multiply, sum, w.scalar(2.0f)), sum);
    change(p);
    return p;
  };
  const program p = make([](program&) {});
  EXPECT_EQ(cuda::structure_key(p), cuda::structure_key(make([](program& q) { q.scalars[0] = number(3.0f); })));
  const std::function<void(program&)> changes[] = {[](program& q) { q.code[2].op = opcode::subtract; },
                                                   [](program& q) {
                                                     q.code[2].args = {1, 0};
                                                   },
                                                   [](program& q) { q.code[0].out = dtype::int32; },
                                                   [](program& q) { q.code[2].in = dtype::int32; },
                                                   [](program& q) { q.loads[1].leaf = 0; },
                                                   [](program& q) { q.leaves[1] = dtype::int32; },
                                                   [](program& q) {
                                                     q.outputs = {2, 4};
                                                   },
                                                   [](program& q) { q.outputs.pop_back(); },
                                                   [](program& q) { q.scalars[0].type = dtype::int32; }};
  std::map<std::string, int> seen{{cuda::structure_key(p), 0}}, without_offsets{{cuda::structure_key(p, false), 0}};
  for (const auto& change : changes) {
    const program q = make(change);
    EXPECT_TRUE(seen.emplace(cuda::structure_key(q), 0).second);
    EXPECT_TRUE(without_offsets.emplace(cuda::structure_key(q, false), 0).second);
  }
  for (const dims& offset : {dims{2}, dims{}, dims{1, 0}}) {
    const program q = make([&](program& r) { r.loads[0].offset = offset; });
    EXPECT_TRUE(seen.emplace(cuda::structure_key(q), 0).second);
    EXPECT_EQ(cuda::structure_key(q, false), cuda::structure_key(p, false));
  }
}

TEST(cuda_kernels, divisors_divide) {
  __extension__ using wide = unsigned __int128;
  std::mt19937_64 g(1);
  std::vector<std::uint64_t> numbers{1, 2, 3, 5, 7, 641, 1u << 30, (1u << 30) + 1, 0x7ffffffeu, 0x7fffffffu};
  for (int i = 0; i < 300; ++i) numbers.push_back((g() >> 33 >> i % 31) + 1);
  for (const std::uint64_t d : numbers) {
    const auto narrow = cuda::divisor_words(static_cast<std::int64_t>(d), false);
    ASSERT_EQ(narrow[0], d);
    ASSERT_LE(narrow[1], 0xffffffffu);
    for (std::uint64_t n : numbers) {
      for (const std::uint64_t x : {n, n - 1, n / d * d, n / d * d + d - 1})
        if (x <= 0x7fffffffu) {
          ASSERT_EQ(((2 * x * narrow[1]) >> 32) >> narrow[2], x / d) << x << " / " << d;
        }
    }
  }
  for (int i = 0; i < 300; ++i) numbers.push_back((g() >> 1 >> i % 63) + 1);
  for (const std::uint64_t d : numbers) {
    const auto w = cuda::divisor_words(static_cast<std::int64_t>(d), true);
    for (const std::uint64_t n : numbers) {
      if (n >> 63 != 0) continue;
      for (const std::uint64_t x : {n, n - 1, n / d * d}) {
        const auto product = static_cast<std::uint64_t>((wide{2 * x} * w[1]) >> 64);
        ASSERT_EQ(product >> w[2], x / d) << x << " / " << d;
      }
    }
  }
}

// ---- Launches. Their arrays lie at made-up addresses.

const std::byte* address(std::uint64_t a) { return reinterpret_cast<const std::byte*>(a); }
constexpr std::uint64_t somewhere = 0x700000000000, elsewhere = 0x710000000000;

cuda::launch plan(const program& p, const std::vector<leaf_binding>& leaves, const std::vector<output_binding>& outputs,
                  const box& where) {
  return cuda::plan_linear(p, make_iteration(p, leaves, outputs, where), {});
}
output_binding output_at(std::uint64_t a, dtype type, const shape& s) {
  return {const_cast<std::byte*>(address(a)), type, contiguous_strides(s, item_size(type))};
}

program doubled(dtype t) {
  program_writer w({t});
  const auto x = w.load(0);
  return w.finish(w(opcode::add, x, x));
}
cuda::launch plan_doubled(const program& p, const shape& s, std::uint64_t from = somewhere,
                          std::uint64_t to = elsewhere) {
  return plan(p, {leaf_of(address(from), p.leaves[0], s)}, {output_at(to, p.leaves[0], s)}, box::whole(s));
}

/// Elements that each thread reads and writes together, as the text says.
int group_of(const cuda::launch& l) {
  const std::string text = l.text();
  return std::stoi(text.substr(text.find("groups of ") + 10));
}
int words_in(const std::string& text) { return std::stoi(text.substr(text.find(" w[") + 3)); }

TEST(cuda_kernels, sixteen_bytes_of_the_widest_type) {
  const std::pair<dtype, int> wanted[] = {{dtype::int8, 16},   {dtype::bfloat16, 8},  {dtype::float32, 4},
                                          {dtype::float64, 2}, {dtype::complex64, 2}, {dtype::complex128, 1}};
  for (const auto& [type, group] : wanted) {
    const program p = doubled(type);
    const cuda::launch l = plan_doubled(p, {1 << 20});
    EXPECT_EQ(group_of(l), group) << name(type);
    // Every element once: groups of all blocks' threads, in as many blocks as that takes.
    EXPECT_EQ(l.words[0] * static_cast<std::uint64_t>(group), 1u << 20);
    EXPECT_EQ(l.blocks, l.words[1]);
  }
  program_writer w({dtype::int8});
  const program widening = w.finish(w.cast(w.load(0), dtype::float64));
  EXPECT_EQ(group_of(plan(widening, {leaf_of(address(somewhere), dtype::int8, {64})},
                          {output_at(elsewhere, dtype::float64, {64})}, box::whole({64}))),
            2);
}

TEST(cuda_kernels, groups_begin_where_the_output_is_aligned) {
  const program p = doubled(dtype::float32);
  const cuda::launch l = plan_doubled(p, {1001}, somewhere, elsewhere + 4);
  EXPECT_EQ(group_of(l), 4);
  EXPECT_EQ(l.words[5], 3u);                     // elements before the first group
  EXPECT_EQ(l.words[4], 3u + (1001u - 3u) % 4);  // elements outside groups
  EXPECT_EQ(l.blocks, l.words[1] + 1);
  EXPECT_EQ(group_of(plan_doubled(p, {1001}, somewhere, elsewhere + 2)), 1);
  // Rows that begin at different places in 16 bytes.
  program_writer w({dtype::float32, dtype::float32});
  const program sum = w.finish(w(opcode::add, w.load(0), w.load(1)));
  const auto with_row = [&](std::int64_t columns) {
    const shape s{100, columns};
    return group_of(plan(
        sum, {leaf_of(address(somewhere), dtype::float32, s), leaf_of(address(somewhere), dtype::float32, {columns})},
        {output_at(elsewhere, dtype::float32, s)}, box::whole(s)));
  };
  EXPECT_EQ(with_row(512), 4);
  EXPECT_EQ(with_row(514), 2);
  EXPECT_EQ(with_row(513), 1);
  EXPECT_EQ(with_row(3), 1);
}

TEST(cuda_kernels, wide_arithmetic_where_some_operand_needs_it) {
  const auto index_type = [](const cuda::launch& l) {
    const std::string text = l.text();
    return std::pair(text.find("using index = unsigned long long;") != std::string::npos,
                     text.find("using offset = long long;") != std::string::npos);
  };
  const program p = doubled(dtype::float32);
  constexpr std::int64_t giga = std::int64_t{1} << 30;
  EXPECT_EQ(index_type(plan_doubled(p, {giga / 4})), std::pair(false, false));
  EXPECT_EQ(index_type(plan_doubled(p, {giga})), std::pair(false, true));
  EXPECT_EQ(index_type(plan_doubled(p, {16 * giga})), std::pair(true, true));
  // A small part of a large array: the leaf's rows lie far apart.
  const shape s{100, 64};
  leaf_binding far = leaf_of(address(somewhere), dtype::float32, s);
  far.stride[0] = giga;
  EXPECT_EQ(index_type(plan(p, {far}, {output_at(elsewhere, dtype::float32, s)}, box::whole(s))),
            std::pair(false, true));
}

TEST(cuda_kernels, extents_addresses_and_scalars_are_arguments) {
  const program p = doubled(dtype::float32);
  const cuda::launch small = plan_doubled(p, {256});
  const cuda::launch large = plan_doubled(p, {1 << 24}, somewhere + 512, elsewhere + 512);
  EXPECT_EQ(small.key, large.key);
  EXPECT_EQ(small.text(), large.text());
  EXPECT_EQ(plan_doubled(p, {8, 32}).key, small.key);
  EXPECT_NE(plan_doubled(p, {256}, somewhere + 4).key, small.key);
}

TEST(cuda_kernels, more_arguments_than_a_kernel_takes_are_refused) {
  // Each load takes the words of four boundaries with two complex128 values each.
  const shape s{8, 8, 8, 8};
  leaf_binding l = leaf_of(address(somewhere), dtype::complex128, s);
  l.boundary = same_faces(4, {boundary_kind::value, scalar_value{dtype::complex128, {}}});
  const auto sum_of = [](int loads) {
    program_writer w({dtype::complex128});
    std::uint16_t sum = w.load(0);
    for (std::int64_t k = 0; k < loads; ++k) {
      const dims corner{k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1, k & 8 ? 1 : -1};
      sum = w(opcode::add, sum, w.load(0, corner));
    }
    return w.finish(sum);
  };
  cuda::kernel_cache kernels({});
  const program large = sum_of(127);
  const cuda::launch refused = plan(large, {l}, {output_at(elsewhere, dtype::complex128, s)}, box::whole(s));
  try {
    (void)kernels.get(refused);
    FAIL() << refused.words.size() << " words";
  } catch (const value_error& e) {
    const std::string what = e.what();
    EXPECT_NE(what.find(std::to_string(8 * refused.words.size()) + " bytes"), std::string::npos) << what;
    EXPECT_NE(what.find("eval()"), std::string::npos) << what;
  }

  // The most that is let through, and what is beyond.
  const auto text = [](int words) {
    return "struct arguments { unsigned long long w[" + std::to_string(words) +
           "]; };\nextern \"C\" __global__ void kernel(const __grid_constant__ arguments a) {}\n";
  };
  for (const char* architecture : {"sm_75", "sm_90", "sm_120"}) {
    expect_compiles(text(4095), architecture);
    EXPECT_THROW((void)cuda::compile(text(4096), architecture), library_error);
  }
}

/// Programs over arrays of all layouts: what linear kernels must be able to do.
std::vector<std::pair<program, cuda::launch>> variants() {
  std::vector<std::pair<program, cuda::launch>> all;
  all.reserve(200);  // launches look at the programs when they write their text
  const auto add = [&](program p, const std::vector<leaf_binding>& leaves, const std::vector<output_binding>& outputs,
                       const box& where) {
    all.emplace_back(std::move(p), cuda::launch{});
    all.back().second = plan(all.back().first, leaves, outputs, where);
  };
  const shape s{6, 7, 32};
  for (const dtype t : {dtype::uint8, dtype::float16, dtype::float32, dtype::complex128}) {
    leaf_binding l = leaf_of(address(somewhere), t, s);
    const output_binding out = output_at(elsewhere, t, s);
    add(doubled(t), {l}, {out}, box::whole(s));
    l.stride = {8, 8 * 16 * 6, 8 * 16 * 42};  // columns far apart
    add(doubled(t), {l}, {out}, box::whole(s));
    l = leaf_of(address(somewhere), t, {7, 1});
    add(doubled(t), {l}, {out}, box::whole(s));
    // Boundaries of each kind, along each dimension.
    for (const dims& offset : {dims{1, 0, 0}, dims{0, -1, 0}, dims{0, 0, 2}, dims{-1, 1, -1}}) {
      for (const boundary_kind kind : {boundary_kind::periodic, boundary_kind::edge, boundary_kind::value}) {
        scalar_value value;
        value.type = t;
        l = leaf_of(address(somewhere), t, s);
        l.boundary = same_faces(3, {kind, value});
        program_writer w({t});
        add(w.finish(w.load(0, offset)), {l}, {out}, box::whole(s));
      }
    }
  }
  // Two outputs, index nodes, a scalar of two words, 64-bit arithmetic; a program that can fail.
  program_writer w({dtype::float32});
  const auto z = w(opcode::multiply, w.cast(w.load(0), dtype::complex128), w.scalar(std::complex<double>(1, 2)));
  const auto i = w(opcode::add, w.index(0), w.index(2));
  const program two = w.finish(z, i);
  for (const std::int64_t rows : {std::int64_t{6}, std::int64_t{1} << 40}) {
    const shape tall{rows, 7, 32};
    add(two, {leaf_of(address(somewhere), dtype::float32, {7, 32})},
        {output_at(elsewhere, dtype::complex128, tall), output_at(somewhere + (1u << 30), dtype::int64, tall)},
        box::whole(tall));
  }
  // Gathers from two leaves of every dtype, with scalars behind their words.
  for (int number = 0; number < dtype_count; ++number) {
    const auto t = static_cast<dtype>(number);
    program_writer g({t, dtype::int32, t});
    const auto numbers = g(opcode::add, g.cast(g.load(1), dtype::int64), g.scalar(std::int64_t{3}));
    const auto first = g.gather(0, numbers);
    const program both =
        g.finish(g(opcode::where, g(opcode::less, numbers, g.index(1)), first, g.gather(2, g.index(0))));
    add(both,
        {leaf_of(address(somewhere), t, {50, 3}), leaf_of(address(elsewhere), dtype::int32, s),
         leaf_of(address(somewhere), t, {6})},
        {output_at(elsewhere + (1u << 20), t, s)}, box::whole(s));
  }
  program_writer v({dtype::int16});
  add(v.finish(v(opcode::power, v.load(0), v.load(0))), {leaf_of(address(somewhere), dtype::int16, s)},
      {output_at(elsewhere, dtype::int16, s)}, box::whole(s));
  return all;
}

TEST(cuda_kernels, memory_is_known_to_be_global) {
  // Their conversions and their sine keep the compiler from finding out.
  for (const dtype type : {dtype::float16, dtype::float32}) {
    program_writer w({type});
    const program p = w.finish(w(opcode::sin, w.load(0)));
    const shape s{1000};
    const cuda::launch l =
        plan(p, {leaf_of(address(somewhere), type, s)}, {output_at(elsewhere, type, s)}, box::whole(s));
    EXPECT_TRUE(l.quick);
    const std::string ptx = cuda::compile(l.text(), "compute_90", l.quick);
    EXPECT_NE(ptx.find("\tld.global.v4"), std::string::npos);
    EXPECT_NE(ptx.find("\tst.global.v4"), std::string::npos);
    EXPECT_EQ(ptx.find("\tld.v4"), std::string::npos);
    EXPECT_EQ(ptx.find("\tst.v4"), std::string::npos);
  }
}

TEST(cuda_kernels, linear_variants_compile) {
  std::map<std::string, std::string> texts;
  std::size_t k = 0;
  const auto all = variants();
  for (const auto& [p, l] : all) {
    const std::string text = l.text();
    EXPECT_EQ(static_cast<std::size_t>(words_in(text)), l.words.size() + (may_fail(p) ? 1 : 0));
    const auto [known, fresh] = texts.emplace(l.key, text);
    EXPECT_EQ(known->second, text);
    if (!fresh) continue;
    expect_compiles(text, "sm_90", l.quick);
    if (k % 6 == 0) expect_compiles(text, "sm_75", l.quick);
    if (k++ % 6 == 3) expect_compiles(text, "sm_120", l.quick);
  }
  EXPECT_GT(texts.size(), 40u);
}

}  // namespace
}  // namespace serried::testing
