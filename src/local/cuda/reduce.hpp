// Reductions: plans for kernels that run a program over a box, add up its values in registers and, where several blocks
// work on one result, merge what they wrote down.
#pragma once

#include "local/cuda/launch.hpp"
#include "local/iteration.hpp"
#include "local/program.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

namespace serried::inline v0::cuda {

struct reduction_launches {
  /// Runs the program. Where may_fail(program), it reads the address of the flag from one more word, the last: the
  /// caller appends it.
  launch first;
  std::optional<launch> second;  ///< to be issued after the first, to the same queue
};

/// Memory of the device for what the first launch hands to the second; used until both are done.
using scratch_source = std::function<std::byte*(std::size_t bytes)>;

/// For a box that is not empty: `it` walks it for the reduction, which has `results` results. `finished`: numbers of
/// r.type at `out`, else states.
[[nodiscard]] reduction_launches plan_reduce(const program& p, const iteration& it, const reduction& r,
                                             std::int64_t results, bool finished, std::byte* out,
                                             const device_traits& device, const scratch_source& scratch);

/// engine::align and engine::finish; count > 0.
[[nodiscard]] launch plan_align(const reduction& r, std::byte* states, const std::byte* tops, std::int64_t count);
[[nodiscard]] launch plan_finish(const reduction& r, const std::byte* states, std::int64_t count, std::byte* out);

}  // namespace serried::inline v0::cuda
