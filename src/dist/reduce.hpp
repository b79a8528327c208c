// Reductions of distributed expressions.
#pragma once

#include <serried/dist/array.hpp>

#include "dist/distribution.hpp"
#include "local/expr_state.hpp"

namespace serried::inline v0::dist {

/// e.root over the values of e's element-wise part, which are computed where `where` puts them. Kept dimensions stay
/// split as they are; over the others' mesh axes the result is replicated.
[[nodiscard]] array reduce(const expr_state<array>& e, const distribution_ptr& where);

}  // namespace serried::inline v0::dist
