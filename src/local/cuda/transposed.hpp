// Element-wise programs that read arrays across their rows: square tiles pass through shared memory, so that reading
// and writing both go along rows.
#pragma once

#include "local/cuda/launch.hpp"
#include "local/iteration.hpp"
#include "local/program.hpp"

#include <optional>

namespace serried::inline v0::cuda {

/// For a box that is not empty; the launch's text may be asked for as long as the program lives. None where the general
/// kernel (linear.hpp) serves as well or better: no load is contiguous along another dimension than the outputs, or
/// several are along different ones, short rows, guarded loads, programs that may fail.
[[nodiscard]] std::optional<launch> plan_transposed(const program& p, const iteration& where);

}  // namespace serried::inline v0::cuda
