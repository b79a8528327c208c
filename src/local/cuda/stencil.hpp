// Programs that load one leaf at several offsets: each value is fetched once and kept in registers while a thread
// block marches along a dimension.
#pragma once

#include "local/cuda/launch.hpp"
#include "local/iteration.hpp"
#include "local/program.hpp"

#include <optional>

namespace serried::inline v0::cuda {

/// For a box that is not empty. None where the general kernel (linear.hpp) serves as well or better: no leaf is loaded
/// at two offsets, rows that are not contiguous, elements that are not aligned, extents of 2^30 and more, programs
/// that may fail.
[[nodiscard]] std::optional<launch> plan_stencil(const program& p, const iteration& where, const device_traits& device);

}  // namespace serried::inline v0::cuda
