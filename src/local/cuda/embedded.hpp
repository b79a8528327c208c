// The headers that kernels include, as text for NVRTC. The build writes the source file (cmake/embed.cmake).
#pragma once

#include <span>

namespace serried::inline v0::cuda {

struct embedded_file {
  const char* name;  ///< as in an #include
  const char* text;
};
[[nodiscard]] std::span<const embedded_file> embedded_files();

}  // namespace serried::inline v0::cuda
