#include <serried/cuda.hpp>

#include <serried/error.hpp>

#include "local/context.hpp"
#include "local/cuda/queue.hpp"
#include "local/engine.hpp"

#include <fmt/format.h>

namespace serried::inline v0 {

namespace {
void check_cuda(const engine& device, const char* operation) {
  if (device.name() != "cuda")
    throw device_error(fmt::format("{}: the device is {}, not a GPU", operation, device.name()));
}
}  // namespace

cudaStream_t to_cuda(const stream& s) {
  check_cuda(*s.device_engine(), "to_cuda");
  return cuda::stream_of(*s.work_queue());
}

stream from_cuda(cudaStream_t s) {
  const std::shared_ptr<engine> device = current_device();
  check_cuda(*device, "from_cuda");
  return {device, cuda::wrap_stream(*device->main_queue(), s)};
}

}  // namespace serried::inline v0
