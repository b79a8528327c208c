// The kernels for AVX2 and FMA.
#include "local/host/kernel_support.hpp"

#define SERRIED_TARGET [[gnu::target("avx2,fma,bmi,bmi2,f16c")]]
#define SERRIED_VECTOR_BYTES 32
#ifdef SERRIED_LIBMVEC
#define SERRIED_MVEC_FLOAT _ZGVdN8
#define SERRIED_MVEC_DOUBLE _ZGVdN4
#endif

namespace serried::inline v0::host {
namespace avx2 {
// Each stands on the one before.
// clang-format off
#include "local/host/kernels.inc"
#include "local/host/sum_kernels.inc"
#include "local/host/reduce_kernels.inc"
// clang-format on
}  // namespace avx2

const kernel_table& avx2_kernels() {
  static const kernel_table table = [] {
    kernel_table t;
    avx2::set_element_kernels(t);
    avx2::set_reduction_kernels(t);
    return t;
  }();
  return table;
}

}  // namespace serried::inline v0::host
