// The CUDA runtime's errors as exceptions, which GPU a thread works on, and when CUDA may no longer be touched.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

namespace serried::inline v0::cuda {

/// Throws for anything but success: out_of_memory, or device_error with CUDA's name and description of the error.
/// `doing` says what was tried, as in "copying to the GPU".
void check(cudaError_t status, const char* doing);

/// False once static destruction has begun, and in a forked child: CUDA must not be touched then, and destructors do
/// nothing.
[[nodiscard]] bool reachable() noexcept;

/// Makes a GPU the calling thread's. Throws device_error where CUDA is not reachable().
void use_device(int number);

/// The number of GPUs; 0 when there is no driver, none that works, or CUDA is not reachable().
[[nodiscard]] int count_devices();
/// The reason for 0 GPUs, in words.
[[nodiscard]] std::string why_no_devices();

}  // namespace serried::inline v0::cuda
