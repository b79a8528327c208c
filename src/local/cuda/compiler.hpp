// CUDA C++ text to code for a GPU, by NVRTC; needs no GPU.
#pragma once

#include "local/cuda/launch.hpp"

#include <string>
#include <string_view>

namespace serried::inline v0::cuda {

/// What to compile for: "sm_90", or for a GPU that is newer than the compiler the newest that it knows, "compute_90",
/// which the driver finishes. Throws device_error for a GPU that is too old.
[[nodiscard]] std::string architecture_of(const device_traits& device);

/// Compiles a kernel's text to a cubin ("sm_…") or to PTX ("compute_…"); `quick`: see launch. Throws library_error with
/// NVRTC's log and the text. Thread-safe.
[[nodiscard]] std::string compile(const std::string& text, std::string_view architecture, bool quick = false);

/// All that a compilation depends on but the text: compiler, architecture, options, the headers.
[[nodiscard]] std::string compilation_key(std::string_view architecture, bool quick = false);

}  // namespace serried::inline v0::cuda
