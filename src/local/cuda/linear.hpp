// Element-wise kernels over arrays of any strides: every thread computes a few groups of neighboring elements.
#pragma once

#include "local/cuda/launch.hpp"
#include "local/iteration.hpp"

namespace serried::inline v0::cuda {

/// A launch that executes the program over a box that is not empty. Its text may be asked for as long as the program
/// lives. Where may_fail(p), the address of the failure flag is still to be appended to the words.
[[nodiscard]] launch plan_linear(const program& p, const iteration& it, const device_traits& device);

}  // namespace serried::inline v0::cuda
