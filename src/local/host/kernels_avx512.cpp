// The kernels for AVX-512 (F, CD, BW, DQ, VL: what every server since Skylake has).
#include "local/host/kernel_support.hpp"

#define SERRIED_TARGET [[gnu::target("avx512f,avx512cd,avx512bw,avx512dq,avx512vl,avx2,fma,bmi,bmi2,f16c")]]
#define SERRIED_VECTOR_BYTES 64
#ifdef SERRIED_LIBMVEC
#define SERRIED_MVEC_FLOAT _ZGVeN16
#define SERRIED_MVEC_DOUBLE _ZGVeN8
#endif

namespace serried::inline v0::host {
namespace avx512 {
// Each stands on the one before.
// clang-format off
#include "local/host/kernels.inc"
#include "local/host/sum_kernels.inc"
#include "local/host/reduce_kernels.inc"
// clang-format on
}  // namespace avx512

const kernel_table& avx512_kernels() {
  static const kernel_table table = [] {
    kernel_table t;
    avx512::set_element_kernels(t);
    avx512::set_reduction_kernels(t);
    return t;
  }();
  return table;
}

}  // namespace serried::inline v0::host
