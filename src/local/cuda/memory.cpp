#include "local/cuda/memory.hpp"

#include "local/cuda/device.hpp"

#include <serried/error.hpp>

#include <fmt/format.h>

namespace serried::inline v0::cuda {
namespace {

// CUDA takes sizes near 2^64 for small ones after rounding them up.
constexpr std::size_t largest = std::size_t{1} << 48;

class gpu_resource final : public memory::resource {
 public:
  explicit gpu_resource(int device) : device_(device) {}

  std::byte* allocate(std::size_t bytes) override {
    if (bytes == 0) return nullptr;
    if (bytes > largest) throw out_of_memory(fmt::format("no GPU has {} bytes of memory", bytes));
    use_device(device_);
    void* data = nullptr;
    check(cudaMalloc(&data, bytes), "allocating memory of the GPU");
    return static_cast<std::byte*>(data);
  }
  void deallocate(std::byte* data, std::size_t) noexcept override {
    if (data == nullptr || !reachable()) return;
    (void)cudaSetDevice(device_);
    (void)cudaFree(data);
  }
  std::optional<std::size_t> available() const noexcept override {
    std::size_t free = 0;
    std::size_t total = 0;
    if (!reachable() || cudaSetDevice(device_) != cudaSuccess || cudaMemGetInfo(&free, &total) != cudaSuccess)
      return std::nullopt;
    return free;
  }

 private:
  const int device_;
};

class pinned_resource final : public memory::resource {
 public:
  explicit pinned_resource(int device) : device_(device) {}

  std::byte* allocate(std::size_t bytes) override {
    if (bytes == 0) return nullptr;
    if (bytes > largest) throw out_of_memory(fmt::format("the system has no {} bytes of memory", bytes));
    use_device(device_);
    void* data = nullptr;
    // Portable: also other GPUs' copies take it for pinned.
    check(cudaHostAlloc(&data, bytes, cudaHostAllocPortable), "allocating pinned memory");
    return static_cast<std::byte*>(data);
  }
  void deallocate(std::byte* data, std::size_t) noexcept override {
    if (data != nullptr && reachable()) (void)cudaFreeHost(data);
  }

 private:
  const int device_;
};

}  // namespace

std::shared_ptr<memory::resource> gpu_memory(int device) { return std::make_shared<gpu_resource>(device); }
std::shared_ptr<memory::resource> pinned_memory(int device) { return std::make_shared<pinned_resource>(device); }

}  // namespace serried::inline v0::cuda
