// Running expressions over distributed arrays.
#pragma once

#include <serried/dist/array.hpp>

#include "comm/backend.hpp"
#include "dist/distribution.hpp"
#include "local/evaluate.hpp"
#include "local/expr_state.hpp"

#include <cstdint>
#include <span>
#include <utility>

namespace serried::inline v0::dist {

// What local/expr_impl.hpp needs to know of an array. (Found by argument-dependent look-up.)
[[nodiscard]] inline std::uint64_t version_of(const array& a) { return serried::version_of(a.local()); }
[[nodiscard]] bool same_view(const array& a, const array& b);
[[nodiscard]] inline bool may_overlap(const array& a, const array& b) {
  return serried::may_overlap(a.local(), b.local());
}
[[nodiscard]] array evaluate(const expr_state<array>& e);

/// Throws value_error when a leaf lives on other ranks than the mesh's. (Meshes over the same ranks go together.)
void check_same_ranks(const expr_state<array>& e, const serried::mesh& grid);

/// The element-wise expression's values, distributed in a given way.
[[nodiscard]] array evaluate_as(const expr_state<array>& e, const distribution_ptr& where);

/// Runs an element-wise expression; outputs[i] is this rank's shard of output i, of a global array distributed as
/// `where`. Elements of other ranks are fetched while the interior is computed.
void run(const expr_state<array>& e, const distribution& where, std::span<const serried::array> outputs,
         std::span<const rim> around = {});

/// Calls f, which looks at nothing but what all ranks of the mesh know alike: an error is everybody's.
template <class F>
decltype(auto) alike(const serried::mesh& grid, F&& f) {
  try {
    return std::forward<F>(f)();
  } catch (error& e) {
    e.set_collective(grid.communicator().backend()->spans_run());
    throw;
  }
}

}  // namespace serried::inline v0::dist
