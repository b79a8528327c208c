// Whether an assignment may store into its target while it still reads, for local and distributed arrays alike.
#pragma once

#include "local/evaluate.hpp"
#include "local/expr_state.hpp"

#include <cstddef>

namespace serried::inline v0 {

/// True when a run over `e` that stores into `target` element by element could still need what it has overwritten: for
/// itself, or because nothing may be lost when it throws. (What other ranks need is packed before anything is stored.)
template <class Array>
[[nodiscard]] bool reads_elsewhere(const expr_state<Array>& e, const Array& target) {
  if (may_fail(e.code)) return true;
  for (std::size_t s = 0; s < e.leaves.size(); ++s) {
    const Array& a = e.leaves[s].data;
    if (!may_overlap(a, target)) continue;
    if (!same_view(a, target)) return true;
    for (const instruction& i : e.code.code)
      if (i.op == opcode::gather && i.args[1] == s) return true;
    for (const leaf_load& ld : e.code.loads)
      if (ld.leaf == s && !ld.offset.empty()) return true;
  }
  return false;
}

}  // namespace serried::inline v0
