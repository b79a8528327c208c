// Compiled kernels of one device: in memory, then on disk, then made by NVRTC.
#pragma once

#include "local/cuda/compiler.hpp"
#include "local/cuda/launch.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>

namespace serried::inline v0::cuda {

class loaded_kernel;

class kernel_cache {
 public:
  explicit kernel_cache(const device_traits& device);
  ~kernel_cache();
  kernel_cache(const kernel_cache&) = delete;
  kernel_cache& operator=(const kernel_cache&) = delete;

  /// Whether the launch's kernel is in memory. Thread-safe.
  [[nodiscard]] bool has(const launch& l);
  /// The launch's kernel, which lives as long as the cache. Thread-safe.
  [[nodiscard]] const loaded_kernel& get(const launch& l);
  /// Issues a kernel on a stream. Thread-safe.
  void run(const loaded_kernel& kernel, std::uint32_t blocks, std::uint32_t threads, const std::uint64_t* words,
           cudaStream_t stream);
  void run(const launch& l, cudaStream_t stream) { run(get(l), l.blocks, l.threads, l.words.data(), stream); }
  /// With SERRIED_SYNC=1 waits for what was just issued to a stream, so that what goes wrong there is reported here.
  void settle(cudaStream_t stream, const char* doing) const;

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace serried::inline v0::cuda
