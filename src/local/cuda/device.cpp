#include "local/cuda/device.hpp"

#include <serried/error.hpp>

#include <fmt/format.h>
#include <pthread.h>

#include <atomic>
#include <cstdlib>

namespace serried::inline v0::cuda {

namespace {

std::atomic<bool> exiting{false};
std::atomic<bool> forked{false};

/// Notes the end of main, and forks. Before CUDA is first used, so that CUDA's own end comes after; a child that was
/// forked before may use it.
void watch() {
  static const bool watching = [] {
    std::atexit([] { exiting = true; });
    pthread_atfork(nullptr, nullptr, [] { forked = true; });
    return true;
  }();
  (void)watching;
}

/// After these the GPU answers nothing else.
bool fatal(cudaError_t status) {
  switch (status) {
    case cudaErrorECCUncorrectable:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure: return true;
    default: return false;
  }
}

cudaError_t count(int& devices) {
  watch();
  devices = 0;
  const cudaError_t status = cudaGetDeviceCount(&devices);
  if (status != cudaSuccess) {
    (void)cudaGetLastError();
    devices = 0;
  }
  return status;
}

}  // namespace

void check(cudaError_t status, const char* doing) {
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();  // an error that was reported here must not turn up at the next call
  const auto what = fmt::format("{}: {} ({})", doing, cudaGetErrorString(status), cudaGetErrorName(status));
  if (status == cudaErrorMemoryAllocation) throw out_of_memory(what);
  if (fatal(status))
    throw device_error(what +
                       "; the cause may be an earlier operation (SERRIED_SYNC=1 finds out which), and this process "
                       "cannot use the GPU any more");
  throw device_error(what);
}

bool reachable() noexcept { return !exiting && !forked; }

void use_device(int number) {
  if (forked)
    throw device_error(
        "a GPU cannot be used in a child that was forked after CUDA was started: start the child's program anew "
        "(exec)");
  if (exiting) throw device_error("a GPU cannot be used after the end of main");
  int current = -1;
  if (cudaGetDevice(&current) == cudaSuccess && current == number) return;  // which other code may have changed
  check(cudaSetDevice(number), "choosing a GPU");
}

int count_devices() {
  int devices = 0;
  if (reachable()) (void)count(devices);
  return devices;
}

std::string why_no_devices() {
  if (!reachable()) return "CUDA cannot be used in a forked child";
  int devices = 0;
  const cudaError_t status = count(devices);
  if (status == cudaSuccess) return "no GPU is visible";
  int driver = 0;
  if (cudaDriverGetVersion(&driver) == cudaSuccess && driver == 0) return "there is no NVIDIA driver";
  return cudaGetErrorString(status);
}

}  // namespace serried::inline v0::cuda
