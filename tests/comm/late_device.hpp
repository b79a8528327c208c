// A device without a GPU: memory that the host cannot touch, and copies that happen late, on threads.
#pragma once

#include <memory>

#include "local/engine.hpp"

namespace serried::test {

/// An asynchronous engine that only allocates and copies. Reading or writing its memory from outside is a segmentation
/// fault, so what should have been staged and was not cannot go unnoticed.
[[nodiscard]] std::shared_ptr<engine> make_late_device();

}  // namespace serried::test
