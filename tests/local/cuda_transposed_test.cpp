// Kernels over transposed arrays: where they serve, and that they compile. Their results are the conformance suite's.
#include "local/cuda/compiler.hpp"
#include "local/cuda/transposed.hpp"
#include "local/engine_support.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace serried::testing {
namespace {

std::byte* array_number(std::uintptr_t i) { return reinterpret_cast<std::byte*>(i << 40); }

/// x.T + y over arrays that do not exist.
struct sum_of_transposed {
  program p;
  std::vector<leaf_binding> leaves;
  output_binding out;
  box where;

  sum_of_transposed(std::int64_t rows, std::int64_t columns, dtype type) {
    program_writer w({type, type});
    p = w.finish(w(opcode::add, w.load(0), w.load(1)));
    const shape s{rows, columns};
    const auto item = static_cast<std::int64_t>(item_size(type));
    leaves = {leaf_of(array_number(1), type, s), leaf_of(array_number(2), type, s)};
    leaves[0].stride = {item, rows * item};
    out = {array_number(3), type, contiguous_strides(s, item_size(type))};
    where = box::whole(s);
  }
  [[nodiscard]] std::optional<cuda::launch> plan() const {
    return cuda::plan_transposed(p, make_iteration(p, leaves, {&out, 1}, where));
  }
};

TEST(cuda_transposed, compiles) {
  const sum_of_transposed cases[] = {
      {100, 64, dtype::float32},   {101, 63, dtype::float32},   {100, 64, dtype::int8},
      {64, 64, dtype::complex128}, {1000, 100, dtype::float16}, {64, 64, dtype::float64},
  };
  for (const auto& c : cases) {
    const auto l = c.plan();
    ASSERT_TRUE(l);
    EXPECT_FALSE(cuda::compile(l->text(), "sm_90").empty());
  }
  EXPECT_FALSE(cuda::compile(cases[0].plan()->text(), "sm_75").empty());
  EXPECT_FALSE(cuda::compile(cases[3].plan()->text(), "sm_120").empty());
}

TEST(cuda_transposed, leaves_gathers_to_others) {
  sum_of_transposed with_gather(100, 64, dtype::float32);
  program_writer w({dtype::float32, dtype::float32});
  const auto sum = w(opcode::add, w.load(0), w.load(1));
  with_gather.p = w.finish(w(opcode::add, sum, w.gather(0, w.index(1), false)));
  EXPECT_FALSE(with_gather.plan());
}

TEST(cuda_transposed, text_depends_on_structure_alone) {
  const sum_of_transposed cases[] = {
      {64, 128, dtype::float32}, {4096, 1024, dtype::float32}, {4095, 1024, dtype::float32}};
  const auto small = cases[0].plan();
  const auto large = cases[1].plan();
  const auto odd = cases[2].plan();
  ASSERT_TRUE(small && large && odd);
  EXPECT_EQ(small->key, large->key);
  EXPECT_EQ(small->text(), large->text());
  EXPECT_NE(small->words, large->words);
  EXPECT_NE(small->key, odd->key);
}

TEST(cuda_transposed, leaves_the_rest_to_the_general_kernel) {
  EXPECT_TRUE(sum_of_transposed(16, 16, dtype::float32).plan());
  EXPECT_FALSE(sum_of_transposed(15, 64, dtype::float32).plan());  // short rows
  sum_of_transposed straight(64, 64, dtype::float32);
  straight.leaves[0].stride = straight.leaves[1].stride;
  EXPECT_FALSE(straight.plan());
  sum_of_transposed spread(64, 64, dtype::float32);
  spread.leaves[0].stride[0] *= 2;
  EXPECT_FALSE(spread.plan());
  sum_of_transposed unaligned(64, 64, dtype::float32);
  unaligned.leaves[0].data += 1;
  EXPECT_FALSE(unaligned.plan());
  sum_of_transposed bounded(64, 64, dtype::float32);
  for (leaf_binding& l : bounded.leaves) l.boundary = same_faces(2, {boundary_kind::edge, {}});
  bounded.p.loads[0].offset = {0, 1};
  EXPECT_FALSE(bounded.plan());
  sum_of_transposed failing(64, 64, dtype::int32);
  program_writer w({dtype::int32, dtype::int32});
  failing.p = w.finish(w(opcode::power, w.load(0), w.load(1)));
  EXPECT_FALSE(failing.plan());
}

}  // namespace
}  // namespace serried::testing
