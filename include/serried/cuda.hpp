// For programs with CUDA code of their own. Not part of <serried/serried.hpp>: it needs cuda_runtime_api.h.
#pragma once

#include <serried/export.hpp>
#include <serried/stream.hpp>

#include <cuda_runtime_api.h>

namespace serried::inline v0 {

/// The CUDA stream behind a stream: alive as long as a handle to it is. Throws device_error for a stream that is not a
/// GPU's.
[[nodiscard]] SERRIED_API cudaStream_t to_cuda(const stream& s);
/// A stream over one of the current device that was made elsewhere and outlives all handles to it and all arrays that
/// were used in it. Throws device_error when the current device is not a GPU.
[[nodiscard]] SERRIED_API stream from_cuda(cudaStream_t s);

}  // namespace serried::inline v0
