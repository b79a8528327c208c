// For toolkits before 12.8, whose runtime has no functions for libraries: the driver's own, found at run time.
#include "local/cuda/library.hpp"

#include "local/cuda/device.hpp"

#include <cuda.h>

#include <serried/error.hpp>

#include <fmt/format.h>

namespace serried::inline v0::cuda {

namespace {

template <class F>
F driver_function(const char* name) {
  void* found = nullptr;
  check(cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, nullptr), "looking for a function of the driver");
  if (found == nullptr) throw device_error(fmt::format("the NVIDIA driver is too old: it has no {}", name));
  return reinterpret_cast<F>(found);
}

// decltype alone: calling one by name would need the driver's library to link.
struct driver {
  decltype(&::cuLibraryLoadData) load = driver_function<decltype(load)>("cuLibraryLoadData");
  decltype(&::cuLibraryGetKernel) get = driver_function<decltype(get)>("cuLibraryGetKernel");
  decltype(&::cuLaunchKernel) launch = driver_function<decltype(launch)>("cuLaunchKernel");
  decltype(&::cuFuncGetAttribute) attribute = driver_function<decltype(attribute)>("cuFuncGetAttribute");
};
const driver& calls() {
  static const driver found;
  return found;
}

void check_driver(CUresult status, const char* doing) {
  if (status == CUDA_SUCCESS) return;
  // The runtime's errors that come from the driver have the driver's numbers.
  static_assert(static_cast<int>(CUDA_ERROR_OUT_OF_MEMORY) == cudaErrorMemoryAllocation);
  static_assert(static_cast<int>(CUDA_ERROR_ILLEGAL_ADDRESS) == cudaErrorIllegalAddress);
  static_assert(static_cast<int>(CUDA_ERROR_LAUNCH_FAILED) == cudaErrorLaunchFailure);
  check(static_cast<cudaError_t>(status), doing);
}

CUfunction function(cudaKernel_t kernel) { return reinterpret_cast<CUfunction>(kernel); }

}  // namespace

loaded_kernel::loaded_kernel(const std::string& image) {
  CUlibrary library = nullptr;
  check_driver(calls().load(&library, image.data(), nullptr, nullptr, 0, nullptr, nullptr, 0), "loading a kernel");
  CUkernel kernel = nullptr;
  check_driver(calls().get(&kernel, library, "kernel"), "loading a kernel");
  kernel_ = kernel;
}

void loaded_kernel::run(std::uint32_t blocks, std::uint32_t threads, const void* argument, cudaStream_t stream) const {
  void* arguments[] = {const_cast<void*>(argument)};
  check_driver(calls().launch(function(kernel_), blocks, 1, 1, threads, 1, 1, 0, stream, arguments, nullptr),
               "launching a kernel");
}

int loaded_kernel::registers() const {
  int registers = 0;
  check_driver(calls().attribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function(kernel_)), "looking at a kernel");
  return registers;
}

}  // namespace serried::inline v0::cuda
