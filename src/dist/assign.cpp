#include <serried/dist/array.hpp>
#include <serried/error.hpp>

#include "dist/distribution.hpp"
#include "dist/evaluate.hpp"
#include "local/evaluate.hpp"

#include "local/assignment.hpp"
#include "local/check_leaves.hpp"
#include "local/reads_elsewhere.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace serried::inline v0 {

namespace {

bool share_data(const dist::array& a, const dist::array& b) {
  return a.local().data_storage() == b.local().data_storage();
}

// What a target is of the array that it is a slice of, the same on every rank.
box extent_of(const dist::array& a) { return box::whole(a.shape()).shifted(a.origin()); }

}  // namespace

void assign(const dist::array& target, const dist::expr& values) { assign({target}, {values}); }

void assign(std::initializer_list<dist::array> targets, std::initializer_list<dist::expr> values) {
  const std::vector<dist::array> to(targets);
  const std::vector<dist::expr> from(values);
  if (to.empty()) return;
  const mesh& grid = to.front().mesh();
  dist::alike(grid, [&] {
    if (to.size() != from.size())
      throw value_error(fmt::format("assign: {} targets and {} values", to.size(), from.size()));
    for (std::size_t i = 0; i < to.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j)
        if (share_data(to[i], to[j]) && !intersect(extent_of(to[i]), extent_of(to[j])).empty())
          throw value_error(fmt::format("assign: targets {} and {} overlap", j, i));
    }
  });

  // Targets that are distributed alike are one pass with one exchange; the passes' results appear together at the end.
  struct pass {
    expr_state<dist::array> e;
    std::vector<std::size_t> targets;
  };
  const auto passes = dist::alike(grid, [&] {
    std::vector<pass> result;
    std::vector<bool> done(to.size(), false);
    for (std::size_t first = 0; first < to.size(); ++first) {
      if (done[first]) continue;
      builder<dist::array> b(to[first].shape());
      std::vector<std::uint16_t> registers;
      pass p;
      for (std::size_t i = first; i < to.size(); ++i) {
        if (done[i] || !(*to[i].where() == *to[first].where())) continue;
        done[i] = true;
        registers.push_back(append_for(b, from[i], to[i].shape(), to[i].dtype()));
        p.targets.push_back(i);
      }
      p.e = b.finish(std::move(registers));
      check_leaves(p.e);
      dist::check_same_ranks(p.e, to[first].mesh());
      result.push_back(std::move(p));
    }
    return result;
  });

  std::vector<write_target> writes;
  for (const pass& p : passes) {
    std::vector<array> out;
    std::vector<rim> around;
    for (const std::size_t i : p.targets) {
      const auto sharing = std::count_if(to.begin(), to.end(), [&](const auto& t) { return share_data(t, to[i]); });
      writes.emplace_back(to[i].local(), to.size() > 1 || reads_elsewhere(p.e, to[i]), sharing == 1);
      out.push_back(writes.back().out());
      around.push_back(writes.back().around());
    }
    dist::run(p.e, *to[p.targets.front()].where(), out, around);
  }
  for (auto& w : writes) w.commit();
}

}  // namespace serried::inline v0
