#include "local/cuda/library.hpp"

#include "local/cuda/device.hpp"

namespace serried::inline v0::cuda {

loaded_kernel::loaded_kernel(const std::string& image) {
  cudaLibrary_t library = nullptr;
  check(cudaLibraryLoadData(&library, image.data(), nullptr, nullptr, 0, nullptr, nullptr, 0), "loading a kernel");
  check(cudaLibraryGetKernel(&kernel_, library, "kernel"), "loading a kernel");
}

void loaded_kernel::run(std::uint32_t blocks, std::uint32_t threads, const void* argument, cudaStream_t stream) const {
  void* arguments[] = {const_cast<void*>(argument)};
  check(cudaLaunchKernel(static_cast<const void*>(kernel_), dim3(blocks), dim3(threads), arguments, 0, stream),
        "launching a kernel");
}

int loaded_kernel::registers() const {
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, static_cast<const void*>(kernel_)), "looking at a kernel");
  return attributes.numRegs;
}

}  // namespace serried::inline v0::cuda
