// Where the pools of a GPU take their segments from.
#pragma once

#include <serried/memory.hpp>

#include <memory>

namespace serried::inline v0::cuda {

/// The GPU's own memory.
[[nodiscard]] std::shared_ptr<memory::resource> gpu_memory(int device);
/// Host memory that does not move, for copies at full speed beside the host's and the GPU's other work.
[[nodiscard]] std::shared_ptr<memory::resource> pinned_memory(int device);

}  // namespace serried::inline v0::cuda
