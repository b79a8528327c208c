// Reductions' kernels without a GPU: their text compiles, and plans share the work as the arrays ask for.
#include "local/cuda/compiler.hpp"
#include "local/cuda/emit.hpp"
#include "local/cuda/reduce.hpp"
#include "local/engine_support.hpp"
#include "local/ops/reduction.hpp"

#include <serried/error.hpp>

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace serried::testing {
namespace {

alignas(64) std::byte memory[64];

program copy_of(dtype type) {
  program_writer w({type});
  return w.finish(w.load(0));
}

struct planned {
  cuda::reduction_launches launches;
  std::size_t scratch = 0;
};
planned plan(const program& p, const leaf_binding& leaf, const box& where, const reduction& r, bool finished = true,
             const cuda::device_traits& device = {}) {
  planned made;
  made.launches = cuda::plan_reduce(p, make_iteration(p, {&leaf, 1}, where, r, where), r, ops::results_of(r, where),
                                    finished, memory, device, [&](std::size_t bytes) {
                                      made.scratch = bytes;
                                      return memory;
                                    });
  return made;
}
planned plan(dtype type, const shape& s, const reduction& r) {
  return plan(copy_of(type), leaf_of(memory, type, s), box::whole(s), r);
}

void compile(const cuda::launch& l, const char* architecture) {
  EXPECT_FALSE(cuda::compile(l.text(), architecture).empty());
}

bool allowed(const reduction& r) {
  try {
    ops::check(r);
    return true;
  } catch (const dtype_error&) {
    return false;
  }
}

TEST(cuda_reductions, every_kind_and_dtype_compiles) {
  for (int t = 0; t < dtype_count; ++t) {
    for (const reduce_kind kind : {reduce_kind::sum, reduce_kind::prod, reduce_kind::min, reduce_kind::max}) {
      const auto type = static_cast<dtype>(t);
      if (!allowed({kind, 1, type})) continue;
      const planned p = plan(type, {1 << 24}, {kind, 1, type});
      ASSERT_TRUE(p.launches.second);
      compile(p.launches.first, "sm_90");
      compile(*p.launches.second, "sm_90");
    }
  }
}

TEST(cuda_reductions, other_architectures) {
  for (const char* architecture : {"sm_75", "sm_120"}) {
    for (const dtype type : {dtype::float16, dtype::float32, dtype::complex128}) {
      const reduction r{reduce_kind::sum, 1, type};
      compile(plan(type, {4096, 4096}, r).launches.first, architecture);
      compile(cuda::plan_finish(r, memory, 10, memory), architecture);
      compile(cuda::plan_align(r, memory, memory, 10), architecture);
    }
    compile(plan(dtype::float64, {4096, 4096}, {reduce_kind::max, 2, dtype::float64}).launches.first, architecture);
  }
}

TEST(cuda_reductions, maps_indices_boundaries_and_failures_compile) {
  const shape s{30, 40, 50};
  leaf_binding l = leaf_of(memory, dtype::float32, s);
  scalar_value two;
  two.type = dtype::float32;
  l.boundary = {{{boundary_kind::periodic, {}}, {boundary_kind::edge, {}}},
                {{boundary_kind::value, two}, {boundary_kind::periodic, {}}},
                {{boundary_kind::edge, {}}, {boundary_kind::value, two}}};
  program_writer w({dtype::float32});
  const auto shifted = w.load(0, {-1, 2, 1});
  const auto value = w(opcode::add, w(opcode::sin, shifted), w.cast(w.index(1), dtype::float32));
  const program p = w.finish(value);
  for (std::uint32_t axes = 0; axes < 8; ++axes)
    compile(plan(p, l, box::whole(s), {reduce_kind::sum, axes, dtype::float32}).launches.first, "sm_90");

  program_writer v({dtype::int32});
  const program power = v.finish(v(opcode::power, v.load(0), v.load(0)));
  ASSERT_TRUE(may_fail(power));
  compile(plan(power, leaf_of(memory, dtype::int32, {1000}), box::whole({1000}), {reduce_kind::max, 1, dtype::int32})
              .launches.first,
          "sm_90");
}

TEST(cuda_reductions, gathers_compile) {
  // A leaf's elements, backwards and weighted by a scalar; the arguments end with the scalars and the flag.
  for (const dtype type : {dtype::int8, dtype::float16, dtype::float32, dtype::complex128}) {
    program_writer w({type, dtype::int64});
    const auto value = w.gather(0, w(opcode::subtract, w.scalar(std::int64_t{99}), w.load(1)));
    const program p = w.finish(value);
    ASSERT_TRUE(may_fail(p));
    const leaf_binding leaves[] = {leaf_of(memory, type, {100}), leaf_of(memory, dtype::int64, {50, 60})};
    const box where = box::whole({50, 60});
    for (std::uint32_t axes = 0; axes < 4; ++axes) {
      const reduction r{reduce_kind::sum, axes, type};
      const cuda::launch l = cuda::plan_reduce(p, make_iteration(p, leaves, where, r, where), r,
                                               ops::results_of(r, where), true, memory, {}, {})
                                 .first;
      EXPECT_EQ(l.words.back(), 99u);
      EXPECT_NE(l.text().find("w[" + std::to_string(l.words.size() + 1) + "];"), std::string::npos);
      compile(l, "sm_90");
      if (axes == 1) compile(l, "sm_75");
      if (axes == 2) compile(l, "sm_120");
    }
  }
}

TEST(cuda_reductions, more_than_two_to_the_31_elements_count_in_64_bits) {
  const std::int64_t n = std::int64_t{3} << 30;
  const planned p = plan(dtype::int8, {n}, {reduce_kind::sum, 1, dtype::int8});
  EXPECT_EQ(p.launches.first.words[0], static_cast<std::uint64_t>(n));
  EXPECT_NE(p.launches.first.text().find("using index = long long"), std::string::npos);
  compile(p.launches.first, "sm_90");
  compile(plan(dtype::float32, {3, n / 3, 2}, {reduce_kind::sum, 5, dtype::float32}).launches.first, "sm_90");
}

TEST(cuda_reductions, text_depends_on_the_structure_alone) {
  // Sizes and addresses change words only; equal keys name equal texts.
  std::map<std::string, std::string> texts;
  const auto check = [&](const cuda::launch& l) {
    const auto [at, fresh] = texts.try_emplace(l.key, l.text());
    EXPECT_EQ(at->second, l.text());
  };
  const reduction all{reduce_kind::sum, 1, dtype::float32};
  for (const std::int64_t n : {100000, 1000000, 123456789}) check(plan(dtype::float32, {n}, all).launches.first);
  EXPECT_EQ(texts.size(), 1u);
  for (const std::uint32_t axes : {0u, 1u, 2u, 3u})
    for (const dtype type : {dtype::int32, dtype::float32})
      for (const bool finished : {false, true})
        for (const shape& s : {shape{1000, 1000}, shape{3, 1000000}, shape{1000000, 3}, shape{17, 17}})
          check(plan(copy_of(type), leaf_of(memory, type, s), box::whole(s), {reduce_kind::sum, axes, type}, finished)
                    .launches.first);
}

TEST(cuda_reductions, one_result_of_much_takes_all_multiprocessors) {
  const planned p = plan(dtype::float32, {1 << 28}, {reduce_kind::sum, 1, dtype::float32});
  const auto blocks = static_cast<std::int64_t>(p.launches.first.blocks);
  EXPECT_GE(blocks, 132 * 4 * 95 / 100);
  EXPECT_EQ(p.scratch, static_cast<std::size_t>(blocks) * 72);
  // What a block's integers hold: 2^22 numbers.
  const std::int64_t n = std::int64_t{1} << 36;
  const planned large = plan(dtype::float32, {n}, {reduce_kind::sum, 1, dtype::float32});
  EXPECT_GE(static_cast<std::int64_t>(large.launches.first.blocks), n >> 22);
}

TEST(cuda_reductions, little_takes_one_launch) {
  EXPECT_FALSE(plan(dtype::float32, {1000}, {reduce_kind::sum, 1, dtype::float32}).launches.second);
  EXPECT_FALSE(plan(dtype::float32, {1000000, 3}, {reduce_kind::sum, 2, dtype::float32}).launches.second);
  EXPECT_FALSE(plan(dtype::float32, {16384, 16384}, {reduce_kind::sum, 2, dtype::float32}).launches.second);
}

TEST(cuda_reductions, products_of_floats_are_shared_out_alike_on_all_devices) {
  const reduction r{reduce_kind::prod, 1, dtype::float64};
  const shape s{1 << 22};
  const auto words = [&](int multiprocessors) {
    return plan(copy_of(dtype::float64), leaf_of(memory, dtype::float64, s), box::whole(s), r, true,
                {multiprocessors, 9, 0})
        .launches.first.words;
  };
  EXPECT_EQ(words(1), words(132));
}

TEST(cuda_reductions, products_of_floats_do_not_depend_on_addresses) {
  // The same kernel with the same words, wherever the numbers lie between multiples of 16.
  for (const auto& [type, step] :
       {std::pair{dtype::float16, 2}, {dtype::float32, 4}, {dtype::float64, 8}, {dtype::complex64, 8}}) {
    const shape s{1 << 20};
    const auto plan_at = [&, t = type](const std::byte* data) {
      return plan(copy_of(t), leaf_of(data, t, s), box::whole(s), {reduce_kind::prod, 1, t}).launches.first;
    };
    const cuda::launch aligned = plan_at(memory);
    const cuda::launch moved = plan_at(memory + step);
    EXPECT_EQ(aligned.key, moved.key);
    EXPECT_EQ(aligned.text(), moved.text());
    int different = 0;
    for (std::size_t w = 0; w < aligned.words.size(); ++w) different += aligned.words[w] != moved.words[w];
    EXPECT_EQ(different, 1);  // the address
  }
}

TEST(cuda_reductions, aligned_rows_are_read_in_16_bytes_and_others_are_not) {
  const reduction r{reduce_kind::sum, 2, dtype::float32};
  const auto text = [&](const std::byte* data, const shape& s) {
    return plan(copy_of(dtype::float32), leaf_of(data, dtype::float32, s), box::whole(s), r).launches.first.text();
  };
  EXPECT_NE(text(memory, {1000, 1000}).find("load<float, vector, 16>"), std::string::npos);
  EXPECT_EQ(text(memory + 4, {1000, 1000}).find("load<float, vector, 16>"), std::string::npos);
  EXPECT_EQ(text(memory, {1000, 1001}).find("load<float, vector, 16>"), std::string::npos);
}

}  // namespace
}  // namespace serried::testing
