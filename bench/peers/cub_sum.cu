// CUB's reductions and the driver's copy, as lines of JSON of serried-bench-core's form.
// nvcc -O3 -std=c++17 -arch=sm_90 cub_sum.cu
#include <cub/device/device_reduce.cuh>

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

void check(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "error: %s\n", cudaGetErrorString(status));
  std::exit(1);
}

template <class T>
__global__ void waves(T* x, std::size_t n) {
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (i < n) x[i] = static_cast<T>(sin(i * 1.7));
}

template <class F>
float median_ms(F&& work) {
  constexpr int samples = 21;
  std::vector<cudaEvent_t> before(samples), after(samples);
  for (int i = 0; i < 3; ++i) work();
  for (int i = 0; i < samples; ++i) {
    check(cudaEventCreate(&before[i]));
    check(cudaEventCreate(&after[i]));
  }
  check(cudaDeviceSynchronize());
  for (int i = 0; i < samples; ++i) {
    check(cudaEventRecord(before[i]));
    work();
    check(cudaEventRecord(after[i]));
  }
  check(cudaDeviceSynchronize());
  std::vector<float> ms(samples);
  for (int i = 0; i < samples; ++i) check(cudaEventElapsedTime(&ms[i], before[i], after[i]));
  std::nth_element(ms.begin(), ms.begin() + samples / 2, ms.end());
  return ms[samples / 2];
}

void report(const char* library, const char* name, std::size_t n, const char* type, float ms, std::size_t bytes) {
  std::printf(
      "{\"library\": \"%s\", \"device\": \"cuda\", \"name\": \"%s\", \"shape\": [%zu], \"dtype\": \"%s\", "
      "\"ms\": %.6g, \"bytes\": %zu, \"gb_per_s\": %.5g}\n",
      library, name, n, type, ms, bytes, bytes / ms / 1e6);
}

template <class T>
void measure(const char* type, std::size_t n) {
  T* x = nullptr;
  T* result = nullptr;
  void* scratch = nullptr;
  std::size_t scratch_bytes = 0;
  check(cudaMalloc(&x, n * sizeof(T)));
  check(cudaMalloc(&result, sizeof(T)));
  waves<<<static_cast<unsigned>((n + 255) / 256), 256>>>(x, n);
  check(cudaGetLastError());
  const auto sum = [&] { check(cub::DeviceReduce::Sum(scratch, scratch_bytes, x, result, n)); };
  const auto max = [&] { check(cub::DeviceReduce::Max(scratch, scratch_bytes, x, result, n)); };
  std::size_t most = 0;
  sum();  // without scratch memory they say how much they need
  most = std::max(most, scratch_bytes);
  max();
  most = std::max(most, scratch_bytes);
  check(cudaMalloc(&scratch, most));
  scratch_bytes = most;
  report("cub", "sum", n, type, median_ms(sum), n * sizeof(T));
  report("cub", "max", n, type, median_ms(max), n * sizeof(T));
  check(cudaFree(x));
  check(cudaFree(result));
  check(cudaFree(scratch));
}

void measure_copy(std::size_t bytes) {
  void* from = nullptr;
  void* to = nullptr;
  check(cudaMalloc(&from, bytes));
  check(cudaMalloc(&to, bytes));
  check(cudaMemset(from, 1, bytes));
  const float ms = median_ms([&] { check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice)); });
  report("cudaMemcpy", "copy", bytes / 4, "float32", ms, 2 * bytes);
  check(cudaFree(from));
  check(cudaFree(to));
}

}  // namespace

int main() {
  const std::size_t n = std::size_t{1} << 28;
  measure_copy(4 * n);
  measure<float>("float32", n);
  measure<double>("float64", n);
  return 0;
}
