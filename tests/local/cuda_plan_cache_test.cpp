// Plans kept for the next time: what finds one again, what does not.
#include "local/cuda/plan_cache.hpp"

#include "local/cuda/linear.hpp"
#include "local/cuda/stencil.hpp"
#include "local/engine_support.hpp"
#include "local/iteration.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace serried::testing {
namespace {

using cuda::plan_cache;
using cuda::plan_key;

/// What an engine is asked to execute.
struct call {
  program code;
  std::vector<leaf_binding> leaves;
  std::vector<output_binding> outputs;
  box where;

  [[nodiscard]] plan_key key() const { return {code, leaves, outputs, where}; }
};

const std::byte* address(std::uintptr_t number) {
  return reinterpret_cast<const std::byte*>(number);  // nobody reads there
}

/// y = factor · x(+1) + 1, x of shape (20, 30) with a constant beyond its faces.
call scaled_neighbor(float factor) {
  program_writer w({dtype::float32});
  const auto x = w.load(0, {0, 1});
  const auto product = w(opcode::multiply, w.scalar(factor), x);
  call c{w.finish(w(opcode::add, product, w.scalar(1.0f))), {}, {}, box::whole({20, 30})};
  c.leaves = {leaf_of(address(0x10000), dtype::float32, {20, 30})};
  c.leaves[0].boundary = same_faces(2, {boundary_kind::value, number(3.0f)});
  c.outputs = {{const_cast<std::byte*>(address(0x20000)), dtype::float32, {120, 4}}};
  return c;
}

cuda::plan plan_of(const call& c) {
  const iteration it = make_iteration(c.code, c.leaves, c.outputs, c.where);
  auto l = cuda::plan_stencil(c.code, it, {});
  if (!l) l = cuda::plan_linear(c.code, it, {});
  return {nullptr, l->blocks, l->threads, l->words};
}

TEST(cuda_plan_cache, gives_back_what_was_kept) {
  plan_cache plans;
  cuda::plan found;
  const call c = scaled_neighbor(2);
  EXPECT_FALSE(plans.find(c.key(), found));
  plans.keep(c.key(), {nullptr, 7, 128, {1, 2, 3}});
  ASSERT_TRUE(plans.find(c.key(), found));
  EXPECT_EQ(found.blocks, 7u);
  EXPECT_EQ(found.threads, 128u);
  EXPECT_EQ(found.words, (std::vector<std::uint64_t>{1, 2, 3}));
}

TEST(cuda_plan_cache, changed_scalars_need_no_new_plan_and_are_passed) {
  plan_cache plans;
  const call before = scaled_neighbor(2);
  const call after = scaled_neighbor(-5);
  plans.keep(before.key(), plan_of(before));
  cuda::plan found;
  ASSERT_TRUE(plans.find(after.key(), found));
  EXPECT_NE(found.words, plan_of(after).words);
  found.set_scalars(after.code.scalars);
  EXPECT_EQ(found.words, plan_of(after).words);
}

// One element-wise program and one stencil with scalars of one and two words: the planners put them last.
TEST(cuda_plan_cache, scalars_of_all_sizes_stand_last) {
  const auto make = [](int value, const dims& offset) {
    program_writer w({dtype::complex128});
    auto r = w(opcode::multiply, w.load(0), w.scalar(std::complex<double>(value, 1 - value)));
    r = w(opcode::add, r, w.load(0, offset));
    r = w(opcode::add, r, w.scalar(static_cast<float>(value)));
    call c{w.finish(w(opcode::add, r, w.scalar(static_cast<std::int8_t>(value)))), {}, {}, box::whole({9, 40})};
    c.leaves = {leaf_of(address(0x10000), dtype::complex128, {9, 40})};
    c.leaves[0].boundary = same_faces(2, {boundary_kind::edge, {}});
    c.outputs = {{const_cast<std::byte*>(address(0x20000)), dtype::complex128, {640, 16}}};
    return c;
  };
  for (const dims& offset : {dims{}, dims{1, 0}}) {
    cuda::plan p = plan_of(make(3, offset));
    const call other = make(-4, offset);
    p.set_scalars(other.code.scalars);
    EXPECT_EQ(p.words, plan_of(other).words);
  }
}

TEST(cuda_plan_cache, whatever_else_changes_misses) {
  plan_cache plans;
  const call kept = scaled_neighbor(2);
  plans.keep(kept.key(), {});
  const std::vector<std::pair<const char*, std::function<void(call&)>>> changes{
      {"an operation", [](call& c) { c.code.code.back().op = opcode::subtract; }},
      {"an operand", [](call& c) { c.code.code.back().args[1] = 0; }},
      {"a dtype", [](call& c) { c.code.code.back().out = dtype::float64; }},
      {"the output register", [](call& c) { c.code.outputs[0] = 1; }},
      {"an offset", [](call& c) { c.code.loads[0].offset[1] = -1; }},
      {"no offset", [](call& c) { c.code.loads[0].offset = {}; }},
      {"a scalar's dtype", [](call& c) { c.code.scalars[0] = number(2.0); }},
      {"a leaf's address", [](call& c) { c.leaves[0].data += 4; }},
      {"a leaf's dtype", [](call& c) { c.leaves[0].type = dtype::int32; }},
      {"a leaf's extent", [](call& c) { c.leaves[0].extent[0] = 21; }},
      {"a leaf's window", [](call& c) { c.leaves[0].window.lo[1] = -1; }},
      {"the window's end", [](call& c) { c.leaves[0].window.hi[1] = 31; }},
      {"a leaf's stride", [](call& c) { c.leaves[0].stride[0] = 124; }},
      {"a boundary", [](call& c) { c.leaves[0].boundary[0].low.kind = boundary_kind::edge; }},
      {"no boundary", [](call& c) { c.leaves[0].boundary.clear(); }},
      {"a boundary's value", [](call& c) { c.leaves[0].boundary[1].high.value = number(4.0f); }},
      {"an output's address", [](call& c) { c.outputs[0].data += 4; }},
      {"an output's dtype", [](call& c) { c.outputs[0].type = dtype::int32; }},
      {"an output's stride", [](call& c) { c.outputs[0].stride[0] = 124; }},
      {"what lies around an output", [](call& c) { c.outputs[0].around.data = address(0x30000); }},
      {"how far before", [](call& c) { c.outputs[0].around.before = 1; }},
      {"how far behind", [](call& c) { c.outputs[0].around.behind = 1; }},
      {"the box's begin", [](call& c) { c.where.lo[0] = 1; }},
      {"the box's end", [](call& c) { c.where.hi[1] = 29; }},
  };
  for (const auto& [what, change] : changes) {
    call other = kept;
    change(other);
    cuda::plan found;
    EXPECT_FALSE(plans.find(other.key(), found)) << what;
  }
}

TEST(cuda_plan_cache, is_bounded) {
  plan_cache plans;
  call c = scaled_neighbor(2);
  for (std::size_t i = 0; i < 3 * plan_cache::capacity; ++i) {
    c.leaves[0].data += 4;
    plans.keep(c.key(), {nullptr, static_cast<std::uint32_t>(i), 1, {}});
    EXPECT_LE(plans.size(), plan_cache::capacity);
    cuda::plan found;
    ASSERT_TRUE(plans.find(c.key(), found));
    EXPECT_EQ(found.blocks, i);
  }
}

}  // namespace
}  // namespace serried::testing
