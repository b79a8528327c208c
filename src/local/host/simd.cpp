#include <serried/error.hpp>

#include "local/host/kernel_table.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

namespace serried::inline v0::host {
namespace {

struct choice {
  std::string_view name;
  bool present;
  const kernel_table& (*kernels)();
};

#if defined(__x86_64__)
bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("f16c");
}
bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#else  // the vector files are not part of the build
constexpr bool has_avx2() { return false; }
constexpr bool has_avx512() { return false; }
constexpr auto avx2_kernels = baseline_kernels;
constexpr auto avx512_kernels = baseline_kernels;
#endif

}  // namespace

const kernel_table& choose_kernels() {
  const choice best_first[] = {{"avx512", has_avx512(), avx512_kernels},
                               {"avx2", has_avx2(), avx2_kernels},
                               {"baseline", true, baseline_kernels}};
  const char* const setting = std::getenv("SERRIED_SIMD");
  const std::string_view wanted = setting == nullptr ? "" : setting;
  for (const choice& c : best_first) {
    if (wanted.empty() ? !c.present : wanted != c.name) continue;
    if (!c.present) throw value_error(fmt::format("SERRIED_SIMD={}: this machine has no such instructions", wanted));
    return c.kernels();
  }
  throw value_error(fmt::format("SERRIED_SIMD={}: not one of baseline, avx2, avx512", wanted));
}

}  // namespace serried::inline v0::host
