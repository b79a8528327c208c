// A device without a GPU: memory that the host cannot touch, and copies that happen late, on threads.
#pragma once

#include <chrono>
#include <memory>

#include "local/engine.hpp"

namespace serried::test {

/// An asynchronous engine that only allocates and copies. Reading or writing its memory from outside is a segmentation
/// fault, so what should have been staged and was not cannot go unnoticed.
/// A copy that spans two allocations is refused, even where one follows the other in memory, as big ones do.
[[nodiscard]] std::shared_ptr<engine> make_late_device();

/// Gives the current queue of such an engine something to do for a while.
void keep_busy(engine& late_device, std::chrono::milliseconds length);

}  // namespace serried::test
