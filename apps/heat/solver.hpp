// The explicit heat equation on a distributed array.
#pragma once

#include "options.hpp"

#include <serried/serried.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace heat {

/// The largest stable alpha for a field of `ndim` dimensions.
[[nodiscard]] inline double alpha_bound(int ndim) { return 1.0 / (2 * ndim); }

/// Ranks along each axis for a field of this shape: as few cells as possible on the fullest rank, then as little
/// border as possible, borders across the last axis (whose cells are not neighbors in memory) counting fourfold.
[[nodiscard]] std::vector<int> choose_mesh(const serried::shape& field, int ranks);

/// One time step, in place.
void step(const serried::dist::array& u, double alpha, boundary kind);

/// The first index in C order of a value that is NaN or infinite. Collective.
[[nodiscard]] std::optional<serried::dims> first_not_finite(const serried::dist::array& u);

}  // namespace heat
