// Compiled code on the GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

namespace serried::inline v0::cuda {

/// A kernel of code that was loaded for good: kernels live as long as the process.
class loaded_kernel {
 public:
  loaded_kernel() = default;
  /// The function `kernel` of a cubin or of PTX. Throws device_error.
  explicit loaded_kernel(const std::string& image);

  /// Issues it with one argument, passed by value.
  void run(std::uint32_t blocks, std::uint32_t threads, const void* argument, cudaStream_t stream) const;
  [[nodiscard]] int registers() const;

 private:
  cudaKernel_t kernel_ = nullptr;
};

}  // namespace serried::inline v0::cuda
